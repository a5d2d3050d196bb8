"""New samples get the labels that the rules as loops give them."""

from functools import partial

import numpy as np
import pytest
import reference
import reference_prediction
from clouds import clouds, rows_of
from hypothesis import given
from hypothesis import strategies as st
from prediction_cases import CUTS, DENSITIES, NEW, X, assert_is_the_fit, fits, fitted
from refusals import refuses
from sklearn.metrics import pairwise_distances

from diffpeaks import NOISE, DensityDBSCAN, DensityPeaks, LocalContrast


def reference_labels(model, X, new, n_others, radius, shares):
    """What the loops say of each row of `new`."""
    both = reference.euclidean_distances(np.vstack([X, new])).astype(X.dtype).astype(float)
    D, between = both[: len(X), : len(X)], both[len(X) :, : len(X)]
    estimator, cut = model.density_estimator_, model.cut_
    clusters = model.recut(cut=cut, halo=False)
    max_link = cut.max_link if cut.n_clusters is None else np.inf
    second, own_second = np.zeros(len(X)), np.zeros(len(new))
    if isinstance(estimator, LocalContrast):
        second = reference.naive_density(D, radius)
        own_second = [sum(distance <= radius for distance in d) for d in between]
    keys = list(zip(model.density_, second, strict=True))
    own_keys = list(zip(model.score_samples(new), own_second, strict=True))
    border = None
    if model.halo:
        linked = rows_of(model._landscape.links)
        border = reference_prediction.border_density(linked, D, clusters, model.density_, max_link)
    # the default density sees each place once
    among = [i for i in range(len(X)) if model.density is not None or not (X[:i] == X[i]).all(axis=1).any()]
    expected = []
    for number, (x, d) in enumerate(zip(new, between, strict=True)):
        at_least = int(cut.n_clusters is not None)
        looked_at = partial(
            reference_prediction.neighbours, d, among, n_others, radius, shares, at_least=at_least
        )
        row = looked_at(max_link=max_link)
        if number < len(X) and np.array_equal(x, X[number]):
            expected.append(model.labels_[number])
        else:
            expected.append(
                reference_prediction.by_peaks(d, row, model.labels_, clusters, keys, own_keys[number], border)
            )
    return expected


def looked_at(model):
    estimator = model.density_estimator_
    return (estimator.n_neighbors_ or 1) - 1, estimator.radius_


@given(
    X=clouds(3),
    new=clouds(1, 12),
    density=st.sampled_from(DENSITIES),
    cut=st.sampled_from(CUTS),
    halo=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_the_rule_as_loops(X, new, density, cut, halo, dtype):
    new = np.resize(new + 0.25 * (len(new) % 2), (len(new), X.shape[1])).astype(dtype)
    X = X.astype(dtype)
    model = fits(density, cut, X) and fitted(DensityPeaks(density, **cut, halo=halo), X)
    if not model:
        return
    shares = model._landscape.settings.links
    assert model.predict(new).tolist() == reference_labels(model, X, new, *looked_at(model), shares)


@pytest.mark.parametrize("density", DENSITIES, ids=str)
@pytest.mark.parametrize("cut", CUTS, ids=str)
def test_the_rule_as_loops_among_more_samples(density, cut):
    halo = (DENSITIES.index(density) + CUTS.index(cut)) % 2 == 0  # of each density and of each cut, by turns
    model = DensityPeaks(density, **cut, halo=halo).fit(X)
    new = np.vstack([NEW, X[30:50], [[400.0, 400.0]]])
    shares = model._landscape.settings.links
    expected = reference_labels(model, X, new, *looked_at(model), shares)
    assert model.predict(new).tolist() == expected
    assert len(set(expected)) > 1 or cut.get("n_clusters") == 1


@given(
    X=clouds(3),
    new=clouds(1, 12),
    density=st.sampled_from(DENSITIES),
    min_density=st.sampled_from([0.5, 1.0, 2.0]),
    border=st.booleans(),
)
def test_the_rule_of_dbscan_as_loops(X, new, density, min_density, border):
    new = np.resize(new + 0.25, (len(new), X.shape[1]))  # off the grid: no row is a fitted sample
    if not fits(density, {}, X):
        return
    model = DensityDBSCAN(density, min_density, border).fit(X)
    between = reference.euclidean_distances(np.vstack([X, new]))[len(X) :, : len(X)]
    own = [None] * len(new) if border else model.density_estimator_.score_samples(new)
    n_others, radius = looked_at(model)
    expected = []
    for d, dense in zip(between, own, strict=True):
        row = reference_prediction.neighbours(d, range(len(X)), n_others, radius)
        expected.append(
            reference_prediction.by_cores(d, row, model.labels_, model.density_, min_density, dense)
        )
    assert model.predict(new).tolist() == expected


@pytest.mark.parametrize(
    "density", [np.arange(1.0, 91.0), lambda graph: graph.reach + 1], ids=["values", "f"]
)
@pytest.mark.parametrize("halo", [False, True])
def test_where_the_density_is_given_the_nearest_sample_decides(density, halo):
    model = DensityPeaks(density, halo=halo, n_neighbors=8).fit(X)
    assert_is_the_fit(model, X)
    between = pairwise_distances(NEW, X)
    nearest = between.argmin(axis=1)
    expected = np.where(between.min(axis=1) < model.cut_.max_link, model.labels_[nearest], NOISE)
    np.testing.assert_array_equal(model.predict(NEW), expected)
    cores = DensityDBSCAN(density, min_density=20, border=False, n_neighbors=8).fit(X)
    assert_is_the_fit(cores, X)
    np.testing.assert_array_equal(cores.predict(NEW), cores.labels_[nearest])
    with refuses("not known at new samples"):
        model.score_samples(NEW)
