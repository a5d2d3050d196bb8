"""Which compiled kernel is in use."""

from __future__ import annotations

import os

from diffpeaks._native import kernels

VARIABLE = "DIFFPEAKS_KERNEL"


def kernel_name() -> str:
    """The fastest kernel of this processor, or the one that the environment variable names."""
    supported = kernels()
    forced = os.environ.get(VARIABLE)
    if forced is None:
        return supported[0]
    if forced not in supported:
        raise ValueError(
            f"{VARIABLE}={forced!r} is not a kernel of this processor; use one of {supported} or unset it"
        )
    return forced
