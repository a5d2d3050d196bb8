"""Results as lines of JSON: appended one by one, so that an interrupted run goes on where it stopped."""

import json
import os
import platform
import sys
import time
from importlib.metadata import version
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
        return [
            line for line in self.lines if all(line.get(key) == value for key, value in wanted.items())
        ]

    def append(self, line):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")
        self.lines.append(line)

    def complete(self, jobs, run):
        """Run the jobs that have no line yet. A job is what its line starts with; `run` returns the rest."""
        missing = [job for job in jobs if not self.of(**job)]
        for number, job in enumerate(missing, 1):
            started = time.perf_counter()
            result = run(job)
            seconds = round(time.perf_counter() - started, 3)
            self.append({**job, **result, "seconds": seconds, "machine": machine()})
            name = " ".join(str(value) for value in job.values())
            print(f"[{number}/{len(missing)}] {name}: {seconds:.1f} s", file=sys.stderr, flush=True)


def machine():
    packages = ("diffpeaks", "numpy", "scipy", "scikit-learn")
    return {
        "processor": platform.processor() or platform.machine(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
    }
