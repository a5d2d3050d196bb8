"""Tasks for workers, which import them by name."""

import os
import signal
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_info


class TwoPartError(Exception):
    """Cannot be rebuilt from its text, as pickle tries to."""

    def __init__(self, place, problem):
        super().__init__(f"{problem} at {place}")


def square(number):
    return number * number


def after(files):
    """Waits for one file, then writes another one."""
    awaited, written = files
    while awaited and not Path(awaited).exists():
        time.sleep(0.01)
    Path(written).touch()
    return Path(written).name


def fails_at_three(number):
    if number == 3:
        raise ZeroDivisionError("three is wrong")
    return number


def fails_in_two_parts(number):
    raise TwoPartError(number, "trouble")


def dies_once(marker):
    """The worker that runs it first is killed, as by a lack of memory."""
    if marker is not None and not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def dies_if_negative(number):
    if number < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def holds(n_bytes):
    """Holds that much memory, every page of it touched."""
    return int(np.ones(n_bytes, np.uint8)[-1])


def most_threads(nothing):
    return max([pool["num_threads"] for pool in threadpool_info()], default=1)


def sleeps(path):
    """Tells its process and stays, unless there is nowhere to tell it."""
    if path is None:
        return
    Path(path).write_text(str(os.getpid()))
    time.sleep(600)
