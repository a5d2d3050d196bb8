"""What follows the cut, as plain loops: confidence, noise and its fates; shares no code with the library."""

import reference


def shares(D, rows, labels, lead):
    """One step of the walk: {cluster: share} of each point, the label's above any other; {} for noise."""
    found = []
    for i, row in enumerate(rows):
        arrived = {}
        width = max(float(D[i][j]) for j in row) ** 2
        for j in row:
            if labels[i] != -1 and labels[j] != -1:
                weight = reference.kernel_value("gaussian", D[i][j], width)
                arrived[labels[j]] = arrived.get(labels[j], 0.0) + weight
        rivals = [share for cluster, share in arrived.items() if cluster != labels[i]]
        if rivals:
            arrived[labels[i]] = max(arrived[labels[i]], (1 + lead) * max(rivals))
        found.append({cluster: share / sum(arrived.values()) for cluster, share in arrived.items()})
    return found


def outlier_scores(D, rows, density):
    """1 - density / weighted mean density of the others in the row, within [0, 1]; 1 where there are none."""
    scores = []
    for i, row in enumerate(rows):
        width = max(float(D[i][j]) for j in row) ** 2
        weights = {j: reference.kernel_value("gaussian", D[i][j], width) for j in row if j != i}
        if not weights:
            scores.append(1.0)
            continue
        around = sum(weight * density[j] for j, weight in weights.items()) / sum(weights.values())
        scores.append(0.0 if around == 0 else min(1.0, max(0.0, 1 - density[i] / around)))
    return scores


def noise(peaks_of, min_cluster_size, halo):
    """Points of clusters that are too small (peaks_of: each point's peak), and those of the halo."""
    return [peaks_of.count(peak) < min_cluster_size or halo[i] for i, peak in enumerate(peaks_of)]


def peaks_after(peaks_of, is_noise, fate, D, order):
    """Each point's peak once noise has met its fate; -1 for noise that is kept."""
    parent, _ = reference.nearest_denser(D, order)
    settled = []
    for i in range(len(peaks_of)):
        while fate == "assign" and is_noise[i]:
            remain = [(D[i][j], j) for j in order if not is_noise[j]]
            i = min(remain)[1] if parent[i] == -1 else parent[i]
        settled.append((i if fate == "singletons" else -1) if is_noise[i] else peaks_of[i])
    return settled


def labels_by_density(peaks_after, is_noise, order):
    """Labels 0, 1, ... of the peaks in the order of density, those of singletons last; and the peaks."""
    ranked = [p for p in order if p in peaks_after]
    peaks = [p for p in ranked if not is_noise[p]] + [p for p in ranked if is_noise[p]]
    return [-1 if peak == -1 else peaks.index(peak) for peak in peaks_after], peaks


def merged(labels, samples):
    """Labels in which the clusters of these samples are one."""
    chosen = {labels[i] for i in samples}
    return [min(chosen) if label in chosen else label for label in labels]


def split(labels, sample, D, rows, density, order):
    """Labels with the most prominent hill of a sample's cluster, beside its top, apart; None without one."""
    members = [i for i in range(len(labels)) if labels[i] == labels[sample]]
    place = {i: number for number, i in enumerate(members)}
    near = [[place[j] for j in rows[i] if j in place] for i in members]
    far = [[D[i][j] for j in members] for i in members]
    heights = [density[i] for i in members]
    inner = [place[i] for i in order if i in place]
    risen = reference.prominences(near, far, heights, inner)
    others = [hill for hill in inner[1:] if risen.get(hill, (0.0, -1))[0] > 0]
    if not others:
        return None
    hill = max(others, key=lambda other: (risen[other][0], -inner.index(other)))
    parent, _ = reference.nearest_denser_in_rows(far, near, inner)
    peaks = reference.tomato_labels(near, far, heights, inner, parent, risen[hill][0])
    apart = [members[i] for i in range(len(members)) if peaks[i] == hill]
    return [max(labels) + 1 if i in apart else label for i, label in enumerate(labels)]


def numbered_by_top(labels, order):
    """Labels 0, 1, ... in the order of the densest point of each cluster; -1 stays."""
    tops = list(dict.fromkeys(labels[i] for i in order if labels[i] != -1))
    return [-1 if label == -1 else tops.index(label) for label in labels]
