"""What a fit did: as plain values that JSON can hold, and in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from diffpeaks._base.constants import NOISE


def facts_of(model: Any) -> dict[str, Any]:
    """How a fitted `DensityPeaks` searched, what it measured and cut, and what came of it."""
    density, cut = model.density_estimator_, model.cut_
    tried = model._landscape.tried
    given = (model.n_clusters, model.max_link, model.min_prominence)
    return {
        "metric": _name(model.metric),
        "density": None if model.density is None else _name(model.density),
        "search": model.graph_.search,
        "recall": model.graph_.recall,
        "recall_error": model.graph_.recall_error,
        "smoothing": None if model.smoothing_ is None else _smoothing(model.smoothing_),
        "isolation": {"kind": model.isolation_.kind, "why": str(model.isolation_)},
        "n_neighbors": density.n_neighbors_,
        "tried": None if tried is None else {**tried._asdict()},
        "radius": density.radius_,
        "cut": {
            "automatic": all(value is None for value in given),
            "n_clusters": cut.n_clusters,
            "max_link": _finite_or_none(cut.max_link),
            "min_prominence": _finite_or_none(cut.min_prominence),
            "flow_weight": cut.flow_weight,
            "size_weight": cut.size_weight,
        },
        "n_clusters": int(model.n_clusters_),
        "n_singletons": int(np.count_nonzero(np.bincount(model.labels_ - NOISE)[1:] == 1)),
        "n_noise": int(np.count_nonzero(model.labels_ == NOISE)),
    }


def _smoothing(smoothing: Any) -> dict[str, float]:
    return {"kept": smoothing.kept, "dimension": round(smoothing.dimension, 2)}


def _name(value: Any) -> str:
    """What a parameter is called: a name itself, a function or class by its own, values by what they are."""
    if isinstance(value, str):
        return value
    return "given values" if isinstance(value, (np.ndarray, list)) else getattr(value, "__name__", str(value))


def _finite_or_none(value: float | None) -> float | None:
    """JSON has no infinity; where a bound is infinite there is none."""
    return None if value is None or value in (float("inf"), float("-inf")) else float(value)


def density_told(facts: dict[str, Any]) -> str:
    return str(facts["density"] or "three steps of a random walk, the default")


def neighbors_told(facts: dict[str, Any]) -> str:
    number = [] if facts["n_neighbors"] is None else [f"{facts['n_neighbors']} for each sample"]
    if facts["tried"] is not None:
        tried, share = facts["tried"]["n_neighbors"], facts["tried"]["largest_share"]
        number[0] += f" (with {tried}, {share:.0%} of the samples would be one cluster)"
    return " and ".join(number + ([] if facts["radius"] is None else [f"within {facts['radius']:.4g}"]))


def smoothing_told(facts: dict[str, Any]) -> str:
    found = facts["smoothing"]
    if found is None:
        return "none"
    moved = f"each sample moved {1 - found['kept']:.0%} of the way towards the mean of its neighbours"
    return f"{moved} (intrinsic dimension {found['dimension']:.3g})"


def recall_told(facts: dict[str, Any]) -> str:
    if facts["recall"] is None:
        return "recall not known"
    if facts["recall"] == 1 and not facts["recall_error"]:
        return "recall 1, exact"
    return f"recall {facts['recall']:.4f} +- {facts['recall_error']:.4f} (measured)"


def cut_told(facts: dict[str, Any]) -> str:
    cut = facts["cut"]
    bounds = {name: cut[name] for name in ("n_clusters", "max_link", "min_prominence")}
    return cut_sentence(**bounds, origin=", the default" if cut["automatic"] else "")


def cut_sentence(
    n_clusters: int | None = None,
    max_link: float | None = None,
    min_prominence: float | None = None,
    n_peaks: int | None = None,
    origin: str = "",
) -> str:
    """What a cut does, in one plain sentence; `origin` says where its bounds come from.

    >>> from diffpeaks.results.facts import cut_sentence
    >>> cut_sentence(min_prominence=0.85, origin=", the default")
    'each hill with a prominence of at least 0.85, the default, is a cluster'
    >>> cut_sentence(n_clusters=20, max_link=1.5)
    'the 20 samples with the largest density x delta are the peaks; links of 1.5 or longer are dropped'
    """
    if n_peaks is not None:
        return f"{counted(n_peaks, 'peak')} chosen by hand, each with its cluster"
    of_hills = f" of prominence {min_prominence:.4g} or more" if min_prominence else ""
    if n_clusters is not None:
        are = "is the peak" if n_clusters == 1 else "are the peaks"
        told = f"the {counted(n_clusters, 'sample')} with the largest density x delta{of_hills} {are}"
    elif not min_prominence:
        told = f"each hill is a cluster{origin}"
    elif min_prominence == float("inf"):
        told = "each hill that meets no denser one is a cluster"
    else:
        bound = f"a prominence of at least {min_prominence:.4g}{origin}{',' if origin else ''}"
        told = f"each hill with {bound} is a cluster"
    is_bound = max_link is not None and max_link != float("inf")
    return f"{told}; links of {max_link:.4g} or longer are dropped" if is_bound else told


def singletons_told(n_singletons: int) -> str:
    """How many of the clusters before have one sample; nothing where none has.

    >>> from diffpeaks.results.facts import singletons_told
    >>> "5,316 clusters" + singletons_told(5016)
    '5,316 clusters (5,016 of one sample)'
    """
    return f" ({n_singletons:,} of one sample)" if n_singletons else ""


def counted(number: int, thing: str) -> str:
    """A number of things in words.

    >>> from diffpeaks.results.facts import counted
    >>> counted(1, "peak"), counted(2000, "peak")
    ('1 peak', '2,000 peaks')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
