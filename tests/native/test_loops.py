"""Loops of the compiled core can be interrupted, and threads and kernels change nothing in their results."""

import math
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from observed import loops_observed

from diffpeaks import ApproximateSearch, DensityPeaks, _native, neighbor_graph

K = 4


def ints(n):
    return np.zeros(n, np.int32)


def longs(*shape):
    return np.zeros(shape, np.int64)


def doubles(*shape):
    return np.zeros(shape)


class StoppedError(Exception):
    pass


def stop(share):
    raise StoppedError


MANY = neighbor_graph(np.random.RandomState(0).normal(size=(3000, 2)), n_neighbors=K)
M = MANY.n_samples
EACH = np.arange(M, dtype=np.int32)
MANY_ROWS = MANY.indptr, MANY.indices.copy(), MANY.distances.copy()


def many_hills():
    hills = _native.JoiningHills(EACH, EACH, -np.log(EACH + 1.0))
    hills.add_flow(MANY, EACH, np.ones(M * K), np.ones(M), np.inf, None, 1)
    hills.open_passes(MANY, EACH, EACH, np.inf, None, 1)
    return hills


SERIAL = {
    "first_fault": lambda: _native.first_fault(MANY),
    "keep_nearest": lambda: _native.keep_nearest(*MANY_ROWS, doubles(M), K, longs(M)),
    "merge_hills": lambda: _native.merge_hills(MANY, 1.0, EACH, EACH * 0 - 1, ints(M), ints(M), 1),
    "mark_border": lambda: _native.mark_border(MANY, 1.0, EACH, np.zeros(M, bool)),
    "join_cores": lambda: _native.join_cores(MANY, np.ones(M, bool), ints(M)),
    "follow_links": lambda: _native.follow_links(EACH, ints(M)),
    "split_hills": lambda: _native.split_hills(
        *(EACH * 0 - 1, doubles(M), EACH, None, 1.0), *(ints(M), doubles(M), ints(M), 1)
    ),
    "score_merges": lambda: _native.score_merges(EACH, M, EACH, EACH, longs(M + 1, 2), doubles(M + 1, 2)),
    "JoiningHills.add_flow": many_hills,
    "KeptFlow": lambda: _native.KeptFlow(MANY, EACH, np.ones(M * K), np.ones(M), doubles(M), 1),
    "KeptLinks": lambda: _native.KeptLinks(MANY, EACH, EACH, doubles(M), 1),
    "rows on threads": lambda: _native.sort_rows(*MANY_ROWS, 2),
}


@pytest.mark.parametrize("loop", SERIAL.values(), ids=SERIAL)
def test_a_loop_can_be_stopped(loop):
    loop()
    with loops_observed(stop, 0.0), pytest.raises(StoppedError):
        loop()


def test_joining_hills_can_be_stopped():
    hills = many_hills()
    with loops_observed(stop, 0.0), pytest.raises(StoppedError):
        hills.join(0.5, 0.1)


INTERRUPTED = """
import os, signal
import numpy as np
from diffpeaks import _native

signal.signal(signal.SIGINT, signal.default_int_handler)
_native.observe_loops(lambda share: os.kill(os.getpid(), signal.SIGINT), 0.0)
links = np.maximum(np.arange(1_000_000, dtype=np.int32) - 1, 0)
ends = np.full_like(links, -2)
try:
    _native.follow_links(links, ends)
except KeyboardInterrupt:
    print("interrupted", int((ends == 0).sum()) < len(ends))
"""


def test_ctrl_c_ends_a_loop_without_threads():
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout == "interrupted True\n"


LONG_POINTS = (
    np.random.RandomState(0).normal(size=(40_000, 3)).astype(np.float32)
)  # more than one thread's share
LONG = neighbor_graph(LONG_POINTS, n_neighbors=K)
L, L_ENTRIES = LONG.n_samples, len(LONG.indices)
SUMS = np.empty(L * _native.n_parts_of(L))
PLACES, GRID = LONG_POINTS[:, :2].astype(np.float64), (-8.0, -8.0, 1.0, 16)  # low, spacing, width
LONG_RANK = np.random.RandomState(1).permutation(L).astype(np.int32)


def filled(fill, *outputs):
    fill(*outputs)
    return outputs


def changed_rows(change, rows, n_threads):
    indptr, indices, distances = rows.indptr, rows.indices[::-1].copy(), rows.distances[::-1].copy()
    change(indptr, indices, distances, n_threads)
    return indices, distances


def joined(n_threads):
    """Passes of many hills, the rows of the walk and of the links kept."""
    tops, by_rank = np.arange(500, dtype=np.int32), np.arange(L, dtype=np.int32)
    hill = LONG_RANK % 500
    flow = LONG, hill, 1.0 / (1.0 + LONG.distances), np.ones(L)
    hills = _native.JoiningHills(tops, by_rank % 500, -0.1 * by_rank)
    hills.add_flow(*flow, 0.5, _native.KeptFlow(*flow, doubles(L), n_threads), n_threads)
    kept = _native.KeptLinks(LONG, hill, LONG_RANK, doubles(L), n_threads)
    hills.open_passes(LONG, hill, LONG_RANK, 0.5, kept, n_threads)
    return hills.join(0.5, 0.1)


ON_THREADS = {
    "KeptFlow and KeptLinks": joined,
    "sort_rows": lambda n: changed_rows(_native.sort_rows, LONG, n),
    "move_self_first": lambda n: changed_rows(_native.move_self_first, LONG, n),
    "some_asymmetric": lambda n: [_native.some_asymmetric(LONG, 0.0, n) >= 0],
    "first_denser": lambda n: filled(lambda out: _native.first_denser(LONG, LONG_RANK, out, n), longs(L)),
    "merge_hills": lambda n: filled(
        lambda *out: _native.merge_hills(LONG, np.inf, LONG_RANK, np.full(L, -1, np.int32), *out, n),
        *(ints(L), ints(L)),
    ),
    "short_links": lambda n: _native.short_links(LONG, longs(L) + 2, longs(L) + K, LONG.reach, n),
    "row_spreads": lambda n: filled(lambda out: _native.row_spreads(LONG, K, 1e-6, out, n), doubles(L)),
    "shared_counts": lambda n: filled(lambda out: _native.shared_counts(LONG, 2, out, n), doubles(L)),
    "rank_distances": lambda n: filled(lambda out: _native.rank_distances(LONG, out, n), doubles(L_ENTRIES)),
    "send_mass": lambda n: filled(
        lambda out: _native.send_mass(LONG, np.ones(L_ENTRIES), np.ones(L), SUMS, out, (0.0, 1.0), n),
        doubles(L),
    ),
    "first_equal": lambda n: filled(lambda out: _native.first_equal(LONG_POINTS, out, n), ints(L)),
    "shift_towards": lambda n: filled(
        lambda out: _native.shift_towards(
            LONG_POINTS, LONG, True, (LONG_POINTS, None, LONG.reach), (0.5, 2, False), out, n
        ),
        np.empty_like(LONG_POINTS),
    ),
    "count_on_grid": lambda n: filled(
        lambda sums, counts: _native.count_on_grid(PLACES, GRID, sums, counts, n),
        *(doubles(_native.n_parts_of(L) * 16 * 16), doubles(16, 16)),
    )[1:],
    "potential_at": lambda n: filled(
        lambda out: _native.potential_at(PLACES, GRID, np.arange(256.0).reshape(16, 16) ** 2, out, n),
        doubles(L, 3),
    ),
    "next_steps": lambda n: filled(
        lambda *out: _native.next_steps(
            LONG, np.ones(L_ENTRIES, np.float32), PLACES, doubles(L, 3), (4.0, 0.1, 1.0, 0.8, 5.0), *out, n
        ),
        *(doubles(L, 2), np.ones((L, 2))),
    ),
    "kd_tree": lambda n: filled(_native.kd_tree(LONG_POINTS, n).order, ints(L)),
}


@pytest.mark.parametrize("results", ON_THREADS.values(), ids=ON_THREADS)
def test_threads_change_nothing(results):
    for alone, together in zip(results(1), results(2), strict=True):
        np.testing.assert_array_equal(alone, together)


SPREAD = np.random.RandomState(2).normal(size=(6000, 20)).astype(np.float32)  # more than a block of queries
SEARCHES = {
    "tree": (LONG_POINTS, "tree"),
    "cells": (SPREAD, "exact"),
    "approximate": (SPREAD, ApproximateSearch(0.9)),
}


@pytest.mark.parametrize(("points", "search"), SEARCHES.values(), ids=SEARCHES)
def test_threads_change_nothing_in_a_search(points, search):
    alone, together = (neighbor_graph(points, 5, search=search, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(alone.indices, together.indices)
    np.testing.assert_array_equal(alone.distances, together.distances)


def test_threads_change_nothing_in_a_fit():
    alone, together = (DensityPeaks(n_jobs=n_jobs).fit(SPREAD) for n_jobs in (1, 2))
    np.testing.assert_array_equal(alone.density_, together.density_)
    np.testing.assert_array_equal(alone.labels_, together.labels_)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_samples_move_alike_by_every_kernel(monkeypatch, dtype):
    points = np.random.RandomState(0).normal(size=(300, 45)).astype(dtype)
    graph = neighbor_graph(points, n_neighbors=12)
    targets = points, np.random.RandomState(1).uniform(1, 3, len(points)), graph.reach
    moved = [np.empty_like(points) for _ in _native.kernels()]
    for kernel, out in zip(_native.kernels(), moved, strict=True):
        monkeypatch.setenv(_native.KERNEL_VARIABLE, kernel)
        _native.shift_towards(points, graph, True, targets, (0.4, 3, False), out, 1)
        np.testing.assert_array_equal(out, moved[0])


def test_exponentials_are_right_to_the_last_place_and_alike_by_every_kernel(monkeypatch):
    random = np.random.RandomState(0)
    few, many = (
        random.uniform(0, 2, 3000),
        random.uniform(0, 800, 3000),
    )  # down to where there is nothing left
    lengths = np.sqrt(np.concatenate([[0.0, 1e-20, 708, 709, 745, 746, 1e10], few, many]))
    row = SimpleNamespace(
        indptr=np.array([0, len(lengths)]), indices=np.zeros(len(lengths), np.int32), distances=lengths
    )
    expected = np.array([math.exp(-square) for square in lengths**2])
    found = []
    for kernel in _native.kernels():
        monkeypatch.setenv(_native.KERNEL_VARIABLE, kernel)
        weights, volume = np.empty(len(lengths)), np.empty(1)
        _native.weigh_rows(row, 0, np.ones(1), np.ones(1), np.ones(1), weights, volume, 1)
        assert np.all(np.abs(weights - expected) <= np.spacing(expected))
        found.append(weights)
        np.testing.assert_array_equal(weights, found[0])
