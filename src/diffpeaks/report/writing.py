"""From a fit to a file: one page that needs no network, and no script to be read."""

from __future__ import annotations

import base64
import hashlib
import os
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from diffpeaks import maps
from diffpeaks._base.files import replacing
from diffpeaks._base.palette import N_COLORS
from diffpeaks._base.validation import check_integer
from diffpeaks._density_peaks import DensityPeaks
from diffpeaks.captions import Captions
from diffpeaks.progress import stage
from diffpeaks.report.content import Content, key_figures
from diffpeaks.report.named_clusters import NamedClusters
from diffpeaks.report.pictures import MAP_NUMBERS, pictures_of
from diffpeaks.results.facts import (
    counted,
    cut_told,
    density_told,
    facts_of,
    neighbors_told,
    recall_told,
    smoothing_told,
)
from diffpeaks.results.members import members_of

N_CLUSTERS, N_MEMBERS = 150, 6
_NEEDED = ("jinja2", "matplotlib", "PIL")
_VERSIONS = ("diffpeaks", "numpy", "scipy", "scikit-learn")


def write_report(
    model: DensityPeaks,
    path: str | os.PathLike[str],
    captions: Captions | None = None,
    coordinates: Any = "auto",
    *,
    axis_names: tuple[str, str] | None = None,
    title: str = "Clusters",
    n_clusters: int = N_CLUSTERS,
    n_members: int = N_MEMBERS,
    session: str | os.PathLike[str] | None = None,
    data: str | None = None,
    seconds: Mapping[str, float] | None = None,
) -> None:
    """Write what a fit found as one file of HTML, whole or not at all.

    Parameters
    ----------
    model : a fitted `DensityPeaks`
    path : the file
    captions : what is known of the samples beside their numbers; their row numbers alone by default
    coordinates : {"auto", "graph", "pca", "umap"}, array of shape (n_samples, 2) or None
        The map, as in `diffpeaks.maps.map_coordinates`; None leaves it away.
    axis_names : what the axes of the map are called; by default as it is made
    title : of the page
    n_clusters : int
        How many clusters are shown in full, the largest; others are rows of a table.
    n_members : int
        How many of the most central members, and of the most doubtful ones, are shown of a cluster.
    session : path, optional
        A session that was saved in the explorer: the page is of its clusters, with their numbers and names.
    data : where the samples came from, for the page to say
    seconds : what the parts of the run took, by their names

    Examples
    --------
    >>> import tempfile
    >>> from diffpeaks import DensityPeaks
    >>> from diffpeaks.report import write_report
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(DensityPeaks().fit([[0.0], [1.0], [5.0]]), f"{folder}/report.html")
    """
    if not isinstance(model, DensityPeaks):
        raise TypeError(f"a report is of a fitted DensityPeaks, not of {type(model).__name__}")
    check_is_fitted(model, "forest_")
    check_report(n_clusters, n_members)
    n_samples = len(model.labels_)
    captions = Captions(n_samples) if captions is None else captions
    if captions.n_samples != n_samples:
        raise ValueError(f"captions are for {captions.n_samples} samples, but the fit has {n_samples}")
    if coordinates is not None:
        axis_names = axis_names or maps.axis_names(model, coordinates)
        coordinates = maps.map_coordinates(model, coordinates)
    with stage("page"):
        named = NamedClusters.of(model, captions, session)
        model = named.model
        members = members_of(model)
        colors = named.color_indices(coordinates)
        page = _template().render(
            title=title,
            figures=key_figures(model, members),
            facts=_facts(model, data, seconds or {}),
            pictures=pictures_of(named, members, coordinates, axis_names or ("", ""), colors),
            content=Content(named, members, captions, colors, n_clusters, n_members),
            has_pictures=captions.pictures is not None,
            has_text=captions.text is not None,
            has_metadata=bool(captions.metadata),
            map_numbers=MAP_NUMBERS,
            n_colors=N_COLORS,
            script_hash=_script_hash(),
        )
        with replacing(path) as file:
            file.write(page.encode("utf-8", "replace"))


def check_report(n_clusters: int = N_CLUSTERS, n_members: int = N_MEMBERS) -> None:
    """Refuse what would fail after the work: numbers without a meaning, and what is not installed."""
    check_integer("n_clusters", n_clusters, 0)
    check_integer("n_members", n_members, 1)
    for name in _NEEDED:
        try:
            import_module(name)
        except ImportError as error:
            raise ImportError(
                f"a report needs {name}; install it with: pip install 'diffpeaks[report]'"
            ) from error


def _facts(model: DensityPeaks, data: str | None, seconds: Mapping[str, float]) -> dict[str, str]:
    """What the page says of the run; what is not known is left out."""
    facts = facts_of(model)
    points = counted(len(model.labels_), "sample")
    if facts["metric"] != "precomputed":
        points += f" of {counted(model.n_features_in_, 'feature')}"
    told = {
        "data": data or "",
        "points": f"{points}, {model.graph_.distances.dtype}",
        "parameters": _parameters(model),
        "density": density_told(facts),
        "neighbours": f"{neighbors_told(facts)}, {facts['metric']}",
        "search": f"{facts['search']}, {recall_told(facts)}",
        "smoothing": smoothing_told(facts),
        "isolated": facts["isolation"]["why"],
        "cut": cut_told(facts),
        "seconds": ", ".join(f"{name} {value:.2f}" for name, value in seconds.items()),
        "versions": ", ".join([*(f"{name} {version(name)}" for name in _VERSIONS), _python()]),
        "written": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
    }
    return {name: value for name, value in told.items() if value}


def _parameters(model: DensityPeaks) -> str:
    """Those that differ from their defaults, as they were given."""
    defaults = DensityPeaks().get_params(deep=False)
    changed = []
    for name, value in model.get_params(deep=False).items():
        if isinstance(value, (np.ndarray, list)):
            changed.append(f"{name}=...")
        elif value != defaults[name]:
            changed.append(f"{name}={value!r}")
    return ", ".join(changed) or "all at their defaults"


def _python() -> str:
    return f"Python {platform.python_version()}"


def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("diffpeaks.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["count"] = "{:,}".format
    environment.filters["percent"] = _percent
    environment.filters["height"] = _height
    environment.filters["short"] = "{:.3g}".format
    return environment


def _template() -> Any:
    return _environment().get_template("report.html")


def _percent(share: float) -> str:
    """With one place below ten percent, and never a zero or a hundred that is not exact."""
    if 0 < share < 0.001:
        return "< 0.1%"
    if 0.995 <= share < 1:
        return "> 99%"
    return f"{100 * share:.{1 if 0 < share < 0.0995 else 0}f}%"


def _height(prominence: float) -> str:
    return "unbounded" if np.isinf(prominence) else f"{prominence:.2f}"


def _script_hash() -> str:
    """What the page names as the only script that may run."""
    source = _environment().get_template("report.js").render()
    return base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
