"""The tables of `families.py`, from its lines alone; measures nothing.

usage: families_report.py [RESULTS]

A cell is mean BCubed F / AMI. A family counts as much as any other in the mean; the small groups are beside
it. "Left out": of all variants with one constant changed, the one that is best on the other families (sum of
both scores) is scored on the family that was left out.
"""

import argparse

import numpy as np
from families import ABLATION, CHANGES, DBSCAN, EXPERIMENT, OURS, PEERS, RESULTS, SMALL

from diffpeaks_paper.markdown import markdown_table
from diffpeaks_paper.records import Records


class Scores:
    """Mean scores of each system on each family, over the sets that it could do."""

    def __init__(self, lines):
        self._lines = {}
        for line in lines:
            if "error" not in line:
                self._lines[line["system"], line["family"], line["set"]] = line
        self.families = list(dict.fromkeys(key[1] for key in self._lines if key[1] not in SMALL))
        self.systems = list(dict.fromkeys(key[0] for key in self._lines))

    def of(self, system, families):
        """Both scores, a mean of means."""
        return np.mean([self._family(system, (family,)) for family in families], axis=0)

    def small(self, system):
        return self._family(system, SMALL)

    def seconds(self, system):
        return sum(line["fit_seconds"] for key, line in self._lines.items() if key[0] == system)

    def _family(self, system, groups):
        lines = [line for key, line in self._lines.items() if key[0] == system and key[1] in groups]
        return (
            np.mean([(line["bcubed"], line["ami"]) for line in lines], axis=0)
            if lines
            else np.full(2, np.nan)
        )


def cell(values):
    return "" if np.isnan(values).any() else "{:.1f} / {:.1f}".format(*values)


def change_cell(values):
    return "{:+.1f} / {:+.1f}".format(*values)


def family_table(scores):
    systems = [system for system in (OURS, DBSCAN, *PEERS) if system in scores.systems]
    rows = [
        *([family, *(cell(scores.of(system, [family])) for system in systems)] for family in scores.families),
        ["**mean of families**", *(cell(_mean_of_known(scores, system)) for system in systems)],
        ["27 small sets", *(cell(scores.small(system)) for system in systems)],
    ]
    return markdown_table(["family", *systems], rows)


def _mean_of_known(scores, system):
    known = [scores.of(system, [family]) for family in scores.families]
    return np.mean([values for values in known if not np.isnan(values).any()], axis=0)


def change_table(scores, systems, first, timed=False):
    """How much each variant changes, in points, and where lines are of one quiet run in time."""
    rows = []
    for system in systems:
        by_family = np.array(
            [scores.of(system, [family]) - scores.of(OURS, [family]) for family in scores.families]
        )
        worst = int(by_family.sum(axis=1).argmin())
        rows.append(
            [
                system,
                change_cell(by_family.mean(axis=0)),
                f"{scores.families[worst]} {change_cell(by_family[worst])}",
                change_cell(scores.small(system) - scores.small(OURS)),
                *([f"x {scores.seconds(system) / scores.seconds(OURS):.2f}"] if timed else []),
            ]
        )
    header = [first, "mean of families", "most harmed family", "27 small sets", *(["time"] if timed else [])]
    return markdown_table(header, rows)


def left_out_table(scores):
    """Constants chosen on all families but one, and scored on that."""
    candidates = [OURS, *(f"{name}={value}" for name, values in CHANGES.items() for value in values)]
    candidates = [name for name in candidates if name in scores.systems]
    rows, found = [], []
    for family in scores.families:
        others = [other for other in scores.families if other != family]
        best = max(candidates, key=lambda name: scores.of(name, others).sum())
        found.append(scores.of(best, [family]))
        rows.append([family, best, cell(found[-1]), cell(scores.of(OURS, [family]))])
    rows.append(
        ["**mean of families**", "", cell(np.mean(found, axis=0)), cell(scores.of(OURS, scores.families))]
    )
    return markdown_table(["left out", "chosen on the others", "scored on it", "default"], rows)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", nargs="?", default=RESULTS)
    scores = Scores(Records(parser.parse_args().results).of(experiment=EXPERIMENT))
    changes = [f"{name}={value}" for name, values in CHANGES.items() for value in values]
    tables = {
        "By family": family_table(scores),
        "Ablation": change_table(
            scores, [name for name in ABLATION if name in scores.systems], "off", timed=True
        ),
        "Constants": change_table(scores, [name for name in changes if name in scores.systems], "changed"),
        "Chosen without the family that is scored": left_out_table(scores),
    }
    print("\n\n".join(f"## {title}\n\n{table}" for title, table in tables.items()))


if __name__ == "__main__":
    main()
