"""The lines of benchmarks/results/maps.jsonl as the tables of docs/maps.md; measures nothing.

usage: table.py [RESULTS]
"""

import argparse
import json
from pathlib import Path

from diffpeaks_paper.markdown import markdown_table

RESULTS = Path(__file__).parents[1] / "results" / "maps.jsonl"
SYSTEMS = {
    "graph": "`graph`",
    "opentsne": "openTSNE on our graph",
    "umap": "umap-learn",
    "pca": "`pca`",
}
_CELL = "{recall:.3f} / {trustworthiness:.3f} / {accuracy:.3f}"


def lines_of(path=RESULTS):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def _by_set(lines):
    """The last line of each system, set by set, the smallest first."""
    found = {}
    for line in lines:
        if line["experiment"] == "maps":
            found.setdefault(line["set"], {})[line["system"]] = line
    return sorted(found.items(), key=lambda item: item[1]["graph"]["n_samples"])


def _rows(lines, cell):
    for name, by_system in _by_set(lines):
        n_samples = f"{by_system['graph']['n_samples']:,}"
        yield [name, n_samples, *(cell(by_system[system]) for system in SYSTEMS)]


def score_table(lines):
    """Recall, trustworthiness and accuracy in the plane."""
    header = ["set", "samples", *SYSTEMS.values()]
    return markdown_table(header, list(_rows(lines, lambda line: _CELL.format(**line))))


def seconds_table(lines):
    """Seconds from the import on, and once more in the same process."""
    header = ["set", "samples", *SYSTEMS.values()]
    return markdown_table(
        header, list(_rows(lines, lambda line: f"{line['first_seconds']:.1f}, {line['seconds']:.1f}"))
    )


def scale_table(lines):
    """Seconds of the search and of the map, by the number of samples; the last line of each."""
    last = {line["n_samples"]: line for line in lines if line["experiment"] == "map scale"}
    rows = [
        [f"{n_samples:,}", f"{line['search_seconds']:.1f}", f"{line['map_seconds']:.1f}"]
        for n_samples, line in sorted(last.items())
    ]
    return markdown_table(["samples", "neighbour search", "map"], rows)


TABLES = (score_table, seconds_table, scale_table)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", nargs="?", default=RESULTS)
    lines = lines_of(parser.parse_args().results)
    print("\n".join(table(lines) for table in TABLES))


if __name__ == "__main__":
    main()
