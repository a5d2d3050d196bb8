"""What photographs of faces have beyond a direction for each identity and noise around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks.datasets._checks import check_interval
from diffpeaks.datasets.face_files import unit_rows

_POSES = 6  # of an identity
_POSE_DIRECTIONS = 4096  # that the poses of all identities are drawn from

# Parameters whose faces are most like Labeled Faces in the Wild, if as many: 13,233 of 5,749 people
LFW_LIKENESS: Mapping[str, Any] = MappingProxyType(
    {
        "n_features": 128,
        "singleton_share": 0.26,
        "mean_cosine": 0.685,
        "size_tail": 1.5,
        "direction_ratio": 4.0,
        "pose_cosine": 0.3,
        "wrong_share": 0.007,
        "lookalike_cosine": 0.3,
    }
)


@dataclass(frozen=True)
class Likeness:
    """What makes generated faces more like photographs; the values by default change nothing."""

    size_tail: float | None = None
    direction_ratio: float = 1.0
    pose_cosine: float = 0.0
    wrong_share: float = 0.0
    lookalike_cosine: float = 0.19

    def __post_init__(self) -> None:
        if self.size_tail is not None:
            check_interval("size_tail", self.size_tail, 1, 100)
        check_interval("direction_ratio", self.direction_ratio, 1, 1e6)
        check_interval("pose_cosine", self.pose_cosine, 0, 1)
        check_interval("wrong_share", self.wrong_share, 0, 1)
        check_interval("lookalike_cosine", self.lookalike_cosine, 0, 1)

    def quality(self, mean_cosine: float) -> float:
        """The mean cosine of images with their identity, where poses make some pairs more alike."""
        by_pose = self.pose_cosine / _POSES
        return float(np.sqrt(max(mean_cosine - by_pose, 0) / (1 - by_pose)))

    def widths(self, n_features: int) -> NDArray[np.float32] | None:
        """Of the directions, along each feature: their squares fall evenly in logarithm."""
        if self.direction_ratio == 1:
            return None  # not even rounding may change what was generated before
        fall = np.linspace(0, -0.5 * np.log(self.direction_ratio), n_features)
        return np.exp(fall - fall.mean()).astype(np.float32)

    def poses(self, random: np.random.Generator, n_features: int) -> Poses | None:
        if self.pose_cosine == 0:
            return None
        table = directions(random, _POSE_DIRECTIONS, n_features, self.widths(n_features))
        return Poses(table, self.pose_cosine, int(random.integers(_POSE_DIRECTIONS)))


@dataclass(frozen=True)
class Poses:
    """Directions off the centres that images of one identity share, if they are of the same pose or age."""

    directions: NDArray[np.float32]
    cosine: float
    first: int  # of the directions, for the first pose of the first identity

    def turned(
        self, away: NDArray[np.float32], identity: NDArray[np.int64], random: np.random.Generator
    ) -> NDArray[np.float32]:
        """Each direction, leant to that of a pose of its identity."""
        pose = identity * _POSES + random.integers(0, _POSES, len(identity))
        # neighbours in number are far apart in the table; no table of all poses is held
        chosen = (self.first + pose * 2_654_435_761) % len(self.directions)
        own = np.float32(np.sqrt(1 - self.cosine)) * unit_rows(away, out=away)
        return own + np.float32(np.sqrt(self.cosine)) * self.directions[chosen]


def directions(
    random: np.random.Generator, n_directions: int, n_features: int, widths: NDArray[np.float32] | None
) -> NDArray[np.float32]:
    """Unit vectors, uniform or of those widths along the features."""
    drawn = random.standard_normal((n_directions, n_features), dtype=np.float32)
    return unit_rows(drawn if widths is None else drawn * widths)
