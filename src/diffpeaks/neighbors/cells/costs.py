"""What the steps of a search over cells take, in seconds on one thread: only their ratios decide."""

from __future__ import annotations

PRODUCT = 2.5e-11  # of a coordinate of a query with that of a point
VISIT = 2e-9  # of a point, whatever its coordinates
DISTANCE = 1.2e-9  # of a feature, where bounds must leave a point open first
LISTED = 1.1e-10  # of a feature of a point on a shortlist, about which nothing is asked
PROJECTION = 3e-11  # of a feature along a direction
RANKING, REACHING = 3.0, 1.5  # of a cell, in visits of points: to rank it, to test whether it is in reach


def visit_cost(n_coordinates: int) -> float:
    """A point in a cell that a query visits."""
    return n_coordinates * PRODUCT + VISIT
