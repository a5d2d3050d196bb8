"""Clusters are recognised by their members, and numbers are given by hand."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses

from diffpeaks import numbered
from diffpeaks.results import numbering
from diffpeaks.results.numbering import continued_clusters

clusterings = st.integers(1, 40).flatmap(
    lambda size: st.tuples(*(st.lists(st.integers(-1, 4), min_size=size, max_size=size) for _ in range(2)))
)


def as_loops(before, now):
    """Each pair of clusters that are each other's largest partner, the first of equal ones."""
    table = np.zeros((max(before) + 1, max(now) + 1), int)
    for old, new in zip(before, now, strict=True):
        if old >= 0 and new >= 0:
            table[old, new] += 1
    found = []
    for new in range(table.shape[1]):
        old = int(table[:, new].argmax()) if table.shape[0] and table[:, new].any() else -1
        found.append(old if old >= 0 and table[old].argmax() == new else -1)
    return found


@given(clusterings)
def test_clusters_continue_their_largest_partner(pair):
    before, now = pair
    expected = as_loops(before, now)
    assert continued_clusters(np.array(before), np.array(now)).tolist() == expected


@given(clusterings)
def test_many_clusters_are_matched_as_few_are(pair):
    before, now = map(np.array, pair)
    few = continued_clusters(before, now)
    kept, numbering._MOST_CELLS = numbering._MOST_CELLS, -1
    try:
        np.testing.assert_array_equal(continued_clusters(before, now), few)
    finally:
        numbering._MOST_CELLS = kept


def test_numbers_are_given_to_clusters_by_their_samples():
    assert numbered([2, 0, -1, 0, 1], {0: 9, 3: 2}).tolist() == [9, 2, -1, 2, 1]
    assert numbered([0, 1], {0: 1, 1: 0}).tolist() == [1, 0]
    assert numbered([-1, -1], {}).tolist() == [-1, -1]


def test_numbers_that_mean_nothing_are_refused():
    with refuses("sample 1 is noise"):
        numbered([0, -1], {1: 3})
    with refuses("two clusters have the number 1"):
        numbered([0, 1], {0: 1})
    with refuses("two numbers, 3 and 4"):
        numbered([0, 0], {0: 3, 1: 4})
    with refuses("number=-1"):
        numbered([0], {0: -1})
    with refuses("sample=7|in 0 .. 0"):
        numbered([0], {7: 1})
