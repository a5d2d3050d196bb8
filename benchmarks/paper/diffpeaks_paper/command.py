"""`diffpeaks paper EXPERIMENT`: run what is missing, then make the table or the figure from the lines."""

import os
import sys
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from diffpeaks.plotting import pyplot
from diffpeaks_paper import benchmark_sets, cost, face_runs, figures, lfw_runs, likeness, supervised
from diffpeaks_paper.benchmark_tables import benchmark_table
from diffpeaks_paper.definitions import FACE_NEIGHBORS, LEAST_FACES
from diffpeaks_paper.face_tables import face_table
from diffpeaks_paper.lfw_tables import lfw_table
from diffpeaks_paper.records import Records
from diffpeaks_paper.sources import GENERATED, available_source, real_path, recorded_source
from diffpeaks_paper.workers import terminated_like_interrupted

EXPERIMENTS = {
    "table1": "density peaks on the 13 sets, six densities",
    "table2": "faces, emore_200k",
    "table3": "faces, MS1M",
    "table4": "DBSCAN on the 13 sets, six densities (the table of the appendix)",
    "table-lfw": "real faces (LFW): every method, as published and at its best",
    "table-likeness": "what tells generated faces from real ones (LFW)",
    "figure1": "the naive density and that of the walk on three Gaussians",
    "figure2": "precision and recall on MS1M",
    "figure3": "sensitivity to radius, neighbours and bandwidth on emore_200k",
    "figure4": "time and memory of the densities against the number of samples, MS1M",
}
# the set of an experiment on faces, and its jobs
_FACES = {
    "table2": ("emore_200k", face_runs.method_jobs),
    "table3": ("ms1m", face_runs.method_jobs),
    "figure2": ("ms1m", face_runs.method_jobs),
    "figure3": ("emore_200k", face_runs.sensitivity_jobs),
    "figure4": ("ms1m", cost.jobs),
    "table-lfw": ("lfw", lfw_runs.jobs),
    "table-likeness": ("lfw", likeness.jobs),
}
_RUNS = {"figure4": cost.run, "table-lfw": lfw_runs.run, "table-likeness": likeness.run}
# jobs of supervised methods, which hang on the files that there are to train on, and how they are run
_SUPERVISED = {
    "table2": (supervised.set_jobs, supervised.run_on_set),
    "table3": (supervised.set_jobs, supervised.run_on_set),
    "table-lfw": (supervised.half_jobs, supervised.run_on_half),
}
_TABLES = {
    "table2": face_table,
    "table3": face_table,
    "table-lfw": lfw_table,
    "table-likeness": likeness.likeness_table,
}
_COMMUNITIES = ("igraph", "infomap", "leidenalg")
# packages that an experiment needs, and where they come from
_EXTRAS = {
    **dict.fromkeys(("table2", "table3"), ("communities,learned", (*_COMMUNITIES, "torch"))),
    "figure2": ("communities", _COMMUNITIES),
    "table-lfw": ("clusterers,learned", ("evoc", *_COMMUNITIES, "torch")),
    "table-likeness": ("communities", _COMMUNITIES),
}


def add_arguments(parser):
    lines = [f"  {name}  {what}" for name, what in EXPERIMENTS.items()]
    parser.epilog = "experiments:\n" + "\n".join(lines)
    parser.add_argument("experiment", choices=EXPERIMENTS, metavar="EXPERIMENT")
    parser.add_argument("--output", default="diffpeaks-paper", help="folder of tables, figures and results")
    parser.add_argument("--results", help="file of the results; default: results.jsonl in the output folder")
    parser.add_argument("--data", help="folder of data sets; default: DIFFPEAKS_DATA")
    parser.add_argument(
        "--generated", action="store_true", help="generated faces, whatever real ones the data folder has"
    )
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
    generated: bool
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
    _check_arguments(given)
    _check_extras(given.experiment)
    output, data = Path(given.output), _data_folder(given)
    output.mkdir(parents=True, exist_ok=True)
    if not os.access(output, os.W_OK):
        raise PermissionError(f"the output folder {output} cannot be written; give another with --output")
    records = Records(given.results or output / "results.jsonl")
    session = Session(output, records, data, given.samples, given.generated, given.jobs, given.read)
    with terminated_like_interrupted():
        path = _made(given.experiment, session)
    print(f"Written: {path}")
    return path


def _check_arguments(given):
    for name, is_given in (("--samples", given.samples is not None), ("--generated", given.generated)):
        if is_given and given.experiment not in _FACES:
            raise ValueError(f"{name} is for faces; {given.experiment} has none")
    if given.generated and given.experiment == "table-likeness":
        raise ValueError("table-likeness compares with real faces; leave --generated out")
    if given.samples is not None and given.samples < LEAST_FACES:
        raise ValueError(
            f"--samples={given.samples} must be at least {LEAST_FACES}, for lists of {FACE_NEIGHBORS} "
            "neighbours"
        )
    if given.jobs is not None and given.jobs < 1:
        raise ValueError(f"--jobs={given.jobs} must be at least 1")


def _data_folder(given):
    """The folder that is named, which must exist; results that are only read need none."""
    data = given.data
    if data is None and not given.read:
        data = os.environ.get("DIFFPEAKS_DATA") or None
    if data is not None and not (data and Path(data).is_dir()):
        raise FileNotFoundError(f"the data folder {data!r} does not exist; correct --data or DIFFPEAKS_DATA")
    return data


def _check_extras(experiment):
    """Refuse before the work, not after it."""
    if experiment.startswith("figure"):
        pyplot()
    extra, packages = _EXTRAS.get(experiment, ("", ()))
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise ImportError(
            f"{experiment} needs {', '.join(missing)}; install with: pip install 'diffpeaks[{extra}]'"
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
    faces, jobs_of = _FACES[name]
    source, size = _source(faces, jobs_of, session)
    asked = {"set": faces, "source": source, "n_samples": size}
    run = _RUNS.get(name, face_runs.run)
    work = str(session.output / "graphs")
    session.complete(jobs_of(**asked), partial(run, folder=session.data, work=work))
    if name in _SUPERVISED and not session.read:
        more_jobs, run_more = _SUPERVISED[name]
        jobs = more_jobs(**asked, folder=session.data)
        session.complete(jobs, partial(run_more, folder=session.data, work=work))
    if name in _TABLES:
        return _written(session.output / f"{name}.md", _TABLES[name](session.records, **asked))
    return getattr(figures, name)(session.output / f"{name}.png", session.records, **asked)


def _source(faces, jobs_of, session):
    """Where the faces come from, and how many there are: said before the work, as no score tells."""
    real = faces == "lfw" and not session.generated  # a table on real faces, unless others are asked for
    if session.read and (session.data is None or session.generated):
        given = (session.n_samples, session.generated, real)
        source, size = recorded_source(session.records, jobs_of, faces, *given)
        told = f"{source}, as {session.records.path} has them"
    else:
        folder = None if session.generated else session.data
        if real and folder is None:
            raise FileNotFoundError(
                f"no data folder is named; name the one with {real_path(faces, '.')} by --data or "
                "DIFFPEAKS_DATA, or take generated faces with --generated"
            )
        source, size = available_source(faces, folder, session.n_samples)
        if source == GENERATED:
            told = f"{source}; real ones are read with --data DATA, from {real_path(faces, 'DATA')}"
        else:
            told = f"{source}, from {real_path(faces, folder)}"
    print(f"{faces}: {size:,} samples, {told}", file=sys.stderr)
    return source, size


def _written(path, text):
    path.write_text(text)
    print(text)
    return path
