"""One task after another, in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Self

from diffpeaks.sharded.executors.base import R, T, keep_peak, label_of, named, peak_resident, worker_name


class SerialExecutor:
    """Runs tasks where it is called."""

    n_workers = 1

    def __init__(self, n_workers: int | None = None) -> None:
        if n_workers not in (None, 1):
            raise ValueError(f"n_workers={n_workers} has no effect on executor='serial'; use 'processes'")
        self.peak_memory: dict[str, int] = {}

    def run(self, name: str, task: Callable[[T], R], tasks: Sequence[T]) -> Iterator[R]:
        for number, argument in enumerate(tasks, 1):
            with named(label_of(name, number, tasks)):
                result = task(argument)
            keep_peak(self.peak_memory, worker_name(), peak_resident())
            yield result

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """There are no workers to end."""
