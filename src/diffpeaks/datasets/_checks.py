"""Refusals of what a generator is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np


def check_integer(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name}={value!r} must be an integer")
    if value < least:
        raise ValueError(f"{name}={value} must be at least {least}")


def check_interval(name: str, value: Any, low: float, high: float) -> None:
    """A number from `low` on, up to and including `high`."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name}={value!r} must be a number")
    if not low <= value <= high:
        raise ValueError(f"{name}={value} must lie in {low} .. {high}")
