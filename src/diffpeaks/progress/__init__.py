"""How far long work is: the work names its stages, and whoever listens is told.

Work says `with stage("neighbours", total=n) as done: ...` and `done(m)` after each piece, wherever it is
done; who wants to know says `with listening(callback): ...` around the call. No function in between takes a
parameter for it, and without a listener a stage costs a look at a context variable.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeAlias

from diffpeaks._native import observe_loops

__all__ = ["Progress", "listening"]

EVERY = 0.05  # seconds between two reports of a stage, at least


@dataclass(frozen=True)
class Progress:
    """How far a stage is.

    Attributes
    ----------
    stage : str
    done, total : int
        Of what the stage counts, such as samples: 0 when it begins, `total` when it ends. A stage that
        is not counted has the total 1.
    seconds : float
        Since the stage began.
    rate : float
        Done in a second, on average.
    remaining : float or None
        Seconds to the end at that rate; None where nothing is done yet.
    """

    stage: str
    done: int
    total: int
    seconds: float

    @property
    def rate(self) -> float:
        return self.done / self.seconds if self.seconds > 0 else 0.0

    @property
    def remaining(self) -> float | None:
        return (self.total - self.done) * self.seconds / self.done if self.done else None


Callback: TypeAlias = Callable[[Progress], Any]


class Stage:
    """Counts what is done. Of stages within stages the outermost is told, the others are parts of it."""

    def __init__(self, name: str, total: int, around: Stage | None, listeners: tuple[Callback, ...]) -> None:
        self._name, self._total, self._around, self._listeners = name, total, around, listeners
        self._done = 0
        self._part = (0, 0)  # where the work inside begins, and how many it is
        self._begun = perf_counter()
        if around is None:
            self._tell()

    def __call__(self, n: int) -> None:
        """That many more are done."""
        self.reach(self._done + n)

    def reach(self, done: int) -> None:
        """That many are done in all, or more."""
        done = min(done, self._total)
        if done <= self._done:
            return
        self._done = done
        if self._around is not None:
            self._around.inside(done / self._total)
        elif done == self._total or perf_counter() - self._told >= EVERY:
            self._tell()

    @contextmanager
    def part(self, n: int) -> Iterator[None]:
        """What runs inside, a compiled loop or other stages, is that many of all."""
        before = self._done
        self._part = before, n
        yield
        self._part = before + n, 0
        self.reach(before + n)

    def inside(self, share: float) -> None:
        """That share of what runs inside is done."""
        before, n = self._part
        self.reach(before + int(share * n))

    def _tell(self) -> None:
        self._told = perf_counter()
        progress = Progress(self._name, self._done, self._total, self._told - self._begun)
        for listener in self._listeners:
            listener(progress)


class _Unheard(Stage):
    """A stage that nobody listens to."""

    def __init__(self) -> None:
        pass

    def __call__(self, n: int) -> None:
        pass

    def reach(self, done: int) -> None:
        pass

    @contextmanager
    def part(self, n: int) -> Iterator[None]:
        yield


_UNHEARD = _Unheard()
_listeners: ContextVar[tuple[Callback, ...]] = ContextVar("listeners", default=())
_current: ContextVar[Stage | None] = ContextVar("stage", default=None)


@contextmanager
def stage(name: str, total: int = 1) -> Iterator[Stage]:
    """A stage of the work; as a decorator, all that a function does is one."""
    listeners = _listeners.get()
    if not listeners:
        yield _UNHEARD
        return
    opened = Stage(name, total, _current.get(), listeners)
    token = _current.set(opened)
    try:
        yield opened
        opened.reach(total)
    finally:
        _current.reset(token)


@contextmanager
def loop_stage(name: str, total: int) -> Iterator[None]:
    """A stage that is one loop inside, compiled or a stage of its own, which says how far it is."""
    with stage(name, total) as done, done.part(total):
        yield


@contextmanager
def listening(callback: Callback | None) -> Iterator[None]:
    """Tell the callback of every stage inside, after those who listen already; None changes nothing.

    An error that the callback raises ends the work.
    """
    if callback is None:
        yield
        return
    listeners = _listeners.set((*_listeners.get(), callback))
    stage = _current.set(None)
    try:
        yield
    finally:
        _current.reset(stage)
        _listeners.reset(listeners)


@contextmanager
def reported(verbose: bool, callback: Callback | None) -> Iterator[None]:
    """What the parameters `verbose` and `callback` ask for, around the work."""
    lines: AbstractContextManager[None] = nullcontext()
    if verbose:
        from diffpeaks.progress.lines import printed

        lines = printed(sys.stderr, redrawn=sys.stderr.isatty(), kept_from=0.0)
    with lines, listening(callback):
        yield


def _loop_is_at(share: float) -> None:
    """What compiled loops call on the thread, and so in the context, of the work that runs them."""
    current = _current.get()
    if current is not None:
        current.inside(share)


observe_loops(_loop_is_at, EVERY)
