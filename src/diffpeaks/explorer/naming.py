"""What clusters are called: by people, or else by what sets them apart."""

from __future__ import annotations

from typing import Any, NamedTuple

from diffpeaks.captions import Characteristics, Trait
from diffpeaks.captions.characteristics import short_name
from diffpeaks.explorer.session import Session
from diffpeaks.explorer.views import listed_clusters

MOST_NAMED = 2_000  # clusters of which a list shows what sets them apart; the largest


class Characters(NamedTuple):
    """Words and traits of each cluster, by label, and a name made of them."""

    words: list[list[str]]
    traits: list[list[Trait]]
    names: list[str]


class Naming:
    """Names of the clusters of a session; what sets them apart is computed once for each revision."""

    def __init__(self, session: Session, characteristics: Characteristics) -> None:
        self._session, self._characteristics = session, characteristics
        self._known: tuple[int, Characters] | None = None

    @property
    def characters(self) -> Characters:
        session = self._session
        if self._known is None or self._known[0] != session.revision:
            labels, n_clusters = session.now.labels, len(session.now.peaks)
            words = self._characteristics.words(labels, n_clusters)
            traits = self._characteristics.traits(labels, n_clusters)
            names = [short_name(*pair) for pair in zip(words, traits, strict=True)]
            self._known = session.revision, Characters(words, traits, names)
        return self._known[1]

    def all_names(self) -> dict[int, str]:
        """The name of each cluster by its number: as it was given, or else made; "" without either."""
        made = zip(self._session.now.numbers.tolist(), self.characters.names, strict=True)
        return dict(made) | self._session.names

    def of_list(self) -> dict[str, Any]:
        """Names for a list of clusters, and which were given."""
        numbers = self._session.now.numbers[listed_clusters(self._session.now.sizes, MOST_NAMED)]
        names = self.all_names()
        told = {str(number): names[number] for number in numbers.tolist() if names[number]}
        given = self._session.names
        return {"names": told | {str(number): given[number] for number in given}, "given": list(given)}

    def of_cluster(self, number: int) -> dict[str, Any]:
        """What is said of one cluster."""
        label = self._session.now.label_of(number)
        words, traits, names = self.characters
        return {
            "name": self._session.names.get(number, ""),
            "made_name": names[label],
            "words": words[label],
            "traits": [
                {"column": trait.column, "value": trait.value, "of_all": trait.of_all}
                for trait in traits[label]
            ],
        }
