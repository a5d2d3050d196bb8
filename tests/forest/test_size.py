"""Hills that are weighed by their size: as loops say, and what comes of it."""

from dataclasses import replace

import numpy as np
import pytest
from clouds import general_position
from sklearn.datasets import make_blobs, make_circles, make_moons

from diffpeaks import DensityPeaks
from diffpeaks.cuts import Cut
from diffpeaks.forest.size import weighed_by_size
from diffpeaks.metrics import bcubed_scores
from diffpeaks.recipes import DEFAULT


def component(start, edges):
    found, new = set(), {start}
    while new:
        found |= new
        new = {b for a in found for pair in edges if a in pair for b in pair} - found
    return found


def separations_by_loops(forest, distinct, weight, usual_size):
    """For each top that meets a denser hill: who is connected to either over higher saddles, counted anew."""
    tops = [top for top in forest.roots if forest.saddle[top] >= 0]
    edges = {top: (top, forest.hill[forest.crossing[top]]) for top in tops}
    found = {}
    for top in sorted(tops, key=lambda top: forest.rank[forest.saddle[top]]):
        higher = [edges[t] for t in tops if forest.rank[forest.saddle[t]] < forest.rank[forest.saddle[top]]]
        both = [component(end, higher) for end in edges[top]]
        size = min(sum(forest.hill[i] in hills for i in distinct) for hills in both)
        less = weight * min(1.0, np.log(max(1.0, size / usual_size)))
        found[top] = max([forest.prominence[top] - less, *(found[t] for t in both[0] if t in found)])
    return found


@pytest.mark.parametrize("copies", [0, 60])
@pytest.mark.parametrize("seed", range(4))
def test_hills_are_weighed_as_the_loops_say(seed, copies):
    X = general_position(seed, 240)
    X = np.concatenate([X, X[:copies]])
    landscape = DensityPeaks(n_neighbors=6).fit(X)._landscape
    forest, first = landscape.forest_within(np.inf), landscape.distinct.first
    distinct = range(len(X)) if first is None else first
    weighed = weighed_by_size(forest, slice(None) if first is None else first, 0.3, 8.0)
    expected = separations_by_loops(forest, distinct, 0.3, 8.0)
    assert len(expected) > 3
    for top, separation in expected.items():
        assert weighed.prominence[top] == pytest.approx(separation, abs=1e-12)
    others = np.setdiff1d(np.arange(len(X)), list(expected))
    np.testing.assert_array_equal(weighed.prominence[others], forest.prominence[others])
    np.testing.assert_array_equal(weighed.saddle, forest.saddle)


def test_small_hills_keep_their_rise():
    X, _ = make_blobs(400, 2, centers=6, random_state=0)
    forest = DensityPeaks().fit(X)._landscape.forest_within(np.inf)
    weighed = weighed_by_size(forest, slice(None), 0.1, 400.0)
    np.testing.assert_array_equal(weighed.prominence, forest.prominence)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("made", "shape"), [(make_moons, {"noise": 0.05}), (make_circles, {"noise": 0.08, "factor": 0.5})]
)
def test_threads_of_many_samples_stay_whole(made, shape, seed):
    X, truth = made(20_000, random_state=seed, **shape)
    model = DensityPeaks().fit(X)
    assert model.cut_.size_weight == DEFAULT.size_weight
    assert model.n_clusters_ == 2
    assert bcubed_scores(truth, model.labels_).f > 0.99


def test_the_size_counts_where_flow_does_not():
    weights = [DEFAULT.in_dimensions(m) for m in (1.0, 2.0, 2.4, 2.5, 10.0, np.inf)]
    assert [w.size_weight for w in weights] == [DEFAULT.size_weight] * 3 + [0.0] * 3


def test_a_rule_alone_weighs_no_sizes():
    X, _ = make_moons(5_000, noise=0.05, random_state=0)
    model = DensityPeaks().fit(X)
    by_height = model.recut(cut=replace(model.cut_, size_weight=0.0))
    np.testing.assert_array_equal(model.recut(min_prominence=model.cut_.min_prominence), by_height)
    assert len(np.unique(by_height)) > 2 == model.n_clusters_


def test_weights_of_hills_are_refused_together_and_out_of_bounds():
    for bad in (-0.1, np.nan, np.inf, "a", None):
        with pytest.raises(ValueError, match="size_weight="):
            Cut(size_weight=bad)
    with pytest.raises(ValueError, match=r"n_clusters=3.*weighs hills.*use size_weight=0.*recut"):
        replace(Cut(size_weight=0.3), n_clusters=3)
    with pytest.raises(ValueError, match=r"by flow and by size; set flow_weight=0 or size_weight=0"):
        Cut(flow_weight=0.3, size_weight=0.15)
