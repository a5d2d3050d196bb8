"""Rows of supervised methods as markdown, from the lines of the runs."""

from diffpeaks_paper.markdown import markdown_table
from diffpeaks_paper.sources import GENERATED
from diffpeaks_paper.supervised import BESIDE, LEARNED, ON_HALVES, ON_SETS

SET_NOTE = (
    "Supervised methods are trained on faces of other identities than the tested, as their rows say; their "
    "setting is the one of the best F_B on the faces that they were trained on. Their seconds are those of "
    "training, choice and test together, and of the two graphs for the first method, unless these were kept."
)
HALF_HEADER = [
    *("method", "F_P", "F_B", "clusters", "as published"),
    *("F_P", "F_B", "clusters", "setting chosen on the first half", "training s", "clustering s"),
]


def set_rows(records, paper, set, source, n_samples):
    """The rows of tables 2 and 3; a method without lines is listed with the paper's values."""
    wanted = {"experiment": ON_SETS, "set": set, "source": source, "n_samples": n_samples}
    lines = {line["method"]: line for line in records.of(**wanted)}
    return [
        _set_row(method, lines[method], paper(method)) if method in lines else _not_run(method, paper(method))
        for method in LEARNED
    ]


def _set_row(method, line, theirs):
    scored = line["chosen"]
    best = scored["bcubed"]
    return [
        f"{method}, supervised",
        f"{scored['pairwise']['f']:.1f}",
        f"{best['f']:.1f}",
        f"{best['precision']:.1f}",
        f"{best['recall']:.1f}",
        f"{best['n_clusters']:,}",
        f"{_told(scored['setting'])}; {_teacher(line)}",
        f"{line['seconds']:.0f} ({line.get('gpu', line['device'])})",
        theirs,
    ]


def _not_run(method, theirs):
    return [f"{method}, supervised, not run", *[""] * 7, theirs]


def _teacher(line):
    if "n_trained" not in line:
        return f"with {line['trained_on']}"
    kind = "generated faces" if line["trained_on"] == GENERATED else f"faces of {line['trained_on']}"
    return f"trained on {line['n_trained']:,} {kind} of {line['n_identities_trained']:,} other identities"


def half_table(records, set, source, n_samples):
    """Supervised methods trained on half of the people and tested on the other, and others beside them."""
    wanted = {"experiment": ON_HALVES, "set": set, "source": source, "n_samples": n_samples}
    lines = {line["method"]: line for line in records.of(**wanted)}
    if not lines:
        return []
    rows = [_half_row(method, lines[method]) for method in (*LEARNED, *BESIDE) if method in lines]
    return [_who(lines), markdown_table(HALF_HEADER, rows), *_packages(lines)]


def _who(lines):
    trained = next((line for line in lines.values() if "n_trained" in line), None)
    tested = next(iter(lines.values()))
    told = f"tested on the {tested['n_tested']:,} faces of {tested['n_identities_tested']:,} people"
    if trained is None:
        return f"Half of the people, drawn at random: {told}."
    return (
        f"**Supervised**, trained on the {trained['n_trained']:,} faces of "
        f"{trained['n_identities_trained']:,} people, half of all, drawn at random, and {told} of the other "
        "half; scores are not comparable with those above, which are of all people. Unsupervised methods are "
        "tested on the same half. On the left is the setting that is published, on the right the one of the "
        "best F_B on the half that was trained on, from a grid. No run chooses on the tested half, but its "
        "scores were known when the epochs of GCN-V, the batches of L-GCN and the proposals that LTC learns "
        "from were fixed, and when the grids of the unsupervised methods were. "
        "Seconds are those of a training, and of clustering the tested half at the published setting; `CDP` "
        "and Infomap are given the graph, as all supervised methods are."
    )


def _half_row(method, line):
    cells = [f"{method}, supervised" if method in LEARNED else method]
    for scored in (line["published"], line["chosen"]):
        cells += [f"{scored['pairwise']['f']:.1f}", f"{scored['bcubed']['f']:.1f}"]
        cells += [f"{scored['bcubed']['n_clusters']:,}", _told(scored["setting"]) or "default"]
    seconds = f"{line['train_seconds']:.0f} ({line['device']})" if "train_seconds" in line else ""
    return [*cells, seconds, f"{line['cluster_seconds']:.1f}"]


def _told(setting):
    return ", ".join(f"{name} {_plain(value)}" for name, value in setting.items())


def _plain(value):
    return " ".join(str(part) for part in value) if isinstance(value, (list, tuple)) else value


def _packages(lines):
    versions = {name: found for line in lines.values() for name, found in line.get("packages", {}).items()}
    if versions:
        yield "Versions: " + ", ".join(f"{name} {found}" for name, found in versions.items()) + "."
