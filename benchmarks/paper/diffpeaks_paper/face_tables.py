"""Tables 2 and 3 as markdown, from the lines of the runs."""

from diffpeaks_paper import face_runs, published
from diffpeaks_paper.definitions import DENSITIES
from diffpeaks_paper.face_baselines import BASELINES
from diffpeaks_paper.markdown import markdown_table
from diffpeaks_paper.sources import GENERATED
from diffpeaks_paper.supervised_tables import SET_NOTE, set_rows

PUBLISHED = {"emore_200k": published.EMORE_200K, "ms1m": published.MS1M}
NOT_RUN = {"emore_200k": published.EMORE_200K_NOT_RUN, "ms1m": {}}
PRINTED = {"emore_200k": "paper: precision / recall / F", "ms1m": "paper: F_P / F_B"}
NOTE = (
    "F_P and F_B of unsupervised methods are each the best of a method's settings, chosen with the labels; "
    "precision, recall, clusters and setting are those of the best F_B. Densities take every `max_link`, "
    "baselines a small grid, `DensityPeaks()` one setting. FaceMap has the lists of the graph, though 256 "
    "neighbours are published. k-means is scikit-learn's MiniBatchKMeans, from one start. Seconds are those "
    "of all settings together; the first method also built the graph."
)
PAPER_NOTE = {
    "emore_200k": [
        "In the last column the baselines (k-means, HAC, ARO, CDP) have pairwise scores and the densities "
        "BCubed ones, though the paper calls all of them BCubed."
    ],
    "ms1m": [],
}
ORDER = [*BASELINES, *DENSITIES, *face_runs.OURS]


def face_table(records, set, source, n_samples):
    """Every method on one set: best pairwise and BCubed scores, clusters, seconds, and the paper's values."""
    wanted = {"experiment": face_runs.METHODS, "set": set, "source": source, "n_samples": n_samples}
    lines = {line["method"]: line for line in records.of(**wanted)}
    header = ["method", "F_P", "F_B", "precision", "recall", "clusters", "setting", "seconds", PRINTED[set]]
    rows = [_row(method, lines[method], PUBLISHED[set]) for method in ORDER if method in lines]
    rows += [_elsewhere(method, values) for method, values in NOT_RUN[set].items()]
    rows += set_rows(records, lambda method: _theirs(PUBLISHED[set].get(method, ())), set, source, n_samples)
    parts = [_what(set, source, lines), markdown_table(header, rows), NOTE, SET_NOTE, *PAPER_NOTE[set]]
    return "\n\n".join(parts) + "\n"


def _what(name, source, lines):
    line = next(iter(lines.values()))
    about = f"{line['n_samples']:,} samples, neighbours with recall {line['recall']:.3f}."
    if source != GENERATED:
        return f"The files of {name}: {about}"
    return (
        f"**Generated in the likeness of {name}**: {about} Its scores are not comparable with the paper's, "
        "which are those of the real set."
    )


def _row(method, line, paper):
    if "without_limit" in line:
        return [method, "no limit", *[""] * 6, _theirs(paper.get(method, ()))]
    best = line["bcubed"]
    known = {"precision", "recall", "f", "n_clusters"}
    setting = ", ".join(f"{key} {value}" for key, value in best.items() if key not in known)
    return [
        method,
        f"{line['pairwise']['f']:.1f}",
        f"{best['f']:.1f}",
        f"{best['precision']:.1f}",
        f"{best['recall']:.1f}",
        f"{best['n_clusters']:,}",
        setting,
        f"{line['seconds']:.0f}",
        _theirs(paper.get(method, ())),
    ]


def _theirs(values):
    if values is None:
        return "not available"
    return " / ".join(f"{value:.2f}" for value in values)


def _elsewhere(method, values):
    return [f"{method}, not run", *[""] * 7, _theirs(values)]
