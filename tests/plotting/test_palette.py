"""Colours can be told apart, also by those who see fewer of them."""

from itertools import combinations

import numpy as np
import pytest
from vision import DEFICIENCIES, linear, perceived

from diffpeaks._base.palette import HUES, N_COLORS, NOISE_COLOR, cluster_colors, css_color


@pytest.mark.parametrize("name", DEFICIENCIES)
def test_hues_differ_for_every_eye(name):
    seen = [perceived(color, DEFICIENCIES[name]) for color in cluster_colors(np.arange(len(HUES)))]
    assert min(np.linalg.norm(one - other) for one, other in combinations(seen, 2)) > 0.07


def test_every_colour_of_the_cycle_is_another_and_none_is_that_of_noise():
    colors = cluster_colors(np.arange(-1, N_COLORS))
    assert min(np.abs(one - other).max() for one, other in combinations(colors, 2)) > 0.05
    assert css_color(-1) == NOISE_COLOR


def test_colours_come_again_after_the_cycle():
    np.testing.assert_array_equal(cluster_colors([N_COLORS, 5 * N_COLORS + 3]), cluster_colors([0, 3]))
    assert [css_color(label) for label in range(len(HUES))] == list(HUES)


def test_hues_show_on_white_and_on_near_black():
    def luminance(color):
        return np.dot([0.2126, 0.7152, 0.0722], linear(color)) + 0.05

    for color in cluster_colors(np.arange(len(HUES))):
        assert luminance(np.ones(3)) / luminance(color) > 2
        assert luminance(color) / luminance(np.full(3, 0.09)) > 2
