"""Who runs the tasks of a stage: this process, processes of this machine, Ray or Dask."""

from diffpeaks.sharded.executors.base import (
    Executor,
    WorkerLostError,
    peak_resident,
    resident,
    return_freed_memory,
)
from diffpeaks.sharded.executors.choice import executor_of
from diffpeaks.sharded.executors.dask import DaskExecutor
from diffpeaks.sharded.executors.processes import ProcessExecutor
from diffpeaks.sharded.executors.ray import RayExecutor
from diffpeaks.sharded.executors.serial import SerialExecutor

__all__ = [
    "DaskExecutor",
    "Executor",
    "ProcessExecutor",
    "RayExecutor",
    "SerialExecutor",
    "WorkerLostError",
    "executor_of",
    "peak_resident",
    "resident",
    "return_freed_memory",
]
