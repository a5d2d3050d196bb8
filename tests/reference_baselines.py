"""The baselines as plain loops: slow, readable, sharing no code with the library.

D: n x n distances. rows[i]: list of i, itself first.
"""

from fractions import Fraction
from itertools import pairwise
from math import exp


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


def break_score(values, window, start):
    """z^2 of the window of drops that begins at `start`, in fractions; 0 where all drops from it on agree."""
    drops = [Fraction(a) - Fraction(b) for a, b in pairwise(values)]
    in_window, to_end = drops[start : start + window], drops[start:]
    mean = sum(to_end) / len(to_end)
    variance = sum((drop - mean) ** 2 for drop in to_end) / len(to_end)
    return (sum(in_window) / window - mean) ** 2 / variance if variance else Fraction(0)


def row_break(values, window):
    """How many values after the first are kept, and z^2 there; all of them where no window stands out."""
    scores = [break_score(values, window, start) for start in range(len(values) - window)]
    best = max(scores)
    kept = scores.index(best) + (window + 1) // 2 if best else len(values) - 1
    return kept, best


def face_map_links(rows, D, window):
    """What both samples of a pair give each other along the lists that are kept; D holds 1 - cosine."""
    links = {}
    for i, row in enumerate(rows):
        cosines = [max(0.0, 1 - D[i][j]) for j in row]
        kept, _ = row_break(cosines, window)
        for j, cosine in list(zip(row, cosines, strict=True))[1 : kept + 1]:
            pair = min(i, j), max(i, j)
            links[pair] = links.get(pair, 0) + cosine / sum(cosines)
    return {pair: weight for pair, weight in links.items() if weight}


def chances(rows, D, bandwidth):
    """P of the asymmetric Gaussian kernel between unit vectors, a dictionary for each list."""
    weights = [{j: exp(-2 * D[i][j] / bandwidth) for j in row} for i, row in enumerate(rows)]
    return [{j: weight / sum(row.values()) for j, weight in row.items()} for row in weights]


def shared_mass(P, a, b):
    """What a and b give, on average, to the samples that both list."""
    return sum(P[a][c] + P[b][c] for c in P[a] if c in P[b]) / 2


def early_stopped_links(rows, D, bandwidth, min_shared):
    """The shared mass of each sample and its neighbours, up to the first of less than `min_shared`."""
    P, links = chances(rows, D, bandwidth), {}
    for i, row in enumerate(rows):
        for j in row[1:]:
            mass = shared_mass(P, i, j)
            if mass < min_shared:
                break
            links[i, j] = mass
    return links
