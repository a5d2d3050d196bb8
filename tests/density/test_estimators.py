"""The densities against the reference, and at points that were not seen."""

import numpy as np
import pytest
import reference
import reference_baselines
from clouds import clouds, clouds_and_k, general_position, radii, rows_of
from hypothesis import given
from hypothesis import strategies as st

from diffpeaks import (
    DensityDBSCAN,
    DensityPeaks,
    KernelDiffusion,
    LocalContrast,
    NaiveDensity,
    SharedNeighborDensity,
    neighbor_graph,
)
from diffpeaks.density import PAPER_DENSITIES
from diffpeaks.density.walk import KERNELS, walk_on

steps_and_teleport = st.sampled_from([(1, 0.0), (2, 0.0), (7, 0.0), (3, 0.2), (np.inf, 0.1), (np.inf, 0.9)])
kernel_names = st.sampled_from(list(KERNELS))


def walked(P, steps, teleport):
    if np.isinf(steps):
        return reference.limit_density(P, teleport)[0]
    return reference.diffuse(P, steps, teleport)


@given(X=clouds(), radius=radii)
def test_naive(X, radius):
    expected = reference.naive_density(reference.euclidean_distances(X), radius)
    np.testing.assert_array_equal(NaiveDensity(radius).fit(X).density_, expected)


@given(case=clouds_and_k(), radius=radii)
def test_local_contrast(case, radius):
    X, k = case
    contrast, naive = reference.local_contrast(reference.euclidean_distances(X), radius, k)
    fitted = LocalContrast(radius, k).fit(X)
    np.testing.assert_array_equal(fitted.density_, contrast)
    np.testing.assert_array_equal(fitted.naive_density_, naive)


@given(case=clouds_and_k(), data=st.data())
def test_shared_neighbors(case, data):
    X, k = case
    min_shared = data.draw(st.integers(1, k))
    rows = reference.nearest(reference.euclidean_distances(X), k)
    expected = reference_baselines.shared_neighbor_density(rows, min_shared)
    np.testing.assert_array_equal(SharedNeighborDensity(k, min_shared).fit(X).density_, expected)
    assert SharedNeighborDensity(k).fit(X).min_shared_ == (k + 1) // 2


def test_shared_neighbors_in_a_clusterer():
    X = general_position(10, 200)
    model = DensityDBSCAN(SharedNeighborDensity(20, 9), min_density=8).fit(X)
    alone = SharedNeighborDensity(20, 9, n_jobs=1).fit(X)
    np.testing.assert_array_equal(model.density_, alone.density_)
    by_graph = SharedNeighborDensity(20, 9, metric="precomputed").fit(neighbor_graph(X, 20))
    np.testing.assert_array_equal(by_graph.density_, alone.density_)
    in_groups = model.labels_ != -1
    assert np.array_equal(model.labels_[in_groups] == model.labels_[0], np.arange(200)[in_groups] < 66)


def test_shared_neighbors_do_not_depend_on_threads():
    X = np.random.default_rng(0).normal(size=(9000, 2))
    alone, together = (SharedNeighborDensity(15, n_jobs=n_jobs).fit(X).density_ for n_jobs in (1, 2))
    np.testing.assert_array_equal(alone, together)


@given(case=clouds_and_k(), kernel=kernel_names, walk=steps_and_teleport)
def test_asymmetric_kernel_diffusion(case, kernel, walk):
    X, k = case
    D = reference.euclidean_distances(X)
    rows = reference.nearest(D, k)
    for bandwidth, h in [
        (0.5, 0.5),
        ("local", reference.local_bandwidth(D, rows)),
        ("median", reference.median_bandwidth(D, rows)),
    ]:
        P = reference.transition_matrix(D, rows, kernel, h)
        fitted = KernelDiffusion(k, None, bandwidth, kernel, *walk).fit(X)
        np.testing.assert_allclose(fitted.density_, walked(P, *walk), rtol=1e-9, atol=1e-12)


@given(case=clouds_and_k(), radius=radii, kernel=kernel_names, walk=steps_and_teleport)
def test_symmetric_kernel_diffusion(case, radius, kernel, walk):
    X, k = case
    D = reference.euclidean_distances(X)
    rows = reference.within(D, radius)
    for bandwidth, h in [
        (2.0, 2.0),
        ("local", reference.local_bandwidth_symmetric(D, k)),
        ("median", reference.median_bandwidth(D, rows)),
    ]:
        P = reference.transition_matrix(D, rows, kernel, h)
        fitted = KernelDiffusion(k, radius, bandwidth, kernel, *walk).fit(X)
        np.testing.assert_allclose(fitted.density_, walked(P, *walk), rtol=1e-9, atol=1e-12)


@given(case=clouds_and_k())
def test_asymmetric_limit_and_its_diagnostics(case):
    X, k = case
    D = reference.euclidean_distances(X)
    rows = reference.nearest(D, k)
    P = reference.transition_matrix(D, rows, "gaussian", reference.local_bandwidth(D, rows))
    expected, n_classes, transient_share = reference.limit_density(P)
    fitted = KernelDiffusion(k, steps=np.inf).fit(X)
    np.testing.assert_allclose(fitted.density_, expected, rtol=1e-8, atol=1e-11)
    assert fitted.n_closed_classes_ == n_classes
    assert fitted.transient_share_ == pytest.approx(transient_share)
    assert fitted.residual_ < 1e-10


@given(X=clouds(), radius=radii)
def test_symmetric_limit_is_the_closed_form(X, radius):
    D = reference.euclidean_distances(X)
    W = reference.weight_matrix(D, reference.within(D, radius), "gaussian", 4.0)
    fitted = KernelDiffusion(radius=radius, bandwidth=4.0, steps=np.inf).fit(X)
    np.testing.assert_allclose(fitted.density_, reference.symmetric_limit(W), rtol=1e-12)
    assert fitted.transient_share_ == 0
    assert fitted.residual_ < 1e-12


DENSITIES = [
    NaiveDensity(1.0),
    NaiveDensity(),
    LocalContrast(1.0, 8),
    SharedNeighborDensity(9),
    SharedNeighborDensity(12, 4),
    KernelDiffusion(9),
    KernelDiffusion(9, bandwidth=0.5, kernel="laplace", steps=5),
    KernelDiffusion(9, steps=3, teleport=0.2),
    KernelDiffusion(9, steps=np.inf),
    KernelDiffusion(9, steps=np.inf, teleport=0.1),
    KernelDiffusion(9, radius=1.0),
    KernelDiffusion(9, radius=1.0, bandwidth=0.5, steps=4),
    KernelDiffusion(9, radius="auto", bandwidth="median", steps=np.inf),
    KernelDiffusion(9, kernel=lambda distances: np.exp(-distances)),
]
every_density = pytest.mark.parametrize(
    "density", DENSITIES, ids=lambda density: str(density).split(" at 0x")[0]
)


@every_density
@pytest.mark.parametrize("n_features", [2, 12])
def test_score_samples_at_the_samples_is_the_density(density, n_features):
    X = general_position(2, 70, n_features) * (1.0 if n_features == 2 else 0.3)
    density.fit(X)
    np.testing.assert_allclose(density.score_samples(X), density.density_, rtol=1e-9)


def test_score_samples_of_new_points_by_hand():
    X = [[0.0], [1.0], [3.0]]
    new = [[0.9], [100.0]]
    assert NaiveDensity(1.0).fit(X).score_samples(new).tolist() == [2, 0]
    # 0.9 lies nearer to each sample than its second neighbour, at 1, 1 and 2, except to 3
    walk = KernelDiffusion(2, kernel="uniform").fit(X)
    assert walk.score_samples(new).tolist() == [0.5 + 0.5, 0.0]
    # naive densities 2, 2, 1; the new point has 2, and its neighbours among the samples are 1 and 0
    assert LocalContrast(1.0, 3).fit(X).score_samples([[0.9]]).tolist() == [1.0]
    # lists of two: 0 and 1 hold {0, 1}, 3 holds {3, 1}. The new point lists {1, 0}, both of which it
    # lies near enough to, and shares two with each; 2.5 lists {3, 1}, reaches 3 alone, and shares two with it
    shared = SharedNeighborDensity(2, 2).fit(X)
    assert shared.score_samples([[0.9], [2.5], [100.0]]).tolist() == [2, 1, 0]


def test_score_samples_of_a_matrix_of_distances():
    X = general_position(4, 40)
    D = reference.euclidean_distances(X)
    by_points = KernelDiffusion(6).fit(X)
    by_matrix = KernelDiffusion(6, metric="precomputed").fit(D)
    np.testing.assert_allclose(by_matrix.score_samples(D[:5]), by_points.score_samples(X[:5]), rtol=1e-9)


@pytest.mark.parametrize("name", list(PAPER_DENSITIES))
def test_names_of_the_paper(name):
    X = general_position(6)
    named = DensityPeaks(name).fit(X)
    alone = PAPER_DENSITIES[name]().fit(X)
    np.testing.assert_array_equal(named.density_, alone.density_)
    kernel_diffusion = name not in ("naive", "lc")
    assert isinstance(alone, KernelDiffusion) == kernel_diffusion
    if kernel_diffusion:
        assert (alone.steps == np.inf) == name.startswith("kd")
        assert (alone.radius is None) == name.endswith("asym")


def test_values_and_functions_as_density():
    X = general_position(7)
    values = np.linspace(1, 2, len(X))
    from_values = DensityPeaks(values, n_neighbors=6).fit(X)
    from_function = DensityPeaks(lambda graph: values, n_neighbors=6).fit(X)
    np.testing.assert_array_equal(from_values.density_, values)
    np.testing.assert_array_equal(from_values.labels_, from_function.labels_)
    assert from_values.graph_.n_neighbors == 6
    counted = DensityPeaks(lambda graph: graph.degrees).fit(X)
    assert set(counted.density_) == {counted.graph_.n_neighbors}


def test_auto_is_readable_and_takes_the_whole_of_a_given_graph():
    X = general_position(8, 64)
    fitted = LocalContrast().fit(X)
    assert fitted.n_neighbors_ == 12
    distances = np.sort(reference.euclidean_distances(X), axis=1)
    assert fitted.radius_ == pytest.approx(np.median(distances[:, 11]))
    graph = neighbor_graph(X, radius=1.3)
    given_graph = NaiveDensity(metric="precomputed").fit(graph)
    np.testing.assert_array_equal(given_graph.density_, graph.degrees)


def test_rows_of_different_length_count_as_a_whole():
    graph = neighbor_graph(general_position(9), radius=0.9)
    assert graph.n_neighbors == 1  # some sample is alone
    D, rows = reference.euclidean_distances(general_position(9)), rows_of(graph)
    P = reference.transition_matrix(D, rows, "gaussian", reference.local_bandwidth(D, rows))
    fitted = KernelDiffusion(steps=2, metric="precomputed").fit(graph)
    np.testing.assert_allclose(fitted.density_, reference.diffuse(P, 2), rtol=1e-12)
    assert DensityPeaks(metric="precomputed").fit(graph).n_clusters_ < len(rows) / 3


@every_density
def test_far_from_all_samples_nothing_is_left(density):
    density.fit(general_position(2, 70))
    lonely = density.score_samples([[1e6, 1e6]])
    assert lonely == pytest.approx(getattr(density, "teleport", 0.0))


def test_asymmetric_metric_is_measured_from_the_samples():
    def uphill(x, y):
        return np.abs(x - y).sum() * (2.0 if y[0] > x[0] else 1.0)

    X = general_position(3, 40)
    density = KernelDiffusion(6, metric=uphill).fit(X)
    np.testing.assert_allclose(density.score_samples(X), density.density_, rtol=1e-9)
    from_row_to_column = np.array([[uphill(x, y) for y in X] for x in X])
    by_matrix = KernelDiffusion(6, metric="precomputed").fit(from_row_to_column)
    np.testing.assert_allclose(by_matrix.density_, density.density_)
    np.testing.assert_allclose(by_matrix.score_samples(from_row_to_column.T), density.density_, rtol=1e-9)


@pytest.mark.parametrize("name", ["naive", "lc", "kd-sym", "fkd-sym"])
def test_balls_are_not_made_up_from_nearest_neighbours(name):
    graph = neighbor_graph(general_position(4), 8)
    for given_graph in (graph, graph.to_scipy()):
        with pytest.raises(ValueError, match=r"graph of balls.*neighbor_graph\(X, radius"):
            DensityPeaks(name, metric="precomputed").fit(given_graph)


def test_float32_distances_are_weighted_in_double():
    graph = neighbor_graph(general_position(5).astype(np.float32), 8)
    weights = walk_on(graph, "gaussian", 0.002).weights
    np.testing.assert_allclose(weights, np.exp(-(graph.distances.astype(float) ** 2) / 0.002), rtol=1e-9)
