"""`diffpeaks paper EXPERIMENT`: run what is missing, then make the table or the figure from the lines."""

import os
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from diffpeaks.plotting import pyplot
from diffpeaks_paper import benchmark_sets, cost, face_runs, figures
from diffpeaks_paper.benchmark_tables import benchmark_table
from diffpeaks_paper.face_tables import face_table
from diffpeaks_paper.faces import source_and_size
from diffpeaks_paper.records import Records
from diffpeaks_paper.workers import terminated_like_interrupted

EXPERIMENTS = {
    "table1": "density peaks on the 13 sets, six densities",
    "table2": "faces, emore_200k",
    "table3": "faces, MS1M",
    "table4": "DBSCAN on the 13 sets, six densities (the table of the appendix)",
    "figure1": "the naive density and that of the walk on three Gaussians",
    "figure2": "precision and recall on MS1M",
    "figure3": "sensitivity to radius, neighbours and bandwidth on emore_200k",
    "figure4": "time and memory of the densities against the number of samples, MS1M",
}
_FACES_OF = {
    "table2": "emore_200k",
    "table3": "ms1m",
    "figure2": "ms1m",
    "figure3": "emore_200k",
    "figure4": "ms1m",
}


def add_arguments(parser):
    lines = [f"  {name}  {what}" for name, what in EXPERIMENTS.items()]
    parser.epilog = "experiments:\n" + "\n".join(lines)
    parser.add_argument("experiment", choices=EXPERIMENTS, metavar="EXPERIMENT")
    parser.add_argument("--output", default="diffpeaks-paper", help="folder of tables, figures and results")
    parser.add_argument("--results", help="file of the results; default: results.jsonl in the output folder")
    parser.add_argument("--data", help="folder of data sets; default: DIFFPEAKS_DATA")
    parser.add_argument(
        "--samples", type=int, help="faces to take or to generate; default: as many as the paper"
    )
    parser.add_argument(
        "--jobs", type=int, default=None, help="processes for table1 and table4; default: all cores"
    )
    parser.add_argument("--read", action="store_true", help="run nothing, only read the results")


@dataclass
class Session:
    """The folders of a call, and the results so far."""

    output: Path
    records: Records
    data: str | None
    n_samples: int | None
    n_workers: int | None
    read: bool

    def complete(self, jobs, run, n_workers=1):
        missing = self.records.missing(jobs)
        if self.read and missing:
            raise ValueError(
                f"{len(missing)} of {len(jobs)} results are not in {self.records.path}; run without --read, "
                "or name the file with --results"
            )
        self.records.complete(missing, run, n_workers)


def main(given):
    """Make what the arguments ask for; returns the file that was written."""
    output = Path(given.output)
    data = given.data or os.environ.get("DIFFPEAKS_DATA")
    if data is not None and not Path(data).is_dir():
        raise FileNotFoundError(f"the data folder {data} does not exist; correct --data or DIFFPEAKS_DATA")
    if given.samples is not None and given.experiment not in _FACES_OF:
        raise ValueError(f"--samples is for faces; {given.experiment} has none")
    if given.samples is not None and given.samples < 1000:
        raise ValueError(f"--samples={given.samples} must be at least 1000, for lists of 80 neighbours")
    if given.jobs is not None and given.jobs < 1:
        raise ValueError(f"--jobs={given.jobs} must be at least 1")
    _check_extras(given.experiment)
    output.mkdir(parents=True, exist_ok=True)
    records = Records(given.results or output / "results.jsonl")
    session = Session(output, records, data, given.samples, given.jobs, given.read)
    with terminated_like_interrupted():
        path = _made(given.experiment, session)
    print(f"Written: {path}")
    return path


def _check_extras(experiment):
    """Refuse before the work, not after it."""
    if experiment.startswith("figure"):
        pyplot()
    if experiment in ("table2", "table3", "figure2"):
        missing = [name for name in ("igraph", "infomap", "leidenalg") if find_spec(name) is None]
        if missing:
            raise ImportError(
                f"{experiment} needs {', '.join(missing)}; install with: pip install 'diffpeaks[communities]'"
            )


def _made(name, session):
    if name == "figure1":
        return figures.figure1(session.output / "figure1.png")
    if name in ("table1", "table4"):
        run = partial(benchmark_sets.run, folder=session.data)
        session.complete(benchmark_sets.jobs(), run, session.n_workers)
        return _written(session.output / f"{name}.md", benchmark_table(session.records, name))
    return _faces_made(name, session)


def _faces_made(name, session):
    faces = _FACES_OF[name]
    source, size = source_and_size(faces, session.data, session.n_samples)
    asked = {"set": faces, "source": source, "n_samples": size}
    work = str(session.output / "graphs")
    run = partial(face_runs.run, folder=session.data, work=work)
    if name in ("table2", "table3"):
        session.complete(face_runs.method_jobs(**asked), run)
        return _written(session.output / f"{name}.md", face_table(session.records, **asked))
    if name == "figure2":
        session.complete(face_runs.method_jobs(**asked), run)
    elif name == "figure3":
        session.complete(face_runs.sensitivity_jobs(**asked), run)
    else:
        session.complete(cost.jobs(**asked), partial(cost.run, folder=session.data, work=work))
    return getattr(figures, name)(session.output / f"{name}.png", session.records, **asked)


def _written(path, text):
    path.write_text(text)
    print(text)
    return path
