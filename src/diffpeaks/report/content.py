"""What a page says of clusters and their members, as plain values; how it looks is for the templates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.constants import NOISE
from diffpeaks._base.palette import css_color
from diffpeaks._density_peaks import DensityPeaks
from diffpeaks.captions import Captions, Trait
from diffpeaks.report.named_clusters import NamedClusters
from diffpeaks.report.thumbnails import thumbnail
from diffpeaks.results.members import Doubt, Members

MOST_ROWS = 4000  # of the table of clusters that are not shown in full
LEAST_INDEXED, MOST_INDEXED = 7, 600  # clusters of which the page begins with a list
_LONGEST_TEXT = 320  # characters


@dataclass(frozen=True)
class Member:
    """A sample; `probability` and `next_label` of one that is doubtful."""

    name: str
    text: str
    metadata: dict[str, str]
    picture: str | None
    probability: float | None = None
    next_label: int | None = None
    next_color: str | None = None


@dataclass(frozen=True)
class Cluster:
    """A cluster, by its number, or noise, with those of its members that are shown."""

    label: int
    name: str
    words: list[str]
    traits: list[Trait]
    color: str
    size: int
    share: float
    share_of_largest: float
    prominence: float
    certainty: float
    central: list[Member]
    doubtful: list[Member] = field(default_factory=list)


@dataclass(frozen=True)
class Entry:
    """A cluster in the list of all."""

    label: int
    color: str
    name: str
    size: int


@dataclass(frozen=True)
class Remainder:
    """The clusters for which a page has no room: how many, their samples, and the size of the largest."""

    n_clusters: int
    n_samples: int
    largest: int


class Content:
    """All that is said of the clusters of a fit.

    Parameters
    ----------
    named, members, captions : what clusters are called, who is in them, and what is known of samples
    color_indices : array
        The colour of each number.
    n_clusters : int
        How many clusters are shown in full, the largest.
    n_members : int
        How many members of either kind are shown of each.
    """

    def __init__(
        self,
        named: NamedClusters,
        members: Members,
        captions: Captions,
        color_indices: NDArray[np.int64],
        n_clusters: int,
        n_members: int,
    ) -> None:
        self._named, self._members, self._captions = named, members, captions
        self._color_indices, model = color_indices, named.model
        self._prominence = model.forest_.prominence[model.peak_indices_]
        self._n_members = n_members
        order = members.largest_first()
        self._in_full = order[:n_clusters]
        self._in_table = order[n_clusters : n_clusters + MOST_ROWS]
        self._on_page = set(named.numbers[order[: n_clusters + MOST_ROWS]].tolist())
        self._left_out = order[n_clusters + MOST_ROWS :]

    def index(self) -> list[Entry]:
        """Every cluster of the page, by its number; nothing where one look finds them all, or none does."""
        shown = np.concatenate([self._in_full, self._in_table])
        if not LEAST_INDEXED <= len(shown) <= MOST_INDEXED:
            return []
        named = self._named
        return [
            Entry(
                number,
                css_color(number, self._color_indices),
                named.names[label],
                int(self._members.sizes[label]),
            )
            for number, label in sorted(zip(named.numbers[shown].tolist(), shown.tolist(), strict=True))
        ]

    def clusters(self) -> Iterator[Cluster]:
        """Those that are shown in full, largest first."""
        for label in self._in_full.tolist():
            yield self._cluster(label, self._n_members, self._n_members)

    def table(self) -> Iterator[Cluster]:
        """The next ones, each with its most central member."""
        for label in self._in_table.tolist():
            yield self._cluster(label, 1, 0)

    def remainder(self) -> Remainder | None:
        if not len(self._left_out):
            return None
        sizes = self._members.sizes[self._left_out]
        return Remainder(len(sizes), int(sizes.sum()), int(sizes.max()))

    def has(self, label: int) -> bool:
        """Whether a cluster is on the page."""
        return label in self._on_page

    def noise(self) -> Cluster | None:
        return self._cluster(NOISE, self._n_members, 0) if self._members.n_noise else None

    def _cluster(self, label: int, n_central: int, n_doubtful: int) -> Cluster:
        members = self._members
        size = members.n_noise if label == NOISE else int(members.sizes[label])
        doubts = members.doubtful(label, n_doubtful) if n_doubtful else []
        named, is_noise = self._named, label == NOISE
        number = NOISE if is_noise else int(named.numbers[label])
        return Cluster(
            label=number,
            name="" if is_noise else named.names[label],
            words=[] if is_noise else named.words[label],
            traits=[] if is_noise else named.traits[label],
            color=css_color(number, self._color_indices),
            size=size,
            share=size / self._captions.n_samples,
            share_of_largest=size / max(size, int(members.sizes.max(initial=1))),
            prominence=0.0 if label == NOISE else float(self._prominence[label]),
            certainty=members.mean_probability(label),
            central=[self._member(sample) for sample in members.central(label, n_central).tolist()],
            doubtful=[self._doubtful_member(doubt) for doubt in doubts],
        )

    def _doubtful_member(self, doubt: Doubt) -> Member:
        number = int(self._named.numbers[doubt.next_label])
        return self._member(
            doubt.sample,
            probability=doubt.probability,
            next_label=number,
            next_color=css_color(number, self._color_indices),
        )

    def _member(self, sample: int, **doubt: Any) -> Member:
        captions = self._captions
        metadata = {name: _shortened(value) for name, value in captions.metadata_of(sample).items() if value}
        return Member(
            name=_shortened(captions.name_of(sample)),
            text=_shortened(captions.text_of(sample)),
            metadata=metadata,
            picture=thumbnail(captions.picture_of(sample)),
            **doubt,
        )


def key_figures(model: DensityPeaks, members: Members) -> dict[str, Any]:
    """The numbers at the head of the page."""
    sizes = members.sizes
    return {
        "n_samples": len(model.labels_),
        "n_clusters": len(sizes),
        "n_singletons": int(np.count_nonzero(sizes == 1)),
        "n_noise": members.n_noise,
        "noise_share": members.n_noise / len(model.labels_),
        "largest": int(sizes.max(initial=0)),
        "median": float(np.median(sizes)) if len(sizes) else 0.0,
    }


def _shortened(text: str) -> str:
    """The beginning of a long text, on one line."""
    line = " ".join(text[: 2 * _LONGEST_TEXT].split())
    return line if len(line) <= _LONGEST_TEXT else line[: _LONGEST_TEXT - 1].rstrip() + "\u2026"
