"""Data sets: the paper's tables, files of faces, and generated points."""

from diffpeaks.datasets.checksums import PUBLISHED_MD5
from diffpeaks.datasets.face_files import load_cdp, load_learn_to_cluster, unit_rows
from diffpeaks.datasets.faces import make_faces, write_faces
from diffpeaks.datasets.labeled import LabeledData, load_table
from diffpeaks.datasets.likeness import LFW_LIKENESS
from diffpeaks.datasets.mixtures import make_three_gaussians
from diffpeaks.datasets.uci import UCI_NAMES, load_uci

__all__ = [
    "LFW_LIKENESS",
    "PUBLISHED_MD5",
    "UCI_NAMES",
    "LabeledData",
    "load_cdp",
    "load_learn_to_cluster",
    "load_table",
    "load_uci",
    "make_faces",
    "make_three_gaussians",
    "unit_rows",
    "write_faces",
]
