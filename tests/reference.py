"""Every formula of the method as plain loops: slow, readable, sharing no code with the library.

D: n x n distances. rows[i]: neighbourhood of i, itself first. "Denser": earlier in density_order.
"""

import hashlib
import math
import struct

import numpy as np


def euclidean_distances(X):
    """||x - y||, the squared differences added one after the other."""
    D = np.zeros((len(X), len(X)))
    for i, x in enumerate(X):
        for j, y in enumerate(X):
            total = 0.0
            for a, b in zip(x, y, strict=True):
                total += (float(a) - float(b)) * (float(a) - float(b))
            D[i, j] = math.sqrt(total)
    return D


def within(D, radius):
    """B(x, radius): the point itself, then all others with d <= radius by (distance, index)."""
    rows = []
    for i in range(len(D)):
        others = [j for j in range(len(D)) if j != i and D[i][j] <= radius]
        rows.append([i, *sorted(others, key=lambda j: (D[i][j], j))])
    return rows


def nearest(D, k):
    """N_k(x): the point itself and its k - 1 nearest others."""
    return [row[:k] for row in within(D, math.inf)]


def undirected(rows, D=None, max_link=math.inf):
    """Neighbours of each point: either end lists the other, and the edge is below max_link."""
    points = range(len(rows))
    listed = [[j in rows[i] or i in rows[j] for j in points] for i in points]
    short = [[i != j and (D is None or D[i][j] < max_link) for j in points] for i in points]
    return [[j for j in points if listed[i][j] and short[i][j]] for i in points]


def naive_density(D, radius):
    """Eq. density-naive without its constant: how many points the closed ball holds."""
    return np.array([len(row) for row in within(D, radius)])


def local_contrast(D, radius, k):
    """Eq. lc without 1/n: members of N_k(x) with a smaller naive density; returns (lc, naive)."""
    naive = naive_density(D, radius)
    lc = [sum(1 for j in row if naive[i] > naive[j]) for i, row in enumerate(nearest(D, k))]
    return np.array(lc), naive


def kernel_value(name, d, h):
    """k(x, y) at distance d with bandwidth h; k(x, x) = 1, and h = 0 means the limit h -> 0+."""
    if name not in ("gaussian", "uniform", "epanechnikov", "laplace"):
        raise ValueError(f"unknown kernel {name!r}")
    d, h = float(d), float(h)
    if d == 0 or name == "uniform":
        return 1.0
    if h == 0:
        return 0.0
    if name == "epanechnikov":
        return max(0.0, 1.0 - d * d / h)
    return math.exp(-d * d / h) if name == "gaussian" else math.exp(-d / math.sqrt(h))


def median_bandwidth(D, rows):
    """Median of d^2 over the entries (i, j != i) with d > 0; 1 if there is none."""
    entries = [float(D[i][j]) for i, row in enumerate(rows) for j in row if j != i]
    squares = sorted(d * d for d in entries if d > 0)
    if not squares:
        return 1.0
    return (squares[(len(squares) - 1) // 2] + squares[len(squares) // 2]) / 2


def local_bandwidth(D, rows):
    """Asymmetric kernel: h(x) = squared distance to the farthest member of its row, as h(i, j)."""
    return lambda i, j: max(float(D[i][m]) * float(D[i][m]) for m in rows[i])


def local_bandwidth_symmetric(D, k):
    """Symmetric kernel: h(x, y) = s(x) s(y), s the distance to the k-th neighbour, self counted."""
    scale = [float(D[i][row[k - 1]]) for i, row in enumerate(nearest(D, k))]
    return lambda i, j: scale[i] * scale[j]


def weight_matrix(D, rows, kernel, bandwidth):
    """Eq. sdde, adde: k(x, y) on the neighbourhood, else 0; bandwidth a number or h(i, j)."""
    W = np.zeros((len(rows), len(rows)))
    for i, row in enumerate(rows):
        for j in row:
            h = bandwidth(i, j) if callable(bandwidth) else bandwidth
            W[i, j] = kernel_value(kernel, D[i][j], h)
    return W


def transition_matrix(D, rows, kernel, bandwidth):
    """Eq. transition: p(x, y) = k(x, y) / d(x), d(x) the row sum."""
    W = weight_matrix(D, rows, kernel, bandwidth)
    return np.array([[weight / sum(row) for weight in row] for row in W])


def diffuse(P, steps, teleport=0.0):
    """rho_t = phi_0 P^t from all ones (mean one); one step is n times eq. den.ref (FKD)."""
    points = range(len(P))
    rho = [1.0 for _ in points]
    for _ in range(steps):
        arrived = [sum(rho[y] * P[y][x] for y in points) for x in points]
        rho = [(1 - teleport) * mass + teleport for mass in arrived]
    return np.array(rho)


def reachable(M):
    """reach[i][j]: a path of positive entries leads from i to j (Warshall); every i reaches i."""
    points = range(len(M))
    reach = [[i == j or M[i][j] > 0 for j in points] for i in points]
    for via in points:
        for i in points:
            for j in points:
                reach[i][j] = reach[i][j] or (reach[i][via] and reach[via][j])
    return reach


def limit_density(P, teleport=0.0):
    """KD, the limit of diffuse: (rho, number of closed classes, share of transient points).

    Teleporting makes the chain ergodic: one class, no transient point. Else P must be aperiodic.
    """
    P, eye = np.array(P, dtype=float), np.eye(len(P))
    if teleport > 0:
        return np.linalg.solve(eye - (1 - teleport) * P.T, np.full(len(P), teleport)), 1, 0.0
    reached = [[j for j in range(len(P)) if row[j]] for row in reachable(P)]
    # A closed class reaches itself only; it is taken once, at its first member.
    classes = [c for i, c in enumerate(reached) if i == c[0] and all(i in reached[j] for j in c)]
    transient = [i for i in range(len(P)) if not any(i in c for c in classes)]
    rho = np.zeros(len(P))
    for c in classes:
        # pi (I - P) = 0 on the class, one redundant equation replaced by sum(pi) = 1.
        balance = (eye - P)[np.ix_(c, c)].T
        balance[-1] = 1.0
        pi = np.linalg.solve(balance, [0.0] * (len(c) - 1) + [1.0])
        # (I - Q) b = r: the chance b that each transient point ends in this class.
        enter = [sum(P[i, j] for j in c) for i in transient]
        absorbed = np.linalg.solve((eye - P)[np.ix_(transient, transient)], enter)
        rho[c] = (len(c) + sum(absorbed)) * pi
    return rho, len(classes), len(transient) / len(P)


def symmetric_limit(W):
    """KD of a symmetric kernel: d(x) / mean of d over the connected component of x."""
    degree, rho = [sum(row) for row in W], []
    for i, reached in enumerate(reachable(W)):
        component = [degree[j] for j in range(len(W)) if reached[j]]
        rho.append(degree[i] / (sum(component) / len(component)))
    return np.array(rho)


def density_order(density, second=None):
    """The one total order: density descending, second key descending, index ascending."""
    second = [0] * len(density) if second is None else second
    return sorted(range(len(density)), key=lambda i: (-density[i], -second[i], i))


def nearest_denser(D, order):
    """DPC: parent = nearest of all denser points (ties: lower index), delta = distance to it."""
    parent, delta = [-1] * len(D), [math.inf] * len(D)
    for rank, i in enumerate(order):
        if rank > 0:
            delta[i], parent[i] = min((D[i][j], j) for j in order[:rank])
    return parent, delta


def nearest_denser_in_rows(D, rows, order, max_link=math.inf):
    """DPC inside the neighbourhood: only denser members of the own row nearer than max_link."""
    parent, delta = [-1] * len(D), [math.inf] * len(D)
    for rank, i in enumerate(order):
        denser = [(D[i][j], j) for j in order[:rank] if j in rows[i] and D[i][j] < max_link]
        if denser:
            delta[i], parent[i] = min(denser)
    return parent, delta


def log_drop(high, low):
    """log(high) - log(low) with log 0 = -inf, and 0 between equals."""
    if high == low:
        return 0.0
    return math.inf if low == 0 else math.log(high) - math.log(low)


def prominences(rows, D, density, order, max_link=math.inf):
    """For each local maximum p: (log density drop to its saddle, saddle), (inf, -1) if none.

    The saddle is the densest point s such that p is connected with a denser point than p
    inside the set of all points down to s.
    """
    graph = undirected(rows, D, max_link)
    found = {}
    for rank, p in enumerate(order):
        denser = set(order[:rank])
        if any(j in denser for j in graph[p]):
            continue
        found[p] = (math.inf, -1)
        for level in range(rank, len(order)):
            kept, reached = set(order[: level + 1]), [p]
            for i in reached:  # grows while it is walked
                reached += [j for j in graph[i] if j in kept and j not in reached]
            if any(j in denser for j in reached):
                found[p] = (log_drop(density[p], density[order[level]]), order[level])
                break
    return found


def tomato_labels(rows, D, density, order, parent, min_prominence, max_link=math.inf):
    """ToMATo: climb to the parent, then merge hills at their saddle; peak of each point."""
    graph = undirected(rows, D, max_link)
    peak = {}
    for rank, i in enumerate(order):
        peak[i] = i if parent[i] == -1 else peak[parent[i]]
        for j in order[:rank]:
            if j in graph[i] and peak[j] != peak[i]:
                higher, lower = sorted((peak[i], peak[j]), key=list(order).index)
                if log_drop(density[lower], density[i]) < min_prominence:
                    peak = {m: higher if peak[m] == lower else peak[m] for m in peak}
    return [peak[i] for i in range(len(order))]


def dpc_labels(parent, peaks):
    """DPC: each point follows its parents up to the first peak."""
    labels = []
    for i in range(len(parent)):
        while i not in peaks:
            if parent[i] == -1:
                raise ValueError(f"point {i} is a root but no peak")
            i = parent[i]
        labels.append(i)
    return labels


def halo(rows, labels, density):
    """DPC halo: strictly below the densest border point of the own cluster."""
    graph, points = undirected(rows), range(len(rows))
    border = [i for i in points if any(labels[j] != labels[i] for j in graph[i])]
    return [any(labels[b] == labels[i] and density[b] > density[i] for b in border) for i in points]


def dbscan_labels(rows, D, density, min_density, border=True):
    """DBSCAN on any density; the label is the densest core of the cluster, -1 is noise."""
    order, graph = density_order(density), undirected(rows)
    core = [value >= min_density for value in density]
    labels = [-1] * len(rows)
    for i in order:
        if core[i] and labels[i] == -1:
            cluster = [i]
            for m in cluster:  # grows while it is walked
                labels[m] = i
                cluster += [j for j in graph[m] if core[j] and j not in cluster]
    for i, row in enumerate(rows):
        cores = [(D[i][j], j) for j in row if core[j]]
        if border and not core[i] and cores:
            labels[i] = labels[min(cores)[1]]
    return labels


def same_cluster(labels, i, j):
    """Two points share a cluster; noise (-1) is alone."""
    return i == j or (labels[i] == labels[j] and labels[i] != -1)


def with_f(precision, recall):
    """(precision, recall, their harmonic mean)."""
    total = precision + recall
    return precision, recall, 2 * precision * recall / total if total > 0 else 0.0


def pairwise_scores(y_true, labels):
    """Pairwise precision, recall, F: over all pairs i < j."""
    pairs = [(i, j) for j in range(len(labels)) for i in range(j)]
    predicted = [(i, j) for i, j in pairs if same_cluster(labels, i, j)]
    actual = [(i, j) for i, j in pairs if y_true[i] == y_true[j]]
    both = sum(1 for i, j in predicted if y_true[i] == y_true[j])
    precision = both / len(predicted) if predicted else 1.0
    return with_f(precision, both / len(actual) if actual else 1.0)


def bcubed_scores(y_true, labels):
    """BCubed precision, recall, F: mean over points of the share of its cluster and class."""
    points, precision, recall = range(len(labels)), 0.0, 0.0
    for i in points:
        cluster = [j for j in points if same_cluster(labels, i, j)]
        truth = [j for j in points if y_true[j] == y_true[i]]
        both = len([j for j in cluster if j in truth])
        precision += both / len(cluster)
        recall += both / len(truth)
    return with_f(precision / len(points), recall / len(points))


def values_checksum(X, y):
    """The checksum as its definition says, number by number."""
    content = f"({len(X)}, {len(X[0])})".encode()
    content += b"".join(struct.pack("<d", float("nan") if v != v else v) for row in X for v in row)
    return hashlib.sha256(content + b"".join(struct.pack("<q", v) for v in y)).hexdigest()
