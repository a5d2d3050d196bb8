"""The compiled core refuses arrays of a wrong length by name."""

from types import SimpleNamespace

import numpy as np
import pytest

from diffpeaks import _native, neighbor_graph

N, K, D = 20, 4, 3
POINTS = np.random.RandomState(0).normal(size=(N, D))
GRAPH = neighbor_graph(POINTS, n_neighbors=K)
LISTS = SimpleNamespace(indptr=GRAPH.indptr, indices=GRAPH.indices)
INDPTR, INDICES, DISTANCES = GRAPH.indptr, GRAPH.indices.copy(), GRAPH.distances.copy()
ORDER = np.arange(N, dtype=np.int32)
NOBODY = np.full(N, -1, np.int32)
EUCLIDEAN = 2.0, False, 1.0, 0.0
SLOTS = np.append(ORDER, np.full(12, -1, np.int32))  # padded to whole panels
STARTS = np.array([0, len(SLOTS)])  # of one cell
BLOCKS = np.array([0, N]), np.zeros((1, D)), ORDER
TREE = _native.kd_tree(POINTS, 1)
GRID = -2.0, -2.0, 1.0, 8  # low_x, low_y, spacing, width


def ints(*shape):
    return np.zeros(shape, np.int32)


def longs(*shape):
    return np.zeros(shape, np.int64)


def floats(*shape):
    return np.zeros(shape, np.float32)


def doubles(*shape):
    return np.zeros(shape)


def cells(starts=STARTS, slots=SLOTS):
    return _native.PackedCells(np.zeros((1, D)), 1.0, starts, slots, _native.FEATURE_BLOCK)


PACKED = cells()
PACKED.pack(POINTS, floats(0), SLOTS, 1)
CENTROID, ONE_SLOT = POINTS[:1], np.where(SLOTS == 0, SLOTS, np.int32(-1))
PACKED_CENTROID = cells(slots=ONE_SLOT)  # that of the one cell
PACKED_CENTROID.pack(CENTROID, floats(0), ONE_SLOT, 1)


def hills():
    return _native.JoiningHills(ints(1), ints(N), doubles(N))


def nearest_in_cells(queries, blocks, points, indices, distances):
    asked = _native.QueriesDouble(*queries, 0.0, *blocks)
    PACKED.nearest(asked, points, _native.Probes(), EUCLIDEAN, indices, distances, 1)


def nearest_in_probed_cells(beside, rows):
    asked = _native.QueriesDouble(POINTS, POINTS, floats(0), 0.0, *BLOCKS)
    probes = _native.Probes(beside, 1, 0.0, 0.0, 1, PACKED, rows)
    PACKED.nearest(asked, POINTS, probes, EUCLIDEAN, ints(N, 2), doubles(N, 2), 1)


def visited_cells(limits, last_scores, visited, found):
    asked = _native.QueriesDouble(POINTS, POINTS, floats(0), 0.0, *BLOCKS)
    probes = _native.Probes(ints(1, 1), 1, 0.0, 1.0, 1, PACKED_CENTROID, CENTROID)
    probes.set_limits(limits)
    probes.set_last_scores(last_scores)
    PACKED.mark_visited(asked, probes, visited, found, 1)


def nearest_listed(points, coordinates, indices, distances):
    asked = _native.QueriesDoubleAlong(POINTS, POINTS.astype(np.float32), floats(0), 0.0, *BLOCKS)
    probes = _native.Probes(), EUCLIDEAN
    PACKED.nearest_listed(asked, points, coordinates, 3, *probes, indices, distances, 1)


def within_cells(reach, cell_reach):
    asked = _native.QueriesDouble(POINTS, POINTS, floats(0), 0.0, *BLOCKS)
    PACKED.within(asked, POINTS, reach, cell_reach, EUCLIDEAN, 1)


CALLS = {
    "first_fault": (_native.first_fault, GRAPH),
    "some_asymmetric": (_native.some_asymmetric, GRAPH, 0.0, 1),
    "pair_distances": (
        lambda queries, *rows: _native.pair_distances(queries, POINTS, *rows, EUCLIDEAN, 1),
        *(POINTS, INDPTR, INDICES, DISTANCES),
    ),
    "keep_nearest": (_native.keep_nearest, INDPTR, INDICES, DISTANCES, doubles(N), K, longs(N)),
    "sort_rows": (_native.sort_rows, INDPTR, INDICES, DISTANCES, 1),
    "move_self_first": (_native.move_self_first, INDPTR, INDICES, DISTANCES, 1),
    "short_links": (_native.short_links, GRAPH, longs(N), longs(N), doubles(N), 1),
    "merge_hills": (_native.merge_hills, GRAPH, 1.0, ORDER, NOBODY, ints(N), ints(N), 1),
    "mark_border": (_native.mark_border, GRAPH, 1.0, ints(N), np.zeros(N, bool)),
    "join_within": (_native.join_within, LISTS, doubles(N * K), 1.0, np.ones(N, bool), ints(N)),
    "first_denser": (_native.first_denser, LISTS, ORDER, longs(N), 1),
    "follow_links": (_native.follow_links, ORDER, ints(N)),
    "split_hills": (
        lambda *arrays: _native.split_hills(*arrays[:4], 1.0, *arrays[4:], 1),
        *(NOBODY, doubles(N), ints(N), doubles(N), ints(N), doubles(N), ints(N)),
    ),
    "sort_descending": (_native.sort_descending, doubles(N), ORDER.copy()),
    "join_cores": (_native.join_cores, LISTS, np.ones(N, bool), ints(N)),
    "score_merges": (
        lambda *arrays: _native.score_merges(ints(N), 1, *arrays),
        *(ints(3), ints(3), longs(4, 2), doubles(4, 2)),
    ),
    "rank_distances": (_native.rank_distances, LISTS, doubles(N * K), 1),
    "shared_counts": (_native.shared_counts, LISTS, 1, doubles(N), 1),
    "weigh_rows": (
        lambda graph, by_row, *out: _native.weigh_rows(graph, 0, by_row, np.ones(1), np.ones(1), *out, 1),
        *(GRAPH, np.ones(N), doubles(N * K), doubles(N)),
    ),
    "row_spreads": (_native.row_spreads, GRAPH, K, 1e-6, doubles(N), 1),
    "send_mass": (
        _native.send_mass,
        LISTS,
        doubles(N * K),
        doubles(N),
        doubles(N),
        doubles(N),
        (0.0, 1.0),
        1,
    ),
    "shift_towards": (
        lambda queries, graph, targets, moved: _native.shift_towards(
            queries, graph, True, targets, (0.5, 2, False), moved, 1
        ),
        *(POINTS, GRAPH, (POINTS, np.ones(N), doubles(N)), doubles(N, D)),
    ),
    "limits_at": (lambda limits: _native.limits_at(doubles(N), EUCLIDEAN, 1.0, limits), doubles(N)),
    "squared_lengths": (lambda squares: _native.squared_lengths(POINTS, squares, 1), doubles(N)),
    "spreads_by_products": (lambda sums: _native.spreads_by_products(doubles(N, 2), sums, 1), doubles(N)),
    "count_on_grid": (
        lambda sums, counts: _native.count_on_grid(doubles(N, 2), GRID, sums, counts, 1),
        *(doubles(64), doubles(8, 8)),
    ),
    "potential_at": (
        lambda places, potential, found: _native.potential_at(places, GRID, potential, found, 1),
        *(doubles(N, 2), doubles(8, 8), doubles(N, 3)),
    ),
    "next_steps": (
        lambda rows, weights, places, potential, *moving: _native.next_steps(
            rows, weights, places, potential, (1.0, 0.1, 1.0, 0.8, 5.0), *moving, 1
        ),
        *(LISTS, floats(N * K), doubles(N, 2), doubles(N, 3), doubles(N, 2), doubles(N, 2)),
    ),
    "first_equal": (lambda first: _native.first_equal(POINTS, first, 1), ints(N)),
    "project": (
        lambda *arrays: _native.project(POINTS, arrays[0], floats(2, 32), *arrays[1:], 1),
        *(doubles(D), floats(N, 2), floats(N)),
    ),
    "JoiningHills": (lambda *arrays: _native.JoiningHills(ints(1), *arrays), ints(N), doubles(N)),
    "JoiningHills.add_flow": (
        lambda *arrays: hills().add_flow(*arrays, 1.0, None, 1),
        *(GRAPH, ints(N), doubles(N * K), doubles(N)),
    ),
    "JoiningHills.add_sums": (
        lambda *arrays: hills().add_sums(*arrays, doubles(hills().n_hills)),
        *(ints(3), ints(3), doubles(3)),
    ),
    "JoiningHills.open_passes": (
        lambda *arrays: hills().open_passes(*arrays, 1.0, None, 1),
        *(GRAPH, ints(N), ORDER),
    ),
    "KeptFlow": (_native.KeptFlow, GRAPH, ints(N), doubles(N * K), doubles(N), doubles(N), 1),
    "KeptLinks": (_native.KeptLinks, GRAPH, ints(N), ORDER, doubles(N), 1),
    "KDTree.nearest_denser": (
        lambda queries, order, own, rank, *found: TREE.nearest_denser(
            queries, order, own, rank, EUCLIDEAN, *found, 1
        ),
        *(POINTS, ORDER, ints(N), ORDER, ints(N), doubles(N)),
    ),
    "KDTree.order": (TREE.order, ints(N)),
    "KDTree.nearest": (
        lambda queries, order, *found: TREE.nearest(queries, order, 2, EUCLIDEAN, *found, 1),
        *(POINTS, ORDER, ints(2 * N), doubles(2 * N)),
    ),
    "KDTree.nearest of its points": (
        lambda points: TREE.nearest(points, None, 1, EUCLIDEAN, ints(N), doubles(N), 1),
        POINTS,
    ),
    "KDTree.counts": (
        lambda queries, order, radii, counts: TREE.counts(queries, order, radii, EUCLIDEAN, counts, 1),
        *(POINTS, ORDER, doubles(N), longs(N)),
    ),
    "KDTree.balls": (
        lambda queries, order, radii, *found: TREE.balls(queries, order, radii, EUCLIDEAN, *found, 1),
        *(POINTS, ORDER, doubles(N), np.arange(N + 1), ints(N), doubles(N)),
    ),
    "PackedCells": (cells, STARTS, SLOTS),
    "PackedCells.pack": (cells().pack, POINTS, floats(N), SLOTS, 1),
    "PackedCells.put_farther": (cells().put_farther, floats(N)),
    "PackedCells.nearest": (
        nearest_in_cells,
        *((POINTS, POINTS, floats(N)), BLOCKS, POINTS, ints(N, 2), doubles(N, 2)),
    ),
    "Probes": (nearest_in_probed_cells, ints(1, 1), POINTS),
    "PackedCells.mark_visited": (
        visited_cells,
        *(doubles(N), doubles(N), np.zeros((1, 1), bool), doubles(N)),
    ),
    "PackedCells.nearest_listed": (
        nearest_listed,
        *(POINTS, POINTS.astype(np.float32), ints(N, 2), doubles(N, 2)),
    ),
    "PackedCells.within": (within_cells, doubles(N), doubles(1)),
}
WITHOUT_LENGTHS = {"kernels", "cpu_kernel", "n_parts_of", "kd_tree", "observe_loops"}


def shortened(given):
    """What is given, once for each axis of each array in it, which is one shorter there."""
    if isinstance(given, np.ndarray):
        yield from (np.delete(given, -1, axis) for axis in range(given.ndim) if given.shape[axis])
    elif isinstance(given, tuple):
        for i, part in enumerate(given):
            yield from ((*given[:i], shorter, *given[i + 1 :]) for shorter in shortened(part))
    elif hasattr(given, "indptr"):
        names = [name for name in ("indptr", "indices", "distances") if hasattr(given, name)]
        for values in shortened(tuple(getattr(given, name) for name in names)):
            yield SimpleNamespace(**dict(zip(names, values, strict=True)))


@pytest.mark.parametrize("name", CALLS)
def test_an_array_that_is_too_short_is_refused(name):
    function, *given = CALLS[name]
    function(*given)
    cases = list(shortened(tuple(given)))
    assert cases
    for case in cases:
        with pytest.raises(ValueError, match=r"^\w+ has \d+ (values|rows|columns), expected (at least )?\d+"):
            function(*case)


def test_every_function_with_arrays_is_called_here():
    functions = {name for name in dir(_native) if type(getattr(_native, name)).__name__ == "nb_func"}
    assert functions == (CALLS.keys() & functions) | WITHOUT_LENGTHS


def test_a_refusal_names_the_array_its_length_and_what_was_expected():
    with pytest.raises(ValueError, match=f"^rank has {N - 1} values, expected {N}$"):
        _native.first_denser(GRAPH, ORDER[:-1], longs(N), 1)
    with pytest.raises(ValueError, match=f"^distances has {N * K + 1} values, expected {N * K}$"):
        _native.first_fault(SimpleNamespace(**vars(LISTS), distances=doubles(N * K + 1)))
    with pytest.raises(TypeError, match="incompatible function arguments"):
        _native.first_fault(LISTS)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        _native.first_denser(GRAPH, ORDER.astype(np.int64), longs(N), 1)
