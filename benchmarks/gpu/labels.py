"""Whether fits on one card give what the host gives: every set of the data folder, the default and others.

usage: labels.py [--data FOLDER] [--output FILE]

A line for each set, with what is the same bit by bit. The host searches exactly. Other settings than the
default run on sets of at most 3,000 samples.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "peers"))
from families import SMALL, load_any
from sets import GROUPS

from diffpeaks import DensityDBSCAN, DensityPeaks, KernelDiffusion
from diffpeaks.datasets.uci import data_folder
from diffpeaks_paper.records import Records

SETTINGS = {
    "DensityPeaks()": DensityPeaks(),
    "DensityPeaks(metric='cosine')": DensityPeaks(metric="cosine"),
    "DensityPeaks(n_clusters=5)": DensityPeaks(n_clusters=5),
    "DensityPeaks(min_prominence=0.4)": DensityPeaks(min_prominence=0.4),
    "DensityPeaks('fkd-asym')": DensityPeaks("fkd-asym"),
    "DensityPeaks('kd-asym')": DensityPeaks("kd-asym"),
    "DensityPeaks('fkd-sym')": DensityPeaks("fkd-sym"),
    "DensityPeaks('lc')": DensityPeaks("lc"),
    "DensityPeaks('naive')": DensityPeaks("naive"),
    "DensityPeaks(KernelDiffusion(20, steps=8), halo=True)": DensityPeaks(
        KernelDiffusion(20, steps=8), halo=True
    ),
    "DensityDBSCAN()": DensityDBSCAN(),
}
_DEFAULT = "DensityPeaks()"
_MOST_SAMPLES = 3000  # of sets that all settings run on


def fitted(model, X, **where):
    """Labels and densities, or what the refusal says."""
    try:
        fit = model.set_params(**where).fit(X)
    except ValueError as error:
        return str(error)
    return fit.labels_.tobytes(), fit.density_.tobytes()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data")
    results = Path(__file__).parents[1] / "results"
    parser.add_argument("--output", default=results / "gpu_labels.jsonl", type=Path)
    given = parser.parse_args()
    records, card = Records(given.output, mark="same"), torch.cuda.get_device_name()
    real = [path.stem for path in (data_folder(given.data) / "real").glob("*.npz")]
    for name in sorted([*real, *(name for group in SMALL for name in GROUPS[group])]):
        X = np.ascontiguousarray(load_any(name, given.data)[0])
        same = {}
        for setting, model in SETTINGS.items():
            if setting == _DEFAULT or len(X) <= _MOST_SAMPLES:
                host = fitted(model, X, device=None, search="exact")
                same[setting] = fitted(model, X, device="cuda") == host
        line = {"set": name, "n": len(X), "d": X.shape[1], "same": same, "card": card}
        records.append(line)
        print(name, len(X), [setting for setting, is_same in same.items() if not is_same], flush=True)


if __name__ == "__main__":
    main()
