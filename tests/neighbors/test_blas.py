"""Threads that share the cores: BLAS keeps to one, and an interrupt does not wait for what has not begun."""

import time

import numpy as np
import pytest

from diffpeaks import neighbor_graph
from diffpeaks.neighbors.blas import threads_without_blas


def interrupted(pool, begun):
    for number in range(1000):
        begun.append(pool.submit(time.sleep, 0.01))
        if number == 20:
            raise KeyboardInterrupt


def test_an_interrupt_drops_what_has_not_begun():
    waiting = []
    with pytest.raises(KeyboardInterrupt), threads_without_blas(1) as pool:
        interrupted(pool, waiting)
    assert len(waiting) == 21
    assert sum(future.cancelled() for future in waiting) >= 15


def test_an_interrupt_stops_a_metric_of_the_user_after_few_calls():
    n_calls = 0

    def metric(x, y):
        nonlocal n_calls
        n_calls += 1
        if n_calls == 1000:
            raise KeyboardInterrupt
        return float(np.abs(x - y).sum())

    X = np.random.default_rng(0).normal(size=(2000, 3))
    with pytest.raises(KeyboardInterrupt):
        neighbor_graph(X, 5, metric=metric, n_jobs=2)
    assert n_calls < 200_000  # of four million
