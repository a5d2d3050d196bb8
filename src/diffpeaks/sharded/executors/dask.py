"""Tasks on Dask: `pip install diffpeaks[dask]`."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
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


class DaskExecutor(WindowedExecutor):
    """Tasks on the cluster of a `distributed.Client`, or of the scheduler at an address.

    Without an address a cluster is started on this machine, and ended with this executor.
    """

    def __init__(self, address: Any = None, n_workers: int | None = None) -> None:
        super().__init__()
        self._distributed = extra("distributed", "dask", "DaskExecutor")
        check_has_effect(n_workers, address)
        self._ours = ExitStack()
        if isinstance(address, self._distributed.Client):
            self._client = address
        else:
            place = self._ours.enter_context(self._cluster(n_workers)) if address is None else address
            self._client = self._ours.enter_context(self._distributed.Client(place, set_as_default=False))

    @property
    def n_workers(self) -> int:
        with _connected():
            return max(1, sum(self._client.nthreads().values()))

    def _cluster(self, n_workers: int | None) -> Any:
        with extra("dask", "dask", "DaskExecutor").config.set(
            {"distributed.scheduler.allowed-failures": RETRIES}
        ):
            return self._distributed.LocalCluster(n_workers=workers_here(n_workers), threads_per_worker=1)

    def _submit(self, job: Job) -> None:
        # what stands before the first hyphen groups the tasks of a stage on the dashboard
        key = f"{job.label.replace(' ', '-')}-{secrets.token_hex(4)}"
        with _connected():
            job.handle = self._client.submit(outcome, job.task, job.argument, key=key, pure=False)

    def _outcome(self, job: Job, others: Sequence[Job]) -> Outcome:
        try:
            with _connected():
                return job.handle.result()
        except self._distributed.KilledWorker as error:
            raise WorkerLostError.at(job.label) from error

    def _cancel(self, job: Job) -> None:
        job.handle.cancel()

    def _end(self) -> None:
        self._ours.close()


@contextmanager
def _connected() -> Iterator[None]:
    """Errors of the connection in words; those of tasks are not raised here, but come as outcomes."""
    try:
        yield
    except (CancelledError, OSError) as error:
        raise lost("Dask") from error
