"""The sets of points: generated ones, images from a folder of data, any .npy file. All are float32 rows."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from diffpeaks.datasets import make_faces, unit_rows

_BLOCK = 50_000  # rows that are generated at once
_DEFAULT_NEIGHBORS = 30


@dataclass(frozen=True)
class Points:
    name: str
    X: np.ndarray
    n_neighbors: int  # counts the point itself


def faces(n_samples):
    return make_faces(n_samples, random_state=0)[0]


def texts(n_samples, n_features=768, intrinsic=30, n_topics=200, n_hidden=256):
    """Like embeddings of texts: topics in few dimensions, bent into many, with a little noise."""
    random = np.random.default_rng(1)
    topic = random.choice(n_topics, n_samples, p=random.dirichlet(np.full(n_topics, 0.7)))
    centers = 1.5 * random.standard_normal((n_topics, intrinsic))
    widths = random.lognormal(-0.3, 0.4, n_topics)
    inner = random.standard_normal((intrinsic, n_hidden)) / np.sqrt(intrinsic)
    outer = random.standard_normal((n_hidden, n_features)) / np.sqrt(n_hidden)
    X = np.empty((n_samples, n_features), np.float32)
    for start in range(0, n_samples, _BLOCK):
        of_rows = topic[start : start + _BLOCK]
        latent = centers[of_rows] + widths[of_rows, None] * random.standard_normal((len(of_rows), intrinsic))
        bent = np.tanh(latent @ inner) @ outer
        X[start : start + _BLOCK] = unit_rows(bent + 0.02 * random.standard_normal(bent.shape))
    return X


def mixture(n_samples, n_features, n_components=50):
    """Gaussians of unequal widths and weights."""
    random = np.random.default_rng(2)
    component = random.choice(n_components, n_samples, p=random.dirichlet(np.ones(n_components)))
    centers = random.uniform(-10, 10, (n_components, n_features))
    widths = random.lognormal(-0.7, 0.8, n_components)
    noise = random.standard_normal((n_samples, n_features))
    return (centers[component] + widths[component, None] * noise).astype(np.float32)


def images(name, folder):
    """All images in images/NAME.npz, whatever its arrays are named: those of 784 bytes a row."""
    if folder is None:
        raise SystemExit(f"{name} needs --data or DIFFPEAKS_DATA: a folder that holds images/{name}.npz")
    with np.load(Path(folder) / "images" / f"{name}.npz") as arrays:
        tables = [array.reshape(len(array), -1) for array in (arrays[key] for key in arrays.files)]
    return np.concatenate([rows for rows in tables if rows.shape[1] == 784]).astype(np.float32)


IMAGES = ("mnist", "fashion_mnist")
UNIT = "_unit"  # behind a name of images: the same, scaled to unit length
GENERATED = {  # name: (points, default size, n_neighbors)
    "face": (faces, 100_000, 80),
    "text": (texts, 100_000, 30),
    "mixture2": (lambda n_samples: mixture(n_samples, 2), 1_000_000, 16),
    "mixture8": (lambda n_samples: mixture(n_samples, 8), 1_000_000, 16),
    "mixture16": (lambda n_samples: mixture(n_samples, 16), 1_000_000, 54),
}


def load(name, n_samples=None, n_neighbors=None, folder=None):
    """The set of that name, or the first n_samples rows of that .npy file."""
    if name in GENERATED:
        points, default_size, default_neighbors = GENERATED[name]
        X = points(n_samples or default_size)
    else:
        default_neighbors = _DEFAULT_NEIGHBORS
        kind = name.removesuffix(UNIT)
        X = images(kind, folder) if kind in IMAGES else np.load(name)
        X = np.ascontiguousarray(X[:n_samples], dtype=np.float32)
        if name.endswith(UNIT):
            X = unit_rows(X)
    return Points(Path(name).stem, X, n_neighbors or default_neighbors)
