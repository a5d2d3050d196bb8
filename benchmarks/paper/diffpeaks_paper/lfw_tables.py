"""The table on LFW as markdown, from the lines of the runs."""

from diffpeaks_paper.lfw_densities import CHOSEN, ROWS
from diffpeaks_paper.lfw_methods import METHODS
from diffpeaks_paper.lfw_runs import EXPERIMENT, GRAPH
from diffpeaks_paper.markdown import markdown_table
from diffpeaks_paper.sources import GENERATED
from diffpeaks_paper.supervised_tables import half_table

HEADER = [
    *("method", "F_P", "F_B", "clusters", "seconds", "as published"),
    *("best F_P", "best F_B", "clusters", "setting of the best F_B", "settings"),
]
NOTE = (
    "Every method of this table is unsupervised; those that are told the number of people say so. On the "
    "left is the setting that is published for faces, on the right the best of some settings by each score, "
    "chosen with the labels. Densities take every `max_link` or `min_density` at each setting that is "
    "counted. Clusters are those of the best F_B; noise is scored as clusters of one sample, and not "
    "counted. `share` is of the true number of people. A length is that between unit vectors; "
    "`max_distance` of Infomap and Leiden is 1 - cosine, and None is no bound. Seconds are those of the fit "
    "at the published setting: after the graph, or, marked with a star, from the points on."
)
_SCORED = {"precision", "recall", "f", "n_clusters"}


def lfw_table(records, set, source, n_samples):
    """Every method, as published and at its best: scores, clusters, seconds and settings."""
    wanted = {"experiment": EXPERIMENT, "set": set, "source": source, "n_samples": n_samples}
    lines = {line["method"]: line for line in records.of(**wanted)}
    rows = [_row(method, lines[method]) for method in (*METHODS, *ROWS) if method in lines]
    parts = [_what(source, lines[GRAPH]), markdown_table(HEADER, rows), NOTE, *_notes(lines)]
    parts += half_table(records, set, source, n_samples)
    return "\n\n".join(parts) + "\n"


def _what(source, line):
    about = f"{line['n_samples']:,} samples of {line['n_identities']:,} people"
    if source == GENERATED:
        about = f"**Generated in the likeness of LFW**: {about}"
    else:
        about = f"Labeled Faces in the Wild: {about}"
    cores, seconds = line["machine"]["cores"], line["search_seconds"]
    return (
        f"{about}. The exact graph of {line['n_neighbors']} neighbours took {seconds:.1f} s on {cores} cores."
    )


def _row(method, line):
    published, best = line["published"], line["best"]
    star = " *" if method in METHODS and METHODS[method].on_points else ""
    return [
        method,
        f"{published['pairwise']['f']:.1f}",
        f"{published['bcubed']['f']:.1f}",
        f"{published['bcubed']['n_clusters']:,}",
        f"{published['seconds']:.1f}{star}",
        _told(published["setting"]) or "default",
        f"{best['pairwise']['f']:.1f}",
        f"{best['bcubed']['f']:.1f}",
        f"{best['bcubed']['n_clusters']:,}",
        _told({key: value for key, value in best["bcubed"].items() if key not in _SCORED}) or "default",
        line["n_settings"],
    ]


def _told(setting):
    return ", ".join(f"{name} {value}" for name, value in setting.items())


def _notes(lines):
    """What of the published settings is not published, and which packages ran."""
    chosen = {f"{clusterer} on densities": words for clusterer, words in CHOSEN.items()}
    chosen |= {name: method.chosen for name, method in METHODS.items() if method.chosen and name in lines}
    named = {words: [name for name in chosen if chosen[name] == words] for words in chosen.values()}
    told = "; ".join(f"{words} ({', '.join(names)})" for words, names in named.items())
    yield f"Where something is not published: {told}."
    machine = lines[GRAPH]["machine"]
    packages = {name: machine[name] for name in ("diffpeaks", "numpy", "scipy", "scikit-learn")}
    for line in lines.values():
        packages |= line.get("packages", {})
    yield "Versions: " + ", ".join(f"{name} {version}" for name, version in packages.items()) + "."
