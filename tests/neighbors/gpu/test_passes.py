"""A graph on a device: every pass gives the bits of the compiled core, and every fit the labels of the host.

Triton interprets the kernels here, on the processor.
"""

import processes
import pytest

pytest.importorskip("triton")

# in a process of its own, because Triton asks once whether it interprets
BEGINNING = """
import os
os.environ["TRITON_INTERPRET"] = "1"
import pickle
import numpy as np
import torch
from sklearn.datasets import load_digits, load_iris, make_moons
from diffpeaks._native import n_parts_of
from diffpeaks import DensityDBSCAN, DensityPeaks, KernelDiffusion, neighbor_graph
from diffpeaks.datasets import make_faces
from diffpeaks.neighbors.gpu import space
from diffpeaks.neighbors.gpu.graph import DeviceGraph
from small_groups import small_groups

space.opened = lambda name: torch.device("cpu")
np.seterr(all="ignore")  # of lanes whose values are not used


def same(found, expected):
    np.testing.assert_array_equal(found, expected)
    assert np.asarray(found).dtype == np.asarray(expected).dtype


class Sums:  # in the place of hills that join
    def __init__(self, n_hills):
        self.n_hills = n_hills

    def add_sums(self, *given):
        self.given = given


def check_flow(graph, host, hill, weights, sent, max_link):
    sums = Sums(int(hill.max()) + 2)  # one of which nothing is
    graph.passes.add_flow(sums, hill, torch.from_numpy(weights), sent, max_link, None, 1)
    *ends, flow, volume = sums.given
    pairs, of_hills, n_parts = {}, np.zeros(sums.n_hills), n_parts_of(len(hill))
    for part in range(n_parts):
        of_part, in_part = {}, np.zeros(sums.n_hills)
        for row in range(len(hill) * part // n_parts, len(hill) * (part + 1) // n_parts):
            first, later = {}, []
            for entry in range(host.indptr[row], host.indptr[row + 1]):
                to, more = hill[host.indices[entry]], sent[row] * weights[entry]
                if not host.distances[entry] < max_link:
                    break
                if to in first:
                    first[to] += more
                elif len(first) < 8:
                    first[to] = more
                else:
                    later.append((to, more))
            for to, more in later + list(first.items()):
                in_part[hill[row]] += more
                in_part[to] += more
                if to != hill[row]:
                    pair = min(to, hill[row]), max(to, hill[row])
                    of_part[pair] = of_part.get(pair, 0.0) + more
        of_hills += in_part
        for pair, more in of_part.items():
            pairs[pair] = pairs.get(pair, 0.0) + more
    assert dict(zip(zip(*(end.tolist() for end in ends)), flow.tolist())) == pairs
    same(volume, of_hills)
"""

PASSES = """
from diffpeaks.graph.passes import Weighing

random = np.random.default_rng(0)


def check_passes(X, n_neighbors):
    graph = neighbor_graph(X, n_neighbors, device="cuda")
    assert isinstance(graph, DeviceGraph)
    host = neighbor_graph(X, n_neighbors, search="exact")
    assert "indices" not in vars(graph)  # which stay there until they are asked for
    same(graph.reach, host.reach)
    check_rows(graph, host)
    counts = random.integers(1, n_neighbors, (2, len(X)))
    shorter = counts.min(axis=0), counts.max(axis=0)
    check_rows(*(g.short_links(*shorter, 1) for g in (graph, host)))  # ragged


def check_rows(graph, host):
    n = host.n_samples
    passes, expected = graph.passes, host.passes
    same(passes.spreads(4, 1e-6, 1), expected.spreads(4, 1e-6, 1))
    rank = random.permutation(n).astype(np.int32)
    for found, known in zip(passes.first_denser(rank, 1), expected.first_denser(rank, 1)):
        same(found[expected.first_denser(rank, 1)[0]], known[expected.first_denser(rank, 1)[0]])
    one, each = np.ones(1), random.uniform(0.5, 2, n)
    for n_hills, max_link in ((1, np.inf), (4, float(np.median(host.reach))), (60, np.inf)):
        hill = random.integers(0, n_hills, n).astype(np.int32)
        check_flow(graph, host, hill, random.uniform(size=len(host.indices)), each, max_link)
    some = random.permutation(n).astype(np.int32)
    ordered, expected_order = some.copy(), some.copy()
    values = np.round(each, 1) - 1.0
    passes.sort_descending(values, ordered)
    expected.sort_descending(values, expected_order)
    same(ordered, expected_order)
    ways = [(k, host.reach + 0.0, one, one) for k in range(4)] + [(0, one, each, each), (3, each, one, each)]
    for kernel, by_row, by_entry, masses in ways:
        for dtype in (np.float64, None):
            how = Weighing(kernel, by_row.astype(np.float64), by_entry, masses, dtype)
            (weights, volume), (known, sums) = passes.weighed(how, 1), expected.weighed(how, 1)
            same(weights.numpy(), known)
            same(volume, sums)
        step, known_step = passes.step(weights, 1), expected.step(known, 1)
        same(step(each, (0.0, 1.0)), known_step(each, (0.0, 1.0)))
    same(graph.indptr, host.indptr)
    same(graph.indices, host.indices)
    same(graph.distances, host.distances)


check_passes(random.normal(size=(200, 12)).astype(np.float32), 15)
check_passes(random.normal(size=(150, 3)), 20)
check_passes(random.normal(size=(130, 30)).round(0), 6)
"""

# more parts than one, as of many samples
PARTS = """
from diffpeaks.graph import NeighborGraph
from diffpeaks.neighbors.gpu.graph import device_rows

random = np.random.default_rng(1)
n = 1 << 15
indices = np.column_stack([np.arange(n), random.integers(0, n - 1, (n, 2))]).astype(np.int32)
indices[:, 1] += indices[:, 1] >= indices[:, 0]
indices[:, 2] = (indices[:, 0] + 1 + (indices[:, 1] == (indices[:, 0] + 1) % n)) % n
distances = np.tile(np.array([0.0, 1.0, 2.0], np.float32), n)
host = NeighborGraph(3 * np.arange(n + 1), indices.ravel(), distances, radius=0.0)
graph = DeviceGraph.of_rows(device_rows(host, torch.device("cpu")), 3, 0.0, ("here", 1.0, 0.0))
weights = random.uniform(size=3 * n)
sent = random.uniform(size=n)
found = graph.passes.step(torch.from_numpy(weights), 1)(sent, (0.0, 1.0))
same(found, host.passes.step(weights, 2)(sent, (0.0, 1.0)))
check_flow(graph, host, random.integers(0, 300, n).astype(np.int32), weights, sent, 1.5)
"""

FITS = """
digits = load_digits().data[:140].astype(np.float32)
faces = make_faces(150, n_identities=45, n_features=16, singleton_share=0.2, random_state=0)[0]
moons = make_moons(120, noise=0.07, random_state=0)[0]
doubled = np.vstack([load_iris().data[:90], load_iris().data[:90:3]])
weights = np.random.default_rng(0).uniform(0.5, 2, 140)
CASES = [
    (digits, {}, None),
    (digits, {"metric": "cosine"}, weights),
    (digits, {"smooth": True, "n_clusters": 10}, None),
    (faces, {}, None),
    (faces, {"metric": "inner_product", "smooth": True}, None),
    (np.random.default_rng(0).normal(size=(80, 24)), {"metric": "cosine", "smooth": True}, None),
    (moons, {}, None),
    (small_groups()[0], {}, None),
    (doubled, {}, None),
    (doubled, {"density": KernelDiffusion(radius=0.8)}, None),
    (digits, {"density": "fkd-asym", "max_link": 25.0}, None),
    (digits, {"density": "kd-asym", "n_clusters": 8}, None),
    (digits, {"halo": True, "min_prominence": 0.5, "min_cluster_size": 5}, None),
]
for X, parameters, sample_weight in CASES:
    on_device = DensityPeaks(device="cuda", **parameters).fit(X, sample_weight=sample_weight)
    on_host = DensityPeaks(search="exact", **parameters).fit(X, sample_weight=sample_weight)
    for name in ("labels_", "density_", "peak_indices_", "probabilities_", "outlier_scores_"):
        same(getattr(on_device, name), getattr(on_host, name))
    for name in ("parent", "delta", "prominence", "saddle", "crossing", "rank", "hill"):
        same(getattr(on_device.forest_, name), getattr(on_host.forest_, name))
    new = X[1::7] if parameters.get("metric") == "inner_product" else X[::7] + np.float32(0.01)
    same(on_device.predict(new), on_host.predict(new))
    same(on_device.recut(n_clusters=3), on_host.recut(n_clusters=3))
    copy = pickle.loads(pickle.dumps(on_device))
    assert not isinstance(copy.graph_, DeviceGraph)
    same(copy.predict(new), on_host.predict(new))
same(DensityPeaks(device="cuda").fit(torch.from_numpy(moons)).labels_, DensityPeaks().fit(moons).labels_)
same(DensityDBSCAN(device="cuda").fit(digits).labels_, DensityDBSCAN(search="exact").fit(digits).labels_)
"""


@pytest.mark.parametrize("check", [PASSES, PARTS, FITS], ids=["passes", "parts", "fits"])
def test_a_device_gives_the_bits_of_the_host(check):
    done = processes.run(BEGINNING + check)
    assert done.returncode == 0, done.stderr
