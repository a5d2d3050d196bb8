"""The share of true neighbours found, on a sample of the points and without the point itself.

A neighbour counts when it is no farther than the true last one, so that ties (frequent among images of
bytes) and duplicates cost nobody anything.
"""

from dataclasses import dataclass

import numpy as np

_BLOCK = 50  # queries whose distances to all points are held at once
_SPARE = 32  # nearest by the fast formula that are looked at again by the accurate one
_TOLERANCE = 1e-5  # systems of float32 cannot tell squared distances apart that are closer than this


@dataclass(frozen=True)
class Truth:
    sample: np.ndarray  # rows of X
    reach: np.ndarray  # squared distance from each to its last neighbour
    n_neighbors: int  # counts the point itself

    def save(self, path):
        np.savez(path, sample=self.sample, reach=self.reach, n_neighbors=self.n_neighbors)

    @classmethod
    def read(cls, path):
        with np.load(path) as saved:
            return cls(saved["sample"], saved["reach"], int(saved["n_neighbors"]))

    def recall(self, X, found):
        """`found` holds a row of indices for each point of the sample; -1 and repetitions do not count."""
        hits = 0
        for point, reach, row in zip(self.sample, self.reach, found, strict=True):
            _, first = np.unique(row, return_index=True)
            others = [i for i in row[np.sort(first)] if i >= 0 and i != point][: self.n_neighbors - 1]
            hits += np.count_nonzero(squared_distances(X, point, others) <= reach * (1 + _TOLERANCE))
        return hits / (len(self.sample) * (self.n_neighbors - 1))


def squared_distances(X, point, others):
    return np.sum((X[others].astype(np.float64) - X[point]) ** 2, axis=1)


def true_reach(X, n_neighbors, sample_size):
    """Exact, in double precision."""
    random = np.random.default_rng(0)
    sample = np.sort(random.choice(len(X), min(sample_size, len(X)), replace=False))
    points = X.astype(np.float64)
    norms = np.einsum("ij,ij->i", points, points)
    reach = []
    for start in range(0, len(sample), _BLOCK):
        rows = sample[start : start + _BLOCK]
        relative = norms - 2 * points[rows] @ points.T  # what a query adds to all does not change their order
        n_kept = min(n_neighbors + _SPARE, len(X))
        kept = np.argpartition(relative, n_kept - 1, axis=1)[:, :n_kept]
        for point, candidates in zip(rows, kept, strict=True):
            others = candidates[candidates != point]
            reach.append(np.sort(squared_distances(X, point, others))[n_neighbors - 2])
    return Truth(sample, np.array(reach), n_neighbors)
