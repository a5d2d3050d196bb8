"""Text files of data as others publish them: where they are, and how their lines are read."""

from __future__ import annotations

import http.client
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from diffpeaks.datasets.labeled import LABEL, LabeledData, Row, read_rows

_RAW = "https://raw.githubusercontent.com"
_TIMEOUT = 30  # seconds without an answer


@dataclass(frozen=True)
class Source:
    """A file at a fixed commit of a public repository, one sample a line.

    `skip` are beginnings of lines that are no samples, `n_dropped` columns in front that only number
    the samples, `codes` the integers for labels that are words. Without labels in the file, `block`
    lines in a row are a class: 1, 2, ...
    """

    repository: str  # owner/name
    commit: str
    path: str
    separator: str | None = ","  # None is any white space
    skip: tuple[str, ...] = ()
    n_dropped: int = 0
    label_first: bool = False
    block: int | None = None
    missing: str | None = None
    codes: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def url(self) -> str:
        return f"{_RAW}/{self.repository}/{self.commit}/{self.path}"


def read_source(source: Source, content: bytes, name: str, n_features: int, origin: str) -> LabeledData:
    """The data set in the bytes of its file."""
    header = [f"f{i}" for i in range(n_features)]
    header.insert(0 if source.label_first else n_features, LABEL)
    lines = content.decode("utf-8-sig").splitlines()
    X, y = read_rows(_rows(source, lines), header, origin)
    return LabeledData(X, y, name)


def _rows(source: Source, lines: list[str]) -> Iterator[Row]:
    """Cells in the words of the table format, with the labels in their place."""
    n_samples = 0
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith(source.skip):
            continue
        cells = [cell.strip() for cell in text.split(source.separator)][source.n_dropped :]
        if source.block is not None:
            cells.append(str(1 + n_samples // source.block))
        n_samples += 1
        label = 0 if source.label_first else -1
        if cells and cells[label] in source.codes:
            cells[label] = str(source.codes[cells[label]])
        yield number, ["NaN" if cell == source.missing else cell for cell in cells]


def fetch(url: str, by_hand: Path) -> bytes:
    """The bytes at the address; an error names it, and the place for a file that was fetched by hand."""
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT) as response:
            return response.read()
    except (OSError, http.client.HTTPException) as error:
        raise OSError(
            f"{url} could not be downloaded ({error}); fetch it on a machine that reaches it and put it, "
            f"as it is, at {str(by_hand)!r}"
        ) from error
