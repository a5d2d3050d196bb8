"""Rows in consecutive files are those that were written, whichever are asked for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from diffpeaks.sharded.table import Table, write_rows

N_ROWS = 9000
ROWS = np.arange(N_ROWS * 3, dtype=np.float32).reshape(N_ROWS, 3)
STARTS = (0, 10, 10, 4000, N_ROWS)  # the second file is empty


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("table")
    paths = [folder / f"{number}.rows" for number in range(len(STARTS) - 1)]
    for path, first, last in zip(paths, STARTS[:-1], STARTS[1:], strict=True):
        write_rows(path, ROWS[first:last])
    return Table(tuple(map(str, paths)), STARTS, 3, "<f4")


@given(which=st.lists(st.integers(0, N_ROWS - 1), max_size=60))
def test_rows_are_those_that_were_written(table, which):
    which = np.array(which, np.int64)
    assert_array_equal(table.at(which), ROWS[which])
    assert_array_equal(table.at(np.sort(which)), ROWS[np.sort(which)])


@pytest.mark.parametrize("step", [1, 2, 8, 9, 500])
def test_many_rows_are_read_together(table, step):
    which = np.arange(3, N_ROWS, step)
    assert_array_equal(table.at(which), ROWS[which])


def test_runs_come_one_after_the_other(table):
    first, last = np.array([5, 20, 30, 3990]), np.array([20, 25, 30, 4100])
    expected = np.concatenate([ROWS[a:b] for a, b in zip(first, last, strict=True)])
    assert_array_equal(table.runs(first, last), expected)
    assert_array_equal(table.between(0, N_ROWS), ROWS)


def test_a_file_that_ends_too_early_is_named(table, tmp_path):
    write_rows(tmp_path / "short.rows", ROWS[:5])
    short = Table((str(tmp_path / "short.rows"),), (0, 9), 3, "<f4")
    with pytest.raises(ValueError, match=r"short\.rows' ends too early.*start again"):
        short.between(0, 9)
