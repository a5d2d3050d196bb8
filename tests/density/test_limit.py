"""Laws of the walk, and the limit that the paper defines."""

import numpy as np
import pytest
import reference
import scipy.sparse as sp
from clouds import clouds_and_k, general_position
from hypothesis import given
from hypothesis import strategies as st

from diffpeaks import ConvergenceError, DensityPeaks, KernelDiffusion, neighbor_graph
from diffpeaks.density.limit import limit, reversible_limit
from diffpeaks.density.walk import KERNELS, diffuse, local_bandwidth, walk_on

seeds = st.integers(0, 2**32 - 1)
kernel_names = st.sampled_from(list(KERNELS))


@given(case=clouds_and_k(), kernel=kernel_names)
def test_rows_sum_to_one(case, kernel):
    X, k = case
    graph = neighbor_graph(X, k)
    P = walk_on(graph, kernel, local_bandwidth(graph)).transition
    np.testing.assert_allclose(np.asarray(P.sum(axis=1)).ravel(), 1, rtol=1e-14)


@given(
    case=clouds_and_k(),
    kernel=kernel_names,
    steps=st.sampled_from([1, 2, 9, np.inf]),
    teleport=st.sampled_from([0.0, 0.15]),
    ball=st.booleans(),
)
def test_mean_one(case, kernel, steps, teleport, ball):
    X, k = case
    radius = 1.5 if ball else None
    density = KernelDiffusion(k, radius, kernel=kernel, steps=steps, teleport=teleport).fit(X).density_
    assert density.mean() == pytest.approx(1, rel=1e-9)
    assert np.all(density >= 0)


@given(case=clouds_and_k(), teleport=st.sampled_from([0.0, 0.01, 0.5]))
def test_the_limit_does_not_change_any_more(case, teleport):
    X, k = case
    graph = neighbor_graph(X, k)
    walk = walk_on(graph, "gaussian", local_bandwidth(graph))
    density = limit(walk.transition, teleport).density
    np.testing.assert_allclose(diffuse(walk, density, 3, teleport)[0], density, rtol=1e-9, atol=1e-12)


@given(case=clouds_and_k())
def test_closed_form_equals_iteration_and_the_general_solution(case):
    X, _ = case
    graph = neighbor_graph(X, radius=1.5)
    walk = walk_on(graph, "gaussian", 2.0)
    P, closed_form = walk.transition, reversible_limit(walk)
    np.testing.assert_allclose(closed_form.density, limit(P).density, rtol=1e-9)
    np.testing.assert_allclose(diffuse(walk, steps=3000)[0], closed_form.density, rtol=1e-6)
    assert closed_form.n_closed_classes == limit(P).n_closed_classes


@pytest.mark.parametrize("radius", [None, 1.0])
def test_a_limit_too_large_to_solve_is_refused(monkeypatch, radius):
    monkeypatch.setattr("diffpeaks.density.limit.MAX_LIMIT_ENTRIES", 100)
    with pytest.raises(ValueError, match=r"at most 100 graph entries.*finitely many steps"):
        KernelDiffusion(8, radius, steps=np.inf).fit(general_position(0))


@pytest.mark.parametrize("leaving", [1e-260, 1e-320])
def test_samples_that_are_hardly_ever_left_are_refused(leaving):
    """The walk leaves the first two for the third, but after more steps than a float can count."""
    walk = sp.csr_array(np.array([[0.5, 0.5, leaving], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]))
    with pytest.raises(ConvergenceError, match="underflow"):
        limit(walk)


def test_any_number_of_steps_approaches_the_limit():
    X = general_position(0)
    limit_density = KernelDiffusion(8, steps=np.inf).fit(X).density_
    near, far = (np.abs(KernelDiffusion(8, steps=t).fit(X).density_ - limit_density).max() for t in (5, 5000))
    assert far < 1e-8 < near


@given(seed=seeds, sizes=st.lists(st.integers(1, 15), min_size=1, max_size=4), steps=st.integers(1, 6))
def test_theorem_3_every_separate_cluster_has_mean_one(seed, sizes, steps):
    random = np.random.default_rng(seed)
    X = np.concatenate([random.random((size, 2)) + 10 * c for c, size in enumerate(sizes)])
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    density = KernelDiffusion(radius=0.7, kernel="uniform", steps=steps).fit(X).density_
    for c in range(len(sizes)):
        assert density[cluster == c].mean() == pytest.approx(1)


@given(seed=seeds, steps=st.sampled_from([1, 3, np.inf]), ball=st.booleans())
def test_permutation(seed, steps, ball):
    X = general_position(seed)
    order = np.random.default_rng(seed).permutation(len(X))
    make = lambda: DensityPeaks(KernelDiffusion(7, 1.0 if ball else None, steps=steps), min_prominence=0.5)  # noqa: E731
    model, shuffled = make().fit(X), make().fit(X[order])
    np.testing.assert_allclose(shuffled.density_, model.density_[order], rtol=1e-9, atol=1e-12)
    if steps == 1 and not ball:  # elsewhere equal densities are ordered by index
        np.testing.assert_array_equal(shuffled.labels_, model.labels_[order])


@given(seed=seeds, shift=st.floats(-100, 100), angle=st.floats(0, 6.28))
def test_translation_and_rotation(seed, shift, angle):
    X = general_position(seed)
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    for density in (
        KernelDiffusion(7, steps=3),
        KernelDiffusion(7, steps=np.inf),
        KernelDiffusion(7, radius=3.0),
    ):
        np.testing.assert_allclose(
            density.fit(X @ rotation + shift).density_, density.fit(X).density_, rtol=1e-6, atol=1e-9
        )


@given(seed=seeds, c=st.floats(0.01, 100))
def test_scaling_with_radius_and_bandwidth(seed, c):
    X = general_position(seed)
    for bandwidth, scaled in ((0.5, 0.5 * c * c), ("median", "median"), ("local", "local")):
        asymmetric = KernelDiffusion(7, None, bandwidth, steps=3).fit(X)
        np.testing.assert_allclose(
            KernelDiffusion(7, None, scaled, steps=3).fit(c * X).density_, asymmetric.density_, rtol=1e-7
        )
        symmetric = KernelDiffusion(7, 1.03, bandwidth, steps=3).fit(X)
        np.testing.assert_allclose(
            KernelDiffusion(7, 1.03 * c, scaled, steps=3).fit(c * X).density_, symmetric.density_, rtol=1e-7
        )


def two_stars(n_leaves):
    """Transition matrix of two stars joined at their hubs, self loops included."""
    n = 2 * (n_leaves + 1)
    W = np.eye(n)
    for hub in (0, 1):
        leaves = slice(2 + hub * n_leaves, 2 + (hub + 1) * n_leaves)
        W[hub, leaves] = W[leaves, hub] = 1
    W[0, 1] = W[1, 0] = 1
    return W / W.sum(axis=1, keepdims=True)


def test_the_theorem_on_kd_and_fkd_does_not_hold():
    """KD / FKD should tend to one. On two joined stars it tends to 2/3 at the hubs, 4/3 at the leaves."""
    for n_leaves, accuracy in ((50, 0.05), (200, 0.0125)):
        P = two_stars(n_leaves)
        fkd = reference.diffuse(P, 1)
        end = limit(sp.csr_array(P))
        kd = end.density
        if n_leaves == 50:  # loops over all pairs
            np.testing.assert_allclose(kd, reference.limit_density(P)[0], rtol=1e-9)
        assert (end.n_closed_classes, end.transient_share) == (1, 0)  # ergodic, as the theorem asks
        assert np.all(fkd / len(P) < 0.6)  # and FKD, as a probability, stays below a constant c < 1
        assert kd[0] / fkd[0] == pytest.approx(2 / 3, abs=accuracy)
        assert kd[-1] / fkd[-1] == pytest.approx(4 / 3, abs=accuracy)


@pytest.mark.parametrize("n", [200, 1000])
def test_kd_and_fkd_stay_apart_as_points_are_added(n):
    X = np.random.default_rng(0).beta(2, 5, (n, 1))
    fkd, kd = (KernelDiffusion(radius=0.1, bandwidth=0.01, steps=t).fit(X).density_ for t in (1, np.inf))
    assert np.min(kd / fkd) < 0.5
