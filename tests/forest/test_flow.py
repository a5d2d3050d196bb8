"""Hills that are weighed by the flow over their passes: as loops say, and what comes of it."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.metrics import adjusted_mutual_info_score

from diffpeaks import DensityPeaks
from diffpeaks.cuts import Cut
from diffpeaks.forest.flow import HillFlow
from diffpeaks.forest.peaks import peak_labels
from diffpeaks.recipes import DEFAULT


def overlapping(n_samples=500, n_features=6, seed=0, copies=0):
    X, labels = make_blobs(n_samples, n_features, centers=5, cluster_std=3.0, random_state=seed)
    return np.concatenate([X, X[:copies]]), np.concatenate([labels, labels[:copies]])


def joined_by_loops(model, cut):
    """Prominence, saddle and crossing of tops, pair by pair, all looked at again for every merge."""
    forest = model._landscape.forest_within(cut.max_link)
    tops = forest.roots
    hill = tops[peak_labels(forest, tops)]
    walk, weights = model.density_estimator_.walk().transition.toarray(), model._landscape.distinct.weights
    graph, of_place = model.density_estimator_.graph_, model._landscape.distinct.of_first(hill)
    flows = {}
    for i in range(graph.n_samples):
        row = slice(graph.indptr[i], graph.indptr[i + 1])
        for j, length in zip(graph.indices[row], graph.distances[row], strict=True):
            if length < cut.max_link:
                pair = of_place[i], of_place[j]
                flows[pair] = flows.get(pair, 0.0) + walk[i, j] * (1.0 if weights is None else weights[i])
    links, sets, found = model._landscape.links, {top: {top} for top in tops}, {}
    level = 0.0
    while True:
        candidates = []
        for a in sets:
            for b in sets:
                if a != b and forest.rank[a] > forest.rank[b]:
                    candidates += pass_between(a, b, sets, flows, links, hill, forest, model.density_, cut)
        if not candidates:
            return found
        apart, _, _, _, a, b, lower, upper = min(candidates)
        level = max(level, apart)
        end = upper if hill[lower] in sets[a] else lower
        found[a] = level, lower, end
        sets[b] |= sets.pop(a)


def pass_between(a, b, sets, flows, links, hill, forest, density, cut):
    over = sum(flow for (i, j), flow in flows.items() if (i in sets[a] and j in sets[b]))
    over += sum(flow for (i, j), flow in flows.items() if (i in sets[b] and j in sets[a]))
    total = [sum(f * ((i in s) + (j in s)) for (i, j), f in flows.items()) for s in (sets[a], sets[b])]
    highest = []
    for i in range(links.n_samples):
        for e in range(links.indptr[i] + 1, links.indptr[i + 1]):
            j = links.indices[e]
            across = (hill[i] in sets[a] and hill[j] in sets[b]) or (
                hill[i] in sets[b] and hill[j] in sets[a]
            )
            if across and links.distances[e] < cut.max_link:
                upper, lower = sorted((i, j), key=lambda sample: forest.rank[sample])
                highest.append((forest.rank[lower], forest.rank[upper], lower, upper))
    if not highest:
        return []
    _, _, lower, upper = min(highest)
    rise = np.log(density[a]) - np.log(density[lower])
    apart = np.float32(rise - cut.flow_weight * np.log(over / min(total) / DEFAULT.usual_flow))
    return [(apart, forest.rank[a], forest.rank[upper], forest.rank[b], a, b, lower, upper)]


@pytest.mark.parametrize("copies", [0, 40])
@pytest.mark.parametrize("max_link", [np.inf, 9.0])
def test_hills_join_as_the_loops_say(copies, max_link):
    X, _ = overlapping(150, copies=copies)
    model = DensityPeaks(smooth=False).fit(X)
    cut = Cut(max_link=max_link, flow_weight=0.6)
    forest = model._landscape.forest(cut)
    expected = joined_by_loops(model, cut)
    assert len(expected) > 3
    for top, (apart, lower, end) in expected.items():
        assert forest.prominence[top] == pytest.approx(apart, abs=1e-6)
        assert (forest.saddle[top], forest.crossing[top]) == (lower, end)
    apart_for_ever = set(forest.roots) - set(expected)
    assert all(forest.prominence[top] == np.inf for top in apart_for_ever)


@pytest.mark.parametrize("seed", range(3))
def test_without_weight_heights_alone_decide(seed):
    X, _ = overlapping(800, seed=seed)
    model = DensityPeaks(smooth=False).fit(X)
    landscape = model._landscape
    plain = landscape.forest_within(np.inf)
    flow = HillFlow(plain, landscape.links, model.density_, landscape.order, landscape.walk)
    weighed = flow.weighed(plain, np.inf, 0.0, DEFAULT.usual_flow)
    for threshold in (0.1, 0.3, 0.5, 0.8, 1.2):
        roots = plain.roots
        kept = [roots[forest.prominence[roots] >= threshold] for forest in (plain, weighed)]
        np.testing.assert_array_equal(*kept)
        np.testing.assert_array_equal(peak_labels(plain, kept[0]), peak_labels(weighed, kept[1]))


FOREST = ("parent", "delta", "prominence", "saddle", "crossing", "rank", "hill")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n_samples", "copies"), [(2000, 0), (2000, 700), (40_000, 0)])
def test_kept_rows_change_nothing(n_samples, copies, dtype):
    """Under every longest link: from rows that were kept, and from all rows anew."""
    X, _ = overlapping(n_samples, copies=copies)  # many enough to be added up in parts, or not
    model = DensityPeaks().fit(X.astype(dtype))
    kept, anew = model._landscape, replace(model._landscape)
    kept.keep_flow()
    links = kept.forest_within(np.inf).delta
    lengths = np.quantile(links[np.isfinite(links)], [0.02, 0.3, 0.6, 0.9, 0.99, 0.999, 1.0])
    for max_link in [*lengths.tolist(), np.inf]:
        cut = Cut(max_link=max_link, flow_weight=0.7)
        one, other = kept.forest(cut), anew.forest(cut)
        assert kept._flow.keeps
        assert not anew._flow.keeps
        for name in FOREST:
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


@pytest.mark.parametrize("share", [0.3, 0.9, 0.99])
def test_another_longest_link_is_that_of_a_fit(share):
    X, _ = overlapping(900, 3)
    delta = DensityPeaks(smooth=False).fit(X).forest_.delta
    max_link = float(np.quantile(delta[np.isfinite(delta)], share))
    fitted = DensityPeaks(smooth=False, max_link=max_link).fit(X)
    model = DensityPeaks(smooth=False).fit(X)
    np.testing.assert_array_equal(model.recut(max_link=max_link), fitted.labels_)
    by_flow = Cut(max_link=max_link, flow_weight=0.5)
    np.testing.assert_array_equal(model.recut(cut=by_flow), fitted.recut(cut=by_flow))


def test_flow_counts_in_many_dimensions_alone():
    def weight_in(dimension):
        return DEFAULT.in_dimensions(dimension).flow_weight

    assert weight_in(1.0) == weight_in(2.0) == weight_in(2.4) == 0
    assert 0 < weight_in(3.0) < weight_in(10.0) < weight_in(1e9) == 1
    assert weight_in(np.inf) == DensityPeaks(n_neighbors=3).fit(load_digits().data).cut_.flow_weight == 0
    plane = DensityPeaks().fit(make_moons(500, noise=0.05, random_state=0)[0])
    assert plane.cut_.flow_weight == 0
    digits = DensityPeaks().fit(load_digits().data)
    assert digits.cut_.flow_weight > 0.4
    assert digits.cut_.min_prominence == DEFAULT.rise < plane.cut_.min_prominence
    assert DensityPeaks("kd-sym").fit(load_digits().data[:500]).cut_.flow_weight == 0


def test_flow_tells_overlapping_blobs_apart():
    scores = {True: [], False: []}
    for seed in range(6):
        X, truth = make_blobs(2000, 10, centers=8, cluster_std=3.3, random_state=seed)
        model = DensityPeaks().fit(X)
        by_height = replace(model.cut_, flow_weight=0.0)
        scores[True].append(adjusted_mutual_info_score(truth, model.labels_))
        scores[False].append(adjusted_mutual_info_score(truth, model.recut(cut=by_height)))
    assert np.mean(scores[True]) > np.mean(scores[False]), scores


def test_the_order_of_samples_has_no_part_in_it():
    X, _ = overlapping(900)
    order = np.random.RandomState(0).permutation(len(X))
    one, other = DensityPeaks().fit(X), DensityPeaks().fit(X[order])
    assert one.cut_.flow_weight == other.cut_.flow_weight > 0
    np.testing.assert_array_equal(one.labels_[order], other.labels_)


def test_flow_is_refused_where_there_is_no_walk():
    X, _ = overlapping(200)
    model = DensityPeaks("naive", max_link=5.0).fit(X)
    with pytest.raises(ValueError, match=r"NaiveDensity has none.*flow_weight=0"):
        model.recut(cut=Cut(max_link=5.0, flow_weight=0.3))
    for bad in (-0.1, np.nan, np.inf, "a", None):
        with pytest.raises(ValueError, match="flow_weight="):
            Cut(flow_weight=bad)
    with pytest.raises(ValueError, match=r"n_clusters=3.*weighs hills.*use flow_weight=0.*recut"):
        replace(Cut(flow_weight=0.3), n_clusters=3)


def test_a_cut_of_the_fit_can_be_changed_in_one_rule():
    X, _ = overlapping(900)
    model = DensityPeaks().fit(X)
    np.testing.assert_array_equal(model.recut(cut=model.cut_), model.labels_)
    apart = model.hierarchy(model.cut_.max_link).merges.prominence
    assert np.all(np.diff(apart) >= 0)
    cuts = [replace(model.cut_, min_prominence=prominence) for prominence in (0.0, 0.5, 1.0, 3.0)]
    numbers = [model.recut(cut=cut).max() + 1 for cut in cuts]
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[0] > numbers[-1]
