"""Results as lines of JSON: appended one by one, so that an interrupted run goes on where it stopped."""

import json
import os
import platform
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path


class Records:
    """The lines of a file. A line that was cut off by an interruption is dropped, and made again."""

    def __init__(self, path):
        self.path = Path(path)
        self.lines = []
        if not self.path.exists():
            return
        whole = self.path.read_text().splitlines(keepends=True)
        if whole and not whole[-1].endswith("\n"):
            self.path.write_text("".join(whole[:-1]))
            whole.pop()
        for number, line in enumerate(whole, 1):
            try:
                self.lines.append(json.loads(line))
            except ValueError as error:
                raise ValueError(
                    f"{self.path}, line {number} is no JSON; repair or delete that line"
                ) from error

    def of(self, **wanted):
        """The lines with those values."""
        return [line for line in self.lines if all(line.get(key) == value for key, value in wanted.items())]

    def append(self, line):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")
        self.lines.append(line)

    def missing(self, jobs):
        """The jobs without a line; a job is what its line starts with."""
        return [job for job in jobs if not self.of(**job)]

    def complete(self, jobs, run, n_workers=None):
        """Run the jobs, in order or in several processes, and append a line for each that is done."""
        timed = partial(_timed, run)
        if n_workers == 1 or len(jobs) < 2:
            results = map(timed, jobs)
            self._append_all(zip(jobs, results, strict=True), len(jobs))
            return
        with ProcessPoolExecutor(n_workers, mp_context=get_context("spawn")) as pool:
            futures = {pool.submit(timed, job): job for job in jobs}
            try:
                done = ((futures[future], future.result()) for future in as_completed(futures))
                self._append_all(done, len(jobs))
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def _append_all(self, results, n_jobs):
        for number, (job, result) in enumerate(results, 1):
            self.append({**job, **result, "machine": machine()})
            name = " ".join(str(value) for value in job.values())
            print(f"[{number}/{n_jobs}] {name}: {result['seconds']:.1f} s", file=sys.stderr, flush=True)


def _timed(run, job):
    started = time.perf_counter()
    result = run(job)
    return {**result, "seconds": round(time.perf_counter() - started, 3)}


def machine():
    packages = ("diffpeaks", "numpy", "scipy", "scikit-learn")
    return {
        "processor": platform.processor() or platform.machine(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
    }
