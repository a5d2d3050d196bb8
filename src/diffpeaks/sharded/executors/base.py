"""What runs the tasks of a stage promises, and what is the same for all who do."""

from __future__ import annotations

import ctypes
import os
import pickle
import platform
import sys
import traceback
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from types import TracebackType
from typing import Any, NamedTuple, Protocol, Self, TypeVar, runtime_checkable

from diffpeaks._base.validation import MAX_THREADS, check_integer, n_threads

T = TypeVar("T")
R = TypeVar("R")
RETRIES = 2  # of a task whose worker died
_TRIM_THRESHOLD = -1  # the number that mallopt knows it by
_AHEAD = 2  # tasks in flight for each worker: one that runs, and one that is ready when it ends


class WorkerLostError(RuntimeError):
    """A worker died at its task, each time that it was tried."""

    @classmethod
    def at(cls, label: str, remedy: str = "") -> WorkerLostError:
        return cls(
            f"the worker at the task {label!r} died {RETRIES + 1} times, as it does when memory runs out; "
            f"give workers more memory, or use fewer of them{remedy}"
        )


def lost(engine: str) -> ConnectionError:
    return ConnectionError(f"the connection to {engine} was lost; see that it runs, and start again")


def workers_here(n_workers: int | None) -> int:
    """The number of workers of this machine; None for one on each processor."""
    return n_threads(None) if n_workers is None else check_integer("n_workers", n_workers, 1, MAX_THREADS)


def check_has_effect(n_workers: int | None, place: Any) -> None:
    """Refuse a number of workers of what has its own."""
    if place is not None and n_workers is not None:
        raise ValueError(
            f"n_workers={n_workers} has no effect on {place!r}, which has its own workers; leave it out"
        )


@runtime_checkable
class Executor(Protocol):
    """Runs the tasks of a stage. As a context it ends the workers that it has started.

    `peak_memory` is the largest resident memory in bytes of each worker by its name, as far as workers have
    finished tasks; Windows does not tell it.
    """

    peak_memory: dict[str, int]

    @property
    def n_workers(self) -> int: ...

    def run(self, name: str, task: Callable[[T], R], tasks: Sequence[T]) -> Iterator[R]:
        """The results in the order of the tasks, which are begun as results are taken.

        An error of a task is raised as it was, with a note that names the task. The function, its arguments
        and its results must be picklable and small.
        """
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Outcome(NamedTuple):
    """What comes back from a worker: a result or an error, and the worker's name and peak of memory."""

    result: Any
    error: Exception | None
    worker: str
    peak: int | None


def outcome(task: Callable[[T], Any], argument: T) -> Outcome:
    """What runs in the worker. Errors are values, so that nobody takes them for a lost worker."""
    result, error = None, None
    return_freed_memory()
    try:
        result = task(argument)
    except Exception as raised:
        raised.add_note(f"in the worker:\n{traceback.format_exc()}")
        error = _portable(raised)
    return Outcome(result, error, worker_name(), peak_resident())


@cache
def return_freed_memory() -> None:
    """Have the C library return freed memory to the system: what it keeps counts towards the limit."""
    if sys.platform == "linux":
        with suppress(AttributeError):  # other libraries than that of GNU
            ctypes.CDLL(None).mallopt(_TRIM_THRESHOLD, 1 << 16)


def _portable(error: Exception) -> Exception:
    """The error, or its text where other processes could not rebuild it."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def peak_resident() -> int | None:
    """The largest resident memory of this process so far, in bytes; None where the system does not tell."""
    if sys.platform == "linux":
        return _in_status("VmHWM:")
    elif sys.platform == "win32":
        return None
    else:
        import resource  # which Windows lacks

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


def resident() -> int | None:
    """The resident memory of this process now, in bytes; None where the system does not tell."""
    return _in_status("VmRSS:") if sys.platform == "linux" else None


def _in_status(name: str) -> int:
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith(name))
    return int(line.split()[1]) * 1024


@dataclass
class Job:
    """A task that was handed to an engine, and by what the engine knows it."""

    label: str
    task: Callable[[Any], Any]
    argument: Any
    handle: Any = None


class WindowedExecutor(ABC):
    """Keeps some tasks in flight and takes their results in order; engines say how one is handed over."""

    def __init__(self) -> None:
        self.peak_memory: dict[str, int] = {}

    @property
    @abstractmethod
    def n_workers(self) -> int: ...

    @abstractmethod
    def _submit(self, job: Job) -> None:
        """Hand the job over and set its handle."""

    @abstractmethod
    def _outcome(self, job: Job, others: Sequence[Job]) -> Outcome:
        """Wait for the outcome; others are in flight."""

    @abstractmethod
    def _cancel(self, job: Job) -> None:
        """Leave a job undone if it has not begun."""

    @abstractmethod
    def _end(self) -> None:
        """End the workers that this executor has started."""

    def run(self, name: str, task: Callable[[T], R], tasks: Sequence[T]) -> Iterator[R]:
        """The results in the order of the tasks."""
        in_flight: deque[Job] = deque()
        remaining = enumerate(tasks, 1)
        try:
            while True:
                while len(in_flight) < _AHEAD * self.n_workers and (following := next(remaining, None)):
                    number, argument = following
                    job = Job(label_of(name, number, tasks), task, argument)
                    self._submit(job)
                    in_flight.append(job)
                if not in_flight:
                    return
                job = in_flight.popleft()
                with named(job.label):
                    result = recorded(self.peak_memory, self._outcome(job, in_flight))
                yield result
        finally:
            for job in in_flight:
                self._cancel(job)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()


def label_of(name: str, number: int, tasks: Sequence[Any]) -> str:
    """What a task is called, on dashboards too."""
    return f"{name} {number}/{len(tasks)}"


@contextmanager
def named(label: str) -> Iterator[None]:
    """Whatever is raised says at which task."""
    try:
        yield
    except Exception as error:
        error.add_note(f"in the task {label!r}")
        raise


def recorded(peak_memory: dict[str, int], found: Outcome) -> Any:
    """The result of a task, or its error; the worker's peak is kept."""
    keep_peak(peak_memory, found.worker, found.peak)
    if found.error is not None:
        raise found.error
    return found.result


def keep_peak(peak_memory: dict[str, int], worker: str, peak: int | None) -> None:
    """Keep the largest peak of a worker, where its system tells one."""
    if peak is not None:
        peak_memory[worker] = max(peak, peak_memory.get(worker, 0))


def worker_name() -> str:
    """The machine and the number of this process."""
    return f"{platform.node()}:{os.getpid()}"
