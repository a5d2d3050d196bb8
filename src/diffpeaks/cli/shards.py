"""`diffpeaks cluster IN... --out FOLDER`: points in shards, which need not fit into memory."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diffpeaks.cli.parameters import check_defaults
from diffpeaks.cli.progress import progress_shown
from diffpeaks.cli.summary import rounded, size, tell
from diffpeaks.results.facts import cut_told, neighbors_told, recall_told, smoothing_told

if TYPE_CHECKING:
    from diffpeaks.sharded import ShardedDensityPeaks

_TAKEN = ("max_link", "min_prominence", "min_cluster_size", "metric", "random_state")  # as in DensityPeaks
_SEARCHES = ("auto", "exact")
_HERE = "here"  # an engine without an address is started on this machine


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("points that do not fit into memory")
    group.add_argument(
        "--out",
        metavar="FOLDER",
        help="work in files, and write the labels of each file of IN into this folder; IN may be folders",
    )
    group.add_argument(
        "--memory", metavar="SIZE", help="what each process may take, such as 4GB (the default)"
    )
    group.add_argument("--workers", type=int, metavar="N", help="processes; default: one on each processor")
    engine = group.add_mutually_exclusive_group()
    for name, what in (("ray", "ray://host:10001"), ("dask", "tcp://host:8786")):
        engine.add_argument(
            f"--{name}",
            nargs="?",
            const=_HERE,
            metavar="ADDRESS",
            help=f"workers of {name.title()}: at an address like {what}, or without one on this machine",
        )


def is_asked_for(given: argparse.Namespace) -> bool:
    """Whether to work in files; what has a meaning only there is refused without."""
    if given.out is not None:
        return True
    for name in ("memory", "workers", "ray", "dask"):
        if getattr(given, name) is not None:
            raise ValueError(f"--{name} has no effect without --out FOLDER, which asks for work in files")
    folders = [path for path in given.inputs if Path(path).is_dir()]
    if folders:
        raise IsADirectoryError(
            f"{folders[0]!r} is a folder; name its files, or work in files with --out FOLDER"
        )
    return False


def run(given: argparse.Namespace) -> None:
    model = _estimator_of(given)
    inputs = given.inputs[0] if len(given.inputs) == 1 else given.inputs
    start = time.perf_counter()
    with progress_shown(given):
        model.fit(inputs, out=given.out)
    summary = {
        "inputs": given.inputs,
        "n_samples": len(model.labels_),
        "n_features": model.n_features_in_,
        **model.facts_,
        "n_resumed": model.n_resumed_,
        "peak_memory": model.peak_memory_,
        "seconds": rounded(time.perf_counter() - start),
        "output": given.out,
    }
    tell(summary, () if given.quiet else _lines(summary), given.json)


def _estimator_of(given: argparse.Namespace) -> ShardedDensityPeaks:
    from diffpeaks.sharded import ShardedDensityPeaks

    for name in ("output", "save", "key", "width", "format", "header"):
        if getattr(given, name) is not None:
            raise ValueError(f"--{name} has no effect with --out; leave it out")
    if given.search not in _SEARCHES:
        raise ValueError(f"--search={given.search} is not for points in files; use one of {list(_SEARCHES)}")
    check_defaults(given, "--out", but=(*_TAKEN, "search"))
    engine = next((name for name in ("ray", "dask") if getattr(given, name) is not None), None)
    address = engine and getattr(given, engine)
    return ShardedDensityPeaks(
        **{name: getattr(given, name) for name in _TAKEN},
        search=given.search,
        memory_limit=given.memory or "4GB",
        executor=engine if address == _HERE else address,
        n_workers=given.workers,
        columns=given.columns,
        id_column=given.id,
    )


def _lines(summary: dict[str, Any]) -> Iterator[str]:
    yield f"points     {summary['n_samples']:,} samples of {summary['n_features']:,} features"
    yield f"neighbours {neighbors_told(summary)}, {summary['metric']}"
    yield f"search     {summary['search']}, {recall_told(summary)}"
    yield f"smoothing  {smoothing_told(summary)}"
    yield f"isolated   {summary['isolation']['why']}"
    yield f"cut        {cut_told(summary)}"
    yield f"clusters   {summary['n_clusters']:,}"
    yield f"noise      {summary['n_noise']:,} samples"
    if summary["n_resumed"]:
        yield f"resumed    {summary['n_resumed']:,} tasks were done by an earlier run"
    peaks = [peak for peak in summary["peak_memory"].values() if peak is not None]
    yield f"memory     at most {size(max(peaks, default=0))} in a process"
    yield f"seconds    {summary['seconds']:.2f}"
    yield f"labels     {summary['output']}"
