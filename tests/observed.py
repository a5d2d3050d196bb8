"""Compiled loops that a test listens to."""

import contextlib

from diffpeaks import progress
from diffpeaks._native import observe_loops


@contextlib.contextmanager
def loops_observed(tell, seconds):
    """Loops tell how far they are, at most once in so many seconds; afterwards as before."""
    observe_loops(tell, seconds)
    try:
        yield
    finally:
        observe_loops(progress._loop_is_at, progress.EVERY)
