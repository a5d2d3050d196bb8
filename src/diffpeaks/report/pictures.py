"""Pictures as SVG that belongs into a page: text stays text, and takes the colour of the page."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.constants import NOISE
from diffpeaks.neighbors import GivenGraph
from diffpeaks.plotting import ClusterSizesDisplay, DecisionGraphDisplay, DensityDisplay, ProminenceDisplay
from diffpeaks.plotting._style import draw_numbers
from diffpeaks.report.named_clusters import NamedClusters
from diffpeaks.results.members import Members

_INK = "#010203"  # stands for the colour of the page's text, and is replaced by it
MAP_NUMBERS = 60  # clusters whose numbers are written on the map
_MAP_SIZE, _SIDE_SIZE = (9.6, 8.0), (5.2, 3.4)  # inches, of which the page keeps the ratio
_MOST_DRAWN = 100_000  # samples; of more those that others cover are left out
_SQUARES = 800  # along the longer side of the map, each smaller than a dot
_MOST_SHAPES = 500  # samples or hills that are shapes of their own; more are drawn as an image
_DPI = 180  # of such an image
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",  # text, which the page sets in its own font
    "svg.hashsalt": "diffpeaks",
    "text.parse_math": False,  # a column may be named $x$
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), _INK),
}


def pictures_of(
    named: NamedClusters,
    members: Members,
    coordinates: NDArray[Any] | None,
    axis_names: tuple[str, str],
    color_indices: NDArray[np.int64],
) -> dict[str, str]:
    """The SVG of each picture by its name; without coordinates there is no map."""
    called: dict[str, Any] = {"numbers": named.numbers, "color_indices": color_indices}
    sizes = ClusterSizesDisplay(members.sizes, members.n_noise, **called)
    pictures = {
        "sizes": _svg(lambda ax: sizes.plot(ax=ax), _SIDE_SIZE),
        "decision": _svg(lambda ax: _draw_decision(named, called, ax), _SIDE_SIZE),
        "prominences": _svg(
            lambda ax: ProminenceDisplay.from_estimator(named.model, **called, ax=ax), _SIDE_SIZE
        ),
    }
    if coordinates is not None:

        def draw(ax: Any) -> None:
            _draw_map(named, members, coordinates, color_indices, ax)
            ax.set(xlabel=axis_names[0], ylabel=axis_names[1])

        pictures["map"] = _svg(draw, _MAP_SIZE)
    return pictures


def _draw_decision(named: NamedClusters, called: dict[str, Any], ax: Any) -> None:
    """A graph does not know how far the next denser sample of a hilltop is; it is drawn at the top."""
    model = named.model
    on_graph = isinstance(model._landscape.points, GivenGraph)
    delta = model.forest_.delta if on_graph else model.decision_graph()[1]
    DecisionGraphDisplay(model.density_, delta, model.peak_indices_, **called).plot(ax=ax)


def _draw_map(
    named: NamedClusters,
    members: Members,
    coordinates: NDArray[Any],
    color_indices: NDArray[np.int64],
    ax: Any,
) -> None:
    """Clusters in their colours, the largest with their numbers at their densest samples."""
    model, labels = named.model, np.append(named.numbers, NOISE)[named.model.labels_]
    seen = uncovered(coordinates, model.density_)
    shown = coordinates[seen], model.density_[seen], labels[seen]
    DensityDisplay(*shown, color_indices=color_indices).plot(ax=ax)
    ax.set(xticks=[], yticks=[], title="")
    ax.spines[:].set_visible(False)
    largest = members.largest_first()[:MAP_NUMBERS]
    densest = [members.central(label, 1)[0] for label in largest]
    draw_numbers(ax, coordinates[densest], named.numbers[largest], color_indices)


def uncovered(coordinates: NDArray[Any], density: NDArray[Any]) -> NDArray[np.int64]:
    """The samples that are seen where denser ones are drawn on top: the densest in each small square.

    Of less than a hundred thousand all are drawn.
    """
    if len(density) <= _MOST_DRAWN:
        return np.arange(len(density))
    low, high = coordinates.min(axis=0), coordinates.max(axis=0)
    place = (_SQUARES * ((coordinates - low) / max(float(np.max(high - low)), 1e-300))).astype(np.int64)
    densest_first = np.argsort(-density, kind="stable")
    _, first = np.unique((place @ [_SQUARES + 1, 1])[densest_first], return_index=True)
    return densest_first[first]


def _svg(draw: Callable[[Any], object], size: tuple[float, float]) -> str:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        # the page's font, not matplotlib's, has the letters of a name
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure = Figure(size, layout="constrained")
        ax = figure.subplots()
        draw(ax)
        ax.set_title("")  # the page has its own
        for drawn_points in ax.collections:
            drawn_points.set_rasterized(np.shape(drawn_points.get_offsets())[0] > _MOST_SHAPES)
        drawn = io.StringIO()
        metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(drawn, format="svg", transparent=True, dpi=_DPI, metadata=metadata)
    text = drawn.getvalue()
    return text[text.index("<svg") :].replace(_INK, "currentColor")
