"""The search for a system's best setting: the fastest that reaches a recall.

From a start in the middle of the ladders, all settings are raised together until the recall is reached.
Then the settings around the fastest are tried, cheaper ones first, until none is faster (or the time for
tuning is over). Of each build, efforts of the query are tried from low to high on the sample alone, and
the seconds for all points are estimated from it.
"""

import time
from dataclasses import asdict, dataclass

_RUNGS_OF_DOUBLING = 4  # efforts rise by a fifth at a time


@dataclass(frozen=True)
class Effort:
    effort: int | None
    recall: float
    seconds: float  # estimated, of all queries


def hopeless(efforts, target):
    """Whether about twice the effort has closed less than a twentieth of the way to the target."""
    if len(efforts) <= _RUNGS_OF_DOUBLING:
        return False
    before, now = efforts[-1 - _RUNGS_OF_DOUBLING].recall, efforts[-1].recall
    return now - before < (target - before) / 20


@dataclass(frozen=True)
class Trial:
    setting: dict
    build_seconds: float
    efforts: list

    def line(self):
        return {"kind": "tried", **asdict(self)}

    @classmethod
    def of_line(cls, line):
        efforts = [Effort(**effort) for effort in line["efforts"]]
        return cls(line["setting"], line["build_seconds"], efforts)


@dataclass(frozen=True)
class Choice:
    setting: dict
    effort: int | None
    seconds: float
    recall: float


def choices(trials):
    return [
        Choice(trial.setting, tried.effort, trial.build_seconds + tried.seconds, tried.recall)
        for trial in trials
        for tried in trial.efforts
    ]


def best_choice(trials, target):
    """The fastest that reaches the target, else the one that comes nearest; None before any trial."""

    def merit(choice):
        return (0, choice.seconds) if choice.recall >= target else (1, -choice.recall)

    return min(choices(trials), key=merit, default=None)


def moved(setting, ladders, steps):
    """The setting, each of `steps` so many rungs along its ladder; None beyond an end."""
    result = dict(setting)
    for name, step in steps.items():
        rung = ladders[name].index(setting[name]) + step
        if not 0 <= rung < len(ladders[name]):
            return None
        result[name] = ladders[name][rung]
    return result


def all_raised(setting, ladders):
    """Each one rung higher where it can go higher; None where none can."""
    higher = [name for name in ladders if setting[name] != ladders[name][-1]]
    return moved(setting, ladders, dict.fromkeys(higher, 1)) if higher else None


def around(setting, ladders):
    """One setting lower, one lower for another that is higher, one higher."""
    steps = [{name: -1} for name in ladders]
    steps += [{lower: -1, higher: 1} for lower in ladders for higher in ladders if lower != higher]
    steps += [{name: 1} for name in ladders]
    return [other for step in steps if (other := moved(setting, ladders, step)) is not None]


def next_setting(trials, ladders, start, target):
    """The setting to try next, or None when the best is better than all around it."""
    best = best_choice(trials, target)
    if best is None:
        return start
    if best.recall < target:
        candidates = [all_raised(best.setting, ladders)]
    else:
        candidates = around(best.setting, ladders)
    tried = [trial.setting for trial in trials]
    return next((setting for setting in candidates if setting and setting not in tried), None)


def tune(system, target, trials, try_setting, seconds):
    """Yield new trials for the target, appended to `trials`."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        setting = next_setting(trials, system.ladders, system.start, target)
        if setting is None:
            return
        trials.append(try_setting(setting))
        yield trials[-1]
