"""Progress as text: a line that is redrawn on a terminal, and lines that stay."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from diffpeaks.progress import Progress, listening

_NARROW = 80  # columns, of a terminal that does not say how many it has


class Lines:
    """Writes what it is told to a text stream.

    Parameters
    ----------
    file : text stream
    redrawn : bool
        Whether the stage that runs is shown on one line, over and over.
    kept_from : float
        A stage that lasts so many seconds leaves a line when it ends.
    """

    def __init__(self, file: Any, redrawn: bool, kept_from: float) -> None:
        self._file, self._redrawn, self._kept_from = file, redrawn, kept_from
        self._width = 0  # of what stands on the line

    def __call__(self, progress: Progress) -> None:
        if progress.done == progress.total and progress.seconds >= self._kept_from:
            self.clear()
            print(ended(progress), file=self._file, flush=True)
        elif self._redrawn:
            self._draw(running(progress))

    def clear(self) -> None:
        """Leave the line empty, for whatever is printed next."""
        if self._width:
            self._draw("")
            self._file.write("\r")
            self._file.flush()

    def _draw(self, text: str) -> None:
        text = text[: _columns(self._file) - 1]  # a full line would wrap, and could not be overwritten
        self._file.write("\r" + text.ljust(self._width))
        self._file.flush()
        self._width = len(text)


@contextmanager
def printed(file: Any, redrawn: bool, kept_from: float) -> Iterator[None]:
    """Print the progress of the work inside; a line that is redrawn is gone in the end."""
    lines = Lines(file, redrawn, kept_from)
    try:
        with listening(lines):
            yield
    finally:
        lines.clear()


def running(progress: Progress) -> str:
    """A stage while it is shown, in one line."""
    if progress.remaining is None or progress.total == 1:
        return f"{progress.stage} ..."
    percent = 100 * progress.done // progress.total
    return f"{progress.stage} {percent}%, {_rate(progress)}, {duration(progress.remaining)} left"


def ended(progress: Progress) -> str:
    """A stage that is at its end, in one line."""
    if progress.total == 1:
        return f"{progress.stage}: {duration(progress.seconds)}"
    return f"{progress.stage}: {progress.total:,} in {duration(progress.seconds)}, {_rate(progress)}"


def duration(seconds: float) -> str:
    """Seconds for the eye: 0.4 s, 12 s, 3:05, 1:00:00."""
    if seconds < 59.5:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _rate(progress: Progress) -> str:
    return f"{progress.rate:,.0f}/s" if progress.rate >= 10 else f"{progress.rate:.2g}/s"


def _columns(file: Any) -> int:
    try:
        return os.get_terminal_size(file.fileno()).columns or _NARROW
    except OSError:
        return _NARROW
