"""BLAS on one thread, so that threads of our own share the cores."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from typing import Any

from threadpoolctl import threadpool_limits


class _OneBlasThread:
    """Keeps BLAS to one thread as long as any search needs it.

    The limit belongs to the process: searches that overlap share it, and the last one lifts it.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._n_users = 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            self._n_users += 1
            if self._n_users == 1:
                self._limit = threadpool_limits(1, "blas")

    def __exit__(self, *failure: object) -> None:
        with self._lock:
            self._n_users -= 1
            if self._n_users == 0:
                self._limit.restore_original_limits()


ONE_BLAS_THREAD = _OneBlasThread()


@contextmanager
def threads_without_blas(n_threads: int) -> Iterator[ThreadPoolExecutor]:
    """Threads whose products start no threads of their own; what waits for one is dropped on an interrupt."""
    with ONE_BLAS_THREAD:
        pool = ThreadPoolExecutor(n_threads)
        try:
            yield pool
        finally:
            pool.shutdown(cancel_futures=True)
