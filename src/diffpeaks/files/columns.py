"""Which columns of a table are points, and which is the id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase

from diffpeaks.files.contract import Source, Wanted, shown


def check_names(source: Source, names: Sequence[str]) -> None:
    """Refuse columns that no name can tell apart."""
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise source.fault(f"several columns are named {twice[0]!r}; names must differ")


def chosen_columns(source: Source, names: Sequence[str], wanted: Wanted) -> list[str]:
    """The columns of numbers, in the order of the patterns, then of the file, without `wanted.no_numbers`."""
    check_names(source, names)
    for name in wanted.no_numbers:
        check_column(source, names, name)
    others = [name for name in names if name not in wanted.no_numbers]
    if not wanted.columns:
        found = others
    else:
        found = [name for pattern in wanted.columns for name in _matches(source, names, others, pattern)]
    if not found:
        raise source.fault("has no columns of numbers")
    return list(dict.fromkeys(found))


def check_column(source: Source, names: Sequence[str], name: str) -> None:
    if name not in names:
        raise source.fault(f"has no column {name!r}; its columns are {shown(names)}")


def _matches(source: Source, names: Sequence[str], others: Sequence[str], pattern: str) -> list[str]:
    if pattern in names:  # a name may hold signs of patterns
        return [pattern]
    found = [name for name in others if fnmatchcase(name, pattern)]
    if not found:
        raise source.fault(f"no column is or matches {pattern!r}; its columns are {shown(names)}")
    return found
