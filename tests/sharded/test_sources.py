"""Every layout of files gives the rows that were put in."""

import json
import os
import pickle
import shutil
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses
from shard_files import IDS, LAYOUTS, WITH_IDS, X, folder_of_npy, with_value, write_lists

from diffpeaks.sharded.sources import open_source, opening
from diffpeaks.sharded.sources.contract import PIECE_BYTES

every_layout = pytest.mark.parametrize("name", LAYOUTS)


@every_layout
def test_a_source_gives_the_rows_that_were_put_in(folder, name, monkeypatch):
    monkeypatch.setattr(opening, "MOST_ROWS", 40)
    source = LAYOUTS[name](folder)
    assert (source.n_samples, source.n_features, source.dtype) == (*X.shape, np.dtype(np.float32))
    assert max(shard.n_samples for shard in source.shards) <= 40
    for start, shard in zip(source.starts, source.shards, strict=True):
        n = shard.n_samples
        for first, last in {(0, n), (0, n // 2), (n // 3, n), (n // 3, n // 2), (n, n)}:
            rows = shard.rows(first, last)
            np.testing.assert_array_equal(rows, X[start + first : start + last])
            assert rows.dtype == np.float32
            assert rows.flags.c_contiguous
            ids = shard.ids(first, last)
            assert (ids is None) == (name not in WITH_IDS)
            assert ids is None or ids.to_pylist() == IDS[start + first : start + last]
    assert source.starts[-1] + source.shards[-1].n_samples == len(X)


@given(
    edges=st.lists(st.integers(0, len(X)), min_size=2, max_size=2),
    n_rows=st.integers(1, 70),
    group=st.integers(1, 70),
)
def test_blocks_are_the_rows(tmp_path_factory, edges, n_rows, group):
    path = tmp_path_factory.mktemp("points") / "points.parquet"
    write_lists(path, X, row_group_size=group)
    first, last = sorted(edges)
    (shard,) = open_source(path, "e").shards
    blocks = list(shard.blocks(first, last, n_rows))
    assert [len(block) for block in blocks[:-1]] == [n_rows] * (len(blocks) - 1)
    assert len(blocks) == -(-(last - first) // n_rows)
    np.testing.assert_array_equal(np.concatenate([np.empty((0, 5)), *blocks]), X[first:last])


@pytest.mark.parametrize(
    ("stored", "given"),
    [
        ("f2", "f4"),
        ("f4", "f4"),
        (">f4", "f4"),
        ("f8", "f8"),
        ("?", "f4"),
        ("u1", "f4"),
        ("i2", "f4"),
        ("i8", "f8"),
    ],
)
def test_numbers_become_the_smallest_float_that_holds_them(folder, stored, given):
    rows = np.array([[0, 1], [1, 0], [1, 1]]).astype(stored)
    np.save("points.npy", rows)
    (shard,) = open_source("points.npy").shards
    found = shard.rows(0, 3)
    assert found.dtype == shard.dtype == np.dtype(given)
    np.testing.assert_array_equal(found, rows.astype(given))


@every_layout
def test_other_processes_can_be_given_a_source(folder, name, monkeypatch):
    source = LAYOUTS[name](folder)
    if name == "in_memory":
        with refuses("array of shape (60, 5) in memory|numpy.save|executor='serial'"):
            pickle.dumps(source)
        return
    content = pickle.dumps(source)
    assert X[0].tobytes() not in content
    assert len(content) < 4000
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    rows = [shard.rows(0, shard.n_samples) for shard in pickle.loads(content).shards]
    np.testing.assert_array_equal(np.concatenate(rows), X)


@every_layout
def test_the_identity_is_plain_and_stays(folder, name):
    source = LAYOUTS[name](folder)
    assert json.loads(json.dumps(source.identity())) == source.identity()
    names = [shard["name"] for shard in source.identity()["shards"]]
    assert len(set(names)) == len(source.shards)


def test_arrays_in_memory_are_told_apart_by_their_values():
    identity = open_source(X).identity()
    assert open_source(X.copy()).identity() == identity
    assert open_source(with_value(3, 1, 0)).identity() != identity


def test_a_folder_that_was_moved_is_the_same_and_one_that_was_changed_is_not(folder):
    (folder / "here").mkdir()
    identity = folder_of_npy(folder / "here").identity()
    shutil.move("here", "there")
    assert open_source("there").identity() == identity
    status = os.stat("there/part-2.npy")
    os.utime("there/part-2.npy", ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    assert open_source("there").identity() != identity


def test_little_of_a_large_file_is_read(folder):
    """A piece of it at a time, whatever the size of its row groups."""
    rows = np.random.default_rng(0).normal(size=(1 << 16, 256)).astype(np.float32)
    values = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), rows.shape[1])
    pq.write_table(pa.table({"e": values}), "points.parquet", use_dictionary=False)
    (shard,) = open_source("points.parquet").shards
    before = pa.total_allocated_bytes()
    peak = 0
    tracemalloc.start()
    for block in shard.blocks(0, len(rows), 1000):
        peak = max(peak, pa.total_allocated_bytes() - before)
        assert len(block)
    of_numpy = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert rows.nbytes > 7 * PIECE_BYTES
    assert peak < 4 * PIECE_BYTES
    assert of_numpy < 4 * PIECE_BYTES
