"""What is looked at: a fitted model, the cut that it has now, edits by hand, and the way back.

Pure Python: no page and no server. The model itself never changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.constants import NOISE
from diffpeaks._base.palette import N_COLORS
from diffpeaks._base.validation import check_integer, is_number
from diffpeaks._density_peaks import DensityPeaks
from diffpeaks.cuts import RULES, Cut, peak_scores
from diffpeaks.explorer.clustering import Cuts, Shown
from diffpeaks.explorer.numbers import Numbers
from diffpeaks.explorer.states import POLICY, History, State
from diffpeaks.results.edits import Edit, Gather, Merge, Split

LONGEST_NAME = 80  # characters


class Session:
    """The clustering now, how it came to be, and every way to change it.

    A change that is refused changes nothing. With `keep=False` it is shown only: while a line is dragged,
    what lies between its ends is no step to go back to. Clusters go by their numbers, which stay theirs.

    Attributes
    ----------
    now : Shown
    revision : int
        How many changes there were: whoever names it in a question knows the clusters that it is about.
    result : list of int
        The clusters that the last edit made, or undo and redo of one; empty after other changes.
    notes : list of str
        What is to be said of the last change.
    colors : dict from int to int
        The colour in the palette of each number to which one was given, for good.
    """

    def __init__(self, model: DensityPeaks) -> None:
        self.model = model
        self.cuts = Cuts(model)
        self._kept = self._state = State(model.cut_, model._noise_policy())
        self.now = self._kept_now = self.cuts.shown(self._state.cut, self._state.policy, ())
        self._numbers = Numbers(self._state.partition, self.now)
        self._history = History()
        self._score: NDArray[np.float64] | None = None
        self.revision = 0
        self.result: list[int] = []
        self.notes: list[str] = []
        self.colors: dict[int, int] = {}

    @property
    def state(self) -> State:
        return self._state

    @property
    def automatic(self) -> Cut:
        """The cut that is chosen from the data."""
        return self.cuts.landscape.automatic_cut

    def set_rule(self, name: str, value: float | None, keep: bool = True) -> None:
        """One rule of the cut takes another value; None takes it away.

        The number of clusters starts alone, as in `recut(n_clusters=...)`: a cut chosen from the data would
        leave it few samples to choose from. What is set after it says who may be a peak. When it is taken
        away and no rule is left, the automatic cut is back; peaks chosen by hand give way to any rule.
        """
        if name not in RULES:
            raise ValueError(f"rule {name!r} is unknown; use one of {', '.join(RULES)}")
        cut = self._state.cut if self._state.cut.peaks is None else Cut()
        rule: dict[str, Any] = {name: getattr(Cut(), name) if value is None else _bound(name, value)}
        if name == "n_clusters" and value is not None and cut.n_clusters is None:
            cut = Cut()
        cut = replace(cut, **rule)
        if name == "n_clusters" and cut == Cut():
            cut = self.automatic
        self._change(replace(self._state, cut=cut), keep)

    def set_score(self, least: float, keep: bool = True) -> None:
        """As many clusters as samples have that density x delta, or a larger one."""
        if self._score is None:
            complete = self.cuts.forests.of(Cut(n_clusters=1))
            # without that of the densest, which is a peak anyway
            self._score = np.sort(peak_scores(complete, self.model.density_))[:-1]
        n_above = len(self._score) - int(np.searchsorted(self._score, _bound("least", least)))
        self.set_rule("n_clusters", 1 + n_above, keep)

    def set_policy(self, /, keep: bool = True, **policy: Any) -> None:
        """What is noise, and what becomes of it: `halo`, `min_cluster_size`, `noise`."""
        unknown = sorted(set(policy) - set(POLICY))
        if unknown:
            raise ValueError(f"{unknown[0]!r} is unknown; use {', '.join(POLICY)}")
        given = vars(self._state.policy) | policy
        self._change(replace(self._state, policy=self.model._noise_policy(**given)), keep)

    def choose_peaks(self, samples: Sequence[int]) -> None:
        """These samples are the peaks; the densest of all, which must be one, is added and that is said."""
        densest = int(np.argmin(self.model.forest_.rank))
        n_samples = len(self.model.density_)
        listed = _listed("samples", samples)
        chosen = tuple(dict.fromkeys(check_integer("peak", sample, 0, n_samples - 1) for sample in listed))
        added = densest not in chosen
        if added:
            chosen = (*chosen, densest)
        self._change(replace(self._state, cut=Cut(peaks=chosen)))
        if added:
            self.notes.append(f"sample {densest}, the densest of all, was added to the peaks")

    def merge(self, clusters: Sequence[int]) -> None:
        """Make one of these clusters, by their numbers. It has the name of one of them."""
        asked = list(dict.fromkeys(_listed("clusters", clusters)))
        peaks = [self._peak(cluster) for cluster in asked]
        names = [self.names[cluster] for cluster in asked if cluster in self.names]
        self._edit(Merge(tuple(peaks)))
        merged = int(self.labels[peaks[0]])
        for name in names[:1]:
            self._state = self._kept = self._state.with_names({merged: self.names.get(merged, name)})
        called = self.names.get(merged)
        self.notes += [f"{name!r} is part of {called!r}" for name in names if name != called]

    def split(self, cluster: int) -> None:
        """Take the most prominent hill out of a cluster, by its number."""
        peak = self._peak(cluster)
        try:
            self._edit(Split(peak))
        except ValueError as error:
            raise ValueError(f"cluster {cluster} is one hill, which cannot be split; name another") from error

    def gather(self, samples: Sequence[int]) -> None:
        """Make a cluster of these samples, wherever they are now."""
        self._edit(Gather(tuple(_listed("samples", samples))))
        self.result = np.unique(self.labels[list(samples)]).tolist()

    def rename(self, cluster: int, name: str) -> None:
        """Call a cluster something; nothing takes its name away."""
        self.now.label_of(cluster)
        self._change(self._state.with_names({cluster: _checked_name(name)}), may_drop=False)

    def replay(
        self,
        state: State,
        numbers: Mapping[int, int],
        names: Mapping[int, str],
        colors: Mapping[int, int],
        notes: Sequence[str] = (),
    ) -> None:
        """Take a state that was saved; clusters have numbers, names and colours by samples in them."""
        dropped: list[str] = []
        try:
            now, edits = self._with_edits(state, dropped)
        except ValueError as error:
            dropped = [f"the cut of the fit was taken: {error}"]
            state = replace(state, cut=self.model.cut_)
            now, edits = self._with_edits(state, dropped)
        now = replace(now, numbers=self._numbers.of_samples(now, numbers))
        named = {number: _checked_name(name) for number, name in _by_number(now, names).items()}
        colored = {
            number: check_integer("color", color, 0, N_COLORS - 1)
            for number, color in _by_number(now, colors).items()
        }
        self._numbers.keep(replace(state, edits=edits).partition, now)
        self._change(replace(state, edits=edits, names=tuple(sorted(named.items()))))
        self.colors |= colored
        self.notes = [*notes, *dropped]

    def keep_colors(self, colors: NDArray[np.int64]) -> None:
        """Remember the colour of each cluster now, by label; numbers that only pass by are left out."""
        given = zip(self.now.numbers.tolist(), colors.tolist(), strict=True)
        self.colors |= {number: color for number, color in given if number < self._numbers.n_given}

    def return_to(self, what: str) -> None:
        """To the cut that is chosen from the data, or to that of the fit; edits are left behind."""
        cuts = {"automatic": lambda: self.automatic, "fit": lambda: self.model.cut_}
        if not isinstance(what, str) or what not in cuts:
            raise ValueError(f"{what!r} is unknown; use 'automatic' or 'fit'")
        policy = self._state.policy if what == "automatic" else self.model._noise_policy()
        self._change(State(cuts[what](), policy, names=self._state.names))

    def undo(self) -> None:
        self._go(self._history.past, self._history.future, "undo")

    def redo(self) -> None:
        self._go(self._history.future, self._history.past, "redo")

    @property
    def can(self) -> dict[str, bool]:
        return {"undo": bool(self._history.past), "redo": bool(self._history.future)}

    @property
    def labels(self) -> NDArray[np.int64]:
        """The number of the cluster of each sample."""
        return self.now.numbered_labels

    @property
    def names(self) -> dict[int, str]:
        """The names that were given to clusters that there are, by their numbers."""
        present = set(self.now.numbers.tolist())
        return {number: name for number, name in self._state.names if number in present}

    @property
    def model_now(self) -> DensityPeaks:
        """The fit with the clusters that there are now, edits included."""
        clustering = self.now.model._whole()
        return self.model._with(replace(clustering, labels=self.now.labels, peaks=self.now.peaks))

    def _peak(self, cluster: int) -> int:
        return int(self.now.peaks[self.now.label_of(cluster)])

    def _edit(self, edit: Edit) -> None:
        before = self.labels
        self._change(replace(self._state, edits=(*self._state.edits, edit)), may_drop=False)
        self.result = clusters_touched(before, self.labels)

    def _change(self, state: State, keep: bool = True, may_drop: bool = True) -> None:
        """Take a state. Edits that no longer apply are dropped with a note."""
        dropped: list[str] = []
        now, edits = self._with_edits(state, dropped) if may_drop else (self._shown(state), state.edits)
        self._take(replace(state, edits=edits), now)
        self.notes = dropped
        if keep and self._state != self._kept:
            self._history.leave(self._kept)
            self._keep()

    def _take(self, state: State, now: Shown) -> None:
        """Show a state; it is not yet one to go back to."""
        self.now = replace(now, numbers=self._numbers.of(state.partition, now, self._kept_now))
        self._state, self.notes, self.result = state, [], []
        self.revision += 1

    def _keep(self) -> None:
        self._kept, self._kept_now = self._state, self.now
        self._numbers.keep(self._state.partition, self.now)

    def _shown(self, state: State) -> Shown:
        return self.cuts.shown(state.cut, state.policy, state.edits)

    def _with_edits(self, state: State, dropped: list[str]) -> tuple[Shown, tuple[Edit, ...]]:
        """The clustering with those edits that apply; what is said of the others goes to `dropped`."""
        kept: tuple[Edit, ...] = ()
        now = self._shown(replace(state, edits=()))
        for edit in state.edits:
            try:
                now = self._shown(replace(state, edits=(*kept, edit)))
                kept = (*kept, edit)
            except ValueError as error:
                dropped.append(f"dropped: {error}")
        return now, kept

    def _go(self, source: list[State], target: list[State], word: str) -> None:
        if not source:
            raise ValueError(f"there is nothing to {word}")
        left, before = self._kept, self.labels
        target.append(left)
        state = source.pop()
        self._take(state, self._shown(state))
        self._keep()
        if state.edits != left.edits and (state.cut, state.policy) == (left.cut, left.policy):
            self.result = clusters_touched(before, self.labels)


def clusters_touched(before: NDArray[np.int64], now: NDArray[np.int64]) -> list[int]:
    """The clusters that samples went to, and those of the clusters that they left that are still there."""
    moved = before != now
    numbers = np.union1d(now[moved], np.intersect1d(before[moved], now))
    return numbers[numbers != NOISE].tolist()


def _by_number(now: Shown, by_sample: Mapping[int, Any]) -> dict[int, Any]:
    """What is known of samples, by the numbers of their clusters."""
    labels = {sample: int(now.labels[sample]) for sample in by_sample}
    return {int(now.numbers[label]): by_sample[sample] for sample, label in labels.items() if label != NOISE}


def _bound(name: str, value: Any) -> float:
    """The value of a rule as a float, whatever number was sent; a number of clusters as an integer."""
    if not is_number(value):
        raise TypeError(f"{name} must be a number, got {value!r}")
    number = float(value)
    if np.isnan(number):
        raise ValueError(f"{name}={number} must be a number; None takes a rule away")
    return int(number) if name == "n_clusters" and number.is_integer() else number


def _checked_name(name: Any) -> str:
    if not isinstance(name, str):
        raise TypeError(f"a name must be text, got {name!r}")
    told = " ".join(name.split())
    if len(told) > LONGEST_NAME:
        raise ValueError(f"the name has {len(told)} characters; give one of at most {LONGEST_NAME}")
    return told


def _listed(name: str, values: Any) -> Sequence[Any]:
    if not isinstance(values, (list, tuple)):
        raise TypeError(f"{name} must be a list of integers, got {values!r}")
    return values
