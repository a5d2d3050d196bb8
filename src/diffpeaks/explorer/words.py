"""What the page says about clusterings, samples and clusters, as plain values for JSON."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from diffpeaks._base.constants import NOISE
from diffpeaks._base.validation import check_integer
from diffpeaks.captions import Captions
from diffpeaks.cuts import RULES
from diffpeaks.explorer.session import Session
from diffpeaks.explorer.states import POLICY
from diffpeaks.explorer.views import Scene
from diffpeaks.results.explanation import Explanation, Reason
from diffpeaks.results.facts import counted, cut_sentence, singletons_told

_REASONS = {
    Reason.PEAK: "it is the peak of its cluster",
    Reason.LINKED: "it climbs over denser neighbours to the peak",
    Reason.ABSORBED: "it climbs to the top of a smaller hill, which this cluster absorbs over a saddle",
    Reason.RESEMBLES: "it has no link that is short enough, but is nearer to the mean of this cluster than "
    "strangers are",
    Reason.HALO: "it is in the halo: less dense than the densest border sample of its cluster",
    Reason.SMALL_CLUSTER: "its cluster has fewer samples than the least size",
}
_HALO = {  # by what becomes of noise
    "keep": "the halo is noise",
    "assign": "the halo joins the clusters beside it",
    "singletons": "each sample of the halo is a cluster",
}


def about_clustering(session: Session) -> dict[str, Any]:
    """The cut, what it did, and what can be done next."""
    state, now = session.state, session.now
    n_samples, n_clusters = len(now.labels), len(now.peaks)
    clusters = counted(n_clusters, "cluster") + singletons_told(int(np.count_nonzero(now.sizes == 1)))
    return {
        "revision": session.revision,
        "cut": {name: finite(getattr(state.cut, name)) for name in RULES},
        "policy": {name: getattr(state.policy, name) for name in POLICY},
        "n_clusters": n_clusters,
        "n_noise": now.n_noise,
        "n_samples": n_samples,
        "by_hand": state.cut.peaks is not None,
        "n_edits": len(state.edits),
        "is_automatic": state.cut == session.automatic,
        "is_of_fit": state.cut == session.model.cut_,
        "fit_is_automatic": session.model.cut_ == session.automatic,
        "can": session.can,
        "notes": session.notes,
        "told": f"{clusters}, {_share(now.n_noise, n_samples)} noise",
        "cut_told": _cut_in_words(session),
    }


def _cut_in_words(session: Session) -> str:
    """The cut, what is noise, and what was changed by hand, in one sentence."""
    state = session.state
    cut = state.cut
    origin = ", the default" if cut == session.automatic else ""
    n_peaks = None if cut.peaks is None else len(cut.peaks)
    rules = cut_sentence(cut.n_clusters, cut.max_link, cut.min_prominence, n_peaks, origin)
    if state.policy.halo:
        rules += f"; {_HALO[state.policy.noise]}"
    if state.policy.min_cluster_size > 1:
        rules += f"; clusters have at least {state.policy.min_cluster_size:,} samples"
    if state.edits:
        rules += f"; then {counted(len(state.edits), 'change')} by hand"
    return f"{rules[0].upper()}{rules[1:]}."


class Shown(NamedTuple):
    """What is asked about: the clustering now, where samples are drawn, and what else is known of them."""

    session: Session
    scene: Scene
    captions: Captions

    def sample(self, sample: int) -> dict[str, Any]:
        return {
            "sample": int(sample),
            "label": int(self.session.labels[sample]),
            "map": self.scene.on_map[sample].tolist(),
            "graph": self.scene.in_graph[sample].tolist(),
            "caption": {
                "name": self.captions.name_of(sample),
                "text": self.captions.text_of(sample),
                "metadata": self.captions.metadata_of(sample),
                "picture": self.captions.picture_of(sample) is not None,
            },
        }


def about_sample(show: Shown, sample: int, n_neighbors: int) -> dict[str, Any]:
    """Why a sample is where it is: the path to its peak, and its neighbours."""
    session = show.session
    found = session.now.model.explain(sample)
    graph = session.model.graph_
    row = slice(graph.indptr[sample] + 1, graph.indptr[sample + 1])  # without itself
    near = zip(graph.indices[row][:n_neighbors].tolist(), graph.distances[row].tolist(), strict=False)
    return show.sample(sample) | {
        "reason": _why(found, session),
        "density": found.density,
        "delta": finite(found.delta),
        "prominence": finite(found.prominence),
        "meets": _meets(found, show),
        "path": [show.sample(passed) for passed in found.path],
        "saddles": list(found.saddles),
        "neighbors": [show.sample(other) | {"distance": distance} for other, distance in near],
        "n_neighbors": int(row.stop - row.start),
    }


def about_samples(show: Shown, samples: list[int]) -> list[dict[str, Any]]:
    """What a table and a hint say of samples."""
    density = show.session.model.density_
    return [show.sample(sample) | {"density": float(density[sample])} for sample in samples]


def about_cluster(show: Shown, cluster: int, start: int, n_members: int) -> dict[str, Any]:
    """A page of the members of a cluster, densest first."""
    now = show.session.now
    label = now.label_of(cluster)
    check_integer("start", start, 0, int(now.sizes[label]) - 1)
    members = np.flatnonzero(now.labels == label)
    members = members[np.argsort(now.model.forest_.rank[members])]
    page = members[start:][:n_members].tolist()
    peak = int(now.peaks[label])
    return {
        "cluster": cluster,
        "size": len(members),
        "peak": show.sample(peak),
        "prominence": finite(now.model.forest_.prominence[peak]),
        "start": start,
        "members_a_page": n_members,
        "members": about_samples(show, page),
    }


def _why(found: Explanation, session: Session) -> str:
    told = _REASONS[found.reason]
    return f"{told}; clusters were changed by hand after that" if session.state.edits else told


def _meets(found: Explanation, show: Shown) -> str | None:
    if found.next_saddle is None:
        return None
    label = show.session.labels[show.session.now.model.forest_.crossing[found.peak]]
    other = "noise" if label == NOISE else f"cluster {label}"
    return f"{other} at sample {show.captions.name_of(found.next_saddle)}"


def finite(value: float | None) -> float | None:
    """JSON has no infinity; None stands for it."""
    return None if value is None or not np.isfinite(value) else float(value)


def _share(part: int, whole: int) -> str:
    return "no" if part == 0 else f"{100 * part / whole:.1f}%"
