"""Tasks on Ray: `pip install diffpeaks[ray]`."""

from __future__ import annotations

from collections.abc import Sequence

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

    @classmethod
    def connected(cls) -> RayExecutor:
        """On the Ray that this process is connected to, which is not ended."""
        if not extra("ray", "ray", "RayExecutor").is_initialized():
            raise ValueError("this process is not connected to Ray any more; call ray.init again")
        return cls()

    @property
    def n_workers(self) -> int:
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def _submit(self, job: Job) -> None:
        options = self._remote.options(name=job.label, num_cpus=1, max_retries=RETRIES)
        job.handle = options.remote(job.task, job.argument)

    def _outcome(self, job: Job, others: Sequence[Job]) -> Outcome:
        errors = self._ray.exceptions
        try:
            return self._ray.get(job.handle)
        except (errors.WorkerCrashedError, errors.OutOfMemoryError, errors.NodeDiedError) as error:
            raise WorkerLostError.at(job.label) from error
        except (errors.RaySystemError, ConnectionError) as error:
            raise lost("Ray") from error

    def _cancel(self, job: Job) -> None:
        self._ray.cancel(job.handle)

    def _end(self) -> None:
        if self._is_ours:
            self._ray.shutdown()
