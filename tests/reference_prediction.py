"""Labels of new points as plain loops, sharing no code with the library.

d: distances from one new point to all fitted ones. "Denser": no smaller (density, second key).
"""

import math

import reference


def neighbours(d, among, n_others=None, radius=None, shares=(1.0, 1.0, 1), max_link=math.inf, at_least=0):
    """The n_others nearest, the ball, or whichever is more; of these the nearer share, itself counted."""
    order = sorted(among, key=lambda j: (d[j], j))
    row = [] if radius is None else [j for j in order if d[j] <= radius]
    fewest = 1 if radius is None else at_least
    row = max(row, order[: max(fewest, n_others or 0)], key=len)
    n_kept = min(len(row) + 1, max(round(shares[0] * (len(row) + 1)), shares[2])) - 1
    return [j for j in row[:n_kept] if d[j] < max_link]


def by_peaks(d, row, labels, clusters, keys, key, border=None):
    """Coinciding: that label. Else the nearest denser neighbour's cluster, or the nearest neighbour's."""
    if not row:
        return -1
    if d[row[0]] == 0:
        return labels[row[0]]
    denser = [j for j in row if keys[j] >= key]
    cluster = clusters[(denser or row)[0]]
    return -1 if border is not None and key[0] < border[cluster] else cluster


def by_cores(d, row, labels, density, min_density, own_density=None):
    """Coinciding: that label. Else the nearest core's, if the point itself is dense enough where asked."""
    if row and d[row[0]] == 0:
        return labels[row[0]]
    cores = [j for j in row if density[j] >= min_density]
    dense = own_density is None or own_density >= min_density
    return labels[cores[0]] if cores and dense else -1


def border_density(rows, D, clusters, density, max_link):
    """Of each cluster, the density of its densest point beside another cluster; -inf without one."""
    border = dict.fromkeys(clusters, -math.inf)
    for i, others in enumerate(reference.undirected(rows, D, max_link)):
        if any(clusters[j] != clusters[i] for j in others):
            border[clusters[i]] = max(border[clusters[i]], density[i])
    return border
