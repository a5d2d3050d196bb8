"""Whole default fits on one card, from a tensor and from an array, and whether labels are those of the host.

usage: fits.py [--set NAME:SAMPLES:FEATURES ...] [--without-host] [--output FILE]

Medians of five fits after a first one. The host searches exactly, on all of its processors, once.
"""

import argparse
import os
from pathlib import Path

import numpy as np
import torch
from data import SETS
from run import timed

from diffpeaks import DensityPeaks
from diffpeaks_paper.records import Records

_STANDARD = (
    "faces:584013:256",
    "faces:150000:64",
    "texts:100000:768",
    "clusters:300000:16",
    "clusters:200000:8",
    "clusters:200000:2",
)
_COMPARED = "labels_", "density_", "peak_indices_"


def measured(name, n_samples, n_features, with_host):
    points = SETS[name](n_samples, n_features, torch.Generator("cuda").manual_seed(0))
    line = {"set": name, "n": n_samples, "d": n_features}
    model, first, median, peak = timed(lambda: DensityPeaks().fit(points))
    yield {
        **line,
        "fit": "tensor",
        "seconds": round(median, 4),
        "first seconds": round(first, 2),
        "bytes beside points": peak,
        "clusters": model.n_clusters_,
        "smoothed": model.smoothing_ is not None,
    }
    X = points.cpu().numpy()
    _, first, median, _ = timed(lambda: DensityPeaks(device="cuda").fit(X))
    yield {**line, "fit": "array", "seconds": round(median, 4), "first seconds": round(first, 2)}
    if with_host:
        host, _, seconds, _ = timed(lambda: DensityPeaks(search="exact").fit(X), 0)
        same = {name: bool(np.array_equal(getattr(host, name), getattr(model, name))) for name in _COMPARED}
        yield {**line, "fit": "host", "seconds": round(seconds, 2), "threads": os.cpu_count(), "same": same}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--set", nargs="*", default=_STANDARD, dest="sets")
    parser.add_argument("--without-host", action="store_true")
    parser.add_argument(
        "--output", default=Path(__file__).parent.parent / "results" / "gpu_fits.jsonl", type=Path
    )
    given = parser.parse_args()
    records = Records(given.output, mark="fit")
    card, versions = torch.cuda.get_device_name(), {"torch": torch.__version__}
    for text in given.sets:
        name, *numbers = text.split(":")
        for line in measured(name, *map(int, numbers), not given.without_host):
            records.append({**line, "card": card, "versions": versions})
            print(line, flush=True)


if __name__ == "__main__":
    main()
