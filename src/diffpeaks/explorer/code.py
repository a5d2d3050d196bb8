"""The Python lines that make a clustering again."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from diffpeaks.cuts import RULES, Cut
from diffpeaks.explorer.session import Session
from diffpeaks.explorer.states import POLICY


def python_lines(session: Session) -> str:
    """Lines that, run where `model` is the fitted model, leave `labels` as they are in that session.

    Names that were given to clusters are in `names`, by the labels.
    """
    state, model = session.state, session.model
    imports, arguments = _of_cut(state.cut, model)
    at_fit = model._noise_policy()
    for name in POLICY:
        value = getattr(state.policy, name)
        if value != getattr(at_fit, name):
            arguments.append(f"{name}={value!r}")
    lines = [f"labels = model.recut({', '.join(arguments)})"]
    names = sorted({type(edit).__name__ for edit in state.edits})
    if state.edits:
        names.append("edited")
        told = ", ".join(map(repr, state.edits))
        lines.append(f"labels = edited(model, labels, [{told}])")
    now = session.now
    moved = np.flatnonzero(now.numbers != np.arange(len(now.numbers)))
    if len(moved):
        names.append("numbered")
        numbers = dict(zip(now.peaks[moved].tolist(), now.numbers[moved].tolist(), strict=True))
        lines.append(f"labels = numbered(labels, {numbers})")
    if session.names:
        lines.append(f"names = {session.names}")
    if names:
        imports.append(f"from diffpeaks import {', '.join(names)}")
    return "\n".join([*imports, *lines])


def _of_cut(cut: Cut, model: Any) -> tuple[list[str], list[str]]:
    """Imports and arguments of `recut`: the shortest that mean this cut."""
    if cut.peaks is not None:
        return [], [f"peaks={list(cut.peaks)}"]
    if cut == model.cut_:
        return [], ["cut=model.cut_"]
    if cut == model._landscape.automatic_cut:
        return [], []
    given = {name: getattr(cut, name) for name in RULES}
    if cut == Cut(**given):
        rules = [f"{name}={_literal(given[name])}" for name in RULES if given[name] != getattr(Cut(), name)]
        return [], rules or ["min_prominence=0.0"]
    names = [field.name for field in fields(Cut)]
    others = [name for name in names if getattr(cut, name) != getattr(model.cut_, name)]
    changed = ", ".join(f"{name}={_literal(getattr(cut, name))}" for name in others)
    return ["from dataclasses import replace"], [f"cut=replace(model.cut_, {changed})"]


def _literal(value: float | None) -> str:
    """A value as Python reads it back to the last bit."""
    return 'float("inf")' if value == np.inf else repr(value)
