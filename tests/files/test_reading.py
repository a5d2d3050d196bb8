"""Every format gives the points that were put in."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from point_files import IDS, NAMED, TABLE, X

from diffpeaks.files import FORMATS, Wanted, read_samples

LISTS = pa.table({"name": IDS, "embedding": pa.array(list(X), pa.list_(pa.float32()))})


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


def test_a_column_that_only_counts_rows_is_pointed_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{row + 7},{row * row},{row % 3}\n" for row in range(20))
    Path("points.csv").write_text(f"number,x,y\n{rows}")
    (note,) = read_samples(["points.csv"], Wanted()).notes
    assert "'number' only counts rows" in note
    assert "--id" in note
    assert read_samples(["points.csv"], Wanted(id="number")).notes == ()
    assert read_samples(["points.csv"], Wanted(columns=("number", "x"))).notes == ()  # it was asked for
    assert len(read_samples(["points.csv", "points.csv"], Wanted()).notes) == 2
