"""The pages of the API: every public name, in the order in which a user meets it."""

from importlib import import_module
from pathlib import Path
from types import ModuleType

import diffpeaks

# public names that are not listed here are put under "Other"
SECTIONS = {
    "Clusterers": ["DensityPeaks", "DensityDBSCAN"],
    "Densities": [
        "KernelDiffusion",
        "NaiveDensity",
        "LocalContrast",
        "SharedNeighborDensity",
    ],
    "Neighbours": ["neighbor_graph", "NeighborGraph", "ApproximateSearch", "plan", "Plan"],
    "By hand": ["explore", "Merge", "Split", "edited"],
    "Other": ["ReScale", "NOISE", "ConvergenceError"],
}
# values have no docstring of their own
CONSTANTS = {
    "diffpeaks.NOISE": "The label of samples without a cluster, -1.",
    "diffpeaks.baselines.BASELINES": "The methods to compare with, by name: what makes each.",
    "diffpeaks.datasets.LFW_LIKENESS": "Parameters of `make_faces` most like Labeled Faces in the Wild.",
    "diffpeaks.datasets.PUBLISHED_MD5": "Checksums of the files of MS1M, as their authors print them.",
    "diffpeaks.datasets.UCI_NAMES": "The names that `load_uci` takes.",
    "diffpeaks.recipes.DEFAULT": "The recipe of the default density.",
    "diffpeaks.recipes.FACES": "The recipe for faces, and whatever else comes in many small groups.",
    "diffpeaks.recipes.PLAIN": "The recipe for a density that is given.",
}
# what methods and attributes give back
RESULTS = [
    "cuts.Cut",
    "forest.peaks.PeakForest",
    "results.explanation.Explanation",
    "results.explanation.Reason",
    "results.hierarchy.Hierarchy",
    "results.hierarchy.Merges",
    "results.hierarchy.Scale",
    "results.sweeps.Sweep",
    "metrics.Scores",
    "plotting.density.Grid",
]


# rooms that need an extra, and so are imported by those alone who ask for them
EXTRA_ROOMS = ["baselines.learned"]


def public_names(module: ModuleType) -> list[str]:
    """The full names of what a module offers."""
    return [f"{module.__name__}.{name}" for name in module.__all__]


def sections() -> dict[str, list[str]]:
    """Titles, and the full names below them."""
    found = {title: [f"diffpeaks.{name}" for name in names] for title, names in SECTIONS.items()}
    named = {name for names in found.values() for name in names}
    found["Other"] += [name for name in public_names(diffpeaks) if name not in named]
    found["Results"] = [f"diffpeaks.{name}" for name in RESULTS]
    for room in (*diffpeaks._ROOMS, *EXTRA_ROOMS):
        module = import_module(f"diffpeaks.{room}")
        found[module.__name__] = [name for name in public_names(module) if name not in found["Results"]]
    return found


def write_pages(folder: Path) -> None:
    """The page that lists them; autosummary makes a page for each from its docstring."""
    lines = ["API reference", "=============", ""]
    for title, names in sections().items():
        is_room = title.startswith("diffpeaks.")
        heading = f"``{title}``" if is_room else title
        lines += [heading, "-" * len(heading), ""]
        lines += [import_module(title).__doc__ or "", ""] if is_room else []
        lines += [".. autosummary::", "   :toctree: .", "   :nosignatures:", ""]
        lines += [f"   ~{name}" for name in names if name not in CONSTANTS] + [""]
        for name in CONSTANTS.keys() & {*names}:
            lines += [f".. py:data:: {name}", "", f"   {CONSTANTS[name]}", ""]
    folder.mkdir(exist_ok=True)
    page, text = folder / "index.rst", "\n".join(lines)
    if not page.exists() or page.read_text() != text:  # one that is written again is built again
        page.write_text(text)
