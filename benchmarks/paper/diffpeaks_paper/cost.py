"""Figure 4: time and memory of a density against the number of samples, each in a process of its own.

python -m diffpeaks_paper.cost GRAPH BALLS DENSITY
"""

import json
import subprocess
import sys
import time
from pathlib import Path

from diffpeaks import ConvergenceError, NeighborGraph
from diffpeaks_paper.definitions import (
    COST_SHARES,
    DIFFUSION_DENSITIES,
    FACE_RADIUS,
)
from diffpeaks_paper.face_runs import density_of
from diffpeaks_paper.faces import ball_graph, load_faces, neighbors_of

EXPERIMENT = "cost"


def jobs(set, source, n_samples):
    start = {"experiment": EXPERIMENT, "set": set, "source": source}
    return [
        {**start, "n_samples": round(share * n_samples), "of": n_samples, "density": density}
        for share in COST_SHARES
        for density in DIFFUSION_DENSITIES
    ]


def run(job, folder, work):
    """Seconds and peak memory of a density, the graph given."""
    faces = load_faces(job["set"], folder, job["source"], job["of"], work)
    files = _graph_files(faces, job["n_samples"], Path(work))
    command = [sys.executable, "-m", "diffpeaks_paper.cost", *map(str, files), job["density"]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        reason = done.stderr.strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
        raise RuntimeError(f"{job['density']} on {job['n_samples']} samples failed: {reason[0]}")
    return json.loads(done.stdout)


def _graph_files(faces, n_samples, work):
    """The lists of the first samples, and the balls cut from them."""
    stem = f"{faces.name}-{faces.source}-first-{n_samples}-of-{len(faces.X)}".replace(" ", "-")
    lists, balls = work / f"{stem}.graph", work / f"{stem}-balls.graph"
    if not balls.exists():
        work.mkdir(parents=True, exist_ok=True)
        graph = neighbors_of(faces.X[:n_samples], faces.name)
        graph.save(lists)
        ball_graph(graph, FACE_RADIUS).save(balls)
    return lists, balls


def measure(lists, balls, name):
    graph, ball = NeighborGraph.load(lists), NeighborGraph.load(balls)
    before = _memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    started = time.perf_counter()
    try:
        density = density_of(graph, name, balls=ball)
    except ConvergenceError as error:
        return {"without_limit": str(error)}
    seconds = time.perf_counter() - started
    used = ball if name.endswith("-sym") else graph
    return {
        "density_seconds": round(seconds, 3),
        "kilobytes": _memory("VmHWM") - before,
        "entries": len(used.indices),
        "residual": density.residual_,
        "n_closed_classes": density.n_closed_classes_,
        "transient_share": density.transient_share_,
    }


def _memory(name):
    """Kilobytes of this process; Linux alone tells the peak of a part of a run."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))


if __name__ == "__main__":
    print(json.dumps(measure(*sys.argv[1:])))
