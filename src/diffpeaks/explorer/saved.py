"""A session as JSON: saved, opened again, and replayed on another fit as far as it applies.

Samples go by their ids, where they have any, and clusters by samples in them, so that a session means the
same on a fit of other samples or with other numbers.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from diffpeaks._base.files import replacing
from diffpeaks._base.validation import is_number
from diffpeaks.captions import Captions
from diffpeaks.cuts import Cut
from diffpeaks.explorer.session import Session
from diffpeaks.explorer.states import POLICY, State
from diffpeaks.results.edits import Edit, Gather, Merge, Split

FORMAT, VERSION = "diffpeaks session", 1
MOST_VIEW_BYTES = 4096
_LEAST = {"Merge": 2, "Split": 1, "Gather": 1}  # samples that an edit needs
_INFINITE = "inf"  # JSON has no infinity


def saved_session(session: Session, captions: Captions, view: Any = None) -> dict[str, Any]:
    """Cut, noise, edits, and what clusters are known by, as plain values; `view` is the page's own."""
    if len(json.dumps(view)) > MOST_VIEW_BYTES:
        raise ValueError(f"the view is longer than {MOST_VIEW_BYTES} bytes")
    state, now, names = session.state, session.now, session.names
    refer = _references(captions)
    known: dict[str, dict[int, Any]] = {"name": names, "color": session.colors}
    clusters = [
        {"sample": refer(peak), "number": number}
        | {key: values[number] for key, values in known.items() if number in values}
        for peak, number in zip(now.peaks.tolist(), now.numbers.tolist(), strict=True)
    ]
    return {
        "format": FORMAT,
        "version": VERSION,
        "samples": "row" if captions.ids is None else "id",
        "n_samples": len(now.labels),
        "cut": _saved_cut(state.cut, session, refer),
        "noise": asdict(state.policy),
        "edits": [
            {"kind": type(edit).__name__, "samples": [refer(sample) for sample in _samples_of(edit)]}
            for edit in state.edits
        ],
        "clusters": clusters,
        "view": view,
    }


def _references(captions: Captions) -> Any:
    """How samples are named: by their id, or else by their row."""
    return captions.name_of if captions.ids is not None else int


def _saved_cut(cut: Cut, session: Session, refer: Any) -> dict[str, Any]:
    """What is chosen from the data is saved as that: another fit has its own."""
    if cut == session.model.cut_:
        return {"kind": "fit"}
    if cut == session.automatic:
        return {"kind": "automatic"}
    if cut.peaks is not None:
        return {"kind": "peaks", "samples": [refer(peak) for peak in cut.peaks]}
    rules = {field.name: getattr(cut, field.name) for field in fields(Cut) if field.name != "peaks"}
    given = {name: value for name, value in rules.items() if value != getattr(Cut(), name)}
    return {"kind": "rules"} | {
        name: _INFINITE if value == np.inf else value for name, value in given.items()
    }


def _samples_of(edit: Edit) -> list[int]:
    return [edit.sample] if isinstance(edit, Split) else list(edit.samples)


def read_session(path: str | os.PathLike[str]) -> Any:
    """The values of a file that was saved."""
    try:
        saved = json.loads(Path(path).read_bytes())
    except (ValueError, RecursionError) as error:  # of text that is no JSON, and of JSON nested too deeply
        raise ValueError(f"{os.fspath(path)!r} is no session of diffpeaks: {error}") from error
    _check_format(saved, repr(os.fspath(path)))
    return saved


def _check_format(saved: Any, what: str = "this") -> None:
    if not isinstance(saved, dict) or saved.get("format") != FORMAT or saved.get("version") != VERSION:
        raise ValueError(
            f"{what} is no session of diffpeaks of version {VERSION}; open a file that the explorer saved"
        )


def write_session(path: str | os.PathLike[str], saved: dict[str, Any]) -> None:
    with replacing(path) as file:
        file.write(json.dumps(saved, indent=1).encode())


def replay(session: Session, captions: Captions, saved: Any) -> Any:
    """Bring a session to a saved state, and return the saved view; `session.notes` say what did not apply."""
    _check_format(saved)
    view = _checked_view(saved.get("view"))
    try:
        _Replay(session, captions, saved).run()
    except (KeyError, AttributeError, TypeError) as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else error
        raise ValueError(f"the session is damaged: {reason}; save it again") from error
    return view


def _checked_view(view: Any) -> Any:
    """How a page looked at the map. It leaves what it does not know, but cannot draw within wrong bounds."""
    bounds = view.get("bounds") if isinstance(view, dict) else view
    if bounds is None:
        return view
    if isinstance(bounds, list) and len(bounds) == 4 and all(map(is_number, bounds)):
        left, low, right, high = map(float, bounds)
        if -np.inf < left < right < np.inf and -np.inf < low < high < np.inf:
            return view
    raise ValueError(f"the session is damaged: {bounds!r} are no bounds of a map; save it again")


@dataclass
class _Replay:
    session: Session
    captions: Captions
    saved: dict[str, Any]

    def run(self) -> None:
        self._notes: list[str] = []
        ids = self.captions.ids
        self._rows = (
            None if ids is None else {self.captions.name_of(row): row for row in range(len(ids) - 1, -1, -1)}
        )
        policy = self.session.model._noise_policy(**{name: self.saved["noise"][name] for name in POLICY})
        edits = tuple(edit for told in self.saved["edits"] if (edit := self._edit(told)) is not None)
        clusters = [
            (found[0], told) for told in self.saved["clusters"] if (found := self._found([told["sample"]]))
        ]
        numbers = {sample: told["number"] for sample, told in clusters}
        names = {sample: told["name"] for sample, told in clusters if "name" in told}
        colors = {sample: told["color"] for sample, told in clusters if "color" in told}
        self._check_number_of_samples()
        self.session.replay(State(self._cut(), policy, edits), numbers, names, colors, self._notes)

    def _check_number_of_samples(self) -> None:
        saved, now = self.saved["n_samples"], len(self.session.labels)
        if saved != now:
            self._notes.append(f"the session was saved with {saved:,} samples, this fit has {now:,}")

    def _found(self, samples: list[Any]) -> list[int]:
        """The rows of those samples that are there."""
        n_samples = len(self.session.labels)
        if self._rows is not None:
            return [self._rows[str(sample)] for sample in samples if str(sample) in self._rows]
        return [sample for sample in samples if isinstance(sample, int) and 0 <= sample < n_samples]

    def _edit(self, told: dict[str, Any]) -> Edit | None:
        kind, samples = told["kind"], self._found(told["samples"])
        missing = len(told["samples"]) - len(samples)
        if len(samples) < _LEAST[kind]:
            self._notes.append(f"dropped: a {kind} of samples that are not there")
            return None
        if missing:
            self._notes.append(f"{kind}: {missing:,} samples are not there")
        if kind == "Split":
            return Split(samples[0])
        return Merge(tuple(samples)) if kind == "Merge" else Gather(tuple(samples))

    def _cut(self) -> Cut:
        told = dict(self.saved["cut"])
        kind = told.pop("kind")
        if kind in ("fit", "automatic"):
            return self.session.model.cut_ if kind == "fit" else self.session.automatic
        if kind == "peaks":
            return self._cut_by_peaks(self._found(told["samples"]))
        rules: dict[str, Any] = {
            name: np.inf if value == _INFINITE else value for name, value in told.items()
        }
        return Cut(**rules)

    def _cut_by_peaks(self, peaks: list[int]) -> Cut:
        densest = int(np.argmin(self.session.model.forest_.rank))  # which must be one
        return Cut(peaks=tuple(dict.fromkeys([*peaks, densest])))
