"""A column of a table as numbers or as categories, whatever type its values have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MISSING = -1  # the code of a missing value
MOST_INTEGER_CATEGORIES = 20  # integers with more distinct values are amounts


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers, NaN where a value is missing."""

    values: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Categories:
    """Categories, the most common first: each value as a place in `names`, MISSING where it is missing."""

    codes: NDArray[np.int64]
    names: tuple[str, ...]


def typed_column(values: NDArray[Any]) -> Numbers | Categories:
    """Numbers, or what the values are as text; few distinct integers are categories too.

    >>> import numpy as np
    >>> from diffpeaks._base.typed_columns import typed_column
    >>> typed_column(np.array(["1.5", "", "2"], object)).values.tolist()
    [1.5, nan, 2.0]
    >>> typed_column(np.array(["b", "a", None, "b"], object))
    Categories(codes=array([ 0,  1, -1,  0]), names=('b', 'a'))
    """
    numbers = _as_numbers(values)
    if numbers is None:
        return _categories([shown_value(value) for value in values.tolist()])
    known = numbers[np.isfinite(numbers)]
    distinct = np.unique(known)
    if len(distinct) <= MOST_INTEGER_CATEGORIES and np.all(distinct == np.round(distinct)):
        return _categories([f"{value:.0f}" if np.isfinite(value) else "" for value in numbers.tolist()])
    return Numbers(numbers)


def order_of(values: NDArray[Any], descending: bool = False) -> NDArray[np.int64]:
    """Places of values in ascending order, by number or else by text in any case; equal ones as they are.

    Missing values come last, also in descending order.

    >>> import numpy as np
    >>> from diffpeaks._base.typed_columns import order_of
    >>> order_of(np.array(["10", "", "9"], object)).tolist(), order_of(np.array(["b", "A", None])).tolist()
    ([2, 0, 1], [1, 0, 2])
    """
    numbers = _as_numbers(values)
    if numbers is None:
        texts = np.array([shown_value(value).casefold() for value in values.tolist()], object)
        keys, is_missing = np.unique(texts, return_inverse=True)[1].astype(np.float64), texts == ""
    else:
        keys, is_missing = numbers, np.isnan(numbers)
    return np.lexsort((-keys if descending else keys, is_missing))


def _as_numbers(values: NDArray[Any]) -> NDArray[np.float64] | None:
    if values.dtype.kind in "iuf":
        return values.astype(np.float64)
    if values.dtype.kind not in "OUS":
        return None
    try:
        return np.array([np.nan if value in (None, "") else float(value) for value in values.tolist()])
    except (TypeError, ValueError):
        return None


def _categories(texts: list[str]) -> Categories:
    names, codes, count = np.unique(np.array(texts, object), return_inverse=True, return_counts=True)
    count = np.where(names == "", 0, count)
    order = np.argsort(-count, kind="stable")[: np.count_nonzero(count)]
    place = np.full(len(names), MISSING)
    place[order] = np.arange(len(order))
    return Categories(place[codes], tuple(names[order].tolist()))


def shown_value(value: Any) -> str:
    """A value for the eye; nothing where it is missing."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
