"""What sets clusters apart: words of their texts, and values of columns."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from diffpeaks._base.constants import NOISE
from diffpeaks._base.typed_columns import MISSING, Categories, Numbers, shown_value, typed_column
from diffpeaks.captions.captions import Captions

WORDS_SHOWN, TRAITS_SHOWN = 4, 3
_WORD = r"(?u)\b[^\W\d_][\w'-]+\b"  # of at least two letters, and no numbers
_MOST_TEXTS = 100_000  # that are looked at; of more an even part
_LEAST_DEVIATION = 0.5  # standard deviations that make a trait


class Trait(NamedTuple):
    """A column in which a cluster differs: its mean, or the share of a category, beside that of all."""

    column: str
    value: str
    of_all: str
    deviation: float

    def __str__(self) -> str:
        return f"{self.column} {self.value}"


class TextCounts(NamedTuple):
    """How often each word is in each text that is looked at."""

    samples: NDArray[np.int64]
    counts: sp.csr_array
    words: NDArray[Any]

    @classmethod
    def of(cls, texts: NDArray[Any]) -> TextCounts:
        from sklearn.feature_extraction.text import CountVectorizer

        samples = np.linspace(0, len(texts) - 1, min(len(texts), _MOST_TEXTS)).astype(np.int64)
        vectorizer = CountVectorizer(token_pattern=_WORD, stop_words="english", dtype=np.int32)
        try:
            counts = vectorizer.fit_transform(map(shown_value, texts[samples].tolist()))
        except ValueError:  # there are no words
            return cls(samples, sp.csr_array((len(samples), 0), dtype=np.int32), np.empty(0, object))
        return cls(samples, sp.csr_array(counts), vectorizer.get_feature_names_out())


def characteristic_words(
    texts: TextCounts, labels: NDArray[np.int64], n_clusters: int, most: int = WORDS_SHOWN
) -> list[list[str]]:
    """The words that are more frequent in each cluster than elsewhere, by c-TF-IDF.

    The score of a word is its share of the words of the cluster, times log(1 + A / f): A is the mean number
    of words of a cluster, f how often the word is in all of them.

    >>> import numpy as np
    >>> from diffpeaks.captions.characteristics import TextCounts, characteristic_words
    >>> texts = np.array(["red apple", "green apple", "old car", "red car"], object)
    >>> characteristic_words(TextCounts.of(texts), np.array([0, 0, 1, 1]), 2, most=1)
    [['apple'], ['car']]
    """
    clusters = labels[texts.samples]
    known = np.flatnonzero(clusters != NOISE)
    ones = np.ones(len(known), np.float64)
    indicator = sp.csr_array((ones, (clusters[known], known)), shape=(n_clusters, len(clusters)))
    counts = sp.csr_array(indicator @ texts.counts)
    of_cluster = counts.sum(axis=1)
    of_word = np.maximum(counts.sum(axis=0), 1)
    weight = np.log1p(of_cluster.mean() / of_word) if n_clusters else np.empty(0)
    found = []
    for cluster in range(n_clusters):
        row = slice(counts.indptr[cluster], counts.indptr[cluster + 1])
        score = counts.data[row] * weight[counts.indices[row]]
        order = np.lexsort((counts.indices[row], -score))[:most]
        found.append(texts.words[counts.indices[row][order]].tolist())
    return found


def characteristic_columns(
    columns: Mapping[str, Numbers | Categories],
    labels: NDArray[np.int64],
    n_clusters: int,
    most: int = TRAITS_SHOWN,
) -> list[list[Trait]]:
    """The columns in which each cluster differs most, in standard deviations of all samples.

    Of a column of numbers the mean counts, of categories the share of that which is more frequent than
    elsewhere.
    """
    traits: list[list[Trait]] = [[] for _ in range(n_clusters)]
    for name, column in columns.items():
        if isinstance(column, Numbers):
            found = _of_numbers(name, column, labels, n_clusters)
        else:
            found = _of_categories(name, column, labels, n_clusters)
        for cluster, trait in enumerate(found):
            if trait is not None and trait.deviation >= _LEAST_DEVIATION:
                traits[cluster].append(trait)
    return [sorted(own, key=lambda trait: -trait.deviation)[:most] for own in traits]


def _of_numbers(name: str, column: Numbers, labels: NDArray[np.int64], n_clusters: int) -> list[Trait | None]:
    known = np.isfinite(column.values)
    values = column.values[known]
    spread = values.std() if len(values) else 0.0
    if not spread > 0:
        return [None] * n_clusters
    number, total = _sums(labels[known], values, n_clusters)
    means = total / np.maximum(number, 1)
    middle = values.mean()
    return [
        Trait(name, f"{mean:.3g}", f"{middle:.3g}", float(abs(mean - middle) / spread)) if count else None
        for mean, count in zip(means.tolist(), number.tolist(), strict=True)
    ]


def _of_categories(
    name: str, column: Categories, labels: NDArray[np.int64], n_clusters: int
) -> list[Trait | None]:
    known = (column.codes != MISSING) & (labels != NOISE)
    n_categories = len(column.names)
    if n_categories < 2 or n_categories > len(labels) / 2:  # a constant, or names of samples
        return [None] * n_clusters
    pairs = sp.coo_array(
        (np.ones(np.count_nonzero(known)), (labels[known], column.codes[known])),
        shape=(n_clusters, n_categories),
    ).tocsr()
    size = np.maximum(pairs.sum(axis=1), 1)
    of_all = column.codes[column.codes != MISSING]
    share = np.bincount(of_all, minlength=n_categories) / max(1, len(of_all))
    spread = np.sqrt(np.maximum(share * (1 - share), 1e-12))
    found: list[Trait | None] = []
    for cluster in range(n_clusters):
        row = slice(pairs.indptr[cluster], pairs.indptr[cluster + 1])
        codes, own = pairs.indices[row], pairs.data[row] / size[cluster]
        if not len(codes):
            found.append(None)
            continue
        best = int(np.argmax((own - share[codes]) / spread[codes]))
        code = codes[best]
        deviation = float((own[best] - share[code]) / spread[code])
        told = f"{column.names[code]} ({own[best]:.0%})"
        found.append(Trait(name, told, f"{share[code]:.0%}", deviation))
    return found


def _sums(
    labels: NDArray[np.int64], values: NDArray[np.float64], n_clusters: int
) -> tuple[NDArray[Any], ...]:
    """How many values each cluster has, and their sum."""
    clustered = labels != NOISE
    own = labels[clustered]
    return np.bincount(own, minlength=n_clusters), np.bincount(own, values[clustered], n_clusters)


def short_name(words: list[str], traits: list[Trait]) -> str:
    """What a cluster is called by its words, or else by its first trait; "" where it has neither."""
    return ", ".join(words) or (str(traits[0]) if traits else "")


class Characteristics:
    """What sets clusters of some samples apart, in any clustering; texts and columns are read once."""

    def __init__(self, captions: Captions) -> None:
        self._captions = captions

    @cached_property
    def _texts(self) -> TextCounts | None:
        return None if self._captions.text is None else TextCounts.of(self._captions.text)

    @property
    def column_names(self) -> tuple[str, ...]:
        return tuple(self._captions.metadata)

    @cached_property
    def columns(self) -> dict[str, Numbers | Categories]:
        return {name: typed_column(values) for name, values in self._captions.metadata.items()}

    def words(self, labels: NDArray[np.int64], n_clusters: int) -> list[list[str]]:
        texts = self._texts
        return (
            [[] for _ in range(n_clusters)]
            if texts is None
            else characteristic_words(texts, labels, n_clusters)
        )

    def traits(self, labels: NDArray[np.int64], n_clusters: int) -> list[list[Trait]]:
        return characteristic_columns(self.columns, labels, n_clusters)
