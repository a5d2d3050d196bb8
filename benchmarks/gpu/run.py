"""Exact neighbour graphs on one card: ours, plain torch, and FlashLib where it is installed, in one run.

usage: run.py [--set NAME:SAMPLES:FEATURES:NEIGHBORS ...] [--output FILE]

Points lie on the card, and the graph stays there. Medians of five runs after a first one. The share of true
neighbours is counted on 2,000 rows, against sums of squared differences in double. A line also tells how many
products of all pairs are made in a second, and which share that is of what one large product of half floats
reaches in the same run.
"""

import argparse
import statistics
import time
from pathlib import Path

import torch
from data import SETS

from diffpeaks.neighbors.contract import Measure
from diffpeaks.neighbors.gpu.distances import squared_distances
from diffpeaks.neighbors.gpu.ladder import DevicePoints
from diffpeaks_paper.records import Records

_STANDARD = ("faces:584013:256:80", "texts:1000000:768:30", "clusters:1000000:16:54", "clusters:100000:2:30")
_RUNS, _ROWS_CHECKED = 5, 2000
_BLOCK = 4096


def ours(X, n_neighbors):
    points = DevicePoints(X, Measure(2.0), X.device)
    return points.found(None, n_neighbors).indices


def plain_torch(X, n_neighbors):
    """Products of half floats and their largest, block by block; without padding products are slow."""
    n_samples = len(X)
    half = torch.nn.functional.pad(X.half(), (0, 0, 0, -n_samples % 1024))
    bias = torch.full((len(half),), -torch.inf, device=X.device)
    bias[:n_samples] = -X.square().sum(dim=1) / 2
    blocks = half[:n_samples].split(_BLOCK)
    nearest = [torch.addmm(bias.half(), block, half.T).topk(n_neighbors, dim=1).indices for block in blocks]
    return torch.cat(nearest)


def flashlib(X, n_neighbors):
    from flashlib.primitives.knn import flash_knn

    half = X.half()
    return flash_knn(half, half, n_neighbors)[1]


SYSTEMS = {"diffpeaks": ours, "torch": plain_torch, "flashlib": flashlib}


def timed(function, n_runs=_RUNS):
    """What a function gives, seconds of its first call, the median of the next, and its peak of memory."""
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before, seconds, answer = torch.cuda.memory_allocated(), [], None
    for _ in range(n_runs + 1):
        answer = None
        torch.cuda.synchronize()
        start = time.perf_counter()
        answer = function()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    peak = torch.cuda.max_memory_allocated() - before
    return answer, seconds[0], statistics.median(seconds[1:] or seconds), peak


def recall(X, found, n_neighbors):
    """The share of the true neighbours of some rows, the row itself counted."""
    which = torch.linspace(0, len(X) - 1, _ROWS_CHECKED, device=X.device).long()
    n_found = 0
    for rows in which.split(16):
        squares = squared_distances(X[rows], X, torch.arange(len(X), device=X.device).expand(len(rows), -1))
        last = squares.topk(n_neighbors, dim=1, largest=False).values[:, -1:]
        n_found += int((squares.gather(1, found[rows].long()) <= last).sum())
    return n_found / (_ROWS_CHECKED * n_neighbors)


def products_per_second():
    """Of half floats, in a large square product."""
    side = torch.randn(8192, 8192, device="cuda", dtype=torch.half)
    return 8192**3 / timed(lambda: side @ side, 20)[2]


def measured(name, n_samples, n_features, n_neighbors, ceiling):
    X = SETS[name](n_samples, n_features, torch.Generator("cuda").manual_seed(0))
    for system, find in SYSTEMS.items():
        line = {"set": name, "n": n_samples, "d": n_features, "k": n_neighbors, "system": system}
        try:
            found, first, median, peak = timed(lambda find=find: find(X, n_neighbors))
        except (ImportError, RuntimeError) as error:
            yield {**line, "failed": str(error).splitlines()[0][:200]}
            continue
        rate = float(n_samples) ** 2 * n_features / median
        yield {
            **line,
            "seconds": round(median, 4),
            "first seconds": round(first, 2),
            "recall": recall(X, found, n_neighbors),
            "bytes beside points": peak,
            "products a second": rate,
            "of the ceiling": round(rate / ceiling, 3),
        }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--set", nargs="*", default=_STANDARD, dest="sets")
    parser.add_argument("--output", default=Path(__file__).parent.parent / "results" / "gpu.jsonl", type=Path)
    given = parser.parse_args()
    records, ceiling = Records(given.output, mark="system"), products_per_second()
    card, versions = torch.cuda.get_device_name(), {"torch": torch.__version__}
    for text in given.sets:
        name, *numbers = text.split(":")
        for line in measured(name, *map(int, numbers), ceiling):
            records.append({**line, "card": card, "versions": versions})
            print(line, flush=True)


if __name__ == "__main__":
    main()
