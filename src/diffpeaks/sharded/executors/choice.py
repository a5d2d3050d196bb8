"""From what a user gives to who runs the tasks."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from diffpeaks.sharded.executors.base import Executor, check_has_effect
from diffpeaks.sharded.executors.dask import DaskExecutor
from diffpeaks.sharded.executors.processes import ProcessExecutor
from diffpeaks.sharded.executors.ray import RayExecutor
from diffpeaks.sharded.executors.serial import SerialExecutor

_OF_DASK = ("tcp://", "tls://", "ucx://")
_REMEDY = (
    "use one of 'serial', 'processes', 'ray' and 'dask', an address of Ray or Dask such as "
    "'ray://host:10001' or 'tcp://host:8786', or a client of theirs"
)
_MADE = {
    "serial": SerialExecutor,
    "processes": ProcessExecutor,
    "ray": RayExecutor,
    "dask": DaskExecutor,
}


def executor_of(executor: Any = None, n_workers: int | None = None) -> AbstractContextManager[Executor]:
    """Who runs the tasks, as a context that ends what was started for it, and nothing that was given.

    Parameters
    ----------
    executor : "processes" or None, "serial", "ray" or "dask" on this machine; an address such as "ray://..."
        or "tcp://..."; a `distributed.Client`, what `ray.init` returns, or an `Executor`
    n_workers : of those that are started here; None for one on each processor
    """
    if executor is None:
        executor = "serial" if n_workers == 1 else "processes"
    if isinstance(executor, str) and executor in _MADE:
        return _MADE[executor](n_workers=n_workers)
    if isinstance(executor, str):
        return _at(executor, n_workers)
    if "distributed" in sys.modules and isinstance(executor, sys.modules["distributed"].Client):
        return DaskExecutor(executor, n_workers)
    is_of_ray = type(executor).__module__.partition(".")[0] == "ray"
    if not is_of_ray and not isinstance(executor, Executor):
        raise TypeError(f"executor={executor!r} runs no tasks; {_REMEDY}")
    check_has_effect(n_workers, executor)
    return RayExecutor.connected() if is_of_ray else nullcontext(executor)


def _at(address: str, n_workers: int | None) -> Executor:
    if address.startswith("ray://"):
        return RayExecutor(address, n_workers)
    if address.startswith(_OF_DASK):
        return DaskExecutor(address, n_workers)
    raise ValueError(f"executor={address!r} is unknown; {_REMEDY}")
