"""What decides the labels of a session, and the way back to what did before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

from diffpeaks.cuts import Cut
from diffpeaks.cuts.noise import NoisePolicy
from diffpeaks.results.edits import Edit

MOST_STEPS_BACK = 200
POLICY = tuple(field.name for field in fields(NoisePolicy))


@dataclass(frozen=True)
class State:
    """A cut, what is noise, and the edits that follow: all that decides the labels; and names of clusters.

    A name stays with its number, also while there is no cluster of that number.
    """

    cut: Cut
    policy: NoisePolicy
    edits: tuple[Edit, ...] = ()
    names: tuple[tuple[int, str], ...] = ()

    @property
    def partition(self) -> State:
        """What decides the labels alone."""
        return replace(self, names=())

    def with_names(self, names: Mapping[int, str]) -> State:
        """The same with more names; an empty one takes a name away."""
        known = {**dict(self.names), **names}
        return replace(self, names=tuple(sorted((number, name) for number, name in known.items() if name)))


@dataclass
class History:
    """States that were left, to go back to and forth again."""

    past: list[State] = field(default_factory=list)
    future: list[State] = field(default_factory=list)

    def leave(self, state: State) -> None:
        self.past = [*self.past, state][-MOST_STEPS_BACK:]
        self.future = []
