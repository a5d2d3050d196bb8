"""Every format gives the points that were put in; a file that lies is refused by file, row and column."""

import io
import os
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from clouds import general_position

from diffpeaks.files import (
    FORMATS,
    Choice,
    Wanted,
    check_destination,
    read_column,
    read_samples,
    write_results,
)

X = general_position(0, 40).astype(np.float32)
NAMES = [f"x{i}" for i in range(X.shape[1])]
IDS = [f"sample {i}" for i in range(len(X))]
TABLE = pd.DataFrame(X, columns=NAMES).assign(name=IDS)
LISTS = pa.table({"name": IDS, "embedding": pa.array(list(X), pa.list_(pa.float32()))})
NAMED = Wanted(columns=("x*",), id="name")


def arrow_stream(path):
    table = pa.Table.from_pandas(TABLE)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)


def fixed_lists(path):
    values = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), X.shape[1])
    pa.parquet.write_table(pa.table({"embedding": values, "name": IDS}), path)


# name of a file, how it is written, what is wanted of it
FILES = {
    "points.npy": (lambda path: np.save(path, X), Wanted()),
    "points.npz": (lambda path: np.savez(path, other=X[:3], X=X, name=IDS), Wanted(id="name", key="X")),
    "points.csv": (lambda path: TABLE.to_csv(path, index=False), NAMED),
    "points.tsv": (lambda path: TABLE.to_csv(path, index=False, sep="\t"), NAMED),
    "points.parquet": (lambda path: TABLE.to_parquet(path), NAMED),
    "lists.parquet": (lambda path: pa.parquet.write_table(LISTS, path), Wanted(("embedding",), "name")),
    "fixed.parquet": (fixed_lists, Wanted(("embedding",), "name")),
    "points.feather": (lambda path: TABLE.to_feather(path), NAMED),
    "points.arrows": (arrow_stream, NAMED),
    "points.bin": (lambda path: X.tofile(path), Wanted(width=X.shape[1])),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check_samples(samples, wanted, repeated=1):
    expected = np.tile(X, (repeated, 1))
    np.testing.assert_array_equal(samples.X.astype(np.float32), expected)
    assert (samples.ids is None) == (wanted.id is None)
    if wanted.id is not None:
        assert samples.ids.name == "name"
        assert samples.ids.values.tolist() == IDS * repeated


@pytest.mark.parametrize("name", FILES)
def test_a_file_gives_its_points(folder, name):
    write, wanted = FILES[name]
    write(folder / name)
    samples = read_samples([name], wanted)
    check_samples(samples, wanted)
    assert samples.X.dtype == (np.float64 if name.endswith(("csv", "tsv")) else np.float32)
    check_samples(read_samples([name, name], wanted), wanted, repeated=2)


@pytest.mark.parametrize("name", FILES)
def test_standard_input_gives_the_same_points(folder, monkeypatch, name):
    write, wanted = FILES[name]
    write(folder / name)
    format = next(kind for kind, found in FORMATS.items() if name.endswith(found.suffixes))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO((folder / name).read_bytes())))
    check_samples(read_samples(["-"], wanted, format), wanted)


def test_arrays_are_mapped(folder):
    np.save("points.npy", X)
    X.tofile("points.bin")
    assert isinstance(read_samples(["points.npy"], Wanted()).X, np.memmap)
    assert isinstance(read_samples(["points.bin"], Wanted(width=X.shape[1])).X, np.memmap)


def test_numbers_keep_their_values(folder):
    pd.DataFrame({"a": [1, 2], "b": [True, False], "c": [0.1, 1e300]}).to_parquet("mixed.parquet")
    assert read_samples(["mixed.parquet"], Wanted()).X.tolist() == [[1, 1, 0.1], [2, 0, 1e300]]
    (folder / "large.csv").write_text("a,b,c\n9007199254740992,-009007199254740992,1e300\n")
    assert read_samples(["large.csv"], Wanted()).X.tolist() == [[2.0**53, -(2.0**53), 1e300]]
    np.save("half.npy", X.astype(np.float16))
    half = read_samples(["half.npy"], Wanted()).X
    assert half.dtype == np.float32
    np.testing.assert_array_equal(half, X.astype(np.float16))
    np.save("big_endian.npy", X.astype(">f4"))
    assert read_samples(["big_endian.npy"], Wanted()).X.dtype == np.float32


def test_columns_are_chosen_in_the_order_of_the_patterns(folder):
    pd.DataFrame({"a1": [1], "b": [2], "a2": [3], "[0]": [4], "id": [7]}).to_csv("t.csv", index=False)
    for columns, expected in {
        ("b", "a*"): [2, 1, 3],
        ("a?", "a1"): [1, 3],
        ("[0]",): [4],
        ("*",): [1, 2, 3, 4],
        (): [1, 2, 3, 4],
    }.items():
        assert read_samples(["t.csv"], Wanted(columns, "id")).X.tolist() == [expected]


def test_a_text_with_or_without_a_header(folder):
    (folder / "t.csv").write_text('\ufeff1,2\n3,"4"\n\n 5 ,6\n', encoding="utf-8")
    assert read_samples(["t.csv"], Wanted(header=False)).X.tolist() == [[1, 2], [3, 4], [5, 6]]
    named = read_samples(["t.csv"], Wanted(header=True))
    assert named.X.tolist() == [[3, 4], [5, 6]]
    assert named.columns == ("1", "2")


def test_values_may_miss_where_the_metric_says_so(folder):
    (folder / "t.csv").write_text("a,b\n1,\nnan,2\n")
    np.testing.assert_array_equal(
        read_samples(["t.csv"], Wanted(), may_miss=True).X, [[1, np.nan], [np.nan, 2]]
    )


@pytest.mark.parametrize("may_miss", [False, True])
def test_infinity_is_refused_without_the_advice_for_values_that_miss(folder, may_miss):
    (folder / "t.csv").write_text("a,b\n1,2\n3,-inf\n")
    with pytest.raises(ValueError, match=r"row 1, column 'b': the value is -inf; .*finite") as refused:
        read_samples(["t.csv"], Wanted(), may_miss=may_miss)
    assert "nan_euclidean" not in str(refused.value)


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
    ("a.csv", text(b"a,b\n1,\xff\xfe\n"), Wanted(), "'a.csv'|line|UTF-8"),
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
    ("a.parquet", lambda name: TABLE.to_parquet(name), Wanted(), "'a.parquet'|row 0, column 'name'|string"),
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


def check_refused(read, words):
    with pytest.raises((ValueError, OSError)) as refused:
        read()
    place = 0
    for word in words.split("|"):
        found = str(refused.value).find(word, place)
        assert found >= 0, f"{word!r} is not in {refused.value}"
        place = found + len(word)
    assert "\n" not in str(refused.value)
    assert not os.path.exists("sprung")


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


RESULTS = {
    "id": np.array(["a,b", 'q"', "ü"], dtype=object),
    "label": np.array([0, -1, 1]),
    "density": np.array([0.1, 1 / 3, 1e-300]),
    "delta": np.array([np.inf, 2.0, 0.5]),
}


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.parquet"])
def test_results_are_read_as_they_were(folder, name):
    check_destination(name)
    write_results(name, RESULTS)
    for column, values in RESULTS.items():
        assert read_column(name, Choice(column, "--column")).astype(values.dtype).tolist() == values.tolist()
    assert os.listdir() == [name]


def test_a_file_of_labels_alone(folder):
    write_results("out.npy", RESULTS)
    assert np.load("out.npy").tolist() == [0, -1, 1]


@pytest.mark.parametrize(
    ("path", "inputs", "words"),
    [
        ("nowhere/out.csv", ["a.npy"], "nowhere|does not exist"),
        ("a.npy", ["a.npy"], "'a.npy'|is an input"),
        ("out.txt", ["a.npy"], "'out.txt'|'csv'|'parquet'"),
        ("out.npz", ["a.npy"], "'out.npz'|'npy'"),
        ("out.h5ad", ["a.npy"], "'out.h5ad'|copy|'a.npy'"),
        (".", ["a.npy"], "folder"),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_work(folder, path, inputs, words):
    np.save("a.npy", X)
    check_refused(lambda: check_destination(path, inputs), words)


@pytest.mark.parametrize("name", ["out.csv", "out.npy", "out.parquet"])
def test_an_interruption_leaves_what_was_there(folder, name, monkeypatch):
    (folder / name).write_text("before")

    def interrupted(file_number):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_results(name, RESULTS)
    assert os.listdir() == [name]
    assert (folder / name).read_text() == "before"
