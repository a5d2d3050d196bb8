"""Passes over blocks in files are those of the compiled core over the whole graph, to the last bit."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from stored_runs import new_store, stored

from diffpeaks import neighbor_graph
from diffpeaks.density.walk import diffuse, local_bandwidth, starting_mass, walk_on
from diffpeaks.forest.flow import HillFlow
from diffpeaks.forest.peaks import density_order, hill_links, linked_along, peak_forest
from diffpeaks.graph.neighbor_graph import FEWEST_NEIGHBORS
from diffpeaks.recipes import LinkShares
from diffpeaks.results.confidence import probabilities
from diffpeaks.sharded.blocks import all_bounds, on_blocks
from diffpeaks.sharded.results import _probabilities
from diffpeaks.sharded.store import concatenated


@st.composite
def graphs(draw):
    """A graph of nearest neighbours, and where its rows are cut."""
    n_samples = draw(st.integers(3, 60))
    values = np.random.RandomState(draw(st.integers(0, 99))).standard_normal((n_samples, 3))
    if draw(st.booleans()):
        values = np.round(values)  # ties and copies
    n_neighbors = draw(st.integers(2, n_samples))
    graph = neighbor_graph(values.astype(draw(st.sampled_from(["f4", "f8"]))), n_neighbors=n_neighbors)
    cuts = draw(st.sets(st.integers(1, n_samples - 1), max_size=4))
    return graph, [0, *sorted(cuts), n_samples]


@pytest.fixture(scope="module")
def in_files():
    """A graph as files of a folder of its own, which goes with the tests of this module."""
    with tempfile.TemporaryDirectory() as folder:

        def made(graph, cuts):
            return stored(graph, new_store(Path(tempfile.mkdtemp(dir=folder))), cuts)

        yield made


def assert_equal_graphs(found, expected):
    for name in ("indptr", "indices", "distances"):
        assert_array_equal(getattr(found, name), getattr(expected, name))


@settings(max_examples=12)  # each writes many files
@given(graphs())
def test_rows_come_back_as_they_were(in_files, case):
    graph, cuts = case
    found = in_files(graph, cuts)
    assert_equal_graphs(found.in_memory(), graph)
    assert_array_equal(found.reach, graph.reach)
    entries = np.arange(0, len(graph.indices), 3)
    assert_array_equal(found.distances_at(entries), graph.distances[entries])
    assert found.distances_at(entries).dtype == graph.distances.dtype


@settings(max_examples=12)  # each writes many files
@given(graphs())
def test_walks_are_the_same(in_files, case):
    graph, cuts = case
    found = in_files(graph, cuts)
    masses = np.linspace(0.5, 1.5, graph.n_samples)
    walks = [walk_on(g, "gaussian", local_bandwidth(g), masses, None) for g in (graph, found)]
    assert_array_equal(walks[0].volume, walks[1].volume)
    whole, in_blocks = (diffuse(walk, starting_mass(walk.graph, 1.5, masses), 3, 0.1) for walk in walks)
    assert_array_equal(whole[0], in_blocks[0])
    assert_array_equal(whole[1], in_blocks[1])


@settings(max_examples=12)  # each writes many files
@given(graphs())
def test_spreads_links_and_forests_are_the_same(in_files, case):
    graph, cuts = case
    found = in_files(graph, cuts)
    spreads = [g.passes.spreads(FEWEST_NEIGHBORS, 1e-6, 1) for g in (graph, found)]
    assert_array_equal(*spreads)
    shares = LinkShares(0.3, 0.7, 2)
    assert_equal_graphs(hill_links(found, shares).in_memory(), hill_links(graph, shares))
    density = 1 / (1 + graph.reach.astype(np.float64))
    for max_link in (np.inf, float(np.median(graph.distances))):
        forests = [peak_forest(g, density, max_link=max_link) for g in (graph, found)]
        for name, expected in vars(forests[0]).items():
            assert_array_equal(getattr(forests[1], name), expected, err_msg=name)


@settings(max_examples=12)  # each writes many files
@given(graphs())
def test_hills_are_weighed_alike_by_what_flows_between_them(in_files, case):
    graph, cuts = case
    density = 1 / (1 + graph.reach.astype(np.float64))
    weighed = []
    for g in (graph, in_files(graph, cuts)):
        walk = walk_on(g, "gaussian", local_bandwidth(g), dtype=None)
        links = hill_links(g, LinkShares(0.5, 1.0, 2))
        order = density_order(density)
        hills = linked_along(links, order)
        flow = HillFlow(hills, links, density, order, walk)
        weighed.append([flow.weighed(hills.within(link), link, 0.8, 0.07) for link in (np.inf, 1.0)])
    for whole, in_blocks in zip(*weighed, strict=True):
        assert_array_equal(in_blocks.saddle, whole.saddle)
        assert_array_equal(in_blocks.prominence, whole.prominence)


@settings(max_examples=12)  # each writes many files
@given(graphs())
def test_probabilities_are_the_same(in_files, case):
    graph, cuts = case
    found = in_files(graph, cuts)
    labels = np.arange(graph.n_samples) % 3 - 1
    store = found.rows.store
    asked = store, "probabilities", _probabilities, found.rows.blocks, store.put("labels", labels), 2
    assert_array_equal(concatenated(on_blocks(*asked), "probability"), probabilities(graph, labels, 2))


@pytest.mark.parametrize("n_points", [1, 2, 32767, 32768, 100_000, 1_000_003])
def test_blocks_hold_all_points_and_lie_in_one_part_each(n_points):
    bounds = all_bounds(n_points)
    assert [of.first for of in bounds] == [0, *(of.last for of in bounds[:-1])]
    assert bounds[-1].last == n_points
    n_parts = bounds[-1].part + 1
    for of in bounds:
        assert n_points * of.part // n_parts <= of.first < of.last <= n_points * (of.part + 1) // n_parts


def test_rows_in_files_are_not_brought_together_unasked(tmp_path):
    graph = stored(neighbor_graph(np.eye(4), n_neighbors=2), new_store(tmp_path), [0, 2, 4])
    with pytest.raises(MemoryError, match="in_memory"):
        _ = graph.indices
    with pytest.raises(MemoryError, match="in_memory"):
        _ = graph.distances
