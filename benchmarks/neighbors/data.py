"""The sets of points: generated ones, MNIST from a folder of data, any .npy file. All are float32 rows."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

_BLOCK = 50_000  # rows that are generated at once
_DEFAULT_NEIGHBORS = 30


@dataclass(frozen=True)
class Points:
    name: str
    X: np.ndarray
    n_neighbors: int  # counts the point itself


def unit_rows(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def identity_sizes(random, n_samples, mean_size=68.0, spread=1.0):
    """Lognormal sizes that sum to n_samples."""
    n_drawn = 16 + int(4 * n_samples / mean_size)
    drawn = random.lognormal(np.log(mean_size) - spread**2 / 2, spread, n_drawn)
    sizes = np.maximum(1, np.rint(drawn)).astype(np.int64)
    n_identities = int(np.searchsorted(np.cumsum(sizes), n_samples)) + 1
    sizes = sizes[:n_identities]
    sizes[-1] -= sizes.sum() - n_samples
    return sizes


def identity_centers(random, n_identities, n_features, lookalikes=40):
    """A direction for each identity; about 40 identities at a time lean to a common one."""
    own = unit_rows(random.standard_normal((n_identities, n_features)))
    n_groups = max(1, n_identities // lookalikes)
    common = unit_rows(random.standard_normal((n_groups, n_features)))
    return unit_rows(0.9 * own + 0.436 * common[random.integers(0, n_groups, n_identities)])


def faces(n_samples, n_features=256):
    """Like embeddings of faces: the cosine within an identity is 0.6 on average and low for poor images."""
    random = np.random.default_rng(0)
    sizes = identity_sizes(random, n_samples)
    centers = identity_centers(random, len(sizes), n_features)
    identity = random.permutation(np.repeat(np.arange(len(sizes)), sizes))
    quality = np.clip(1 - 0.22 * random.lognormal(-0.125, 0.5, n_samples), 0.1, 0.97)
    X = np.empty((n_samples, n_features), np.float32)
    for start in range(0, n_samples, _BLOCK):
        rows = slice(start, start + _BLOCK)
        center, cosine = centers[identity[rows]], quality[rows, None]
        away = random.standard_normal(center.shape)
        away = unit_rows(away - np.sum(away * center, axis=1, keepdims=True) * center)
        X[rows] = cosine * center + np.sqrt(1 - cosine**2) * away
    return X


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


def mnist(folder):
    """All images in images/mnist.npz, whatever its arrays are named: those of 784 bytes a row."""
    if folder is None:
        raise SystemExit("mnist needs --data or DIFFPEAKS_DATA: a folder that holds images/mnist.npz")
    with np.load(Path(folder) / "images" / "mnist.npz") as arrays:
        images = [array.reshape(len(array), -1) for array in (arrays[key] for key in arrays.files)]
    return np.concatenate([rows for rows in images if rows.shape[1] == 784]).astype(np.float32)


GENERATED = {  # name: (points, default size, n_neighbors)
    "face": (faces, 100_000, 80),
    "text": (texts, 100_000, 30),
    "mixture2": (lambda n_samples: mixture(n_samples, 2), 1_000_000, 16),
    "mixture8": (lambda n_samples: mixture(n_samples, 8), 1_000_000, 16),
}


def load(name, n_samples=None, n_neighbors=None, folder=None):
    """The set of that name, or the first n_samples rows of that .npy file."""
    if name in GENERATED:
        points, default_size, default_neighbors = GENERATED[name]
        X = points(n_samples or default_size)
    else:
        default_neighbors = _DEFAULT_NEIGHBORS
        X = mnist(folder) if name == "mnist" else np.load(name)
        X = np.ascontiguousarray(X[:n_samples], dtype=np.float32)
    return Points(Path(name).stem, X, n_neighbors or default_neighbors)
