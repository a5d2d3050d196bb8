"""The baselines as plain loops: slow, readable, sharing no code with the library.

D: n x n distances. rows[i]: list of i, itself first.
"""

from fractions import Fraction
from itertools import pairwise


def connected(n_samples, joined):
    """The first point of each point's component, where joined(i, j) or joined(j, i)."""
    first = [-1] * n_samples
    for start in range(n_samples):
        if first[start] == -1:
            reached = [start]
            for i in reached:  # grows while it is walked
                first[i] = start
                near = [j for j in range(n_samples) if joined(i, j) or joined(j, i)]
                reached += [j for j in near if j not in reached]
    return first


def missing(rows, a, b):
    """d(a, b): members of the list of a, from a up to b, that the list of b does not hold."""
    return sum(1 for i in rows[a][: rows[a].index(b) + 1] if i not in rows[b])


def rank_distance(rows, a, b):
    """D(a, b), None unless a and b list each other; ranks count from 0, the point itself."""
    if a == b or b not in rows[a] or a not in rows[b]:
        return None
    return (missing(rows, a, b) + missing(rows, b, a)) / min(rows[a].index(b), rows[b].index(a))


def aro(rows, max_distance):
    """The first point of each cluster."""

    def joined(a, b):
        distance = rank_distance(rows, a, b)
        return distance is not None and distance <= max_distance

    return connected(len(rows), joined)


def cdp(rows, D, threshold, max_size, step):
    """The first point of each cluster; D holds 1 - cosine. Components are cut one by one."""

    def cut(members, threshold):
        def joined(i, j):
            return members[j] in rows[members[i]] and 1 - D[members[i]][members[j]] > threshold

        parts = {}
        for member, first in zip(members, connected(len(members), joined), strict=True):
            parts.setdefault(first, []).append(member)
        found = []
        for part in parts.values():
            if len(part) <= max_size or threshold > 1 - 1e-12:
                found.append(part)
            else:
                found += cut(part, threshold + (1 - threshold) * step)
        return found

    labels = [-1] * len(rows)
    for part in cut(list(range(len(rows))), threshold):
        for member in part:
            labels[member] = min(part)
    return labels


def shared_neighbor_density(rows, min_shared):
    """How many points have at least min_shared neighbours in common, where both list each other."""
    density = []
    for i, row in enumerate(rows):
        mutual = [j for j in row if i in rows[j]]
        density.append(sum(1 for j in mutual if len(set(row) & set(rows[j])) >= min_shared))
    return density


def rescaled(values, n_intervals, radius, value):
    """ReScale of one value of an attribute that is not constant, inside its range; in fractions."""
    low, high = Fraction(min(values)), Fraction(max(values))
    grid = [low + (high - low) * i / n_intervals for i in range(n_intervals + 1)]
    density = [sum(1 for v in values if abs(v - g) <= Fraction(radius) * (high - low)) for g in grid]
    below = [Fraction(0)]
    for left, right in pairwise(density):
        below.append(below[-1] + (left + right) / 2)
    i = min(int((value - low) / (high - low) * n_intervals), n_intervals - 1)
    part = (value - grid[i]) / (grid[i + 1] - grid[i])
    return float((below[i] + part * (below[i + 1] - below[i])) / below[-1])
