"""Colours can be told apart, also by those who see fewer of them."""

from itertools import combinations

import numpy as np
import pytest

from diffpeaks._base.palette import HUES, N_COLORS, NOISE_COLOR, cluster_colors, css_color

# Machado, Oliveira and Fernandes (2009), full severity, on linear light
DEFICIENCIES = {
    "none": np.eye(3),
    "protan": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deutan": [[0.367, 0.861, -0.228], [0.28, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritan": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}
# Ottosson's Oklab: differences of 0.02 are just seen
TO_CONES = [[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.63]]
TO_LAB = [[0.2105, 0.7936, -0.0041], [1.978, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]]


def linear(color):
    return np.where(color <= 0.04045, color / 12.92, ((color + 0.055) / 1.055) ** 2.4)


def perceived(color, deficiency):
    light = np.clip(np.array(deficiency) @ linear(color), 0, 1)
    return np.array(TO_LAB) @ np.cbrt(np.array(TO_CONES) @ light)


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
