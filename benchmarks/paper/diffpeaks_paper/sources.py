"""Which faces a call is about: the files of a real set, generated ones, or those of the results."""

from hashlib import blake2b
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from diffpeaks.datasets import load_cdp, load_learn_to_cluster
from diffpeaks.datasets.face_files import features_path
from diffpeaks_paper.definitions import FACE_NEIGHBORS, FACE_SETS, LEAST_FACES

GENERATED = "generated"


def available_source(name, folder, n_samples=None):
    """The source of a set, and how many samples: those asked for, or all. Without a folder, generated ones.

    Real files are told apart by all of their values, so that no result of one is taken for another's.
    """
    if folder is None:
        return GENERATED, n_samples or FACE_SETS[name].n_samples
    X, y = real_files(name, folder)
    if len(X) < LEAST_FACES:
        raise ValueError(
            f"{real_path(name, folder)} has {len(X)} samples, but at least {LEAST_FACES} are needed, so that "
            f"a tenth of them has lists of {FACE_NEIGHBORS} neighbours"
        )
    if n_samples is not None and n_samples > len(X):
        raise ValueError(f"--samples={n_samples} is more than the {len(X)} samples of {name} in {folder}")
    digest = blake2b(X.reshape(-1), digest_size=8)
    digest.update(y)
    return f"real {digest.hexdigest()}", n_samples or len(X)


def recorded_source(records, jobs_of, name, n_samples=None, generated=False, real=False):
    """The source and size whose results a file holds; where there are several, the one with most of them.

    Of all sources, or of generated or real faces alone.
    """
    experiment = jobs_of(name, GENERATED, LEAST_FACES)[0]["experiment"]
    found = {
        (line["source"], line.get("of") or line["n_samples"])
        for line in records.of(experiment=experiment, set=name)
    }
    asked = [
        (source, size)
        for source, size in sorted(found)
        if n_samples in (None, size) and not (real if source == GENERATED else generated)
    ]
    if not asked:
        raise ValueError(
            f"{records.path} has no such results on {name}; run without --read, or name the file with "
            "--results"
        )
    n_missing = [len(records.missing(jobs_of(name, *which))) for which in asked]
    best = [which for which, n in zip(asked, n_missing, strict=True) if n == min(n_missing)]
    if len(best) > 1:
        told = "; ".join(f"{source}, {size:,} samples" for source, size in best)
        raise ValueError(
            f"{records.path} holds results on {name} of several sources: {told}; choose with --samples, with "
            "--generated, or with --data for the real files in it"
        )
    return best[0]


def real_files(name, folder):
    """Points and labels of a real set."""
    path = real_path(name, folder)
    if not path.is_file():
        raise FileNotFoundError(
            f"the data folder {folder} has no faces of {name}: there is no file {path}; put it there, or "
            "take generated faces with --generated"
        )
    faces = FACE_SETS[name]
    if faces.files == "npz":
        return _arrays_of(path)
    load = load_cdp if faces.files == "cdp" else load_learn_to_cluster
    return load(Path(folder) / name, faces.file_name)[:2]


def real_path(name, folder):
    """Where the features of a real set lie."""
    faces = FACE_SETS[name]
    if faces.files == "npz":
        return Path(folder) / "real" / f"{faces.file_name}.npz"
    return features_path(Path(folder) / name, faces.file_name)


def _arrays_of(path):
    """The rows X and identities y of a file of numpy."""
    try:
        with path.open("rb") as file, np.load(file) as arrays:
            X, y = arrays["X"], arrays["y"]
    except (BadZipFile, KeyError, TypeError, ValueError, EOFError) as error:
        raise ValueError(
            f"{path} is no whole file of numpy with the arrays X and y ({error}); fetch the file again"
        ) from error
    if X.ndim != 2 or X.dtype.kind != "f" or y.shape != X.shape[:1] or y.dtype.kind not in "iu":
        raise ValueError(
            f"{path} has X of {X.dtype}, shape {X.shape}, and y of {y.dtype}, shape {y.shape}; X must have a "
            "row of floats and y an integer for each face"
        )
    return X.astype(np.float32), y.astype(np.int64)
