"""Whether this tree gives the labels of another commit: every set, the default and other settings.

usage: same_labels.py COMMIT [--data FOLDER] [--only NAME ...]

Both trees are built into folders of their own and run on the same files, one process each. A line for each
set and setting whose labels differ, with the number of samples that do; the exit status is 1 if there is any.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
SETTINGS = (
    "DensityPeaks()",
    "DensityPeaks(n_clusters=5)",
    "DensityPeaks(min_prominence=0.4)",
    "DensityPeaks(max_link=far)",
    "DensityPeaks(smooth=False, min_cluster_size=4, noise='assign')",
    "DensityPeaks('fkd-asym')",
    "DensityPeaks('kd-sym', n_clusters=5)",
    "DensityPeaks('lc', min_prominence=0.4)",
    "DensityPeaks('naive', max_link=far)",
    "DensityPeaks(KernelDiffusion(20, steps=8), halo=True)",
    "DensityDBSCAN()",
    "DensityDBSCAN('naive', min_density=5)",
    "DensityDBSCAN('fkd-asym', border=False)",
)
# Runs in either tree: nothing but the folder of that tree says where diffpeaks is.
WORKER = """
import sys
sys.meta_path = [finder for finder in sys.meta_path if "Redirecting" not in type(finder).__name__]
tree, folder, out = sys.argv[1:4]
sys.path.insert(0, tree)
import numpy as np
from pathlib import Path
import diffpeaks
from diffpeaks import DensityDBSCAN, DensityPeaks, KernelDiffusion
assert Path(diffpeaks.__file__).is_relative_to(tree), diffpeaks.__file__
labels = {}
for path in sorted(Path(folder).glob("*.npy")):
    X = np.load(path)
    far = 0.3 * float(np.median(np.linalg.norm(X[: len(X) // 2] - X[-(len(X) // 2) :], axis=1)))
    for setting in sys.argv[4:]:
        if len(X) > 20_000 and "kd-sym" in setting:
            continue  # its law takes minutes on large sets
        try:
            labels[f"{path.stem} {setting}"] = eval(setting).fit_predict(X)
        except ValueError as error:
            labels[f"{path.stem} {setting}"] = np.array(str(error))
np.savez(out, **labels)
"""


def write_sets(folder, data, only):
    """The sets of `families.py`, digits, faces and 100,000 points, as files of points."""
    sys.path.insert(0, str(ROOT / "benchmarks" / "peers"))
    from families import families, load_any
    from sklearn.datasets import make_blobs

    names = [name for group in families(data).values() for name in group]
    generated = {"blobs_100k": lambda: make_blobs(100_000, 8, centers=40, cluster_std=3.0, random_state=0)[0]}
    for name in [*names, "digits", "faces_30", *generated]:
        if not only or name in only:
            X = generated[name]() if name in generated else load_any(name, data)[0]
            np.save(Path(folder) / f"{name}.npy", np.ascontiguousarray(X))


def built(commit, folder):
    """A folder with diffpeaks as it is at that commit; None is the tree as it stands."""
    source, target = ROOT, Path(folder) / "built"
    if commit is not None:
        source = Path(folder) / "source"
        subprocess.run(["git", "worktree", "add", "--detach", source, commit], cwd=ROOT, check=True)
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", target, source]
    subprocess.run([*map(str, install), "-C", f"build-dir={folder}/build"], check=True)
    if commit is not None:
        subprocess.run(["git", "worktree", "remove", "--force", source], cwd=ROOT, check=True)
    return target


def differing(one, other):
    """How many labels differ; all of them where one side refuses, or both with other words."""
    if one.shape == other.shape:
        return int(np.count_nonzero(one != other))
    return max(one.size, other.size)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("commit")
    parser.add_argument("--data", help="folder of data sets; default: DIFFPEAKS_DATA")
    parser.add_argument("--only", nargs="+", default=(), metavar="NAME")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sets = Path(folder) / "sets"
        sets.mkdir()
        write_sets(sets, given.data, given.only)
        found = {}
        for side, commit in (("then", given.commit), ("now", None)):
            (Path(folder) / side).mkdir()
            tree, out = built(commit, Path(folder) / side), Path(folder) / f"{side}.npz"
            command = [sys.executable, "-c", WORKER, str(tree), str(sets), str(out), *SETTINGS]
            subprocess.run(command, check=True, cwd=folder, env={**os.environ, "OMP_NUM_THREADS": "1"})
            found[side] = dict(np.load(out))
    changed = 0
    for key, then in found["then"].items():
        n_samples = differing(then, found["now"][key])
        if n_samples:
            changed += 1
            print(f"{key}: {n_samples} samples")
    print(f"{len(found['then']) - changed} of {len(found['then'])} are as at {given.commit}")
    sys.exit(changed > 0)


if __name__ == "__main__":
    main()
