"""Samples moved towards their neighbours: where to, when, and what comes of it."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_mutual_info_score

from diffpeaks import DensityPeaks, KernelDiffusion, neighbor_graph
from diffpeaks.datasets import make_faces
from diffpeaks.density.samples import smoothed_samples
from diffpeaks.recipes import DEFAULT


def blobs(n_samples=600, n_features=30, n_blobs=6, spread=0.8, seed=0):
    random = np.random.RandomState(seed)
    labels = random.randint(n_blobs, size=n_samples)
    centers = random.standard_normal((n_blobs, n_features)) * spread
    return centers[labels] + random.standard_normal((n_samples, n_features)), labels


def moved_by_loops(x, own, X, masses, smoothing):
    """Equation by equation: the place of x among the samples X, of which none is x."""
    lengths = np.array([np.sqrt(np.sum((x - y) ** 2)) for y in X])
    nearest = np.argsort(lengths, kind="stable")[: smoothing.n_neighbors - 1]
    total, mean = own, own * x
    # mutual where fewer others are nearer to the neighbour than it has neighbours
    nearer = [np.sum(np.sum((X - X[j]) ** 2, axis=1) < lengths[j] ** 2) for j in nearest]
    mutual = [j for j, n_nearer in zip(nearest, nearer, strict=True) if n_nearer < smoothing.n_neighbors]
    missing = max(0, smoothing.n_filled - len(mutual))
    for j in [*mutual, *[j for j in nearest if j not in mutual][:missing]]:
        weight = masses[j] * np.exp(-((lengths[j] / lengths[nearest[-1]]) ** 2))
        total, mean = total + weight, mean + weight * X[j]
    moved = smoothing.kept * x + (1 - smoothing.kept) * mean / total
    return moved if smoothing.radius is None else moved * smoothing.radius / np.sqrt(np.sum(moved**2))


def places_after(model):
    return model._landscape.distinct.points.space.points


@pytest.mark.parametrize("shrunk", [1.0, 0.05])
def test_samples_move_as_the_loops_say(shrunk):
    X, _ = blobs(120, 12)
    X[:60] *= shrunk  # near one another, so that the others have few mutual neighbours
    model = DensityPeaks().fit(X)
    others = [np.delete(X, i, axis=0) for i in range(len(X))]
    ones = np.ones(len(X))
    expected = [moved_by_loops(X[i], 1.0, others[i], ones, model.smoothing_) for i in range(len(X))]
    np.testing.assert_allclose(places_after(model), expected, rtol=1e-10, atol=1e-12)


def test_heavy_neighbours_pull_as_often_as_they_weigh():
    X, _ = blobs(100, 12)
    weights = np.random.RandomState(1).randint(1, 4, len(X)).astype(float)
    model = DensityPeaks().fit(X, sample_weight=weights)
    masses = weights / weights.mean()
    expected = [
        moved_by_loops(X[i], masses[i], np.delete(X, i, axis=0), np.delete(masses, i), model.smoothing_)
        for i in range(len(X))
    ]
    np.testing.assert_allclose(places_after(model), expected, rtol=1e-10, atol=1e-12)


def test_copies_are_one_sample_of_their_weight():
    X, _ = blobs(150, 12)
    weights = np.random.RandomState(1).randint(1, 4, len(X))
    copied = DensityPeaks().fit(np.repeat(X, weights, axis=0))
    weighted = DensityPeaks().fit(X, sample_weight=weights)
    assert copied.smoothing_ is not None
    np.testing.assert_array_equal(copied.labels_, np.repeat(weighted.labels_, weights))


def test_new_samples_move_as_if_they_had_been_there():
    X, _ = blobs(160, 12)
    model = DensityPeaks().fit(X[:120])
    moved = smoothed_samples(X[120:], model._landscape.points, model._landscape.distinct, model.smoothing_)
    ones = np.ones(120)
    expected = [moved_by_loops(x, 1.0, X[:120], ones, model.smoothing_) for x in X[120:]]
    np.testing.assert_allclose(moved, expected, rtol=1e-10, atol=1e-12)
    back = smoothed_samples(
        X[:120][::-1],
        model._landscape.points,
        model._landscape.distinct,
        model.smoothing_,
    )
    np.testing.assert_array_equal(back, places_after(model)[::-1])


def test_fitted_samples_keep_their_labels_in_any_order(tmp_path):
    X, _ = blobs(400)
    model = DensityPeaks().fit(X)
    model.save(tmp_path / "blobs.model")
    loaded = DensityPeaks.load(tmp_path / "blobs.model")
    new, _ = blobs(200, seed=1)
    for asked in (model, loaded):
        np.testing.assert_array_equal(asked.predict(X), model.labels_)
        np.testing.assert_array_equal(asked.predict(X[::-1]), model.labels_[::-1])
    np.testing.assert_array_equal(loaded.predict(new), model.predict(new))
    np.testing.assert_array_equal(loaded.score_samples(new), model.score_samples(new))
    assert loaded.smoothing_ == model.smoothing_


@pytest.mark.parametrize("offset", [0.0, 30.0], ids=["all around", "in a narrow cone"])
def test_new_samples_without_length_beside_samples_of_one_length(offset):
    X = blobs(500, 20)[0] + offset
    model = DensityPeaks().fit(X / np.linalg.norm(X, axis=1, keepdims=True))
    assert model.smoothing_.radius is not None
    nothing = np.zeros((40, 20))
    nothing[20:] = 1e-300
    assert len(set(model.predict(nothing))) == 1
    assert np.all(np.isfinite(model.score_samples(nothing)))


def test_new_samples_of_a_blob_join_it():
    X, truth = blobs(1000, spread=1.2)
    model = DensityPeaks().fit(X[:800])
    assert adjusted_mutual_info_score(truth[800:], model.predict(X[800:])) > 0.9


def test_noise_in_many_dimensions_hides_hills_without_it():
    scores = {True: [], False: []}
    for seed in range(3):
        X, truth = blobs(1500, 40, seed=seed, spread=0.8)
        for smooth in scores:
            labels = DensityPeaks(smooth=smooth).fit_predict(X)
            scores[smooth].append(adjusted_mutual_info_score(truth, labels))
    assert np.mean(scores[True]) > 0.93, scores
    assert np.mean(scores[False]) < 0.9, scores


@pytest.mark.parametrize("n_features", [500, 1000])
def test_noise_in_very_many_dimensions_is_one_cluster(n_features):
    noise = np.random.RandomState(0).standard_normal((500, n_features))
    model = DensityPeaks().fit(noise)
    assert (model.isolation_.kind, model.cut_.max_link, model.n_clusters_) == ("unknown", np.inf, 1)
    X, truth = blobs(500, n_features, 5, spread=0.5)
    assert adjusted_mutual_info_score(truth, DensityPeaks().fit_predict(X)) > 0.99


def test_in_the_plane_samples_stay_and_are_searched_once():
    X, _ = make_moons(500, noise=0.05, random_state=0)
    told = []
    model = DensityPeaks(callback=lambda progress: told.append((progress.stage, progress.done))).fit(X)
    assert model.smoothing_ is None
    assert told.count(("neighbours", 0)) == 1
    np.testing.assert_array_equal(model.labels_, DensityPeaks(smooth=False).fit_predict(X))


@pytest.mark.parametrize(
    "model",
    [
        DensityPeaks(smooth=False),
        DensityPeaks(max_link=3.0),
        DensityPeaks(KernelDiffusion(steps=3)),
        DensityPeaks("kd-sym"),
        DensityPeaks(metric="manhattan"),
    ],
    ids=["asked", "max_link", "density", "named density", "metric"],
)
def test_samples_stay_where_that_is_asked_for_or_lengths_are_given(model):
    X, _ = blobs(200, 12)
    assert model.fit(X).smoothing_ is None
    assert model.density_estimator_._points.space.points is model._landscape.points.space.points


def test_another_density_sees_moved_samples_if_asked():
    X, _ = blobs(600)
    model = DensityPeaks(KernelDiffusion(n_neighbors=25, steps=2), smooth=True).fit(X)
    assert model.smoothing_ is not None
    assert model.graph_.n_neighbors == 25
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_a_sparse_matrix_and_distances_stay():
    X, _ = blobs(200, 12)
    distances = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    for points, metric in ((sp.csr_array(X), "euclidean"), (distances, "precomputed")):
        assert DensityPeaks(metric=metric).fit(points).smoothing_ is None
        with pytest.raises(ValueError, match="smooth=True needs dense points"):
            DensityPeaks(metric=metric, smooth=True).fit(points)


def test_directions_move_as_points_on_the_sphere_and_their_links_are_as_long():
    X, _ = blobs(400, 20)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    on_sphere, by_angle = DensityPeaks().fit(unit), DensityPeaks(metric="cosine").fit(X)
    assert by_angle.smoothing_.kept == on_sphere.smoothing_.kept
    assert by_angle.smoothing_.dimension == pytest.approx(on_sphere.smoothing_.dimension)
    np.testing.assert_allclose(places_after(by_angle), places_after(on_sphere), rtol=1e-9, atol=1e-9)
    faces, _ = make_faces(600, n_features=64, singleton_share=0.4, random_state=0)
    plain, angle = (DensityPeaks(metric=metric).fit(faces) for metric in ("euclidean", "cosine"))
    assert plain.isolation_.kind == angle.isolation_.kind == "strangers"
    assert np.sqrt(2 * angle.cut_.max_link) == pytest.approx(plain.cut_.max_link)


def test_samples_on_a_sphere_stay_on_it():
    X, _ = blobs(200, 12)
    X *= 7 / np.linalg.norm(X, axis=1, keepdims=True)
    model = DensityPeaks().fit(X[:150])
    assert model.smoothing_.radius == pytest.approx(7)
    new = smoothed_samples(X[150:], model._landscape.points, model._landscape.distinct, model.smoothing_)
    for moved in (places_after(model), new):
        np.testing.assert_allclose(np.linalg.norm(moved, axis=1), 7)
    expected = [moved_by_loops(x, 1.0, X[:150], np.ones(150), model.smoothing_) for x in X[150:]]
    np.testing.assert_allclose(new, expected, rtol=1e-10, atol=1e-12)
    X[3] *= 1.1
    assert DensityPeaks().fit(X).smoothing_.radius is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_it_does_not_matter_how_far_the_origin_is(dtype):
    """Six groups one after the other, in metres on a map: nearly one length, but on no sphere."""
    truth = np.repeat(np.arange(6), 200)
    line = np.column_stack([0 * truth, 20.0 * truth, 0 * truth])
    X = line + 2 * np.random.RandomState(0).standard_normal((1200, 3))
    far = (X + np.array([5e5, 5.4e6, 300])).astype(dtype)
    for points in (X, far):
        model = DensityPeaks().fit(points)
        assert model.smoothing_.radius is None
        assert adjusted_mutual_info_score(truth, model.labels_) > 0.99


def test_what_all_samples_have_in_common_is_not_rounded_away():
    X, _ = blobs(300, 12)
    labels = DensityPeaks().fit_predict(X)
    constant = np.full((300, 3), 1e16)
    np.testing.assert_array_equal(DensityPeaks().fit_predict(np.hstack([X, constant])), labels)


def test_samples_that_are_all_zero_have_no_length_to_keep():
    model = DensityPeaks("fkd-asym", n_clusters=1, smooth=True).fit(np.zeros((30, 4)))
    assert model.smoothing_.radius is None
    assert not places_after(model).any()
    assert not model.labels_.any()


def test_opposite_directions_have_no_mean_and_stay():
    X = np.repeat(np.eye(4), 2, axis=0) * np.tile([1.0, -1.0], 4)[:, None]
    labels = DensityPeaks(metric="cosine", n_neighbors=8, smooth=True).fit_predict(X)
    assert len(labels) == 8


def test_single_precision_stays_and_threads_change_nothing():
    X = blobs(500)[0].astype(np.float32)
    one, two = (DensityPeaks(n_jobs=n_jobs).fit(X) for n_jobs in (1, 2))
    assert places_after(one).dtype == np.float32
    np.testing.assert_array_equal(places_after(one), places_after(two))
    np.testing.assert_array_equal(one.labels_, two.labels_)


@given(dimension=st.floats(0.5, 50), n_neighbors=st.integers(4, 60))
def test_dimension_of_neighbours_that_grow_like_a_power(dimension, n_neighbors):
    """Neighbour j of k at the length (j / k)^(1/m): sums of logarithms of j / k, over m."""
    count = n_neighbors - 1
    lengths = [(j / count) ** (1 / dimension) for j in range(1, count + 1)]
    points = np.concatenate([[0.0], lengths])[:, None]
    graph = neighbor_graph(points, n_neighbors).nearest(n_neighbors)
    own_row = graph.distances[:n_neighbors]
    sums = [
        np.sum([np.log(row[-1] / t) for t in row[1:-1]]) for row in graph.distances.reshape(-1, n_neighbors)
    ]
    expected = (n_neighbors - 3) / np.mean(sums) if n_neighbors > 3 else np.inf
    assert graph.intrinsic_dimension() == pytest.approx(expected)
    np.testing.assert_allclose(own_row[1:], lengths)


@pytest.mark.parametrize("n_features", [1, 2, 4, 8])
def test_dimension_of_a_cube_and_of_a_cube_in_more_features(n_features):
    X = np.random.RandomState(0).random_sample((4000, n_features))
    graph = neighbor_graph(X, 20)
    dimension = graph.intrinsic_dimension()
    assert dimension == pytest.approx(n_features, rel=0.2)
    rotation = np.linalg.qr(np.random.RandomState(1).standard_normal((12, 12)))[0][:n_features]
    assert neighbor_graph(X @ rotation, 20).intrinsic_dimension() == pytest.approx(dimension, rel=1e-6)
    squares = neighbor_graph(X, 20, metric="sqeuclidean")
    assert squares.intrinsic_dimension(2) == pytest.approx(dimension, rel=1e-6)


def test_all_is_kept_up_to_two_dimensions_and_less_the_more_there_are():
    shares = [DEFAULT.share_kept(30, dimension) for dimension in (0.5, 1, 2, 3, 5, 10, np.inf)]
    assert shares[:3] == [1, 1, 1]
    assert np.all(np.diff(shares[2:]) < 0)
    assert shares[-1] == round(30**-0.25, 3)
