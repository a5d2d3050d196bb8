"""No tag covers another, and a tag that need not be moved stays."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from diffpeaks.maps import separated_tags

SEEDS = st.integers(0, 2**32 - 1)


@given(st.integers(0, 25), st.floats(0, 40), SEEDS)
def test_no_tag_covers_another(n_tags, spread, seed):
    random = np.random.default_rng(seed)
    anchors, sizes = spread * random.normal(size=(n_tags, 2)), random.uniform(1, 20, (n_tags, 2))
    placed = separated_tags(anchors, sizes)
    for one, other in combinations(range(n_tags), 2):
        apart = np.abs(placed[one] - placed[other]) - (sizes[one] + sizes[other]) / 2
        assert apart.max() > -1e-9


@given(st.integers(1, 25), SEEDS)
def test_tags_with_room_stay_at_their_anchors(n_tags, seed):
    anchors = 30.0 * np.random.default_rng(seed).permutation(100)[:n_tags, None] * [1, 0.5]
    np.testing.assert_array_equal(separated_tags(anchors, np.full((n_tags, 2), 10.0)), anchors)


def test_the_most_important_stays_and_others_are_moved_no_farther_than_need_be():
    placed = separated_tags(np.zeros((9, 2)), np.full((9, 2), 2.0))
    np.testing.assert_array_equal(placed[0], 0)
    assert np.abs(placed).max() <= 5
