"""Seconds of a new process that imports, clusters 2,000 points and prints labels, beside HDBSCAN.

usage: cold_start.py [--repeats R]

The processes take turns; one JSON line with the median of each.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time

from machine import machine

SCRIPTS = {
    "import numpy": "import numpy",
    "import sklearn.base": "import sklearn.base",
    "import diffpeaks": "import diffpeaks",
    "diffpeaks": """
import numpy as np
from diffpeaks import DensityPeaks
print(DensityPeaks().fit_predict(np.random.default_rng(0).normal(size=(2000, 10)))[:5])
""",
    "sklearn HDBSCAN": """
import numpy as np
from sklearn.cluster import HDBSCAN
print(HDBSCAN(copy=True).fit_predict(np.random.default_rng(0).normal(size=(2000, 10)))[:5])
""",
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    seconds = {name: [] for name in SCRIPTS}
    for _ in range(repeats):
        for name, script in SCRIPTS.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)
            seconds[name].append(time.perf_counter() - start)
    medians = {name: round(statistics.median(values), 3) for name, values in seconds.items()}
    print(json.dumps({"seconds": medians, **machine(None)}))


if __name__ == "__main__":
    main()
