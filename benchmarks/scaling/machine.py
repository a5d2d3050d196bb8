"""What a result line says about where it was measured."""

import os
import platform
from importlib.metadata import version


def machine(n_threads):
    packages = {name: version(name) for name in ("diffpeaks", "numpy", "scipy", "scikit-learn")}
    return {
        "cpu": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "threads": n_threads,
        "python": platform.python_version(),
        **packages,
    }
