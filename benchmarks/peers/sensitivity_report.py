"""The figure and the table of the sensitivity study, from its lines alone; measures nothing.

usage: sensitivity_report.py [RESULTS] [--figure FILE]

In the figure each cell is one answer. Above: how far it agrees with the answer of the default, with the
lowest of the row beside it. Below: how far its score against the truth is above or below the default's, with
the one that is farthest from it. Beside the name of a set is the default's score.
"""

import argparse
from itertools import pairwise
from pathlib import Path

import numpy as np
from sensitivity import EXPERIMENT, FACTORS, RESULTS, SETS, SUBSAMPLES, SYSTEMS, changes

from diffpeaks.plotting import pyplot
from diffpeaks_paper.markdown import markdown_table
from diffpeaks_paper.records import Records

CLIFF = 10  # points of agreement between two answers one step apart
FIGURE = Path(__file__).parents[2] / "docs" / "images" / f"{EXPERIMENT}.png"
_AGREEMENT = {
    **{"label": "agreement with the default's answer, BCubed F", "form": "{}", "extend": "min"},
    **{"cmap": "YlGnBu_r", "vmin": 50, "vmax": 100},
}
_GAIN = {
    **{"label": "points above the default's score", "form": "{:+}", "extend": "both"},
    **{"cmap": "RdBu", "vmin": -30, "vmax": 30},
}
# in inches: a row, a cell of the long strips, a short strip, a number, names of sets, a scale of colours
_ROW, _CELL, _SHORT, _NUMBER, _NAMES, _SCALE = 0.24, 0.14, 0.9, 0.45, 1.5, 1.0


class Study:
    """The last line of each system, set and change."""

    def __init__(self, lines):
        self._lines = {(line["system"], line["set"], line["changed"]): line for line in lines}
        known = {name for _, name, _ in self._lines}
        self.sets = [*(name for name in SETS if name in known), *sorted(known.difference(SETS))]
        self.columns = [(system, changed) for system in SYSTEMS for changed in changes(system)]

    def line(self, system, name, changed):
        if (system, name, changed) not in self._lines:
            raise SystemExit(f"there is no line of {system} on {name}, {changed}; run sensitivity.py")
        return self._lines[system, name, changed]

    def agreements(self, column):
        """A row of answers for each set."""
        return np.array([self._of(column, name)["agreement"] for name in self.sets])

    def gains(self, column):
        """How much better the scores are than that of the default."""
        lines = [self._of(column, name) for name in self.sets]
        return np.array([np.subtract(line["bcubed"], line["default"]["bcubed"]) for line in lines])

    def n_cells(self, column):
        return self.agreements(column).shape[1]

    def default_score(self, system, name):
        return self.line(system, name, SUBSAMPLES)["default"]["bcubed"]

    def _of(self, column, name):
        system, changed = column
        return self.line(system, name, changed)


def is_cliff(agreements):
    """Whether one step changes the answer much."""
    return any(abs(after - before) >= CLIFF for before, after in pairwise(agreements))


def farthest_changes(values, changed):
    """The first and last answers, so that fine steps count no more than coarse ones; of draws all."""
    return values if changed == SUBSAMPLES else values[:, [0, -1]]


def table(study):
    rows = []
    for system, changed in study.columns:
        agreements, gains = study.agreements((system, changed)), study.gains((system, changed))
        lowest = agreements.min(axis=1)
        steep = [name for name, row in zip(study.sets, agreements, strict=True) if is_cliff(row)]
        is_knob = changed != SUBSAMPLES
        rows.append(
            [
                system,
                f"`{changed}`" if is_knob else changed,
                f"{farthest_changes(agreements, changed).mean():.1f}",
                f"{lowest.min():.0f} ({study.sets[lowest.argmin()]})",
                f"{farthest_changes(gains, changed).mean():+.1f}",
                (", ".join(steep) or "none") if is_knob else "",
            ]
        )
    return markdown_table(["system", "changed", "agreement", "lowest", "score", "cliffs"], rows)


def draw(study, path):
    blocks = {system: [column for column in study.columns if column[0] == system] for system in SYSTEMS}
    widths = [_NAMES + sum(_width(study.n_cells(column)) for column in block) for block in blocks.values()]
    widths[-1] += _SCALE
    figure = pyplot().figure(figsize=(sum(widths), 2 * len(study.sets) * _ROW + 1.5), layout="constrained")
    halves = figure.subfigures(1, 2, width_ratios=widths)
    for half, (system, block) in zip(halves, blocks.items(), strict=True):
        half.suptitle(system, fontweight="bold")
        axes = half.subplots(2, len(block), width_ratios=[_width(study.n_cells(column)) for column in block])
        for column, above, below in zip(block, *axes, strict=True):
            _strips(above, study.agreements(column), np.min, nothing=100, **_AGREEMENT)
            _strips(below, study.gains(column), _farthest, nothing=0, **_GAIN)
            above.set_title(column[1], fontsize=9, loc="left")
            for ax in (above, below):
                _label(ax, study, column)
    for row, style in zip(axes, (_AGREEMENT, _GAIN), strict=True):
        image = pyplot().cm.ScalarMappable(pyplot().Normalize(style["vmin"], style["vmax"]), style["cmap"])
        half.colorbar(image, ax=row, label=style["label"], extend=style["extend"])
    figure.savefig(path, dpi=110)
    pyplot().close(figure)


def _width(n_cells):
    return _NUMBER + max(_SHORT, n_cells * _CELL)


def _farthest(row):
    return row[np.argmax(np.abs(row))]


def _strips(ax, values, told, nothing, *, form, cmap, vmin, vmax, **_):
    """A row of cells for each set, and beside it what there is to tell of the row."""
    n_rows, n_cells = values.shape
    end = n_cells * _width(n_cells) / (_width(n_cells) - _NUMBER)
    beside = n_cells + 0.1 * (end - n_cells)
    scale = {"cmap": cmap, "vmin": vmin, "vmax": vmax}
    ax.imshow(values, aspect="auto", interpolation="nearest", extent=(0, n_cells, n_rows, 0), **scale)
    ax.hlines(np.arange(n_rows + 1), 0, n_cells, color="white", linewidth=2)
    for place, row in enumerate(values):
        number = round(told(row))
        if number != nothing:
            ax.text(beside, place + 0.5, form.format(number), va="center", fontsize=7)
    ax.set_xlim(0, end)


def _label(ax, study, column):
    system, changed = column
    n_cells = study.n_cells(column)
    places = [0.5, n_cells / 2, n_cells - 0.5]
    if n_cells == len(FACTORS):
        ax.set_xticks(places, ["x 0.8", "x 1", "x 1.25"])
    elif changed == SUBSAMPLES:
        ax.set_xticks(places[1:2], ["draws"])
    else:
        ax.set_xticks(places, ["-1", "0", "+1"])
    ax.tick_params(length=0, labelsize=8)
    ax.spines[:].set_visible(False)
    ax.set_yticks([])
    if changed == changes(system)[0]:
        names = [f"{name}  {study.default_score(system, name):.0f}" for name in study.sets]
        ax.set_yticks(np.arange(len(names)) + 0.5, names)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", nargs="?", default=RESULTS)
    parser.add_argument("--figure", default=FIGURE)
    given = parser.parse_args()
    study = Study(Records(given.results).of(experiment=EXPERIMENT))
    draw(study, given.figure)
    print(table(study))


if __name__ == "__main__":
    main()
