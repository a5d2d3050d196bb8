"""The file of results: what is kept, dropped and refused, by one run or two, and by interrupted ones."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import processes
import pytest
from refusals import refuses

from diffpeaks_paper import benchmark_sets
from diffpeaks_paper.benchmark_tables import benchmark_table
from diffpeaks_paper.records import Records

SECONDS = 60  # for what takes one or two; only a defect takes longer


def squares(numbers):
    return [{"experiment": "squares", "x": x} for x in numbers]


def square(job):
    return {"square": job["x"] ** 2}


def add(path, numbers):
    records = Records(path)
    records.complete(records.missing(squares(numbers)), square, n_workers=1)


def numbers_in(path):
    return [line["x"] for line in Records(path).lines]


def test_an_interrupted_run_goes_on(tmp_path):
    path, calls = tmp_path / "results.jsonl", []

    def run(job):
        if len(calls) == 2:
            calls.append(None)
            raise KeyboardInterrupt
        calls.append(job["x"])
        return square(job)

    jobs = squares(range(4))
    with pytest.raises(KeyboardInterrupt):
        Records(path).complete(jobs, run, n_workers=1)
    with path.open("a") as file:
        file.write('{"experiment": "squares", "x": 2, "squ')  # a line that was cut off
    records = Records(path)
    records.complete(records.missing(jobs), run, n_workers=1)
    assert calls == [0, 1, None, 2, 3]
    assert [(line["x"], line["square"]) for line in Records(path).lines] == [(0, 0), (1, 1), (2, 4), (3, 9)]
    assert "diffpeaks" in records.lines[0]["machine"]


def test_another_run_keeps_its_results(tmp_path):
    """Both start from the same file, and add to it by turns."""
    path = tmp_path / "results.jsonl"
    add(path, [0])
    one, other = Records(path), Records(path)
    for x in (1, 2, 3):
        one.complete(squares([x]), square)
        other.complete(squares([x + 10]), square)
    other.complete(squares([3]), square)  # done by now, and so not added again
    assert numbers_in(path) == [0, 1, 11, 2, 12, 3, 13]
    assert [line["x"] for line in other.lines] == numbers_in(path)


def test_two_runs_at_once(tmp_path):
    path = tmp_path / "results.jsonl"
    code = (
        "import sys; from diffpeaks_paper.records import Records\n"
        "start, records = int(sys.argv[2]), Records(sys.argv[1])\n"
        "jobs = [{'experiment': 'squares', 'x': x} for x in range(start, start + 40)]\n"
        "records.complete(records.missing(jobs), lambda job: {'square': job['x'] ** 2}, n_workers=1)"
    )
    runs = [processes.Process(code, path, start) for start in (0, 100)]
    assert [run.wait() for run in runs] == [0, 0]
    assert sorted(numbers_in(path)) == [*range(40), *range(100, 140)]


@pytest.mark.parametrize("spoiled", [b"no json", b"123", b'{"x": 1}', b"{\xff"])
def test_a_spoiled_line_is_named(tmp_path, spoiled):
    path = tmp_path / "results.jsonl"
    path.write_bytes(b'{"experiment": 1}\n' + spoiled + b"\n")
    with refuses("results.jsonl, line 2 is no result; repair or delete"):
        Records(path)


@pytest.mark.parametrize("end", ["", "\n", '\n{"experiment": 2, "cut of', "\n \n\n"])
def test_a_file_that_is_read_stays_as_it_is(tmp_path, end):
    path = tmp_path / "results.jsonl"
    path.write_text('{"experiment": 1}' + end)
    assert len(Records(path).lines) == 1
    assert path.read_text() == '{"experiment": 1}' + end


def test_a_file_of_something_else_is_refused(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_text("my only notes")
    with refuses("line 1 is no result"):
        Records(path)
    assert path.read_text() == "my only notes"


@pytest.mark.parametrize("end", ["", "\n", "\n\n", '\n{"experiment": "squ'])
def test_a_line_is_added_behind_any_end(tmp_path, end):
    path = tmp_path / "results.jsonl"
    path.write_text(json.dumps(squares([5])[0]) + end)
    add(path, [5, 6])
    assert numbers_in(path) == [5, 6]
    assert path.read_text().endswith("}\n")


def test_a_line_that_lacks_a_key_is_named(tmp_path):
    path = tmp_path / "results.jsonl"
    whole = {**benchmark_sets.jobs(["iris"])[0], "n_settings": 1, "without_limit": [], "one_cluster": {}}
    del whole["density"]
    path.write_text('\n{"experiment": "other"}\n' + json.dumps(whole) + "\n")
    with refuses("results.jsonl, line 3 has no 'density'; repair or delete"):
        benchmark_table(Records(path), "table1")
    rule = {"best": {"hills/pairwise": {"f": 50.0}, "hills/bcubed": {"n_clusters": 1}}}
    path.write_text(json.dumps({**whole, "density": "kd-sym", **rule}) + "\n")
    with refuses("results.jsonl, line 1 has no 'pairwise'"):
        benchmark_table(Records(path), "table1")
    scores = {"one_cluster": {"pairwise": 49.5, "bcubed": 50.0}}
    path.write_text(json.dumps({**whole, "density": "kd-sym", **rule, **scores}) + "\n")
    with refuses("results.jsonl, line 1 has no 'n_clusters'"):
        benchmark_table(Records(path), "table1")


def test_a_file_that_cannot_be_written_is_refused_before_the_work(tmp_path):
    (tmp_path / "file").write_text("")
    records, calls = Records(tmp_path / "file" / "results.jsonl"), []
    with pytest.raises(OSError, match=r"the results file .*results\.jsonl cannot be written \(.*exists"):
        records.complete(squares([1]), calls.append)
    assert not calls


def test_a_folder_is_no_file_of_results(tmp_path):
    with pytest.raises(OSError, match=r"the results file .* cannot be read \(Is a directory\)"):
        Records(tmp_path)


def test_the_file_stays_the_same_file(tmp_path):
    real, link = tmp_path / "real.jsonl", tmp_path / "results.jsonl"
    real.write_text('{"experiment": "cut of')
    real.chmod(0o640)
    link.symlink_to(real)
    before = real.stat()
    add(link, [1])
    assert (real.stat().st_ino, real.stat().st_mode) == (before.st_ino, before.st_mode)
    assert link.is_symlink()
    assert numbers_in(real) == [1]


SCRIPT = """
import os, sys, time
from pathlib import Path

folder = Path(sys.argv[1])
if __name__ == "__mp_main__":  # a process that is about to work
    (folder / f"starting {os.getpid()}").touch()
    while (folder / "slow start").exists():
        time.sleep(0.01)


def run(job):
    (folder / f"running {os.getpid()}").touch()
    while not (folder / "finish").exists():
        time.sleep(0.01)
    return {}


if __name__ == "__main__":
    from diffpeaks import cli
    from diffpeaks_paper import command

    jobs = [{"experiment": "waiting", "x": x} for x in range(4)]
    command._made = lambda name, session: session.complete(jobs, run, 2)
    sys.exit(cli.main(["paper", "table1", "--output", str(folder)]))
"""


@pytest.fixture
def start(tmp_path):
    """Start a run of two processes that do not finish before a file says so; it leads a group of its own."""
    script, started = tmp_path / "script.py", []
    script.write_text(SCRIPT)

    def run():
        command = [sys.executable, str(script), str(tmp_path)]
        pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
        started.append(subprocess.Popen(command, start_new_session=True, **pipes))
        return started[0]

    yield run
    with suppress(ProcessLookupError):
        os.killpg(started[0].pid, signal.SIGKILL)
    started[0].communicate()


def until(condition):
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def two(folder, state):
    return len(list(folder.glob(f"{state} *"))) == 2


def ended(process):
    """Its status and messages, when the last process that could write any has ended."""
    _, error = process.communicate(timeout=SECONDS)
    return process.returncode, error


def test_a_killed_run_leaves_no_process(tmp_path, start):
    waiting = start()
    until(lambda: two(tmp_path, "running"))
    waiting.kill()
    assert ended(waiting)[0] == -signal.SIGKILL


@pytest.mark.parametrize("which", ["one", "all"])
def test_a_terminated_run_ends_like_an_interrupted_one(tmp_path, start, which):
    waiting = start()
    until(lambda: two(tmp_path, "running"))
    (os.kill if which == "one" else os.killpg)(waiting.pid, signal.SIGTERM)
    if which == "one":
        until(lambda: waiting.stderr.readline().startswith("finishing 2 parts"))
        (tmp_path / "finish").touch()
    code, error = ended(waiting)
    assert code == 130
    assert error.endswith("diffpeaks: interrupted; what was finished is kept\n")
    assert "Traceback" not in error
    assert len(Records(tmp_path / "results.jsonl").lines) == (2 if which == "one" else 0)


def test_an_interruption_while_processes_start_is_quiet(tmp_path, start):
    (tmp_path / "slow start").touch()
    waiting = start()
    until(lambda: two(tmp_path, "starting"))
    os.killpg(waiting.pid, signal.SIGINT)
    until(lambda: waiting.stderr.readline().startswith("finishing 2 parts"))
    (tmp_path / "slow start").unlink()
    (tmp_path / "finish").touch()
    code, error = ended(waiting)
    assert (code, error.count("\n")) == (130, 3)  # two parts, and that it was interrupted
    assert numbers_in(tmp_path / "results.jsonl") in ([0, 1], [1, 0])


def test_a_second_interruption_leaves_the_work(tmp_path, start):
    waiting = start()
    until(lambda: two(tmp_path, "running"))
    os.killpg(waiting.pid, signal.SIGINT)
    until(lambda: waiting.stderr.readline().startswith("finishing 2 parts"))
    os.killpg(waiting.pid, signal.SIGINT)
    code, error = ended(waiting)
    assert (code, error.count("\n")) == (130, 1)
