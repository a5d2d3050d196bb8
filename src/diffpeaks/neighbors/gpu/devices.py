"""Devices of torch: how one is opened, what it has room for, and refusals that name the remedy."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import torch

WORKSPACE = 1 << 31  # bytes that comparing takes, at most
PAIR_BYTES = 16 * 8 * 4  # lanes of a pair in double, and what they are made of
FEW_FEATURES = 8  # up to there differences are cheap, and products lose small ones
_COMPILING = (
    "kernels for the GPU are being compiled, which takes some seconds; Triton keeps them on this machine, so "
    "that later calls find them"
)


def opened(name: str) -> torch.device:
    """The device of that name, which is there and works."""
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            f"device={name!r} needs torch; install it with: pip install 'diffpeaks[gpu]'"
        ) from error
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ValueError(f"device={name!r} is unknown to torch; use 'cuda', 'cuda:1', or None") from error
    if device.type != "cuda":
        raise ValueError(f"device={name!r} is not supported; use 'cuda', 'cuda:1', or None for the host")
    if not torch.cuda.is_available():
        why = "torch sees no GPU; check `nvidia-smi`"
        if torch.version.cuda is None:
            why = f"torch {torch.__version__} is built without CUDA; install a build with it"
        raise ValueError(f"device={name!r} cannot be used: {why}, or use device=None")
    if (device.index or 0) >= torch.cuda.device_count():
        raise ValueError(f"device={name!r} is not there: torch sees {torch.cuda.device_count()} GPUs")
    try:
        torch.zeros(1, device=device)
    except RuntimeError as error:  # a driver that is too old, or a card that another process holds
        raise ValueError(f"device={name!r} cannot be used: {error}; use device=None") from error
    if has_triton():
        tell_of_compiling()
    return device


@functools.cache
def tell_of_compiling() -> None:
    """Warn once in this process if a kernel is compiled, rather than found in the cache of Triton."""
    try:
        from triton import knobs
    except ImportError:  # before version 3.4 Triton does not say what it compiles
        return

    def tell(*, cache_hit: bool, **_: Any) -> None:
        if not cache_hit:
            knobs.compilation.listener = None
            warnings.warn(_COMPILING, stacklevel=2)

    if knobs.compilation.listener is None:
        knobs.compilation.listener = tell


@contextlib.contextmanager
def memory_told(device: torch.device, wanted: int) -> Iterator[None]:
    """Work on a device; one without room for points of so many bytes, and for comparing them, is told."""
    import torch

    try:
        with launching_on(device):
            yield
    except torch.OutOfMemoryError as error:
        raise MemoryError(
            f"device='{device}' has {free_bytes(device):,} bytes free, too few for points of {wanted:,} "
            "bytes, half as much for comparing them, and lists; free some (`nvidia-smi` tells who holds it), "
            "give a smaller memory_limit, or use device=None"
        ) from error


def launching_on(device: torch.device) -> contextlib.AbstractContextManager[Any]:
    """Kernels of Triton start on the current card, which may be another one."""
    import torch

    return torch.cuda.device(device) if device.type == "cuda" else contextlib.nullcontext()


def on_device(values: Any, device: torch.device) -> torch.Tensor:
    """An array or a tensor on the device, its rows one after another."""
    import torch

    if isinstance(values, torch.Tensor):
        return values.detach().to(device).contiguous()
    with warnings.catch_warnings():  # that the array cannot be written: nobody does
        warnings.simplefilter("ignore", UserWarning)
        return torch.from_numpy(np.ascontiguousarray(values)).to(device)


def free_bytes(device: torch.device) -> int:
    """Memory of the device that nobody uses."""
    import torch

    if device.type != "cuda":
        return 1 << 33
    kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return int(torch.cuda.mem_get_info(device)[0] + kept)


def has_triton() -> bool:
    """Whether kernels of our own can be compiled; torch brings Triton along on Linux."""
    return importlib.util.find_spec("triton") is not None


def runs_kernels(device: torch.device) -> bool:
    """Whether kernels of our own run there: on a card, or anywhere while Triton interprets them."""
    return has_triton() and (device.type == "cuda" or os.environ.get("TRITON_INTERPRET") == "1")


def device_bytes(n_samples: int, n_features: int, n_neighbors: int, itemsize: int) -> int:
    """What an exact search takes of a device, points and lists included, at most."""
    points, lists = n_samples * n_features * itemsize, n_samples * n_neighbors * (4 + itemsize)
    # comparing, and lists of candidates for all points
    compared = n_samples * bytes_of_tables(n_features)
    return points + lists + compared + WORKSPACE + max(WORKSPACE, 2 * points)


def bytes_of_tables(n_features: int) -> int:
    """What tables in which queries are compared with points take of a device, for a point."""
    # in half floats and, for the few rows that need them, in floats; few features in double
    return 64 + (8 * n_features if n_features <= FEW_FEATURES else 6 * (n_features + 8))


def fewest_bytes(n_samples: int, n_features: int, itemsize: int) -> int:
    """What a search takes of a device at the least while all points lie there: one query is compared."""
    return n_samples * (n_features * itemsize + bytes_of_tables(n_features) + PAIR_BYTES)


def has_room(device: torch.device, n_bytes: int, memory_limit: int | None) -> bool:
    """Whether so many bytes are within the limit or, without one, leave a quarter of the device for lists."""
    return n_bytes <= (free_bytes(device) * 3 // 4 if memory_limit is None else memory_limit)
