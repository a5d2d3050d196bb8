"""Jobs in processes of their own, which finish their part when a run is interrupted, and end when it does."""

import os
import signal
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing import get_context, parent_process

_POLLING_SECONDS = 0.02


def run_in_processes(jobs, run, n_workers, done):
    """Call `run(job)` in other processes, and `done(job, result, n_left)` in this one as each ends.

    An interruption waits for the jobs that are under way; a second one leaves them.
    """
    pool = ProcessPoolExecutor(n_workers, get_context("spawn"), _start_worker)
    running = {}
    try:
        _run_in(pool, jobs, run, done, running)
    except KeyboardInterrupt:
        print(f"finishing {len(running)} parts; interrupt again to leave them", file=sys.stderr)
        with suppress(BrokenProcessPool):  # whatever interrupts this process may have ended the others
            _run_in(pool, [], run, done, running)
        raise
    finally:
        if running:  # left alone, by an error or by another interruption
            for process in list(pool._processes.values()):
                process.kill()
        pool.shutdown(wait=False)


@contextmanager
def terminated_like_interrupted():
    """A request to terminate is taken as an interruption, so that what is under way can be kept."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _run_in(pool, jobs, run, done, running):
    """Keep every process busy until no job is left; `running` holds those that are under way."""
    waiting = list(reversed(jobs))
    while waiting or running:
        with _signals_held():
            while waiting and len(running) < pool._max_workers:
                job = waiting.pop()
                running[pool.submit(run, job)] = job
            finished = [future for future in running if future.done()]
        for future in finished:
            done(running[future], future.result(), len(waiting) + len(running) - 1)
            del running[future]
        if not finished:  # an interruption arrives here, and not while the pool holds one of its locks
            time.sleep(_POLLING_SECONDS)


@contextmanager
def _signals_held():
    """Signals wait until the block ends; processes that it starts never get them, not even while they start.

    A key that interrupts reaches all processes of a terminal, but the first one alone is to answer.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows, where they can only ignore it once they run
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_worker():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])  # by which the pool ends its processes
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent():
    """A killed parent cannot end its workers, and they would wait for jobs for ever."""
    parent_process().join()
    os._exit(1)
