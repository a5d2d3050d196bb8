"""What samples may be coloured by beside their cluster: what the fit knows of them, and columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.typed_columns import MISSING, Categories, Numbers
from diffpeaks.captions import Characteristics
from diffpeaks.explorer.clustering import Shown
from diffpeaks.explorer.views import packed

MOST_CATEGORIES = 20  # with colours of their own; the others share one
OF_FIT = ("density", "probability", "outlier score")
EXPLAINED = {
    "density": "how many samples are around a sample, by the random walk; the mean is 1",
    "probability": "how surely a sample belongs to its cluster, by one step of the random walk; before edits",
    "outlier score": "how far the density of a sample falls below that of its neighbours",
}


@dataclass(frozen=True, eq=False)
class Colouring:
    """Values of all samples, and how they are told; `is_log` where powers of ten are even steps."""

    name: str
    column: Numbers | Categories
    is_log: bool = False

    def packed(self, drawn: NDArray[np.int64]) -> bytes:
        """Values of the samples that are drawn: numbers in [0, 1], or places among the categories."""
        about: dict[str, Any] = {"name": self.name, "explained": EXPLAINED.get(self.name, "")}
        if isinstance(self.column, Categories):
            return self._packed_categories(about, drawn, self.column)
        values = self.column.values
        positive = values > 0
        if self.is_log:
            values = np.log10(values, where=positive, out=np.full(len(values), np.nan))
        known = values[np.isfinite(values)]
        low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
        ends = [10**low, 10**high] if self.is_log else [low, high]
        about |= {
            "kind": "numbers",
            "ends": ends,
            "is_log": self.is_log,
            "n_missing": len(values) - len(known),
        }
        share = (values - low) / (high - low or 1.0)
        return packed(about, values=np.where(np.isfinite(share), share, MISSING)[drawn].astype(np.float32))

    @staticmethod
    def _packed_categories(about: dict[str, Any], drawn: NDArray[np.int64], column: Categories) -> bytes:
        codes = np.minimum(column.codes, MOST_CATEGORIES)  # the last is that of all others
        count = np.bincount(codes - MISSING, minlength=1 + min(len(column.names), MOST_CATEGORIES + 1))
        names = column.names[:MOST_CATEGORIES]
        if len(column.names) > MOST_CATEGORIES:
            names = (*names, f"{len(column.names) - MOST_CATEGORIES:,} others")
        about |= {"kind": "categories", "categories": names, "counts": count[1:].tolist()}
        return packed(about | {"n_missing": int(count[0])}, values=codes[drawn].astype(np.float32))


class Colourings:
    """All colourings of a fit by their names."""

    def __init__(self, characteristics: Characteristics) -> None:
        self._characteristics = characteristics

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys([*OF_FIT, *self._characteristics.column_names]))

    def of(self, name: str, now: Shown) -> Colouring:
        """A colouring of a clustering; a column goes before what the fit knows under the same name."""
        if name not in self.names:
            raise ValueError(f"samples are not coloured by {name!r}; use one of {', '.join(self.names)}")
        if name in self._characteristics.column_names:
            return Colouring(name, self._characteristics.columns[name])
        if name == "density":
            return Colouring(name, Numbers(now.model.density_.astype(np.float64)), is_log=True)
        values = now.model.probabilities_ if name == "probability" else now.model.outlier_scores_
        return Colouring(name, Numbers(values))
