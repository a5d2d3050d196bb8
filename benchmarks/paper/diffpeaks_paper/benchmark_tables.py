"""Tables 1 and 4 as markdown, from the lines of the runs."""

from collections import ChainMap
from collections.abc import Iterator

import numpy as np

from diffpeaks.datasets import UCI_NAMES
from diffpeaks_paper import benchmark_sets, published
from diffpeaks_paper.definitions import (
    CORE_RULES,
    DENSITIES,
    DIFFUSION_DENSITIES,
    GRIDS,
    NORMALIZATIONS,
    PEAK_RULES,
)
from diffpeaks_paper.markdown import markdown_table

RULES = {"table1": PEAK_RULES, "table4": CORE_RULES}
# how the authors cut, as far as they say: links that the lists of neighbours lack; cores without border
PLAIN_RULE = {"table1": "hills", "table4": "min_density"}
SHORT = {"pairwise": "F_P", "bcubed": "F_B"}


class Results:
    """The best scores of the runs, asked by what they were the best of."""

    def __init__(self, records, table):
        self._table = table
        self._lines = {
            (line["set"], line["normalization"], line["grid"], line["density"]): line
            for line in records.of(experiment=benchmark_sets.EXPERIMENT)
        }
        self.names = [name for name in UCI_NAMES if any(key[0] == name for key in self._lines)]

    def best(self, name, score, densities=DENSITIES, grids=tuple(GRIDS), scalings=NORMALIZATIONS, rules=None):
        """The best cut, with the settings that made it; None where nothing was run."""
        found = [
            # a chain, so that what a line lacks is still looked up in the line, which says where it stands
            ChainMap(
                {"rule": rule, "density": key[3], "normalization": key[1]}, line["best"][f"{rule}/{score}"]
            )
            for key, line in self._lines.items()
            if key[0] == name and key[1] in scalings and key[2] in grids and key[3] in densities
            for rule in rules or RULES[self._table]
            if f"{rule}/{score}" in line["best"]
        ]
        return max(found, key=lambda cut: cut["f"], default=None)

    def f(self, *args, **kwargs):
        cut = self.best(*args, **kwargs)
        return np.nan if cut is None else cut["f"]

    def one_cluster(self, name, score):
        return next(line["one_cluster"][score] for key, line in self._lines.items() if key[0] == name)

    def told_settings(self):
        """How many settings each density is the best of; a density of two parameters has more."""
        counts = {
            density: sum(line["n_settings"] for key, line in self._lines.items() if key[3] == density)
            for density in DENSITIES
        }
        told = ", ".join(f"{density} {count:,}" for density, count in counts.items())
        return f"Settings of each density, over all sets, scalings and both grids: {told}."

    def without_limit(self):
        """Settings of the asymmetric KD without a limit that floats can hold, by set; and all there are."""
        failed = {
            key: len(line["without_limit"]) for key, line in self._lines.items() if line["without_limit"]
        }
        return failed, sum(line["n_settings"] for key, line in self._lines.items() if key[3] == "kd-asym")


def benchmark_table(records, table):
    """All parts of table 1 or 4."""
    results = Results(records, table)
    return "\n\n".join(_parts(results, table)) + "\n"


def _parts(results, table) -> Iterator[str]:
    paper = published.BENCHMARK_SETS[table]
    yield "### The best of each row"
    yield _summary(results, paper)
    yield _degenerate(results, paper)
    yield "### The six densities: the paper's value, ours on its grid, ours on both grids"
    yield results.told_settings()
    for score in published.SCORES:
        yield _six_densities(results, paper, score)
    yield f"### Ours on the paper's grid, rule {PLAIN_RULE[table]}, by normalisation; in brackets the paper"
    yield _normalizations(results, paper, table)
    yield _failures(results)


def _summary(results, paper):
    header = [
        "set",
        "score",
        "paper's best",
        "diffusion, both grids",
        "naive, both grids",
        "one cluster",
        "made by",
    ]
    rows = []
    for name in results.names:
        for score in published.SCORES:
            best = results.best(name, score, DIFFUSION_DENSITIES)
            theirs = max(paper[name, score, density] for density in DENSITIES)
            mark = "" if best["f"] >= theirs - 0.05 else " (below)"
            rows.append(
                [
                    name,
                    SHORT[score],
                    f"{theirs:.1f}",
                    f"{best['f']:.1f}{mark}",
                    f"{results.f(name, score, ['naive']):.1f}",
                    f"{results.one_cluster(name, score):.1f}",
                    _described(best),
                ]
            )
    return markdown_table(header, rows)


def _degenerate(results, paper):
    """How much of the paper's table one cluster for everything reaches."""
    told = []
    for score in published.SCORES:
        cells = [
            (name, density)
            for name in results.names
            for density in DENSITIES
            if paper[name, score, density] <= results.one_cluster(name, score) + 0.05
        ]
        rows = [
            name
            for name in results.names
            if max(paper[name, score, d] for d in DENSITIES) <= results.one_cluster(name, score) + 0.05
        ]
        named = f" ({', '.join(rows)})" if rows else ""
        told.append(
            f"{SHORT[score]}: {len(cells)} of {len(results.names) * len(DENSITIES)} cells, and the best of "
            f"{len(rows)} of {len(results.names)} rows{named}"
        )
    return f"No better than one cluster for everything are, in the paper, by {'; by '.join(told)}."


def _described(cut):
    parameters = [f"{key} {cut[key]}" for key in ("n_neighbors", "radius", "bandwidth") if key in cut]
    parts = [cut["density"], *parameters, cut["normalization"], cut["rule"], f"{cut['n_clusters']} clusters"]
    return ", ".join(parts)


def _six_densities(results, paper, score):
    rows = []
    for name in results.names:
        cells = []
        for density in DENSITIES:
            grid, most = (results.f(name, score, [density], grids) for grids in (["paper"], list(GRIDS)))
            cells.append(f"{paper[name, score, density]:.1f} / {grid:.1f} / {most:.1f}")
        rows.append([name, *cells])
    means = []
    for density in DENSITIES:
        theirs = np.mean([paper[name, score, density] for name in results.names])
        ours = [
            np.mean([results.f(name, score, [density], grids) for name in results.names])
            for grids in (["paper"], list(GRIDS))
        ]
        means.append(f"{theirs:.1f} / {ours[0]:.1f} / {ours[1]:.1f}")
    return markdown_table([SHORT[score], *DENSITIES], [*rows, ["**mean**", *means]])


def _normalizations(results, paper, table):
    """Means over the sets on which all densities have a value, and how far cells are from the paper's."""
    rows = []
    for scaling in NORMALIZATIONS:
        for score in published.SCORES:
            ours = np.array(
                [
                    [
                        results.f(name, score, [density], ["paper"], [scaling], [PLAIN_RULE[table]])
                        for density in DENSITIES
                    ]
                    for name in results.names
                ]
            )
            theirs = np.array([[paper[name, score, d] for d in DENSITIES] for name in results.names])
            whole = ~np.isnan(ours).any(axis=1)
            away = np.median(abs(ours - theirs)[whole])
            means = zip(ours[whole].mean(axis=0), theirs[whole].mean(axis=0), strict=True)
            cells = [f"{mine:.1f} ({other:.1f})" for mine, other in means]
            rows.append([scaling, SHORT[score], np.sum(whole), *cells, f"{away:.1f}"])
    return markdown_table(["normalisation", "score", "sets", *DENSITIES, "median distance to a cell"], rows)


def _failures(results):
    failed, n_settings = results.without_limit()
    if not failed:
        return f"The asymmetric KD has a limit of the promised accuracy at all of its {n_settings} settings."
    where = ", ".join(
        f"{name} {scaling} {density} ({count})" for (name, scaling, _, density), count in failed.items()
    )
    return (
        f"The asymmetric KD has no limit of the promised accuracy at {sum(failed.values())} of its "
        f"{n_settings} settings, which are left out: {where}."
    )
