"""Groups that are smaller than a neighbour list of the default."""

import numpy as np


def small_groups(n_groups=16, n_members=16, n_features=2, step=6.0):
    """Groups on a grid, and the group of each sample."""
    random = np.random.RandomState(0)
    side = int(np.ceil(n_groups ** (1 / min(n_features, 3))))
    grid = np.stack(np.meshgrid(*[range(side)] * min(n_features, 3)), -1).reshape(-1, min(n_features, 3))
    centers = np.zeros((n_groups, n_features))
    centers[:, : grid.shape[1]] = step * grid[:n_groups]
    y = np.repeat(np.arange(n_groups), n_members)
    return centers[y] + random.normal(size=(len(y), n_features)), y
