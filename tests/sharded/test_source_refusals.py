"""What lies is refused by the name of its shard."""

import os
import pickle
import shutil
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from point_files import check_refused
from refusals import refuses
from shard_files import X, with_value, write_lists, zarr_array

from diffpeaks.sharded.sources import open_source


def cut_off(path, share):
    with open(path, "r+b") as file:
        file.truncate(int(os.path.getsize(path) * share))


def read_all(path, *wanted):
    for shard in open_source(path, *wanted).shards:
        for _ in shard.blocks(0, shard.n_samples, 16):
            pass
        shard.ids(0, shard.n_samples)


# what the second of two shards of a folder is, and words of its refusal
LIES = {
    "nan": (with_value(33, 2, np.nan), "2.npy'|row 33, column 2|nan|drop the row"),
    "infinity": (with_value(33, 2, -np.inf), "2.npy'|row 33, column 2|-inf|drop the row"),
    "too large an integer": (with_value(33, 2, 2**60, np.int64), "2.npy'|dtype is float64|1.npy' is float32"),
    "width": (X[:, :4], "2.npy'|number of features is 4|1.npy' is 5|all shards must be alike"),
    "dtype": (X.astype(np.float64), "2.npy'|dtype is float64|1.npy' is float32"),
    "dimensions": (X[0], "2.npy'|shape (5,)|(n_samples, n_features)"),
    "no features": (X[:, :0], "2.npy'|0 features"),
    "complex": (X * 1j, "2.npy'|complex64|real numbers"),
    "long double": (X.astype(np.longdouble), "2.npy'|at most 64 bits"),
    "objects": (np.array([[{}]]), "2.npy'|no whole array"),
}


@pytest.mark.parametrize("name", LIES)
def test_a_shard_that_lies_is_refused_by_name(folder, name):
    rows, words = LIES[name]
    np.save("1.npy", X)
    np.save("2.npy", rows)
    check_refused(lambda: read_all("."), words)


def test_integers_that_no_float_holds_are_refused(folder):
    np.save("1.npy", with_value(33, 2, 2**60, np.int64))
    check_refused(lambda: read_all("."), "1.npy'|row 33, column 2|1152921504606846976")


TABLES_THAT_LIE = [
    ({"e": [[1.0, 2.0], [3.0]]}, ("e",), "row 1, column 'e'|1 numbers|2 in row 0"),
    ({"e": [[1.0, 2.0], None]}, ("e",), "row 1, column 'e'|missing"),
    ({"e": [[1.0, 2.0], [3.0, None]]}, ("e",), "row 1, column 1|nan"),
    ({"e": [1, None]}, ("e",), "row 1, column 0|nan"),
    ({"e": [1, 2**60]}, ("e",), "row 1, column 'e'|1152921504606846976"),
    ({"e": ["a", "b"]}, ("e",), "the column 'e'|type string, not numbers"),
    ({"e": [1.0, 2.0]}, ("f",), "no column is or matches 'f'|['e']"),
    ({"e": [1.0, 2.0]}, ("e", "f"), "no column 'f'|['e']"),
    ({"e": [1.0, 2.0], "i": ["x", None]}, ("e", "i"), "row 1, column 'i'|missing"),
]


@pytest.mark.parametrize("group", [1, 100])
@pytest.mark.parametrize(("table", "wanted", "words"), TABLES_THAT_LIE)
def test_a_table_that_lies_is_refused_by_name(folder, table, wanted, words, group):
    pq.write_table(pa.table(table), "1.parquet", row_group_size=group)
    if group == 1:  # where no row is read together with another one
        words = words.partition(",")[0]
    check_refused(lambda: read_all(".", *wanted), "1.parquet'|" + words)


@pytest.mark.parametrize("share", [0, 0.05, 0.6, 0.99])
@pytest.mark.parametrize("suffix", ["npy", "parquet"])
def test_a_shard_that_is_cut_off_is_refused(folder, suffix, share):
    np.save("1.npy", X)
    write_lists(folder / "2.parquet", X)
    shutil.copy({"npy": "1.npy", "parquet": "2.parquet"}[suffix], f"3.{suffix}")
    cut_off(f"3.{suffix}", share)
    check_refused(lambda: read_all(".", "e"), f"3.{suffix}'")


@pytest.mark.parametrize("suffix", ["npy", "parquet"])
def test_a_shard_that_is_cut_off_or_gone_later_is_refused(folder, suffix):
    np.save("1.npy", X)
    write_lists(folder / "1.parquet", X)
    (shard,) = open_source(f"1.{suffix}", "e" if suffix == "parquet" else None).shards
    cut_off(f"1.{suffix}", 0.6)
    check_refused(lambda: shard.rows(0, 60), f"1.{suffix}'")
    os.remove(f"1.{suffix}")
    check_refused(lambda: shard.rows(0, 60), f"there is no file|1.{suffix}'")


def test_damage_in_the_middle_is_refused(folder):
    write_lists(folder / "1.parquet", X, compression="zstd", use_dictionary=False)
    with open("1.parquet", "r+b") as file:
        file.seek(200)
        file.write(b"\xff" * 800)
    check_refused(lambda: read_all(".", "e"), "1.parquet'|cannot be read")


def test_rows_that_were_added_or_taken_later_are_refused(folder):
    np.save("1.npy", X)
    (shard,) = open_source(".").shards
    np.save("1.npy", X[:30])
    check_refused(lambda: shard.rows(0, 60), "1.npy'|ends after 30 rows")
    np.save("1.npy", X[:, :3])
    check_refused(lambda: shard.rows(0, 60), "1.npy'|row 0 has 3 features|5")
    np.save("1.npy", X.astype(np.float64))
    check_refused(lambda: shard.rows(0, 60), "1.npy'|float64|float32 when it was opened")


def test_columns_in_another_order_are_refused(folder):
    for name, order in {"1": "ab", "2": "ba"}.items():
        pq.write_table(pa.table({column: [1.0, 2.0] for column in order}), f"{name}.parquet")
    check_refused(
        lambda: open_source("."), "2.parquet'|list of columns is ('b', 'a')|1.parquet' is ('a', 'b')"
    )


def test_a_zarr_array_that_lacks_chunks_or_lies_is_refused(folder):
    zarr_array(folder)
    chunks = sorted(p for p in (folder / "points.zarr").rglob("*") if p.is_file() and "z" not in p.name)
    chunks[3].write_bytes(b"nonsense")
    check_refused(lambda: read_all("points.zarr"), "points.zarr'|cannot be read")
    chunks[3].unlink()
    check_refused(lambda: open_source("points.zarr"), "points.zarr'|1 of 27 chunks are missing")


def test_a_group_of_zarr_is_refused(folder):
    zarr = pytest.importorskip("zarr", reason="zarr is not installed: its arrays are not read")
    zarr.open_group("points.zarr", mode="w")
    check_refused(lambda: open_source("points.zarr"), "points.zarr'|is a group|one of its arrays")


def test_a_copy_on_write_is_what_is_in_memory(folder):
    """What was written to it is in no file."""
    np.save("points.npy", X)
    changed = np.load("points.npy", mmap_mode="c")
    changed[0] = 7
    (shard,) = open_source(changed).shards
    assert (shard.rows(0, 1) == 7).all()
    with refuses("in memory"):
        pickle.dumps(shard)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("absent", "there is no file|absent"),
        (".", "no file that ends in .npy or .parquet"),
        ([], "list of files is empty"),
        (["."], "is a folder; give the files in it"),
        (np.ones(3, np.float32), "shape (3,)"),
        (np.empty((0, 3)), "'array'|0 rows"),
        (np.ma.masked_equal(np.ones((2, 2)), 1), "masked in rows [0, 1]"),
    ],
)
def test_what_is_no_source_is_refused(folder, path, words):
    check_refused(lambda: open_source(path), words)


@pytest.mark.parametrize("path", [7, [[1.0, 2.0]], None])
def test_what_names_no_files_is_refused(path):
    with refuses(f"points in shards are a folder, a file|{type(path).__name__}"):
        open_source(path)


def test_shards_of_other_formats_are_refused(folder):
    np.save("1.npy", X)
    np.savetxt("2.csv", X)
    check_refused(lambda: open_source("."), "2.csv'|no shard|.npy or .parquet|convert it")


def test_folders_behind_links_are_refused(folder):
    np.save("1.npy", X)
    (folder / "loop").symlink_to(folder)
    check_refused(lambda: open_source("."), "loop'|link to a folder|list of files")


def test_shards_without_rows_are_refused(folder):
    np.save("1.npy", X[:0])
    check_refused(lambda: open_source("."), "1.npy'|0 rows|give at least one point")


def test_what_has_no_effect_is_refused(folder):
    np.save("1.npy", X)
    check_refused(lambda: open_source(".", columns="e"), "columns=('e',)|1.npy'|only Parquet")
    write_lists(folder / "2.parquet", X)
    check_refused(lambda: open_source(".", "e", "id"), "id_column='id'|1.npy'|only Parquet")
    check_refused(lambda: open_source(X, id_column="id"), "id_column='id'|an array")


def test_rows_that_do_not_exist_are_refused():
    (shard,) = open_source(X).shards
    for first, last in ((-1, 3), (3, 2), (0, 61)):
        with refuses(f"rows {first} .. {last}|0 <= first <= last <= 60"):
            shard.rows(first, last)
    with refuses("n_rows=0|at least 1"):
        next(shard.blocks(0, 3, 0))


@pytest.mark.parametrize(("module", "extra"), [("pyarrow.parquet", "parquet"), ("zarr", "zarr")])
def test_a_package_that_is_missing_is_named(folder, module, extra, monkeypatch):
    write_lists(folder / "1.parquet", X)
    if extra == "zarr":
        zarr_array(folder)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"pip install 'diffpeaks\[{extra}\]'"):
        open_source({"parquet": "1.parquet", "zarr": "points.zarr"}[extra], None)
