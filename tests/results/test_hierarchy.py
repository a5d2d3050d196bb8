"""One tree of hills holds every cut by prominence; scipy reads the same from it."""

from itertools import pairwise

import numpy as np
import pytest
import reference
from clouds import general_position, rows_of, same_partition
from hills import hilly, max_links
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses
from scipy.cluster.hierarchy import dendrogram, fcluster, is_monotonic, is_valid_linkage
from sklearn.exceptions import NotFittedError

from diffpeaks import DensityPeaks
from diffpeaks.forest.peaks import peak_forest
from diffpeaks.results.hierarchy import Hierarchy

THRESHOLDS = [0.0, 0.1, 0.5, 1.0, 2.0, np.inf]


def peaks_by_the_reference(X, graph, density, forest, min_prominence, max_link):
    return reference.tomato_labels(
        rows_of(graph),
        reference.euclidean_distances(X),
        density,
        reference.density_order(density),
        forest.parent,
        min_prominence,
        max_link,
    )


@given(case=hilly(), max_link=max_links, min_prominence=st.sampled_from(THRESHOLDS))
def test_labels_equal_a_literal_tomato(case, max_link, min_prominence):
    X, graph, density = case
    forest = peak_forest(graph, density, max_link=max_link)
    labels = Hierarchy(forest, density).labels_at(min_prominence)
    expected = peaks_by_the_reference(X, graph, density, forest, min_prominence, max_link)
    assert same_partition(labels, expected)


@given(case=hilly(), max_link=max_links)
def test_merges_are_what_happens_while_the_threshold_rises(case, max_link):
    X, graph, density = case
    forest = peak_forest(graph, density, max_link=max_link)
    tree = Hierarchy(forest, density)
    assert np.all(np.diff(tree.merges.prominence) >= 0)
    peak_of = peaks_by_the_reference(X, graph, density, forest, 0.0, max_link)
    assert sorted(tree.hills) == sorted(set(peak_of))
    for i, (absorbed, into, saddle, level, prominence) in enumerate(zip(*tree.merges, strict=True)):
        assert forest.prominence[into] >= prominence == forest.prominence[absorbed]
        assert (saddle, level) == (forest.saddle[absorbed], density[saddle])
        assert {absorbed, into} <= set(peak_of)
        peak_of = [into if peak == absorbed else peak for peak in peak_of]
        if prominence < [*tree.merges.prominence, np.inf][i + 1]:
            above = np.nextafter(prominence, np.inf)
            assert peak_of == peaks_by_the_reference(X, graph, density, forest, above, max_link)
    assert len(set(peak_of)) == np.isinf(forest.prominence[tree.hills]).sum()


@given(case=hilly(), max_link=max_links, leaves=st.sampled_from(["samples", "hills"]))
def test_scipy_cuts_the_linkage_alike(case, max_link, leaves):
    _, graph, density = case
    tree = Hierarchy(peak_forest(graph, density, max_link=max_link), density)
    linkage = tree.to_scipy_linkage(leaves)
    n_leaves = len(density) if leaves == "samples" else len(tree.hills)
    assert linkage.shape == (n_leaves - 1, 4)
    if n_leaves == 1:
        return  # scipy knows no tree of one leaf
    assert is_valid_linkage(linkage, throw=True)
    assert is_monotonic(linkage)
    assert np.isfinite(linkage).all()
    assert linkage[-1, 3] == n_leaves
    levels = np.unique(np.append(tree.merges.prominence, [0.0, 0.3]))
    for level in levels[levels < tree.height_apart]:
        labels = tree.labels_at(np.nextafter(level, np.inf))
        cut = fcluster(linkage, level, "distance")
        assert same_partition(cut, labels if leaves == "samples" else labels[tree.hills])
    assert set(fcluster(linkage, tree.height_apart, "distance")) == {1}


@pytest.mark.parametrize("seed", range(3))
def test_the_tree_of_a_fit_equals_its_recuts(seed):
    X = general_position(seed, 200)
    model = DensityPeaks(n_clusters=2, min_cluster_size=50).fit(X)
    plain = {"min_cluster_size": 1, "noise": "keep"}
    tree, linkage = model.hierarchy(), model.hierarchy().to_scipy_linkage()
    for level in tree.merges.prominence:
        above = np.nextafter(level, np.inf)
        recut = model.recut(min_prominence=above, **plain)
        np.testing.assert_array_equal(tree.labels_at(above), recut)
        assert same_partition(fcluster(linkage, level, "distance"), recut)
    short = model.hierarchy(max_link=0.5)
    recut = model.recut(max_link=0.5, min_prominence=0.4, **plain)
    np.testing.assert_array_equal(short.labels_at(0.4), recut)
    automatic = DensityPeaks().fit(X)
    tree = automatic.hierarchy(automatic.cut_.max_link)
    np.testing.assert_array_equal(tree.labels_at(automatic.cut_.min_prominence), automatic.labels_)
    dendrogram(tree.to_scipy_linkage("hills"), no_plot=True)


@given(case=hilly(), max_link=max_links)
def test_scales_are_all_clusterings_there_are(case, max_link):
    _, graph, density = case
    tree = Hierarchy(peak_forest(graph, density, max_link=max_link), density)
    scales = tree.scales(None)
    numbers = [scale.n_clusters for scale in scales]
    assert all(number > 1 for number in numbers)
    assert numbers == sorted(set(numbers), reverse=True)
    for scale in scales:
        assert tree.labels_at(scale.min_prominence).max() + 1 == scale.n_clusters
        assert scale.stability == scale.high - scale.low
        just_above = np.nextafter(scale.low, np.inf) if scale.low < scale.high else scale.low
        np.testing.assert_array_equal(tree.labels_at(just_above), tree.labels_at(scale.high))
    assert all(finer.high == coarser.low for finer, coarser in pairwise(scales))
    few = tree.scales(2)
    assert few == [scale for scale in scales if scale in few]  # in the same order
    dropped = [scale.stability for scale in scales if scale not in few]
    assert max(dropped, default=-1) <= min((scale.stability for scale in few), default=np.inf)


def test_three_hills_of_known_heights():
    """Peaks 16, 8 and 4 over saddles 1 and 2: prominences log 8 and log 2."""
    X = np.arange(9.0)[:, None]
    density = np.array([4.0, 16, 3, 1, 8, 2, 4, 2.5, 0.5])
    tree = DensityPeaks(density, n_neighbors=3).fit(X).hierarchy()
    assert tree.hills.tolist() == [1, 4, 6]
    assert tree.merges.absorbed.tolist() == [6, 4]
    assert tree.merges.into.tolist() == [4, 1]
    assert tree.merges.saddle.tolist() == [5, 3]
    np.testing.assert_allclose(tree.merges.prominence, np.log([2, 8]))
    assert [scale.n_clusters for scale in tree.scales()] == [3, 2]
    assert tree.scales(1)[0].n_clusters == 2
    assert tree.scales(1)[0].stability == pytest.approx(np.log(4))


def test_parts_that_never_meet_are_joined_at_a_finite_height():
    X = np.array([0.0, 1, 2, 50, 51, 52])[:, None]
    tree = DensityPeaks(np.array([1.0, 3, 1, 1, 2, 1]), n_neighbors=2).fit(X).hierarchy()
    assert len(tree.merges.absorbed) == 0
    assert tree.scales() == tree.scales(None)
    assert tree.scales()[0].stability == np.inf
    assert tree.height_apart == 1
    assert tree.to_scipy_linkage("hills").tolist() == [[0, 1, 1, 2]]


@given(case=hilly(), max_link=max_links, max_hills=st.integers(1, 8))
def test_most_prominent_hills_in_the_order_of_a_drawing(case, max_link, max_hills):
    _, graph, density = case
    tree = Hierarchy(peak_forest(graph, density, max_link=max_link), density)
    tops, into, ends = tree.most_prominent(max_hills)
    assert len(set(tops)) == len(tops) <= max_hills
    absorbs = dict(zip(tree.merges.absorbed.tolist(), tree.merges.into.tolist(), strict=True))
    for place, (top, other, end) in enumerate(zip(tops.tolist(), into, ends, strict=True)):
        assert absorbs.get(top, top) == tops[other]
        assert all(ends[between] <= end for between in range(other + 1, place))  # no line crosses a bar
    if np.isinf(ends).sum() < max_hills:
        assert len(tops) == min(max_hills, len(tree.hills))


def test_refusals():
    with pytest.raises(NotFittedError):
        DensityPeaks().hierarchy()
    model = DensityPeaks().fit(general_position(0))
    with refuses("max_link"):
        model.hierarchy(max_link=-1.0)
    tree = model.hierarchy(max_link=np.inf)
    with refuses("min_prominence=-1|at least 0"):
        tree.labels_at(-1)
    with refuses("min_prominence=nan"):
        tree.labels_at(np.nan)
    for no_number in ("a", None, [1.0], True):
        with refuses(f"min_prominence must be a number, got {no_number!r}"):
            tree.labels_at(no_number)
    with refuses("leaves='trees'|'samples' or 'hills'"):
        tree.to_scipy_linkage("trees")
    with refuses("n_scales=0|at least 1"):
        tree.scales(0)
