"""What a stage tells, to whom, and how it reads; the stages of real work are in test_progress.py."""

import dataclasses
import threading

import numpy as np
import pytest

from diffpeaks import neighbor_graph, progress
from diffpeaks.progress import Progress, listening, stage
from diffpeaks.progress.lines import duration, ended, running


def test_the_outermost_stage_is_told_and_parts_are_shares_of_it(monkeypatch):
    monkeypatch.setattr(progress, "EVERY", 0.0)
    reports = []
    with listening(reports.append), stage("whole", 100) as done:
        done(10)
        with stage("aside", 5) as inner:
            inner(3)
        with done.part(80), stage("half", 4) as inner:
            inner(1)
            inner.reach(1)
            with inner.part(2), stage("within", 2) as innermost:
                innermost(1)
        done(1000)
    assert {(report.stage, report.total) for report in reports} == {("whole", 100)}
    assert [report.done for report in reports] == [0, 10, 30, 50, 70, 90, 100]


def test_listeners_are_all_told_in_their_own_context():
    first, second = [], []
    with listening(first.append):
        with listening(second.append), listening(None), stage("both"):
            pass
        with stage("first"):
            thread = threading.Thread(target=lambda: neighbor_graph(np.eye(10), 2))
            thread.start()
            thread.join()
    with stage("nobody") as done, done.part(1):
        done(1)
        done.reach(1)
    assert [report.stage for report in first] == ["both", "both", "first", "first"]
    assert [report.stage for report in second] == ["both", "both"]


def test_reports_are_seldom():
    reports = []
    with listening(reports.append), stage("quick", 10_000) as done:
        for _ in range(10_000):
            done(1)
    assert len(reports) < 1000
    assert reports[-1].done == 10_000


def test_an_empty_stage_is_told_once():
    reports = []
    with listening(reports.append), stage("none", 0):
        pass
    assert [(report.done, report.total, report.remaining) for report in reports] == [(0, 0, None)]


def test_rate_and_remaining_follow_from_the_rest():
    half = Progress("neighbours", 500, 2000, 10.0)
    assert (half.rate, half.remaining) == (50.0, 30.0)
    begin = Progress("neighbours", 0, 2000, 0.0)
    assert (begin.rate, begin.remaining) == (0.0, None)
    with pytest.raises(dataclasses.FrozenInstanceError):
        half.done = 3


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "0.0 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1:00"),
        (185, "3:05"),
        (3600, "1:00:00"),
    ],
)
def test_durations_for_the_eye(seconds, text):
    assert duration(seconds) == text


def test_lines_for_the_eye():
    assert running(Progress("neighbours", 500, 2000, 10.0)) == "neighbours 25%, 50/s, 30 s left"
    assert running(Progress("cut", 0, 1, 0.0)) == running(Progress("cut", 1, 1, 4.0)) == "cut ..."
    assert ended(Progress("neighbours", 2000, 2000, 40.0)) == "neighbours: 2,000 in 40 s, 50/s"
    assert ended(Progress("cut", 1, 1, 4.0)) == "cut: 4.0 s"
