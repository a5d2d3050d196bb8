"""One system in a process of its own, which fits set after set until one takes it too long.

The process is ended by its own alarm clock when a fit is over time: that stops compiled code too. Whoever
waits for its answer sees how it ended, and starts another one for the next set.
"""

import signal
import time
import warnings
from contextlib import suppress
from multiprocessing import get_context

import numpy as np
from scoring import scores
from systems import SYSTEMS

_WARM_UP_FEATURES = (2, 40)  # systems compile other code for many features
_MILLISECONDS = 3  # digits of seconds


class Worker:
    """Started when it is first asked, and again after a process has ended."""

    def __init__(self, system, n_threads, timeout, repeats):
        self._arguments = (system, n_threads, timeout, repeats)
        self._timeout = timeout
        self._process = None

    def measured(self, path):
        """A result of the set in that file: scores and seconds, or an error, or that it took too long."""
        if self._process is None:
            self._start()
        try:
            self._connection.send(path)
            return self._connection.recv()
        except (EOFError, ConnectionError):
            return self._ended()

    def _start(self):
        context = get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, *self._arguments))
        self._process.start()
        theirs.close()  # so that their end of it is closed when they end

    def _ended(self):
        self._process.join()
        status, self._process = self._process.exitcode, None
        if status == -signal.SIGALRM:
            return {"timed_out": self._timeout}
        how = signal.Signals(-status).name if status < 0 else f"exit status {status}"
        return {"error": f"the process ended: {how}"}

    def close(self):
        if self._process is not None:
            self._connection.close()
            self._process.join()
            self._process = None


def serve(connection, system, n_threads, timeout, repeats):
    """Answer every path with a result, until the other end is closed."""
    warnings.simplefilter("ignore")
    fit = SYSTEMS[system].labels
    start_seconds = warm_up(fit, n_threads)
    with suppress(EOFError):
        while True:
            result = measure(fit, connection.recv(), n_threads, timeout, repeats)
            connection.send({**result, "start_seconds": start_seconds})


def warm_up(fit, n_threads):
    """Import and compile, which no set is to pay for; returns the seconds that this took."""
    start = time.perf_counter()
    random = np.random.default_rng(0)
    for n_features in _WARM_UP_FEATURES:
        with suppress(Exception):  # what cannot be fitted here is told by the sets that are like it
            fit(random.standard_normal((500, n_features)), 2, n_threads)
    return round(time.perf_counter() - start, _MILLISECONDS)


def measure(fit, path, n_threads, timeout, repeats):
    """Scores of the last call; seconds of the first call, and of the best after it."""
    with np.load(path) as saved:
        X, y = saved["X"], saved["y"]
    n_classes = len(np.unique(y))
    seconds = []
    try:
        while len(seconds) < repeats:
            signal.alarm(timeout)
            start = time.perf_counter()
            labels = fit(X, n_classes, n_threads)
            seconds.append(round(time.perf_counter() - start, _MILLISECONDS))
            signal.alarm(0)
    except Exception as error:
        signal.alarm(0)
        return {"error": f"{type(error).__name__}: {error}"}
    return {**scores(y, labels), "first_seconds": seconds[0], "seconds": min(seconds[1:] or seconds)}
