"""Results as lines of JSON: appended one by one, so that an interrupted run goes on where it stopped."""

import json
import os
import platform
import sys
import time
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path

from diffpeaks_paper.workers import run_in_processes

try:
    import fcntl
except ImportError:  # Windows, where two runs must not write to one file at a time
    fcntl = None


class Line(dict):
    """A result, or a part of one. What it lacks is an error that says where."""

    def __init__(self, place, values):
        super().__init__(values)
        self._place = place

    def __missing__(self, key):
        raise ValueError(f"{self._place} has no {key!r}; repair or delete that line")


class Records:
    """The lines of a file. A line that was cut off by an interruption does not count, and is made again.

    Several runs may write to one file: each adds a line at a time, and keeps what others have added.
    Every result has the key `mark`, which tells a file of results from any other.
    """

    def __init__(self, path, mark="experiment"):
        self.path = Path(path)
        self._mark = mark
        try:
            content = self.path.read_bytes() if self.path.exists() else b""
        except OSError as error:
            raise OSError(f"the results file {self.path} cannot be read ({error.strerror})") from error
        self.lines, _ = self._parsed(content)

    def _parsed(self, content):
        """The lines in the bytes of the file, and where the last whole one ends."""
        lines, end = [], 0
        for number, text in enumerate(content.splitlines(keepends=True), 1):
            if text.strip():
                place = f"{self.path}, line {number}"
                line = _result(text, place, self._mark)
                if line is None and (text.endswith(b"\n") or not text.startswith(b"{")):
                    raise ValueError(f"{place} is no result; repair or delete that line")
                if line is None:
                    break
                lines.append(line)
            end += len(text)
        return lines, end

    def of(self, **wanted):
        """The lines with those values."""
        return [line for line in self.lines if all(line.get(key) == value for key, value in wanted.items())]

    def missing(self, jobs):
        """The jobs without a line; a job is what its line starts with."""
        return [job for job in jobs if not self.of(**job)]

    def complete(self, jobs, run, n_workers=None):
        """Run the jobs, in order or in several processes, and add a line for each that is done."""
        if not jobs:
            return
        with self._opened():
            pass  # refused before the work, not after it
        timed = partial(_timed, run)
        if n_workers == 1 or len(jobs) == 1:
            for number, job in enumerate(jobs, 1):
                self._add(job, timed(job), len(jobs) - number)
        else:
            run_in_processes(jobs, timed, n_workers or cores(), self._add)

    def _add(self, job, result, n_left):
        """Add the line of a job, unless another run has done so by now."""
        with self._opened() as file:
            self.lines, end = self._parsed(file.read())
            if not self.of(**job):
                self._write(file, end, {**job, **result, "machine": machine()})
        name = " ".join(str(value) for value in job.values())
        print(f"[{n_left} left] {name}: {result['seconds']:.1f} s", file=sys.stderr, flush=True)

    def append(self, line):
        with self._opened() as file:
            self.lines, end = self._parsed(file.read())
            self._write(file, end, line)

    def _write(self, file, end, line):
        """Add a line after the last whole one."""
        self.lines.append(line)
        file.truncate(end)
        file.seek(max(0, end - 1))
        start = "" if file.read(1) in (b"", b"\n") else "\n"
        file.write((start + json.dumps(line) + "\n").encode())

    @contextmanager
    def _opened(self):
        """The file from its start, to be read and added to while no other run does; made if there is none."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a+b") as file:
                if fcntl is not None:
                    fcntl.flock(file, fcntl.LOCK_EX)  # until it is closed
                file.seek(0)
                yield file
        except OSError as error:
            reason = error.strerror or error
            raise OSError(f"the results file {self.path} cannot be written ({reason})") from error


def _result(text, place, mark):
    """A result, or None where the text is none."""
    try:
        found = json.loads(text, object_hook=partial(Line, place))
    except ValueError:
        return None
    return found if isinstance(found, dict) and mark in found else None


def _timed(run, job):
    started = time.perf_counter()
    result = run(job)
    return {**result, "seconds": round(time.perf_counter() - started, 3)}


def cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def processor():
    """The model, which platform.processor() does not tell on Linux."""
    try:
        information = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.split(":", 1)[1].strip() for line in information if line.startswith("model name"))
    return next(names, platform.machine())


def machine():
    packages = ("diffpeaks", "numpy", "scipy", "scikit-learn")
    return {
        "processor": processor(),
        "cores": cores(),
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
    }
