"""More samples of the same law find more of its clusters, and none twice."""

import numpy as np
import pytest
import reference
from clouds import general_position
from sklearn.preprocessing import normalize

from diffpeaks import DensityPeaks, KernelDiffusion
from diffpeaks.metrics import bcubed_scores
from diffpeaks.recipes import DEFAULT


def grid_of_gaussians(n_samples, n_features=2, side=4, spacing=4.0):
    """Nested samples: the first rows of a larger draw are the smaller draw."""
    random = np.random.RandomState(0)
    truth = random.randint(side**2, size=40_000)[:n_samples]
    noise = random.standard_normal((40_000, n_features))[:n_samples]
    centers = np.zeros((side**2, n_features))
    centers[:, :2] = spacing * np.stack(np.divmod(np.arange(side**2), side), axis=1)
    return centers[truth] + noise, truth


@pytest.mark.parametrize("n_features", [2, 5])
def test_nested_samples_of_a_mixture_find_its_components(n_features):
    found, scores = [], []
    for n_samples in (2_500, 10_000, 40_000):
        X, truth = grid_of_gaussians(n_samples, n_features)
        model = DensityPeaks().fit(X)
        found.append(model.n_clusters_)
        scores.append(bcubed_scores(truth, model.labels_).f)
    assert found[-1] == 16
    assert np.all(np.diff(scores) > -0.02), scores


@pytest.mark.parametrize("n_samples", [300, 3000])
@pytest.mark.parametrize("draw", ["normal", "uniform"])
def test_samples_on_a_line_are_one_cluster(draw, n_samples):
    for seed in range(3):
        X = getattr(np.random.RandomState(seed), draw)(size=(n_samples, 1))
        assert DensityPeaks().fit(X).n_clusters_ == 1


def test_hills_must_rise_more_below_two_dimensions():
    assert all(DEFAULT.in_dimensions(m).rise == DEFAULT.rise for m in (2.0, 7.0, np.inf))
    assert DEFAULT.in_dimensions(1.0).rise == pytest.approx(2 * DEFAULT.rise)


def test_the_start_as_loops():
    X = general_position(3, 50)
    D = reference.euclidean_distances(X)
    model = KernelDiffusion(9, steps=2, start_power=1.5).fit(X)
    reach = np.array([sorted(row)[8] for row in D])
    mass = reach**-1.5 / np.mean(reach**-1.5)
    for _ in range(2):
        arriving = np.zeros(50)
        for i in range(50):
            row = sorted(range(50), key=lambda j, i=i: (D[i][j], j))[:9]
            weights = {j: np.exp(-((D[i][j] / reach[i]) ** 2)) for j in row}
            for j in row:
                arriving[j] += mass[i] * weights[j] / sum(weights.values())
        mass = arriving
    np.testing.assert_allclose(model.density_, mass, rtol=1e-9)
    np.testing.assert_allclose(model.score_samples(X), mass, rtol=1e-9)
    assert model.density_.mean() == pytest.approx(1)


def test_a_start_of_two_is_the_density_in_the_plane():
    """Where half the samples fill a tenth of the area, a few steps from there see nine times the density.

    A uniform start needs as many steps as the walk takes to cross the plane, and sees none of it.
    """
    random = np.random.RandomState(0)
    dense = random.uniform(size=(10_000, 2)) * [0.1, 1.0]
    sparse = random.uniform(size=(10_000, 2)) * [0.9, 1.0] + [0.1, 0.0]
    X = np.vstack([dense, sparse])
    inside = (np.abs(X[:, 0] - 0.05) < 0.03, np.abs(X[:, 0] - 0.5) < 0.3)
    ratios = []
    for power in (2.0, 0.0):
        density = KernelDiffusion(30, steps=3, start_power=power).fit(X).density_
        ratios.append(np.median(density[inside[0]]) / np.median(density[inside[1]]))
    assert ratios[0] == pytest.approx(9, rel=0.1)
    assert ratios[1] == pytest.approx(1, rel=0.1)


def test_lengths_of_directions_start_the_walk():
    X = normalize(np.random.RandomState(0).normal(size=(200, 3)))
    by_angle, by_length = (
        KernelDiffusion(12, kernel="uniform", start_power=2.0, metric=metric).fit(X).density_
        for metric in ("cosine", "euclidean")
    )
    np.testing.assert_allclose(by_angle, by_length, rtol=1e-6)


def test_copies_alone_start_uniformly_and_do_not_overflow():
    ones = np.ones((5, 2))
    uniform, started = (KernelDiffusion(3, start_power=power).fit(ones).density_ for power in (0.0, 2.0))
    np.testing.assert_array_equal(uniform, started)
    X = np.concatenate([np.full((4, 1), 1e150), 1e-150 * np.arange(40.0)[:, None]])
    density = KernelDiffusion(4, steps=2, start_power=3.0).fit(X).density_
    assert np.isfinite(density).all()


def test_the_limit_forgets_the_start_and_says_so():
    with pytest.raises(ValueError, match=r"start_power=2.0 has no effect on infinitely many steps"):
        KernelDiffusion(5, steps=np.inf, start_power=2.0).fit(general_position(0))
