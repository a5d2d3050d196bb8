"""Tasks in processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import NamedTuple

from threadpoolctl import threadpool_limits

from diffpeaks.sharded.executors.base import (
    RETRIES,
    Job,
    Outcome,
    WindowedExecutor,
    WorkerLostError,
    outcome,
    workers_here,
)

# a fork of this process would have its locks and none of its threads, and so may wait for ever
_METHODS = ("forkserver", "spawn")
_NEVER_BEGAN = (
    "; no worker has finished any task: if a script starts them, it must do so under "
    "if __name__ == '__main__':"
)


class _Submitted(NamedTuple):
    pool: ProcessPoolExecutor
    future: Future[Outcome]


class ProcessExecutor(WindowedExecutor):
    """Workers of one thread each, replaced when they die."""

    def __init__(self, n_workers: int | None = None) -> None:
        super().__init__()
        self._n_workers = workers_here(n_workers)
        method = next(method for method in _METHODS if method in multiprocessing.get_all_start_methods())
        self._context = multiprocessing.get_context(method)
        self._context.set_forkserver_preload([__name__])  # imported once, not by each worker
        self._watched, self._held = self._context.Pipe(duplex=False)
        self._pool = self._new_pool(self._n_workers)

    @property
    def n_workers(self) -> int:
        return self._n_workers

    def _new_pool(self, n_workers: int) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(n_workers, self._context, _begin, (self._watched,))

    def _submit(self, job: Job) -> None:
        future: Future[Outcome] = Future()
        try:
            future = self._pool.submit(outcome, job.task, job.argument)
        except BrokenProcessPool as error:  # told when the outcome is asked for
            future.set_exception(error)
        job.handle = _Submitted(self._pool, future)

    def _outcome(self, job: Job, others: Sequence[Job]) -> Outcome:
        try:
            return job.handle.future.result()
        except BrokenProcessPool:
            self._replace(job.handle.pool)
        found = self._alone(job)
        for other in others:
            if other.handle.pool is not self._pool and _is_lost(other.handle.future):
                self._submit(other)
        return found

    def _replace(self, broken: ProcessPoolExecutor) -> None:
        """A pool in the place of a broken one, where that was not done for another task."""
        broken.shutdown(wait=True)  # after which all of its tasks know that they are lost
        if broken is self._pool:
            self._pool = self._new_pool(self._n_workers)

    def _alone(self, job: Job) -> Outcome:
        """Try again where nothing else runs, so that it is known at which task workers die."""
        for _ in range(RETRIES):
            with self._new_pool(1) as pool, suppress(BrokenProcessPool):
                return pool.submit(outcome, job.task, job.argument).result()
        raise WorkerLostError.at(job.label, "" if self.peak_memory else _NEVER_BEGAN)

    def _cancel(self, job: Job) -> None:
        job.handle.future.cancel()

    def _end(self) -> None:
        """At once: what a task had begun to write is no file yet."""
        self._held.close()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._watched.close()


def _is_lost(future: Future[Outcome]) -> bool:
    return future.done() and isinstance(future.exception(), BrokenProcessPool)


def _begin(watched: Connection) -> None:
    """Make this process a worker of one thread that ends with the one that started it, however that ends."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"  # for libraries that a task loads
    threadpool_limits(1)  # for those that are loaded
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a key that interrupts is meant for the one that started it
    threading.Thread(target=_end_with, args=(watched,), daemon=True).start()


def _end_with(watched: Connection) -> None:
    try:
        watched.recv()
    except EOFError:
        os._exit(1)
