"""Every executor keeps the contract."""

import os
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

import processes
import pytest
import worker_tasks
from numpy.testing import assert_array_equal
from refusals import refuses
from sklearn.datasets import make_blobs
from stored_runs import shards_in

from diffpeaks.sharded import ShardedDensityPeaks
from diffpeaks.sharded.executors import (
    DaskExecutor,
    Executor,
    ProcessExecutor,
    RayExecutor,
    SerialExecutor,
    WorkerLostError,
    executor_of,
    peak_resident,
)


class Counted(list):
    """Tasks that know how many of them were taken."""

    taken = 0

    def __iter__(self):
        for task in super().__iter__():
            self.taken += 1
            yield task


def test_results_come_in_the_order_of_tasks(executor):
    assert isinstance(executor, Executor)
    assert list(executor.run("square", worker_tasks.square, range(12))) == [n * n for n in range(12)]
    assert list(executor.run("square", worker_tasks.square, [])) == []


def test_tasks_run_at_the_same_time_and_keep_their_order(workers, tmp_path):
    """The first task waits for the second one."""
    assert workers.n_workers == 2
    first, second = tmp_path / "first", tmp_path / "second"
    found = workers.run("wait", worker_tasks.after, [(str(second), str(first)), (None, str(second))])
    assert list(found) == ["first", "second"]


def test_tasks_begin_as_results_are_taken(executor):
    tasks = Counted(range(20))
    results = executor.run("square", worker_tasks.square, tasks)
    assert tasks.taken == 0
    assert next(results) == 0
    ahead = 1 if isinstance(executor, SerialExecutor) else 2 * executor.n_workers
    assert tasks.taken == ahead
    assert next(results) == 1
    assert tasks.taken == ahead + 1
    results.close()
    assert list(executor.run("square", worker_tasks.square, [5])) == [25]


def test_an_error_comes_through_with_the_name_of_its_task(executor):
    results = executor.run("halve", worker_tasks.fails_at_three, [1, 2, 3, 4])
    assert [next(results), next(results)] == [1, 2]
    with pytest.raises(ZeroDivisionError, match="three is wrong") as raised:
        next(results)
    assert "in the task 'halve 3/4'" in raised.value.__notes__
    assert "fails_at_three" in "".join(traceback.format_exception(raised.value))
    assert list(executor.run("square", worker_tasks.square, [5])) == [25]


def test_an_error_that_cannot_be_rebuilt_comes_as_text(workers):
    with pytest.raises(RuntimeError, match="TwoPartError: trouble at 7"):
        next(workers.run("fail", worker_tasks.fails_in_two_parts, [7]))


def test_a_killed_worker_is_replaced(workers, tmp_path):
    marker = tmp_path / "marker"
    found = list(workers.run("die", worker_tasks.dies_once, [None, str(marker), None, None, None, None]))
    assert len(found) == 6
    assert marker.exists()
    assert os.getpid() not in found


def test_a_task_that_always_kills_is_named(workers):
    results = workers.run("search", worker_tasks.dies_if_negative, [1, 2, -3])
    with pytest.raises(WorkerLostError, match=r"'search 3/3' died 3 times.*more memory.*fewer of them"):
        list(results)
    assert list(workers.run("square", worker_tasks.square, [5])) == [25]


def test_peaks_of_memory_are_those_of_workers(workers):
    held = 400 << 20  # more than what workers hold before
    assert list(workers.run("hold", worker_tasks.holds, [held])) == [1]
    assert held < max(workers.peak_memory.values()) < 2 * held
    assert not any(name.endswith(f":{os.getpid()}") for name in workers.peak_memory)


def test_the_peak_of_one_process_is_its_own(serial):
    assert list(serial.run("square", worker_tasks.square, [1])) == [1]
    assert [name.rpartition(":")[2] for name in serial.peak_memory] == [str(os.getpid())]
    before = peak_resident()
    worker_tasks.holds(before + (64 << 20))
    assert peak_resident() > before + (64 << 20)


def test_workers_have_one_thread(of_processes):
    assert list(of_processes.run("threads", worker_tasks.most_threads, [0, 0])) == [1, 1]


def test_a_task_that_cannot_be_sent_is_named(of_processes):
    with pytest.raises(Exception, match="pickle") as raised:
        list(of_processes.run("send", lambda number: number, [1]))
    assert "in the task 'send 1/1'" in raised.value.__notes__


# Ray and Dask leave sockets and event loops to Python, which may notice them in any later test
pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
]
TESTS = str(Path(__file__).parents[1])


def is_gone(pid):
    """Wait for the end of a process that is not a child of this one."""
    while Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z":
        time.sleep(0.01)
    return True


needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


def written(path):
    """The number that a worker writes; one that has not begun after a minute never will."""
    for _ in range(6000):
        if path.exists() and path.read_text():
            return int(path.read_text())
        time.sleep(0.01)
    raise AssertionError(f"no worker has written {path}")


@needs_proc
def test_workers_end_with_their_executor(tmp_path):
    with ProcessExecutor(1) as executor:
        results = executor.run("sleep", worker_tasks.sleeps, [None, str(tmp_path / "pid")])
        assert next(results) is None
        worker = written(tmp_path / "pid")
    assert is_gone(worker)


@needs_proc
def test_workers_end_with_the_process_that_started_them(tmp_path):
    code = (
        "import sys\n"
        "sys.path.insert(0, sys.argv[2])\n"
        "import worker_tasks\n"
        "from diffpeaks.sharded.executors import ProcessExecutor\n"
        "list(ProcessExecutor(1).run('sleep', worker_tasks.sleeps, [sys.argv[1]]))"
    )
    driver = processes.Process(code, tmp_path / "pid", TESTS)
    worker = written(tmp_path / "pid")
    os.kill(driver.pid, signal.SIGKILL)
    assert driver.wait() == -signal.SIGKILL
    assert is_gone(worker)


def test_names_stand_for_executors():
    for name, n_workers, kind in (
        (None, 1, SerialExecutor),
        (None, 2, ProcessExecutor),
        ("serial", None, SerialExecutor),
        ("processes", 3, ProcessExecutor),
    ):
        with executor_of(name, n_workers) as executor:
            assert type(executor) is kind
            assert executor.n_workers == (n_workers or 1)


def test_a_given_executor_is_not_ended(of_processes):
    with executor_of(of_processes) as executor:
        assert executor is of_processes
    assert list(of_processes.run("square", worker_tasks.square, [5])) == [25]


def test_clusters_of_users_are_not_ended(on_ray, on_dask):
    assert type(on_ray) is RayExecutor
    assert type(on_dask) is DaskExecutor
    for executor in (on_ray, on_dask):
        with executor:
            assert list(executor.run("square", worker_tasks.square, [4])) == [16]
        assert list(executor.run("square", worker_tasks.square, [5])) == [25]


# where another dashboard has its port, Dask takes the next one and leaves the socket of the first to Python
@pytest.mark.filterwarnings("ignore:Port 8787 is already in use", "ignore:unclosed <socket:ResourceWarning")
def test_dask_is_reached_by_its_address_and_started_without_one(on_dask):
    on_dask._client.wait_for_workers(2)  # one may have been killed by another test
    with executor_of(on_dask._client.scheduler.address) as executor:
        assert executor.n_workers == 2
        assert list(executor.run("square", worker_tasks.square, [5])) == [25]
    with executor_of("dask", 1) as executor:
        assert executor.n_workers == 1
        assert list(executor.run("square", worker_tasks.square, [5])) == [25]
    with refuses("n_workers=2|no effect|tcp://"):
        executor_of("tcp://localhost:1", 2)


HEAD_LOST = """
import os, secrets, signal, sys
from contextlib import suppress
from pathlib import Path

os.environ["RAY_TMPDIR"] = sys.argv[3]
os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
import ray
from ray.cluster_utils import Cluster

from diffpeaks.sharded import ShardedDensityPeaks
from diffpeaks.sharded.executors import ray as executor

executor._PATIENCE = 0.0
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
context = ray.init(cluster.address, log_to_driver=False)


def all_started_by(pid):
    for child in map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()):
        yield from all_started_by(child)
        yield child


def lose_head(progress):
    if progress.stage == "smoothing":
        for pid in all_started_by(os.getpid()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


ShardedDensityPeaks(executor=context, callback=lose_head).fit(sys.argv[1], out=sys.argv[2])
"""


@needs_proc
def test_a_run_that_loses_the_head_node_of_ray_says_so_and_goes_on_elsewhere(tmp_path):
    pytest.importorskip("ray", reason="Ray is not installed: the loss of its head node is not tested")
    X, _ = make_blobs(600, 8, centers=5, random_state=0)
    folder, out = shards_in(tmp_path / "shards", X, 2), tmp_path / "out"
    # a name that is short enough for sockets
    with tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as of_ray:
        done = processes.run(HEAD_LOST, folder, out, of_ray)
    assert done.returncode == 1
    assert "ConnectionError: the connection to Ray was lost; see that it runs, and start again" in done.stderr
    again = ShardedDensityPeaks(executor="serial").fit(folder, out=out)
    assert again.n_resumed_ > 3
    assert_array_equal(again.labels_, ShardedDensityPeaks(executor="serial").fit(folder).labels_)


def test_ray_that_is_connected_has_its_own_workers(on_ray):
    with refuses("connected to Ray already|n_workers=2|ray.shutdown"):
        executor_of("ray", 2)


@pytest.mark.parametrize(
    ("executor", "n_workers", "words"),
    [
        ("threads", None, "'threads'|'serial'|'processes'|'ray'|'dask'"),
        ("localhost:8786", None, "'localhost:8786'|tcp://"),
        (7, None, "executor=7|use one of"),
        (SerialExecutor, None, "SerialExecutor|use one of"),
        ("serial", 2, "n_workers=2|'serial'|'processes'"),
        ("processes", 0, "n_workers=0|1 .. 4096"),
        ("processes", 1.5, "n_workers|1.5"),
        (SerialExecutor(), 2, "n_workers=2|no effect"),
    ],
)
def test_what_runs_no_tasks_is_refused(executor, n_workers, words):
    with refuses(words):
        executor_of(executor, n_workers)


@pytest.mark.parametrize(("name", "module"), [("ray", "ray"), ("dask", "distributed")])
def test_a_package_that_is_missing_is_named(name, module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"{module} is needed.*pip install 'diffpeaks\[{name}\]'"):
        executor_of(name)
