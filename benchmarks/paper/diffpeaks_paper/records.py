"""Results as lines of JSON: appended one by one, so that an interrupted run goes on where it stopped."""

import json
import os
import platform
import signal
import sys
import time
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from functools import partial
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path

from diffpeaks._files import replacing


class Records:
    """The lines of a file. A line that was cut off by an interruption does not count, and is made again.

    Every result has the key `mark`, which tells a file of results from any other.
    """

    def __init__(self, path, mark="experiment"):
        self.path = Path(path)
        self.lines, self._whole = [], 0  # characters up to the end of the last whole line
        for number, line in enumerate(self._text().splitlines(keepends=True), 1):
            found = _parsed(line, mark)
            if found is None:
                if line.endswith("\n") or not line.startswith("{"):
                    raise ValueError(f"{self.path}, line {number} is no result; repair or delete that line")
                break
            self.lines.append(found)
            self._whole += len(line)

    def _text(self):
        try:
            return self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        except UnicodeDecodeError as error:
            raise ValueError(f"{self.path} is no text; name a file of results") from error

    def of(self, **wanted):
        """The lines with those values."""
        return [line for line in self.lines if all(line.get(key) == value for key, value in wanted.items())]

    def append(self, line):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._drop_what_was_cut_off()
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        self.lines.append(line)

    def _drop_what_was_cut_off(self):
        """Once, before the first line is added: a file that is only read stays as it is."""
        if self._whole is None:
            return
        if self.path.exists():
            whole = self._text()[: self._whole]
            with replacing(self.path) as file:
                file.write((whole + "\n" * (bool(whole) and not whole.endswith("\n"))).encode())
        self._whole = None

    def missing(self, jobs):
        """The jobs without a line; a job is what its line starts with."""
        return [job for job in jobs if not self.of(**job)]

    def complete(self, jobs, run, n_workers=None):
        """Run the jobs, in order or in several processes, and append a line for each that is done."""
        timed = partial(_timed, run)
        if n_workers == 1 or len(jobs) < 2:
            for number, job in enumerate(jobs, 1):
                self._append_result(job, timed(job), f"{len(jobs) - number} left")
            return
        # a key that interrupts reaches all processes; this one alone answers
        ignore = (signal.SIGINT, signal.SIG_IGN)
        pool = ProcessPoolExecutor(n_workers or cores(), get_context("spawn"), signal.signal, ignore)
        running = {}
        try:
            self._run_in(pool, timed, jobs, running)
        except KeyboardInterrupt:
            print(f"finishing {len(running)} parts; interrupt again to leave them", file=sys.stderr)
            self._run_in(pool, timed, [], running)
            raise
        finally:
            if running:  # left alone, by an error or by another interruption
                for process in pool._processes.values():
                    process.terminate()
            pool.shutdown(wait=False)

    def _run_in(self, pool, timed, jobs, running):
        """Keep every process busy until no job is left; `running` holds those that are under way."""
        waiting = list(reversed(jobs))
        while waiting or running:
            while waiting and len(running) < pool._max_workers:
                job = waiting.pop()
                running[pool.submit(timed, job)] = job
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                left = len(waiting) + len(running) - 1
                self._append_result(running.pop(future), future.result(), f"{left} left")

    def _append_result(self, job, result, count):
        self.append({**job, **result, "machine": machine()})
        name = " ".join(str(value) for value in job.values())
        print(f"[{count}] {name}: {result['seconds']:.1f} s", file=sys.stderr, flush=True)


def _parsed(line, key):
    """A result, or None where the text is none."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) and key in found else None


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
