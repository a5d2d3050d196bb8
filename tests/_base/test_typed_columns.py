"""Columns are numbers or categories, whatever types their values have."""

import numpy as np
import pytest

from diffpeaks._base.typed_columns import MISSING, Categories, Numbers, typed_column


@pytest.mark.parametrize(
    "values",
    [
        np.array([0.5, np.nan, 3.0]),
        np.array([0.5, np.nan, 3.0], np.float32),
        np.array(["0.5", "", "3"], object),
        np.array([0.5, None, "3"], object),
        np.array(["0.5", "", "3"]),
    ],
)
def test_numbers_are_read_whatever_holds_them(values):
    found = typed_column(values)
    assert isinstance(found, Numbers)
    np.testing.assert_array_equal(found.values, [0.5, np.nan, 3.0])


@pytest.mark.parametrize(
    ("values", "names", "codes"),
    [
        (np.array(["b", "a", "b", ""], object), ("b", "a"), [0, 1, 0, MISSING]),
        (np.array([7, 3, 7]), ("7", "3"), [0, 1, 0]),
        (np.array([1.0, np.nan, 2.0, 2.0]), ("2", "1"), [1, MISSING, 0, 0]),
        (np.array([True, False, True]), ("True", "False"), [0, 1, 0]),
        (np.array([None, "1", "x"], object), ("1", "x"), [MISSING, 0, 1]),
        (np.array([None, None], object), (), [MISSING, MISSING]),
    ],
)
def test_categories_are_counted_the_most_common_first(values, names, codes):
    found = typed_column(values)
    assert isinstance(found, Categories)
    assert (found.names, found.codes.tolist()) == (names, codes)


def test_many_integers_are_numbers():
    assert isinstance(typed_column(np.arange(20)), Categories)
    assert isinstance(typed_column(np.arange(21)), Numbers)
