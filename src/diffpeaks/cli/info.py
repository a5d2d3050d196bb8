"""`diffpeaks info IN...`: what a run would cost, before it starts."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import scipy.sparse as sp

from diffpeaks._base.tensors import device_of
from diffpeaks.cli.inputs import add_inputs, samples_of
from diffpeaks.cli.parameters import add_parameters, estimator_of
from diffpeaks.cli.summary import add_json, size, tell
from diffpeaks.neighbors.euclidean import METRICS
from diffpeaks.neighbors.gpu.devices import free_bytes, opened
from diffpeaks.neighbors.memory.plan import plan
from diffpeaks.recipes import DEFAULT

_MOST_GRAPHS = 3  # the peak of memory beside the points in whole fits, in sizes of their graphs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    add_json(parser)
    add_parameters(parser, ("n_neighbors", "metric", "n_jobs", "device"))


def run(given: argparse.Namespace) -> None:
    model = estimator_of(given)
    X = samples_of(given, model.metric).X
    summary = {"inputs": given.inputs, **cost(X, model.n_neighbors, model.metric, model.n_jobs, model.device)}
    tell(summary, _lines(summary), given.json, sys.stdout)


def cost(
    X: Any, n_neighbors: int | str, metric: str, n_jobs: int | None, device: str | None = None
) -> dict[str, Any]:
    """The size of the points, and what their neighbours cost where that can be predicted."""
    n_samples, n_features = X.shape
    if n_neighbors == "auto":
        n_neighbors = DEFAULT.n_neighbors(n_samples)
    found = {
        "n_samples": n_samples,
        "n_features": n_features,
        "dtype": str(X.dtype),
        "points_bytes": int((X.data if sp.issparse(X) else X).nbytes),
        "metric": metric,
        "n_neighbors": n_neighbors,
    }
    if sp.issparse(X) or metric not in METRICS:
        return {**found, "predicted": False}
    predicted = plan(n_samples, n_features, int(n_neighbors), X.dtype, n_jobs, metric, device)
    found = {**found, "predicted": True, **asdict(predicted)}
    if device_of(X, device) is None:
        return found
    return {**found, "device": device, "device_free_bytes": free_bytes(opened(str(device)))}


def _lines(summary: dict[str, Any]) -> Iterator[str]:
    shape = f"{summary['n_samples']:,} samples of {summary['n_features']:,} features"
    yield f"points     {shape}, {summary['dtype']}, {size(summary['points_bytes'])}"
    yield f"neighbours {summary['n_neighbors']} for each sample, {summary['metric']}"
    if not summary["predicted"]:
        yield f"prediction none: only for dense points and the metrics {', '.join(METRICS)}"
        return
    yield f"search     {summary['search']}"
    graph = size(summary["graph_bytes"])
    yield f"memory     {size(summary['peak_bytes'])} beside the points, {graph} of it the graph"
    if "device" in summary:
        there = f"{size(summary['device_free_bytes'])} are free on {summary['device']}"
        yield f"device     {size(summary['device_bytes'])} at most, points included; {there}"
    yield f"time       {summary['time']} (a coarse class, from the size alone)"
    yield "           predicted for the neighbour search alone; density and cut, which follow, took up to"
    yield f"           {_MOST_GRAPHS} times the memory of the graph in our measurements"
    if summary["n_features"] > 2:
        moved = size(summary["points_bytes"])
        yield "           smoothing, in more than about two dimensions, takes a second search and"
        yield f"           {moved} for the moved samples; --smooth no turns it off"
