"""Tensors of torch in the place of arrays, and the device that is meant; torch is not imported to tell."""

from __future__ import annotations

import sys
from typing import Any

HOST = "cpu"


def is_tensor(X: Any) -> bool:
    """Whether X is a tensor."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(X, torch.Tensor)


def device_of(X: Any, asked: Any) -> str | None:
    """The name of the device to search on: the one asked for, or that of a tensor; None for the host."""
    if asked is None:
        asked = X.device if is_tensor(X) else HOST
    if not isinstance(asked, str) and type(asked).__module__ != "torch":
        raise TypeError(
            f"device={asked!r} must be a name such as 'cuda' or 'cuda:1', a torch.device, or None"
        )
    return None if str(asked).partition(":")[0] == HOST else str(asked)


def on_host(X: Any) -> Any:
    """The values of a tensor as an array; anything else unchanged."""
    if not is_tensor(X):
        return X
    check_tensor(X)
    return X.detach().cpu().numpy()


def check_tensor(X: Any) -> None:
    """Refuse a tensor that is not dense, or not of floats."""
    if not X.dtype.is_floating_point or X.dtype.itemsize < 4:
        raise TypeError(f"X is a tensor of {X.dtype}; give one of torch.float32 or torch.float64")
    if X.device.type == "meta" or "strided" not in str(X.layout):
        raise TypeError(f"X is a tensor of {X.layout} on {X.device}; give a dense one that has values")
