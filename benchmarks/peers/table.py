"""The lines of a file of results as markdown tables; measures nothing.

usage: table.py [RESULTS] [--cell scores|pairs|clusters|seconds]

A cell holds BCubed F / AMI; pairwise F / ARI; clusters, and the share of noise; or the seconds of a fit, the
best after the first. First come the means over groups of sets, each over the sets that the system could do,
with their number where these are not all; then every set; then such means beside ours over the same sets,
and why a system has no labels.
"""

import argparse
from pathlib import Path

import numpy as np
from sets import GROUPS, HALVES
from systems import SYSTEMS

from diffpeaks_paper.markdown import markdown_table
from diffpeaks_paper.records import Records

CELLS = {  # the fields of a line, and how they are written
    "scores": (("bcubed", "ami"), "{:.1f} / {:.1f}"),
    "pairs": (("pairwise", "ari"), "{:.1f} / {:.1f}"),
    "clusters": (("n_clusters", "noise"), "{:,.0f}, {:.0f}%"),
    "seconds": (("seconds",), "{:.2f}"),
}
OURS = "diffpeaks"
FAILURES = {"timed_out": "over time", "error": "error"}


class Results:
    """The last line of each system on each set."""

    def __init__(self, lines, cell):
        self._lines = {(line["system"], line["set"]): line for line in lines}
        self.fields, self.form = CELLS[cell]
        self.systems = [system for system in SYSTEMS if any(key[0] == system for key in self._lines)]

    def tried(self, sets):
        """Those of the sets that have a line of any system."""
        return [name for name in sets if any((system, name) in self._lines for system in self.systems)]

    def cell(self, system, name):
        line = self._lines.get((system, name))
        if line is None:
            return ""
        failure = next((text for key, text in FAILURES.items() if key in line), None)
        return failure or self.form.format(*(line[field] for field in self.fields))

    def done(self, system, sets):
        """Those of the sets that the system has labels for."""
        return [name for name in sets if self.fields[0] in self._lines.get((system, name), {})]

    def mean_cell(self, system, sets):
        done = self.done(system, sets)
        if not done:
            return ""
        values = [[self._lines[system, name][field] for field in self.fields] for name in done]
        count = "" if len(done) == len(sets) else f" ({len(done)} of {len(sets)})"
        return self.form.format(*np.mean(values, axis=0)) + count

    def failures(self):
        """(system, what happened, the sets where it did)."""
        found = {}
        for (system, name), line in self._lines.items():
            if "timed_out" in line:
                found.setdefault((system, f"no labels within {line['timed_out']} s"), []).append(name)
            elif "error" in line:
                found.setdefault((system, line["error"]), []).append(name)
        return [(system, what, ", ".join(names)) for (system, what), names in found.items()]


def mean_table(results):
    columns = {name: sets for name, sets in {**HALVES, **GROUPS}.items() if results.tried(sets)}
    header = ["system", *(f"{name} ({len(sets)})" for name, sets in columns.items())]
    rows = [
        [system, *(results.mean_cell(system, sets) for sets in columns.values())]
        for system in results.systems
    ]
    return markdown_table(header, rows)


def partial_table(results):
    """Systems that could not do all of a group, beside ours on the sets that they could do."""
    rows = []
    for system in results.systems:
        for group, sets in {**HALVES, **GROUPS}.items():
            tried, done = results.tried(sets), results.done(system, sets)
            if done and len(done) < len(tried):
                cells = (results.mean_cell(one, done) for one in (system, OURS))
                rows.append([system, group, f"{len(done)} of {len(tried)}", *cells])
    return markdown_table(["system", "group", "sets", "its mean", f"{OURS} on these"], rows)


def set_table(results):
    names = results.tried([name for sets in GROUPS.values() for name in sets])
    half = {name: text for text, sets in HALVES.items() for name in sets}
    rows = [
        [name, half.get(name, ""), *(results.cell(system, name) for system in results.systems)]
        for name in names
    ]
    return markdown_table(["set", "half", *results.systems], rows)


def tables(lines, cell):
    results = Results(lines, cell)
    made = [mean_table(results), set_table(results)]
    failures = results.failures()
    if failures:
        rows = [[text.replace("|", "\\|").replace("\n", " ") for text in failure] for failure in failures]
        made.append(partial_table(results))
        made.append(markdown_table(["system", "without labels", "sets"], rows))
    return "\n\n".join(made)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = Path(__file__).parents[1] / "results" / "peers.jsonl"
    parser.add_argument("results", nargs="?", default=str(default))
    parser.add_argument("--cell", choices=CELLS, default="scores")
    given = parser.parse_args()
    print(tables(Records(given.results).lines, given.cell))


if __name__ == "__main__":
    main()
