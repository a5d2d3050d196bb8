"""Labelled tables, and the checksum of their values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from reference import values_checksum
from refusals import refuses

from diffpeaks.datasets import LabeledData, labeled, load_table

tables = st.tuples(st.integers(1, 6), st.integers(1, 4)).flatmap(
    lambda shape: st.tuples(
        hnp.arrays(np.float64, shape),
        hnp.arrays(np.int64, shape[0], elements=st.integers(-(2**63), 2**63 - 1)),
    )
)


@given(table=tables)
def test_a_written_table_is_read_to_the_same_values(tmp_path_factory, table):
    data = LabeledData(*table, "round")
    path = tmp_path_factory.mktemp("round") / "round.csv"
    labeled.write_table(path, data)
    again = load_table(path)
    np.testing.assert_array_equal(again.X, data.X)  # NaN equals NaN here
    np.testing.assert_array_equal(again.y, data.y)
    assert again.name == "round"
    assert labeled.checksum(again) == labeled.checksum(data) == values_checksum(*table)


def test_checksum_sees_every_value_and_the_shape():
    X, y = np.arange(6.0).reshape(2, 3), np.array([0, 1])
    others = [
        (X + (X == 4) * 1e-12, y),
        (X, np.array([0, 2])),
        (X[::-1], y),
        (X.reshape(3, 2), y),
        (X - 0.0 * X, -y),
    ]
    sums = {labeled.checksum(LabeledData(*pair, "")) for pair in [(X, y), *others]}
    assert len(sums) == 1 + len(others)
    odd = np.array([0x7FF8000000000001], np.int64).view(np.float64)[:, None]  # another NaN
    assert labeled.checksum(LabeledData(odd, y[:1], "")) == values_checksum([[np.nan]], [0])


def test_any_labelled_csv(tmp_path):
    path = tmp_path / "shape.csv"
    path.write_bytes(b'\xef\xbb\xbf"x",label,y\r\n1,-3,NaN\r\n\r\n1e2, 4 ,.5\r\n')
    X, y, name = load_table(path)
    np.testing.assert_array_equal(X, [[1, np.nan], [100, 0.5]])
    assert (y.tolist(), name) == ([-3, 4], "shape")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "t.csv|begins with []|label"),
        ("1,2,3\n", "t.csv|begins with ['1', '2', '3']|label"),
        ("label\n1\n", "at least one feature"),
        ("a,label,label\n1,1,1\n", "one 'label'"),
        ("a,label\n", "t.csv|no rows|at least one sample"),
        ("a,b,label\n1,2,3\n1,2\n", "t.csv', line 3|2 cells|3 columns"),
        ("a,b,label\n1,2,3\n1,x2,3\n", "t.csv', line 3, column 'b'|'x2'|a number, or NaN"),
        ("a,b,label\n1,,3\n", "line 2, column 'b'|''|NaN"),
        ("a,b,label\n1,2,0.5\n", "line 2, column 'label'|'0.5'|an integer"),
        ("a,label\n1,NaN\n", "line 2, column 'label'|'NaN'|an integer"),
        ("a,label\n1,9223372036854775808\n", "line 2, column 'label'|'9223372036854775808'|64 bits"),
    ],
)
def test_bad_tables_name_file_line_and_column(tmp_path, text, words):
    (tmp_path / "t.csv").write_text(text)
    with refuses(words):
        load_table(tmp_path / "t.csv")


def test_no_table(tmp_path):
    for path in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(FileNotFoundError, match=rf"{path}.*give the path"):
            load_table(path)
