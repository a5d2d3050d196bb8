"""What the page says about clusterings, samples and clusters, as plain values for JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from diffpeaks.explanation import Explanation, Reason
from diffpeaks.explorer.session import POLICY, RULES, Session
from diffpeaks.explorer.views import Scene
from diffpeaks.order import NOISE

_REASONS = {
    Reason.PEAK: "the peak of its cluster",
    Reason.LINKED: "denser neighbours lead to the peak",
    Reason.LONE: "too far from all for a link; it follows most of its neighbours",
    Reason.ABSORBED: "denser neighbours lead to a lower hill, which is handed over a saddle",
    Reason.HALO: "halo: less dense than the densest border sample of its cluster",
    Reason.SMALL_CLUSTER: "its cluster is too small",
}


def about_clustering(session: Session) -> dict[str, Any]:
    """The cut, what it did, and what can be done next."""
    state, now = session.state, session.now
    n_samples, n_clusters = len(now.labels), len(now.peaks)
    return {
        "cut": {name: finite(getattr(state.cut, name)) for name in RULES},
        "policy": {name: getattr(state.policy, name) for name in POLICY},
        "n_clusters": n_clusters,
        "n_noise": now.n_noise,
        "n_samples": n_samples,
        "by_hand": state.cut.peaks is not None,
        "n_edits": len(state.edits),
        "is_automatic": state.cut == session.automatic,
        "is_of_fit": state.cut == session.model.cut_,
        "can": session.can,
        "notes": session.notes,
        "told": f"{_counted(n_clusters, 'cluster')}, {_share(now.n_noise, n_samples)} noise",
        "cut_told": _cut_in_words(session),
    }


def _cut_in_words(session: Session) -> str:
    state = session.state
    cut = state.cut
    told = []
    if cut.peaks is not None:
        told.append(f"{_counted(len(cut.peaks), 'peak')} chosen by hand")
    if cut.n_clusters is not None:
        told.append(f"the {cut.n_clusters:,} largest density x delta")
    if np.isfinite(cut.max_link):
        told.append(f"links shorter than {cut.max_link:.4g}")
    if cut.min_prominence > 0:
        told.append(f"hills that rise {cut.min_prominence:.4g}")
    rules = " and ".join(told) or "every hill"
    if cut == session.automatic:
        rules += " (chosen from the data)"
    elif cut == session.model.cut_:
        rules += " (as fitted)"
    if state.policy.halo:
        rules += "; without halo"
    if state.policy.min_cluster_size > 1:
        rules += f"; at least {state.policy.min_cluster_size:,} samples"
    if state.edits:
        rules += f"; {_counted(len(state.edits), 'edit')} by hand"
    return rules


def about_sample(session: Session, scene: Scene, sample: int, n_neighbors: int) -> dict[str, Any]:
    """Why a sample is where it is: the path to its peak, and its neighbours."""
    now = session.now
    found = now.model.explain(sample)
    graph = now.model.graph_
    row = slice(graph.indptr[sample], graph.indptr[sample + 1])
    near, distances = graph.indices[row][1:], graph.distances[row][1:]
    shown = slice(0, n_neighbors)
    return {
        "sample": sample,
        "label": int(now.labels[sample]),
        "reason": _why(found, session),
        "density": found.density,
        "delta": finite(found.delta),
        "peak": found.peak,
        "prominence": finite(found.prominence),
        "meets": _meets(found, session),
        "path": _placed(found.path, session, scene),
        "saddles": list(found.saddles),
        "neighbors": [
            at | {"distance": distance}
            for at, distance in zip(
                _placed(near[shown], session, scene), distances[shown].tolist(), strict=True
            )
        ],
        "n_neighbors": len(near),
    }


def about_cluster(session: Session, cluster: int, start: int, n_members: int) -> dict[str, Any]:
    """A page of the members of a cluster, densest first."""
    now = session.now
    if not 0 <= cluster < len(now.peaks):
        raise ValueError(f"cluster {cluster} is unknown; there are {len(now.peaks)}")
    members = np.flatnonzero(now.labels == cluster)
    members = members[np.argsort(now.model.forest_.rank[members])]
    peak = int(now.peaks[cluster])
    return {
        "cluster": cluster,
        "size": len(members),
        "peak": peak,
        "density": float(now.model.density_[peak]),
        "prominence": finite(now.model.forest_.prominence[peak]),
        "start": start,
        "members": [
            {"sample": int(sample), "density": float(now.model.density_[sample])}
            for sample in members[start : start + n_members]
        ],
    }


def _placed(samples: Any, session: Session, scene: Scene) -> list[dict[str, Any]]:
    return [
        {
            "sample": int(sample),
            "label": int(session.labels[sample]),
            "map": scene.on_map[sample].tolist(),
            "graph": scene.in_graph[sample].tolist(),
        }
        for sample in samples
    ]


def _why(found: Explanation, session: Session) -> str:
    told = _REASONS[found.reason]
    return f"{told}; edited by hand after that" if session.state.edits else told


def _meets(found: Explanation, session: Session) -> str | None:
    if found.next_saddle is None:
        return None
    crossing = session.now.model.forest_.crossing[found.peak]
    label = session.labels[crossing]
    other = "noise" if label == NOISE else f"cluster {label}"
    return f"{other} at sample {found.next_saddle}"


def finite(value: float | None) -> float | None:
    """JSON has no infinity; None stands for it."""
    return None if value is None or not np.isfinite(value) else float(value)


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _share(part: int, whole: int) -> str:
    return "no" if part == 0 else f"{100 * part / whole:.1f}%"
