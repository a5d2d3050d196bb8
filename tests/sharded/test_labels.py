"""Labels are read as they were written, in the order of the input."""

import errno
import os
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import refuses

from diffpeaks.sharded.labels import label_file, prepare_labels, read_labels, write_labels

N = 25
LABEL = np.arange(N) % 4 - 1
DENSITY, DELTA, PROBABILITY = np.random.default_rng(0).random((3, N))
IDS = [f"sample {i}" for i in range(N)]
COLUMNS = (LABEL, DENSITY, DELTA, PROBABILITY)


def write_all(folder, ids, edges=(0, 10, 10, 25)):
    """The last shard first, as workers may."""
    prepare_labels(folder, len(edges) - 1)
    for number in reversed(range(len(edges) - 1)):
        first, last = edges[number : number + 2]
        of_shard = None if ids is None else ids[first:last]
        write_labels(folder, number, of_shard, first, *(values[first:last] for values in COLUMNS))


@pytest.mark.parametrize(
    "ids",
    [None, pa.chunked_array([IDS]), np.array(IDS, object), 7 * np.arange(N)],
    ids=["rows", "arrow", "texts", "numbers"],
)
def test_labels_are_read_as_they_were_written(folder, ids):
    write_all("out/labels", ids)
    found = read_labels("out/labels")
    expected = np.arange(N) if ids is None else np.asarray(ids)
    np.testing.assert_array_equal(found.id, expected)
    for values, written in zip(found[1:], COLUMNS, strict=True):
        np.testing.assert_array_equal(values, written)
        assert values.dtype == written.dtype


def test_a_shard_is_a_compressed_file_of_five_columns(folder):
    write_all("out", None)
    assert sorted(os.listdir("out")) == ["part-00000.parquet", "part-00001.parquet", "part-00002.parquet"]
    metadata = pq.ParquetFile(label_file("out", 2)).metadata
    assert metadata.schema.names == ["id", "label", "density", "delta", "probability"]
    assert metadata.num_rows == 15
    assert {metadata.row_group(0).column(column).compression for column in range(5)} == {"ZSTD"}


def test_many_shards_keep_the_order_of_their_numbers(folder):
    """A name with six digits comes after those with five."""
    prepare_labels(".", 100_001)
    for number in (100_000, 99_999):
        write_labels(".", number, None, number, *(values[:1] for values in COLUMNS))
    assert label_file(".", 100_000).name == "part-100000.parquet"
    with pytest.raises(FileNotFoundError, match=r"shard 0, 'part-00000.parquet', are missing"):
        read_labels(".")


def test_a_shard_is_written_whole_or_not_at_all(folder):
    write_all("out", None)
    before = label_file("out", 1).read_bytes()
    with pytest.raises(pa.ArrowInvalid):
        write_labels("out", 1, np.arange(3), 0, *COLUMNS)
    assert label_file("out", 1).read_bytes() == before
    assert len(os.listdir("out")) == 3


def test_a_full_disk_is_named_and_changes_nothing(folder, monkeypatch):
    write_all("out", None)
    before = label_file("out", 1).read_bytes()

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match=r"no space left for 'out.part-00001.parquet'"):
        write_labels("out", 1, None, 0, *COLUMNS)
    assert label_file("out", 1).read_bytes() == before
    assert len(os.listdir("out")) == 3


def test_labels_that_are_not_whole_are_refused(folder):
    with pytest.raises(FileNotFoundError, match="no folder 'out'"):
        read_labels("out")
    prepare_labels("out", 3)
    with pytest.raises(FileNotFoundError, match=r"shard 0.*run the clustering to its end"):
        read_labels("out")
    write_all("out", None)
    label_file("out", 1).unlink()
    with pytest.raises(FileNotFoundError, match=r"shard 1.*are missing"):
        read_labels("out")
    pq.write_table(pa.table({"id": [1], "label": [1]}), label_file("out", 1))
    with refuses("part-00001.parquet'|no column 'density'|['id', 'label']"):
        read_labels("out")
    label_file("out", 1).write_bytes(b"PAR1 and no more")
    with refuses("part-00001.parquet'|cannot be read"):
        read_labels("out")


def test_what_would_stop_the_writing_is_refused_before_the_work(folder, monkeypatch):
    write_all("out", None)
    prepare_labels("out", 3)  # a run that goes on
    with refuses("'out'|'part-00002.parquet'|of another run|is now 2|empty folder"):
        prepare_labels("out", 2)
    (folder / "file").touch()
    with refuses("'file'|is a file|give a folder"):
        prepare_labels("file", 2)
    monkeypatch.setattr(os, "access", lambda *given: False)
    with pytest.raises(PermissionError, match="'out' cannot be written"):
        prepare_labels("out", 3)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match=r"labels in Parquet.*pip install 'diffpeaks\[parquet\]'"):
        prepare_labels("new", 3)
    assert not os.path.exists("new")
