"""Tasks on Ray: `pip install diffpeaks[ray]`."""

from __future__ import annotations

import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from functools import partial
from typing import Any

from diffpeaks.files.contract import extra
from diffpeaks.sharded.executors.base import (
    RETRIES,
    Job,
    Outcome,
    WindowedExecutor,
    WorkerLostError,
    check_has_effect,
    lost,
    outcome,
    workers_here,
)

_PATIENCE = 30.0  # seconds without the head node; after 60 Ray ends this process, and says nothing of the run
_GLANCE = 1.0  # seconds between looks at the head node


class RayExecutor(WindowedExecutor):
    """Workers of one processor each, on the Ray that this process is connected to, or else at an address.

    Without an address Ray is started on this machine, and ended with this executor.
    """

    def __init__(self, address: str | None = None, n_workers: int | None = None) -> None:
        super().__init__()
        self._ray = extra("ray", "ray", "RayExecutor")
        self._is_ours = not self._ray.is_initialized()
        if self._is_ours:
            check_has_effect(n_workers, address)
            self._ray.init(address=address, num_cpus=n_workers and workers_here(n_workers))
        elif address is not None or n_workers is not None:
            raise ValueError(
                f"this process is connected to Ray already, so that address={address!r} and n_workers="
                f"{n_workers} have no effect; leave them away, or call ray.shutdown() first"
            )
        self._remote = self._ray.remote(outcome)
        self._is_lost = False

    @classmethod
    def connected(cls) -> RayExecutor:
        """On the Ray that this process is connected to, which is not ended."""
        if not extra("ray", "ray", "RayExecutor").is_initialized():
            raise ValueError("this process is not connected to Ray any more; call ray.init again")
        return cls()

    @property
    def n_workers(self) -> int:
        return max(1, int(self._answer(self._ray.cluster_resources).get("CPU", 1)))

    def _submit(self, job: Job) -> None:
        options = self._remote.options(name=job.label, num_cpus=1, max_retries=RETRIES)
        job.handle = self._answer(partial(options.remote, job.task, job.argument))

    def _outcome(self, job: Job, others: Sequence[Job]) -> Outcome:
        errors = self._ray.exceptions
        try:
            return self._answer(partial(self._ray.get, job.handle))
        except (errors.WorkerCrashedError, errors.OutOfMemoryError, errors.NodeDiedError) as error:
            raise WorkerLostError.at(job.label) from error
        except errors.RaySystemError as error:
            raise self._lost() from error

    def _answer(self, question: Callable[[], Any]) -> Any:
        """What Ray answers, which without its head node would never come: somebody else waits for it."""
        answer: Future[Any] = Future()
        threading.Thread(target=_ask, args=(question, answer), daemon=True).start()
        last_seen = time.monotonic()
        while not wait([answer], _GLANCE).done:
            if self._has_head():
                last_seen = time.monotonic()
            elif time.monotonic() - last_seen > _PATIENCE:
                raise self._lost()
        try:
            return answer.result()
        except ConnectionError as error:
            raise self._lost() from error

    def _has_head(self) -> bool:
        if self._ray.util.client.ray.is_connected():
            return True  # by a connection that says itself when it is lost
        host, _, port = self._ray.get_runtime_context().gcs_address.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), _GLANCE).close()
        except OSError:
            return False
        return True

    def _lost(self) -> ConnectionError:
        self._is_lost = True
        if sys.excepthook.__module__.startswith("ray."):
            sys.excepthook = sys.__excepthook__  # Ray's waits for the head node before it shows an error
        return lost("Ray")

    def _cancel(self, job: Job) -> None:
        if not self._is_lost:
            self._ray.cancel(job.handle)

    def _end(self) -> None:
        if self._is_ours and not self._is_lost:  # what is lost cannot be told to end
            self._ray.shutdown()


def _ask(question: Callable[[], Any], answer: Future[Any]) -> None:
    try:
        answer.set_result(question())
    except BaseException as error:
        answer.set_exception(error)
