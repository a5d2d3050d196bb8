"""A file that lies is refused by file, row and column."""

import os
import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from point_files import NAMED, TABLE, X, check_refused
from refusals import refuses

from diffpeaks.files import Wanted, check_destination, read_samples


class Trap:
    """An object whose pickle makes a file when it is loaded."""

    def __reduce__(self):
        return os.mkdir, ("sprung",)


def trap():
    return np.array([Trap(), Trap()], dtype=object)


def with_nan(row, column):
    points = X.copy()
    points[row, column] = np.nan
    return points


def cut_off(write, name, share=0.6):
    write(name)
    with open(name, "r+b") as file:
        file.truncate(int(os.path.getsize(name) * share))


def text(content):
    return lambda name: Path(name).write_bytes(content)


# name of a file, how it is written, what is wanted, words of the refusal
LIES = [
    ("a.csv", text(b""), Wanted(), "'a.csv'|0 bytes"),
    ("a.npy", text(b""), Wanted(), "'a.npy'|0 bytes"),
    ("a.parquet", text(b""), Wanted(), "'a.parquet'|0 bytes"),
    ("a.csv", text(b"\n\n"), Wanted(), "'a.csv'|no lines"),
    ("a.csv", text(b"a,b\n"), Wanted(), "'a.csv'|0 rows of 2"),
    ("a.csv", text(b"a,b\n1,2\n\n3\n"), Wanted(), "'a.csv'|row 1 (line 4)|1 cells|2 columns"),
    ("a.csv", text(b"a,b\n1,2\n3,4,5\n"), Wanted(), "'a.csv'|row 1 (line 3)|3 cells|2 columns"),
    ("a.csv", text(b"a,b\n1,2\n3,four\n"), Wanted(), "'a.csv'|row 1 (line 3)|column 'b'|'four'|--columns"),
    ("a.csv", text(b"a,b\n1,1_0\n"), Wanted(), "'a.csv'|row 0|column 'b'|'1_0'"),
    ("a.csv", text(b"a,b\n1,2\n,4\n"), Wanted(), "'a.csv'|row 1, column 'a'|missing"),
    ("a.csv", text(b"a,b\n1,2\nNaN,4\n"), Wanted(), "'a.csv'|row 1, column 'a'|missing|nan_euclidean"),
    ("a.csv", text(b"a,b\n1,2\n3,inf\n"), Wanted(), "'a.csv'|row 1, column 'b'|inf"),
    (
        "a.csv",
        text(b"a,b\n1,2\nnan,9007199254740993\n"),
        Wanted(),
        "'a.csv'|row 1 (line 3), column 'b'|993|--id",
    ),
    (
        "a.csv",
        text(b"a\n1\n -%b \n" % (b"9" * 5000)),
        Wanted(),
        "'a.csv'|row 1 (line 3), column 'a'|-99|--id",
    ),
    ("a.csv", text(b"0,1\n1,2\n"), Wanted(), "'a.csv'|numbers alone|--header|--no-header"),
    ("a.csv", text(b"a,a\n1,2\n"), Wanted(), "'a.csv'|'a'|differ"),
    ("a.csv", text(b'a,b\n1,"2\n'), Wanted(), "'a.csv'|line 2"),
    ("a.csv", text(b"a,b\n1,\xff\xfe\n"), Wanted(), "'a.csv'|0xff|UTF-8"),
    ("a.csv", text(b"a,b\n1,2\n"), Wanted(("c*",)), "'a.csv'|'c*'|['a', 'b']"),
    ("a.csv", text(b"a,b\n1,2\n"), Wanted(id="c"), "'a.csv'|'c'|['a', 'b']"),
    ("a.csv", text(b"a\n1\n"), Wanted(id="a"), "'a.csv'|no columns of numbers"),
    ("a.csv", text(b"a,b\n1,2\n"), Wanted(width=2), "--width|'a.csv'|bin"),
    ("a.npy", lambda name: np.save(name, X), Wanted(id="a"), "--id|'a.npy'|npz, csv"),
    ("a.npy", lambda name: cut_off(lambda n: np.save(n, X), name), Wanted(), "'a.npy'|no whole array"),
    ("a.npy", lambda name: cut_off(lambda n: np.save(n, X), name, 0.05), Wanted(), "'a.npy'|no whole array"),
    ("a.npy", text(b"a,b\n1,2\n"), Wanted(), "'a.npy'|no whole array"),
    ("a.npy", lambda name: np.save(name, trap()), Wanted(), "'a.npy'|objects"),
    ("a.npy", text(pickle.dumps(Trap())), Wanted(), "'a.npy'|no whole array"),
    ("a.npy", lambda name: np.save(name, X[0]), Wanted(), "'a.npy'|shape (2,)|(n_samples, n_features)"),
    ("a.npy", lambda name: np.save(name, X[:0]), Wanted(), "'a.npy'|0 rows of 2"),
    ("a.npy", lambda name: np.save(name, X * 1j), Wanted(), "'a.npy'|complex"),
    ("a.npy", lambda name: np.save(name, with_nan(7, 1)), Wanted(), "'a.npy'|row 7, column 1|missing"),
    ("a.npy", lambda name: np.save(name, np.full((3, 2), 2**60)), Wanted(), "'a.npy'|row 0, column 0|--id"),
    ("a.npz", lambda name: np.savez(name, X=trap()), Wanted(), "'a.npz'|allow_pickle"),
    ("a.npz", text(pickle.dumps(Trap())), Wanted(), "'a.npz'|no .npz"),
    ("a.npz", lambda name: cut_off(lambda n: np.savez(n, X=X), name), Wanted(), "'a.npz'|no .npz"),
    ("a.npz", lambda name: np.savez(name, X=X, Y=X), Wanted(), "'a.npz'|['X', 'Y']|--key"),
    ("a.npz", lambda name: np.savez(name, X=X), Wanted(key="Z"), "'a.npz'|'Z'|['X']"),
    ("a.npz", lambda name: np.savez(name, X=X, i=X), Wanted(key="X", id="i"), "'a.npz'|'i'|shape (40, 2)"),
    ("a.npz", lambda name: np.savez(name, X=X, i=[1]), Wanted(key="X", id="i"), "'a.npz'|1 ids for 40"),
    ("a.bin", lambda name: X.tofile(name), Wanted(), "'a.bin'|--width"),
    ("a.bin", lambda name: X.tofile(name), Wanted(width=3), "'a.bin'|26 rows of 3|8 bytes more"),
    ("a.bin", lambda name: X.tofile(name), Wanted(width=0), "'a.bin'|--width=0"),
    ("a.bin", text(b"x" * 9), Wanted(width=2), "'a.bin'|1 rows of 2|1 bytes more"),
    (
        "a.parquet",
        lambda name: TABLE.to_parquet(name),
        Wanted(),
        "'a.parquet'|column 'name'|string|--columns",
    ),
    ("a.parquet", lambda name: cut_off(TABLE.to_parquet, name), Wanted(), "'a.parquet'|cannot be read"),
    ("a.feather", text(b"nonsense"), Wanted(), "'a.feather'|cannot be read"),
    ("a.feather", lambda name: cut_off(TABLE.to_feather, name), Wanted(), "'a.feather'|cannot be read"),
]
TABLES_THAT_LIE = [
    ({"a": [[1.0, 2.0], [3.0]]}, Wanted(), "row 1, column 'a'|1 numbers|2 in row 0"),
    ({"a": [[1.0, 2.0], None]}, Wanted(), "row 1, column 'a'|missing"),
    ({"a": [[1.0, 2.0], [3.0, None]]}, Wanted(), "row 1, column 'a[1]'|missing"),
    ({"a": [1.0, None]}, Wanted(), "row 1, column 'a'|missing"),
    ({"a": [1, 2**60]}, Wanted(), "row 1, column 'a'|1152921504606846976|--id"),
    ({"a": [1, 2], "i": ["x", None]}, Wanted(id="i"), "row 1, column 'i'|missing"),
    ({"a": pa.array([], pa.float32())}, Wanted(), "0 rows of 1"),
]


@pytest.mark.parametrize(("name", "write", "wanted", "words"), LIES)
def test_a_file_that_lies_is_refused(folder, name, write, wanted, words):
    write(name)
    check_refused(lambda: read_samples([name], wanted), words)


@pytest.mark.parametrize(("columns", "wanted", "words"), TABLES_THAT_LIE)
def test_a_table_that_lies_is_refused(folder, columns, wanted, words):
    pa.parquet.write_table(pa.table(columns), "a.parquet")
    check_refused(lambda: read_samples(["a.parquet"], wanted), f"'a.parquet'|{words}")


def test_the_trap_is_one(folder):
    np.save("a.npy", trap())
    with pytest.raises(FileExistsError):  # the second of the two objects finds the folder of the first
        np.load("a.npy", allow_pickle=True)
    assert os.path.isdir("sprung")


def test_files_must_have_the_same_columns(folder):
    (folder / "ab.csv").write_text("a,b\n1,2\n")
    (folder / "ba.csv").write_text("b,a\n1,2\n")
    (folder / "a.csv").write_text("a\n1\n")
    np.savez("id.npz", X=X, i=np.arange(len(X)))
    np.savez("none.npz", X=X)
    check_refused(lambda: read_samples(["ab.csv", "ba.csv"], Wanted()), "'ba.csv'|'b'|feature 0|'ab.csv'|'a'")
    check_refused(lambda: read_samples(["ab.csv", "a.csv"], Wanted()), "'a.csv'|1 features|'ab.csv'|2")
    check_refused(lambda: read_samples(["-", "-"], Wanted(), "csv"), "only once")


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["nowhere.csv"], "'nowhere.csv'"),
        (["."], "'.'|--format"),
        (["points.txt"], "'points.txt'|--format"),
        (["-"], "standard input|--format"),
    ],
)
def test_names_that_lead_nowhere_are_refused(folder, names, words):
    check_refused(lambda: read_samples(names, Wanted()), words)


def test_an_extra_that_is_missing_says_what_to_install(folder, monkeypatch):
    TABLE.to_parquet("a.parquet")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pyarrow.*pip install 'diffpeaks\[parquet\]'"):
        read_samples(["a.parquet"], NAMED)
    with pytest.raises(ImportError, match=r"pip install 'diffpeaks\[parquet\]'"):
        check_destination("out.parquet")


def test_semicolons_and_claims_beyond_memory_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("points.csv").write_text("x;y\n1,5;2\n")
    with refuses("points.csv|semicolons|'x;y'|commas"):
        read_samples(["points.csv"], Wanted())
    np.savez("points.npz", X=np.ones((3, 2)))

    def too_large(*given, **named):
        raise MemoryError("Unable to allocate 8.00 GiB")

    monkeypatch.setattr("numpy.lib.format.read_array", too_large)
    with refuses("points.npz|memory does not hold|8.00 GiB"):
        read_samples(["points.npz"], Wanted())
