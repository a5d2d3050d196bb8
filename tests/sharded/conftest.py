"""Every kind of executor, started once."""

import secrets
from pathlib import Path

import pytest

from diffpeaks.sharded.executors import ProcessExecutor, SerialExecutor, executor_of

TESTS = str(Path(__file__).parents[1])


@pytest.fixture(scope="session")
def serial():
    with SerialExecutor() as executor:
        yield executor


@pytest.fixture(scope="session")
def of_processes():
    with ProcessExecutor(2) as executor:
        yield executor


@pytest.fixture(scope="session")
def on_ray():
    ray = pytest.importorskip("ray", reason="Ray is not installed: its executor is not tested")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", TESTS)  # for its workers
        patch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))  # which Ray would else leave in the home folder
        context = ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        with executor_of(context) as executor:
            yield executor
        ray.shutdown()


@pytest.fixture(scope="session")
def on_dask():
    distributed = pytest.importorskip(
        "distributed", reason="Dask is not installed: its executor is not tested"
    )
    import dask

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 2}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
        executor_of(client) as executor,
    ):
        yield executor


WITH_WORKERS = ["of_processes", "on_ray", "on_dask"]


@pytest.fixture(params=["serial", *WITH_WORKERS])
def executor(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(params=WITH_WORKERS)
def workers(request):
    """An executor whose workers are not this process."""
    return request.getfixturevalue(request.param)
