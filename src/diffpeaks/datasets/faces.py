"""Generated points like embeddings of faces, of any number."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from diffpeaks._base.files import replacing
from diffpeaks.datasets._checks import check_integer, check_interval
from diffpeaks.datasets.face_files import features_path, labels_path, unit_rows
from diffpeaks.datasets.likeness import Likeness, Poses, directions

_MEAN_SIZE = 68  # images of an identity: 584,013 of 8,573 in MS1M
_SIZE_SPREAD = 1.0  # standard deviation of the logarithm of sizes
_POOR_SPREAD = 0.5  # the same for what an image lacks in quality
_WORST_COSINE = 0.1  # of an image with its identity
_LOOKALIKES = 40  # identities that lean to a common direction, on average
_BLOCK = 16_384  # rows that are generated at once; another number would give other rows


@dataclass(frozen=True)
class _Faces:
    """All that is drawn before the rows: a row depends on this and on the number of its block."""

    identity: NDArray[np.int64]
    shown: NDArray[np.int64]  # the identity of the image, whatever its label says
    centers: NDArray[np.float32]
    mean_quality: float
    widths: NDArray[np.float32] | None
    poses: Poses | None
    blocks: list[np.random.SeedSequence]

    def rows(self) -> Iterator[NDArray[np.float32]]:
        """The images block by block: a direction off the centre of the identity, the more the poorer."""
        for number, seed in enumerate(self.blocks):
            random = np.random.default_rng(seed)
            shown = self.shown[number * _BLOCK : (number + 1) * _BLOCK]
            center = self.centers[shown]
            lack = (1 - self.mean_quality) * _lognormal(random, _POOR_SPREAD, len(center))
            cosine = np.maximum(_WORST_COSINE, 1 - lack).astype(np.float32)[:, None]
            away = random.standard_normal(center.shape, dtype=np.float32)
            if self.widths is not None:
                away *= self.widths
            if self.poses is not None:
                away = self.poses.turned(away, shown, random)
            away -= np.sum(away * center, axis=1, keepdims=True) * center
            away *= np.sqrt(1 - cosine**2) / np.linalg.norm(away, axis=1, keepdims=True)
            away += cosine * center
            yield away


def make_faces(
    n_samples: int = 10_000,
    n_identities: int | None = None,
    n_features: int = 256,
    singleton_share: float = 0.0,
    mean_cosine: float = 0.6,
    random_state: Any = None,
    *,
    size_tail: float | None = None,
    direction_ratio: float = 1.0,
    pose_cosine: float = 0.0,
    wrong_share: float = 0.0,
    lookalike_cosine: float = 0.19,
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Unit vectors like embeddings of faces, and the identity of each, in random order.

    Sizes of identities are lognormal, the logarithm with deviation 1, and none is empty. An image is
    the direction of its identity turned by an angle; what the cosine of the angle lacks to 1 is
    lognormal too, so that some images are nearly lost (a cosine down to 0.1). About 40 identities at
    a time look alike: the cosine between their directions is about 0.19, between others about 0.

    Photographs have more than that, and the parameters after `random_state` add it; by default they change
    nothing. `LFW_LIKENESS` holds the values that are most like Labeled Faces in the Wild.

    Parameters
    ----------
    n_samples : int
    n_identities : int, optional
        Singletons included; by default 68 images for each identity that is none, as in MS1M.
    n_features : int
        At least 8.
    singleton_share : float in [0, 1]
        That share of the samples, rounded, are the only images of their identities; the long tail may
        have a few more.
    mean_cosine : float in [0.3, 1]
        Mean cosine between two images of an identity.
    random_state : int, RandomState or None
        The same integer gives the same rows here and in `write_faces`.
    size_tail : float in [1, 100], optional
        Sizes have a tail like a power: those above s are as many as s^-size_tail. By default they are
        lognormal.
    direction_ratio : float in [1, 1e6]
        How much more the widest feature varies than the narrowest, in squares, for the directions of
        identities and of images alike; the others lie evenly between, in logarithm.
    pose_cosine : float in [0, 1]
        Each identity has six poses or ages. What two images of the same one have beside their identity has
        this mean cosine.
    wrong_share : float in [0, 1]
        That share of the samples, on average, show an identity drawn at random, whatever their label says:
        people under two names, and images in the wrong place.
    lookalike_cosine : float in [0, 1]
        Mean cosine between the directions of identities that look alike.

    Examples
    --------
    >>> from diffpeaks.datasets import make_faces
    >>> X, y = make_faces(1000, n_identities=20, random_state=0)
    >>> X.shape, X.dtype.name, len(set(y))
    ((1000, 256), 'float32', 20)
    """
    likeness = Likeness(size_tail, direction_ratio, pose_cosine, wrong_share, lookalike_cosine)
    faces = _faces(n_samples, n_identities, n_features, singleton_share, mean_cosine, random_state, likeness)
    X = np.empty((n_samples, n_features), np.float32)
    for number, rows in enumerate(faces.rows()):
        X[number * _BLOCK : number * _BLOCK + len(rows)] = rows
    return X, faces.identity


def write_faces(
    folder: str | os.PathLike[str],
    name: str,
    n_samples: int,
    n_identities: int | None = None,
    n_features: int = 256,
    singleton_share: float = 0.0,
    mean_cosine: float = 0.6,
    random_state: Any = None,
    *,
    size_tail: float | None = None,
    direction_ratio: float = 1.0,
    pose_cosine: float = 0.0,
    wrong_share: float = 0.0,
    lookalike_cosine: float = 0.19,
) -> None:
    """Write what `make_faces` returns as files of learn-to-cluster, for `load_learn_to_cluster`.

    Memory holds the labels, a direction for each identity and one block of rows. The folder must
    exist. Each of the two files is written whole or not at all, and replaces one of the same name.
    """
    likeness = Likeness(size_tail, direction_ratio, pose_cosine, wrong_share, lookalike_cosine)
    faces = _faces(n_samples, n_identities, n_features, singleton_share, mean_cosine, random_state, likeness)
    if not Path(folder).is_dir():
        raise FileNotFoundError(f"folder={str(folder)!r} does not exist; make it first")
    paths = [features_path(folder, name), labels_path(folder, name)]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
    with ExitStack() as stack:
        features, labels = (stack.enter_context(replacing(path)) for path in paths)
        for number, rows in enumerate(faces.rows()):
            rows.astype("<f4", copy=False).tofile(features)
            of_rows = faces.identity[number * _BLOCK : number * _BLOCK + len(rows)]
            labels.write("".join(f"{label}\n" for label in of_rows.tolist()).encode())


def _faces(
    n_samples: int,
    n_identities: int | None,
    n_features: int,
    singleton_share: float,
    mean_cosine: float,
    random_state: Any,
    likeness: Likeness,
) -> _Faces:
    check_integer("n_samples", n_samples, 1)
    check_integer("n_features", n_features, 8)
    check_interval("singleton_share", singleton_share, 0, 1)
    check_interval("mean_cosine", mean_cosine, 0.3, 1)
    entropy = check_random_state(random_state).randint(0, 2**32, 4, np.uint32)
    whole, *blocks = np.random.SeedSequence(entropy.tolist()).spawn(1 + -(-n_samples // _BLOCK))
    random, more = np.random.default_rng(whole), np.random.default_rng(whole.spawn(1)[0])
    n_singletons = round(singleton_share * n_samples)
    sizes = _identity_sizes(random, n_samples, n_singletons, n_identities, likeness.size_tail)
    widths = likeness.widths(n_features)
    centers = _identity_centers(random, len(sizes), n_features, widths, likeness.lookalike_cosine)
    identity = random.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return _Faces(
        identity,
        _shown(more, identity, likeness.wrong_share),
        centers,
        likeness.quality(mean_cosine),
        widths,
        likeness.poses(more, n_features),
        blocks,
    )


def _shown(random: np.random.Generator, identity: NDArray[np.int64], share: float) -> NDArray[np.int64]:
    """The identity of each image: that of the label, or any."""
    if share == 0:
        return identity
    wrong = random.random(len(identity)) < share
    return np.where(wrong, random.integers(0, identity.max() + 1, len(identity)), identity)


def _identity_sizes(
    random: np.random.Generator,
    n_samples: int,
    n_singletons: int,
    n_identities: int | None,
    tail: float | None,
) -> NDArray[np.int64]:
    """How many images each identity has, none of them empty, in all n_samples; singletons come last."""
    n_rest = n_samples - n_singletons
    if n_identities is None:
        n_identities = n_singletons + -(-n_rest // _MEAN_SIZE)
    least = n_singletons + (n_rest > 0)
    check_integer("n_identities", n_identities, least)
    n_larger = n_identities - n_singletons
    if n_larger > n_rest:
        raise ValueError(
            f"n_identities={n_identities} must lie in {least} .. {n_samples}, the number of samples, with "
            f"{n_singletons} singletons; use fewer identities or more samples"
        )
    share = _lognormal(random, _SIZE_SPREAD, n_larger) if tail is None else random.pareto(tail, n_larger)
    ends = np.rint(np.cumsum(share) / share.sum() * (n_rest - n_larger)).astype(np.int64)
    return np.concatenate([1 + np.diff(ends, prepend=0), np.ones(n_singletons, np.int64)])


def _identity_centers(
    random: np.random.Generator,
    n_identities: int,
    n_features: int,
    widths: NDArray[np.float32] | None,
    alike: float,
) -> NDArray[np.float32]:
    """A direction for each identity, part its own and part common to its lookalikes."""
    n_groups = -(-n_identities // _LOOKALIKES)
    own = directions(random, n_identities, n_features, widths)
    common = directions(random, n_groups, n_features, widths)
    own *= np.float32(np.sqrt(1 - alike))
    own += np.float32(np.sqrt(alike)) * common[random.integers(0, n_groups, n_identities)]
    return unit_rows(own, out=own)


def _lognormal(random: np.random.Generator, spread: float, size: int) -> NDArray[np.float64]:
    """Values of mean one."""
    return random.lognormal(-(spread**2) / 2, spread, size)
