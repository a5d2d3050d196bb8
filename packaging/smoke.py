"""What an installed diffpeaks must do wherever it is installed: `python packaging/smoke.py`.

It needs pytest and hypothesis beside diffpeaks itself. Of the repository that it lies in it takes README and
tests, and no sources.
"""

import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from sklearn.datasets import load_digits

import diffpeaks

ROOT = Path(__file__).parents[1]
# tests of the compiled core and of the walk that need none of the extras
SELECTION = (
    "native/test_lengths.py",
    "density/test_walk.py",
    "forest/test_flow.py",
    "forest/test_isolated.py",
    "neighbors/test_cell_search.py",
    "test_metrics.py",
)


def main() -> int:
    installed = Path(diffpeaks.__file__).parent
    if ROOT in installed.parents and "site-packages" not in installed.parts:
        raise SystemExit(f"the installed package is to be tried, and {installed} is the repository's own")
    run_first_block_of_readme()
    run_command()
    where = f"Python {platform.python_version()}, {platform.machine()}"
    print(f"diffpeaks {diffpeaks.__version__} works: {where}", flush=True)
    tests = [str(ROOT / "tests" / name) for name in SELECTION]
    return pytest.main(["-q", "-p", "no:cacheprovider", "-c", str(ROOT / "pyproject.toml"), *tests])


def run_first_block_of_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"```python\n(.*?)```", readme, re.DOTALL).group(1)
    names = {"X": load_digits().data}
    exec(block, names)
    assert names["model"].n_clusters_ > 1


def run_command() -> None:
    command = Path(sys.executable).with_name("diffpeaks")
    with tempfile.TemporaryDirectory() as folder:
        points, labels = Path(folder, "points.csv"), Path(folder, "labels.csv")
        rows = [f"{i % 7},{i // 7 + 100 * (i > 50)}" for i in range(100)]
        points.write_text("\n".join(["x,y", *rows]))
        subprocess.run([command, "cluster", points, "-o", labels, "--quiet"], check=True)
        assert len(labels.read_text().splitlines()) >= 100


if __name__ == "__main__":
    sys.exit(main())
