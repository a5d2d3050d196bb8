"""The labelled sets, by name and in groups. All are floats; every set is the same in every run.

`uci`, `shapes` and `images` are read from the data folder; UCI is z-scored, without the rows that have
missing values, and the others are as they are. The rest comes with scikit-learn or is generated.
"""

from functools import partial

import numpy as np
from sklearn.datasets import load_digits, make_blobs, make_circles, make_moons

from diffpeaks.datasets import UCI_NAMES, LabeledData, load_table, load_uci, make_faces
from diffpeaks.datasets.uci import data_folder
from diffpeaks_paper.benchmark_sets import normalized

SHAPES = (
    *("a3", "aggregation", "compound", "d31", "flame", "jain", "pathbased"),
    *("r15", "s2", "s4", "spiral", "t4_8k", "t7_10k", "unbalance"),
)


def unequal_densities():
    """Four groups of as many points, each several times wider than the one before."""
    corners = 12.0 * np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    return make_blobs(2000, centers=corners, cluster_std=[0.2, 0.5, 1.2, 3.0], random_state=0)


def noise_dimensions():
    """Five groups that 5 features tell apart, among 45 that tell nothing and vary twice as much."""
    X, y = make_blobs(2000, n_features=5, centers=5, random_state=0)
    noise = np.random.default_rng(0).normal(scale=2.0, size=(len(X), 45))
    return np.hstack((X, noise)), y


def duplicates():
    """Every point five times, in random order."""
    X, y = make_blobs(400, centers=4, random_state=0)
    order = np.random.default_rng(0).permutation(np.repeat(np.arange(len(X)), 5))
    return X[order], y[order]


def background():
    """Five groups and a quarter of uniform noise; a point of noise is a class of its own, as it is scored."""
    X, y = make_blobs(1500, centers=5, cluster_std=0.7, random_state=3)
    noise = np.random.default_rng(0).uniform(X.min(axis=0) - 2, X.max(axis=0) + 2, (500, 2))
    return np.vstack((X, noise)), np.concatenate((y, 5 + np.arange(len(noise))))


_faces = partial(make_faces, mean_cosine=0.6, random_state=0)
_FACES = {
    "faces_30": partial(_faces, 10_000, singleton_share=0.3),
    "faces_50": partial(_faces, 10_000, singleton_share=0.5),
    "faces_big": partial(_faces, 10_000, n_identities=10),
}
_LARGE_FACES = {
    "faces_30_50k": partial(_faces, 50_000, singleton_share=0.3),
    "faces_50_50k": partial(_faces, 50_000, singleton_share=0.5),
}
_PLAIN = {
    "background": background,
    "circles": partial(make_circles, 2000, factor=0.5, noise=0.05, random_state=0),
    "duplicates": duplicates,
    "moons": partial(make_moons, 2000, noise=0.07, random_state=0),
    "noise_dimensions": noise_dimensions,
    "unequal_densities": unequal_densities,
}
_FEW_FACES = {"faces_30_5k": partial(_faces, 5_000, singleton_share=0.3)}  # for sensitivity.py alone
_MADE = {
    **{**_FACES, **_LARGE_FACES, **_FEW_FACES, **_PLAIN},
    "digits": partial(load_digits, return_X_y=True),
}

GROUPS = {
    "uci": UCI_NAMES,
    "shapes": SHAPES,
    "shipped": ("digits",),
    "generated": tuple(_PLAIN),
    "faces": tuple(_FACES),
    "large_faces": tuple(_LARGE_FACES),
    "images": ("mnist",),
}
# Two halves of the same kinds, to tell whether a default that was chosen by one holds on the other.
HALVES = {
    "first half": (*UCI_NAMES[0::2], *SHAPES[0::2]),
    "second half": (*UCI_NAMES[1::2], *SHAPES[1::2]),
}


def set_names(asked):
    """The sets of some groups or names, each once."""
    found = [name for word in asked for name in GROUPS.get(word, (word,))]
    unknown = set(found).difference(*GROUPS.values())
    if unknown:
        known = ", ".join((*GROUPS, *(name for names in GROUPS.values() for name in names)))
        raise SystemExit(f"there is no set or group {', '.join(sorted(unknown))}; use some of: {known}")
    return list(dict.fromkeys(found))


def load(name, folder=None):
    """Points and classes; the folder of data is that of `load_uci`."""
    if name in UCI_NAMES:
        X, y, _ = load_uci(name, folder)
        whole = ~np.isnan(X).any(axis=1)
        return LabeledData(normalized(X[whole], "z-score"), y[whole], name)
    if name in SHAPES:
        return load_table(data_folder(folder) / "shapes" / f"{name}.csv")
    if name == "mnist":
        with np.load(data_folder(folder) / "images" / "mnist.npz") as arrays:
            # bytes would be taken for packed bits by a clusterer of embeddings
            return LabeledData(arrays["X"].astype(np.float32), arrays["y"].astype(np.int64), name)
    return LabeledData(*_MADE[name](), name)
