"""Precision against recall of every cut by one rule, and where the fit has cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from diffpeaks._base.palette import cluster_colors
from diffpeaks.metrics import Scores, bcubed_scores, pairwise_scores
from diffpeaks.plotting._style import Display, check_offers

_SCORES = {"bcubed": bcubed_scores, "pairwise": pairwise_scores}
_LEVELS_OF_F = (0.2, 0.4, 0.6, 0.8)


@dataclass
class PrecisionRecallDisplay(Display):
    """The curve of all cuts, and a mark for the one that the fit has chosen.

    Several can be drawn on the same axes; each has a colour of its own. Along the grey lines F is 0.2, 0.4,
    0.6 and 0.8. The fit may lie beside its curve: it may have used more rules than the one that is swept.

    Parameters
    ----------
    curve : Scores
        Arrays of precision, recall and f, such as `sweep.bcubed`.
    chosen : Scores, optional
        Those of the labels that were chosen.
    name : str
        What the legend calls the curve.
    score : str
        What the axes call the scores.

    Attributes
    ----------
    ax_, figure_ : the axes and figure of the last plot

    Examples
    --------
    >>> from diffpeaks import DensityPeaks
    >>> from diffpeaks.plotting import PrecisionRecallDisplay
    >>> model = DensityPeaks(n_clusters=2).fit([[0.0], [1.0], [3.0], [9.0], [9.5]])
    >>> display = PrecisionRecallDisplay.from_estimator(model, [0, 0, 0, 1, 1], "n_clusters")
    >>> display.chosen
    Scores(precision=1.0, recall=1.0, f=1.0)
    """

    curve: Scores
    chosen: Scores | None = None
    name: str = "all cuts"
    score: str = "BCubed"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        y_true: Any,
        rule: str | None = None,
        *,
        score: str = "bcubed",
        name: str | None = None,
        ax: Any = None,
    ) -> Self:
        """The sweep of a fitted `DensityPeaks` or `DensityDBSCAN`, drawn.

        Parameters
        ----------
        estimator : fitted clusterer
        y_true : array of shape (n_samples,)
        rule : str, optional
            What `DensityPeaks.sweep` varies; by default what the cut of the fit rests on: "n_clusters",
            "min_prominence", or "max_link" where it asks for neither. `DensityDBSCAN` has one rule only.
        score : {"bcubed", "pairwise"}
        name : str, optional
            For the legend; by default that of the class.
        ax : matplotlib axes, optional
        """
        if score not in _SCORES:
            raise ValueError(f"score={score!r} is unknown; use 'bcubed' or 'pairwise'")
        check_offers(estimator, "sweep", cls)
        check_is_fitted(estimator, "labels_")
        rule = _rule_of_fit(estimator) if rule is None else rule
        sweep = estimator.sweep(y_true) if rule is None else estimator.sweep(y_true, rule)
        chosen = _SCORES[score](y_true, estimator.labels_)
        name = type(estimator).__name__ if name is None else name
        title = {"bcubed": "BCubed", "pairwise": "pairwise"}[score]
        return cls(getattr(sweep, score), chosen, name, title).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        n_curves = len(ax.get_legend_handles_labels()[0])
        if not n_curves:
            _draw_levels_of_f(ax)
        color = cluster_colors([n_curves])[0]
        best = f"best {np.max(self.curve.f):.3f}"
        label = f"{self.name} (F {best if self.chosen is None else f'{self.chosen.f:.3f}, {best}'})"
        if self.chosen is not None:
            style = {"s": 45, "edgecolors": "black", "zorder": 3, "clip_on": False}
            ax.scatter([self.chosen.recall], [self.chosen.precision], color=[color], **style)
        ax.plot(self.curve.recall, self.curve.precision, color=color, linewidth=1.5, label=label)
        ax.set(xlabel=f"{self.score} recall", ylabel=f"{self.score} precision")
        ax.set(xlim=(0, 1.01), ylim=(0, 1.01))
        ax.legend(loc="lower left", edgecolor="none")


def _rule_of_fit(estimator: Any) -> str | None:
    """The rule of its cut by which a fit has told peaks from other samples; None where it has no cut."""
    cut = getattr(estimator, "cut_", None)
    if cut is None:
        return None
    if cut.n_clusters is not None:
        return "n_clusters"
    return "min_prominence" if cut.min_prominence > 0 else "max_link"


def _draw_levels_of_f(ax: Any) -> None:
    for f in _LEVELS_OF_F:
        recall = np.linspace(f / (2 - f), 1, 100)  # where precision is 1, and beyond
        ax.plot(recall, f * recall / (2 * recall - f), color="0.85", linewidth=0.8, zorder=0)
