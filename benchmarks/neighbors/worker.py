"""One system on one set in a process of its own: `run.py` starts it with a job on standard input.

It prints a JSON line for each setting it has tried and for each target, timed or missed. Loading the data,
importing the library and compiling are not timed: everything runs once on a few points beforehand.
"""

import json
import sys
import time
import warnings
from importlib.metadata import version

import numpy as np
from recall import Truth
from systems import SYSTEMS
from tuning import Effort, Trial, best_choice, hopeless, tune

_WARM_UP = 2000  # points


def clocked(function, *arguments, **settings):
    start = time.perf_counter()
    result = function(*arguments, **settings)
    return result, time.perf_counter() - start


class Worker:
    def __init__(self, job):
        self.job = job
        self.system = SYSTEMS[job["system"]]
        self.X = np.load(job["data"])
        self.truth = Truth.read(job["truth"])
        self.common = (job["n_neighbors"], job["threads"])
        self.trials = [Trial.of_line(line) for line in job["tried"]]

    def graph(self, X, setting, effort):
        index = self.system.build(X, *self.common, **setting)
        return index if self.system.query is None else self.system.query(index, X, *self.common, effort)

    def warm_up(self):
        setting = {"recall": 0.9} if self.system.calibrates_itself else self.system.start
        effort = self.system.efforts(self.truth.n_neighbors)[0]
        self.graph(self.X[:_WARM_UP], setting, effort)

    def try_setting(self, setting):
        """Build, and raise the effort until the highest target is reached or a known setting is faster."""
        index, build_seconds = clocked(self.system.build, self.X, *self.common, **setting)
        if self.system.query is None:
            recall = self.truth.recall(self.X, index[self.truth.sample])
            return Trial(setting, build_seconds, [Effort(None, recall, 0.0)])
        highest, sample = max(self.job["targets"]), self.X[self.truth.sample]
        known = best_choice(self.trials, highest)
        limit = known.seconds if known is not None and known.recall >= highest else np.inf
        efforts = []
        for effort in self.system.efforts(self.truth.n_neighbors):
            found, seconds = clocked(self.system.query, index, sample, *self.common, effort)
            recall = self.truth.recall(self.X, found)
            efforts.append(Effort(effort, recall, seconds * len(self.X) / len(sample)))
            too_slow = build_seconds + efforts[-1].seconds > limit
            if recall >= highest or too_slow or hopeless(efforts, highest):
                break
        return Trial(setting, build_seconds, efforts)

    def result(self, target):
        """A line for the target: timed, or what came nearest to it where no setting reached it."""
        if self.system.calibrates_itself:
            return self.timed(target, {"recall": target}, None)
        if not self.system.ladders:
            return self.timed(target, {}, None)
        best = best_choice(self.trials, target)
        if best.recall >= target:
            return self.timed(target, best.setting, best.effort)
        return self.line("missed", target, best.setting, best.effort, best.recall, best.seconds)

    def timed(self, target, setting, effort):
        """The best of some repeats, which end early when they have taken long."""
        repeats = []
        while len(repeats) < self.job["repeats"] and sum(repeats) < self.job["repeat_seconds"]:
            found, seconds = clocked(self.graph, self.X, setting, effort)
            repeats.append(seconds)
        recall = self.truth.recall(self.X, found[self.truth.sample])
        line = self.line("timed", target, setting, effort, recall, min(repeats))
        return {**line, "repeats": [round(seconds, 3) for seconds in repeats]}

    def line(self, kind, target, setting, effort, recall, seconds):
        return {
            "kind": kind,
            "target": target,
            "version": version(self.system.package),
            "setting": setting,
            "effort": effort,
            "recall": round(recall, 4),
            "seconds": round(seconds, 3),
        }

    def lines(self):
        self.warm_up()
        for target in sorted(self.job["targets"], reverse=True):
            if self.system.ladders:
                trials = tune(self.system, target, self.trials, self.try_setting, self.job["tuning_seconds"])
                for trial in trials:
                    yield trial.line()
        for target in self.job["targets"]:
            yield self.result(target)


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # pynndescent warns of rows it has not filled; the recall tells as much
    for line in Worker(json.load(sys.stdin)).lines():
        print(json.dumps(line), flush=True)
