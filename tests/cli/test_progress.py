"""How far a command is: on a terminal one line that goes away, in a log few lines, on stdout nothing."""

import io
import json
import os
import pty

import numpy as np
import processes
import pytest
from clouds import general_position

from diffpeaks.cli import main, progress
from diffpeaks.progress import Progress
from diffpeaks.progress.lines import Lines

X = general_position(0, 150)
COMMAND = "import sys; from diffpeaks.cli import main; sys.exit(main())"
STAGES = (
    "reading",
    "points",
    "duplicates",
    "neighbours",
    "isolation",
    "smoothing",
    "density",
    "hills",
    "labels",
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("points.npy", X)
    return tmp_path


def run_on_terminal(*words):
    """What a command writes to a terminal as its standard error, and to a file as its standard output."""
    terminal, its_side = pty.openpty()
    with open("stdout", "w+") as output:
        run = processes.Process(COMMAND, *words, stdout=output.fileno(), stderr=its_side)
        os.close(its_side)
        written = b""
        try:
            while block := os.read(terminal, 4096):
                written += block
        except OSError:  # how Linux says that the other side is closed
            pass
        os.close(terminal)
        assert run.wait() == 0
        output.seek(0)
        return written.decode().replace("\r\n", "\n"), output.read()


def screen(written):
    """The lines that stand on a terminal in the end."""
    lines = []
    for line in written.split("\n"):
        shown = ""
        for part in line.split("\r"):
            shown = part + shown[len(part) :]
        lines.append(shown.rstrip())
    return lines


def test_a_terminal_shows_each_stage_on_one_line_that_goes_away():
    written, output = run_on_terminal("cluster", "points.npy", "--save", "points.model")
    places = [written.index(f"\r{stage}") for stage in STAGES]
    assert places == sorted(places)
    assert max(places) < written.index("points     150 samples")
    lines = screen(written)
    assert lines[0].startswith("points     150 samples")
    assert not any(line.startswith(STAGES[3:]) and ("%" in line or "..." in line) for line in lines[:-1])
    assert output.startswith("row,label,")
    written, output = run_on_terminal("predict", "points.model", "points.npy")
    assert "\rprediction" in written
    assert screen(written)[0].startswith("predicted 150 samples")
    assert output.startswith("row,label\n")
    written, output = run_on_terminal("report", "points.npy", "-o", "report.html")
    places = [written.index(f"\r{stage}") for stage in (*STAGES, "map", "page")]
    assert places == sorted(places)
    assert screen(written)[0] == "points     150 samples"
    assert not output


def test_an_error_stands_on_a_line_of_its_own():
    terminal = io.StringIO()
    lines = Lines(terminal, redrawn=True, kept_from=np.inf)
    lines(Progress("neighbours", 10, 100, 1.0))
    lines.clear()
    assert screen(terminal.getvalue() + "diffpeaks: bad") == ["diffpeaks: bad"]
    lines.clear()
    assert terminal.getvalue().endswith(" \r")


def test_a_line_is_no_longer_than_the_terminal_is_wide():
    terminal = io.StringIO()
    Lines(terminal, redrawn=True, kept_from=np.inf)(Progress("neighbours " * 20, 10, 100, 1.0))
    assert len(terminal.getvalue()) == len("\r") + 79


def test_a_stage_that_is_kept_replaces_the_line_that_was_redrawn():
    terminal = io.StringIO()
    lines = Lines(terminal, redrawn=True, kept_from=1.0)
    lines(Progress("neighbours", 10, 100, 1.0))
    lines(Progress("neighbours", 100, 100, 2.0))
    lines(Progress("cut", 0, 1, 0.0))
    lines(Progress("cut", 1, 1, 0.5))
    lines.clear()
    assert screen(terminal.getvalue()) == ["neighbours: 100 in 2.0 s, 50/s", ""]


def test_quiet_is_silent_on_a_terminal():
    given = ("cluster", "points.npy", "-o", "out.csv", "--save", "points.model", "--quiet")
    assert run_on_terminal(*given) == ("", "")
    assert run_on_terminal("predict", "points.model", "points.npy", "-o", "out.npy", "--quiet") == ("", "")
    assert run_on_terminal("report", "points.npy", "-o", "report.html", "--quiet") == ("", "")
    written, output = run_on_terminal(*given, "--json")
    assert not written
    assert json.loads(output)["n_samples"] == 150


def test_json_on_a_terminal_leaves_nothing_else():
    written, output = run_on_terminal("cluster", "points.npy", "-o", "out.csv", "--json")
    assert screen(written) == [""]
    assert json.loads(output)["n_samples"] == 150


def test_work_that_does_not_last_leaves_no_line_in_a_log(capfd):
    assert main(["cluster", "points.npy", "-o", "out.csv"]) == 0
    printed = capfd.readouterr()
    assert not printed.out
    assert printed.err.startswith("points     150 samples")
    assert "\r" not in printed.err


def test_stages_that_last_leave_a_line_each_in_a_log(capfd, monkeypatch):
    monkeypatch.setattr(progress, "_LASTING", 0.0)
    assert main(["cluster", "points.npy", "--save", "points.model"]) == 0
    printed = capfd.readouterr()
    lines = printed.err.splitlines()
    assert tuple(line.partition(":")[0] for line in lines[: len(STAGES)]) == STAGES
    assert "neighbours: 150 in " in printed.err
    assert "\r" not in printed.err
    assert printed.out.startswith("row,label,")
    assert main(["predict", "points.model", "points.npy"]) == 0
    printed = capfd.readouterr()
    assert [line.partition(":")[0] for line in printed.err.splitlines()[:2]] == ["reading", "prediction"]
    assert printed.out.startswith("row,label\n")
    assert main(["cluster", "points.npy", "-o", "out.csv", "--quiet"]) == 0
    assert capfd.readouterr() == ("", "")
