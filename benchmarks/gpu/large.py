"""Large sets on one card: a stated share of the neighbours, and points that are sent from the host in chunks.

usage: large.py [--set NAME:SAMPLES:FEATURES:NEIGHBORS ...] [--labels NAME:SAMPLES:FEATURES ...]
                [--chunks NAME:SAMPLES:FEATURES:NEIGHBORS:BYTES ...] [--runs RUNS] [--output FILE]

Medians of some runs after a first one. Lines of three kinds:

- A set in chunks: the graph of an array that may take so many bytes of the card, and whether it is, bit by
  bit, the one of points that all lie there.
- A set: graphs of points on the card, an exact one and two with a target. Beside the recall that was told
  stands the share of exact neighbours of 50,000 points, nearly all of which calibration did not see.
- A set of labels: whole fits with exact neighbours and with a share of them, and how far their labels agree.
"""

import argparse
import gc
from pathlib import Path

import numpy as np
import torch
from data import SETS
from run import timed
from sklearn.metrics import adjusted_mutual_info_score

from diffpeaks import ApproximateSearch, DensityPeaks, neighbor_graph
from diffpeaks_paper.records import Records

_LARGE = ("faces:5206761:256:80", "faces:1000000:256:80")
_CHUNKS = (
    "faces:584013:256:80:500000000",
    "clusters:1000000:16:54:200000000",
    "faces:2000000:256:30:2000000000",
)
_LABELS = ("faces:1000000:256",)
_RECALLS = 0.98, 0.9
_ROWS_COMPARED = 50_000


def made(text, n_numbers):
    name, *numbers = text.split(":")
    n_samples, n_features, *others = map(int, numbers)
    if len(others) != n_numbers:
        raise SystemExit(f"{text!r} needs {n_numbers + 2} numbers after its name, separated by colons")
    points = SETS[name](n_samples, n_features, torch.Generator("cuda").manual_seed(0))
    return points, {"set": name, "n": n_samples, "d": n_features}, *others


def compared_rows(graph, n_neighbors):
    """The distances of some points to their neighbours."""
    first = torch.linspace(0, graph.n_samples - 1, _ROWS_COMPARED, device="cuda").long() * n_neighbors
    return graph.rows.distances[first[:, None] + torch.arange(n_neighbors, device="cuda")]


def large(text, n_runs):
    points, line, n_neighbors = made(text, 1)
    line["k"] = n_neighbors
    graph, first, median, peak = timed(lambda: neighbor_graph(points, n_neighbors, search="exact"), 1)
    reach = compared_rows(graph, n_neighbors)[:, -1:].clone()
    yield {**line, "search": graph.search, "seconds": round(median, 3), "first seconds": round(first, 2)}
    for recall in _RECALLS:
        graph = None
        gc.collect()
        search = ApproximateSearch(recall)
        graph, first, median, peak = timed(lambda: neighbor_graph(points, n_neighbors, search=search), n_runs)  # noqa: B023
        found = compared_rows(graph, n_neighbors)
        shares = ((found <= reach).sum(dim=1) - 1) / (n_neighbors - 1)
        yield {
            **line,
            "search": graph.search,
            "seconds": round(median, 3),
            "first seconds": round(first, 2),
            "target": recall,
            "recall told": [round(graph.recall, 5), round(graph.recall_error, 5)],
            "recall": round(float(shares.double().mean()), 5),
            "bytes beside points": peak,
        }


def in_chunks(text, n_runs):
    points, line, n_neighbors, n_bytes = made(text, 2)
    line.update({"k": n_neighbors, "memory_limit": n_bytes})
    whole, _, resident, _ = timed(lambda: neighbor_graph(points, n_neighbors, search="exact"), n_runs)
    indices, distances = whole.indices, whole.distances
    X, points, whole = points.cpu().numpy(), None, None
    gc.collect()

    def find():
        return neighbor_graph(X, n_neighbors, search="exact", device="cuda", memory_limit=n_bytes)

    graph, _, seconds, peak = timed(find, n_runs)
    same = bool(np.array_equal(graph.indices, indices) and np.array_equal(graph.distances, distances))
    yield {
        **line,
        "search": graph.search,
        "seconds": round(seconds, 3),
        "on the card": round(resident, 3),
        "bytes of the card": peak,
        "within the limit": peak <= n_bytes,
        "same": same,
    }


def labels(text, n_runs):
    points, line = made(text, 0)
    exact, _, whole, _ = timed(lambda: DensityPeaks(search="exact").fit(points), 1)
    fit, _, seconds, _ = timed(lambda: DensityPeaks(search="approximate").fit(points), 1)
    again = DensityPeaks(search="approximate").fit(points)
    yield {
        **line,
        "search": fit.graph_.search,
        "fit": round(seconds, 3),
        "exact fit": round(whole, 3),
        "clusters": [fit.n_clusters_, exact.n_clusters_],
        "AMI with exact": round(float(adjusted_mutual_info_score(exact.labels_, fit.labels_)), 5),
        "same twice": bool(np.array_equal(again.labels_, fit.labels_)),
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--set", nargs="*", default=_LARGE, dest="sets")
    parser.add_argument("--chunks", nargs="*", default=_CHUNKS)
    parser.add_argument("--labels", nargs="*", default=_LABELS)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument(
        "--output", default=Path(__file__).parent.parent / "results" / "gpu_large.jsonl", type=Path
    )
    given = parser.parse_args()
    records, card = Records(given.output, mark="search"), torch.cuda.get_device_name()
    versions = {"torch": torch.__version__}
    for measured, texts in ((in_chunks, given.chunks), (large, given.sets), (labels, given.labels)):
        for text in texts:
            for line in measured(text, given.runs):
                records.append({**line, "card": card, "versions": versions})
                print(line, flush=True)
            gc.collect()


if __name__ == "__main__":
    main()
