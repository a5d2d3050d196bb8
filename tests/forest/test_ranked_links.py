"""Forests from links that were laid out once are those that the graph makes."""

import numpy as np
from clouds import clouds_and_k
from hypothesis import given
from hypothesis import strategies as st

from diffpeaks import neighbor_graph
from diffpeaks.forest.peaks import density_order, peak_forest
from diffpeaks.forest.ranked_links import RankedLinks


@given(case=clouds_and_k(), levels=st.sampled_from([2, 5, 1000]), seed=st.integers(0, 2**32 - 1))
def test_forests_of_many_links_are_those_of_the_graph(case, levels, seed):
    X, k = case
    random = np.random.default_rng(seed)
    graph = neighbor_graph(X, k)
    density = random.integers(0, levels, len(X)).astype(float)
    tie_break = random.integers(0, 2, len(X)).astype(float)
    ranked = RankedLinks(graph, density, density_order(density, tie_break))
    for max_link in (np.inf, 3.0, 1.0, 0.5):
        found, expected = (
            ranked.forest(max_link),
            peak_forest(graph, density, order=density_order(density, tie_break), max_link=max_link),
        )
        np.testing.assert_array_equal(found.hill, expected.hill)
        for name, values in vars(expected).items():
            np.testing.assert_array_equal(getattr(found, name), values, err_msg=name)
            assert getattr(found, name).dtype == values.dtype
