"""From clusters of points to files with a row for each row of the input."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from diffpeaks._base.array_file import Arrays
from diffpeaks.results.clustering import Clustering
from diffpeaks.results.confidence import probabilities
from diffpeaks.sharded.blocks import OpenBlock, on_blocks
from diffpeaks.sharded.labels import write_labels
from diffpeaks.sharded.sources import Source
from diffpeaks.sharded.store import Store, Vector, concatenated


class OfPoints(NamedTuple):
    """What a fit says of each point."""

    label: Vector
    density: Vector
    delta: Vector
    probability: Vector


class Written(NamedTuple):
    """A shard, and the results of its rows."""

    folder: str
    source: Source
    number: int
    point: Vector  # of each row
    values: OfPoints


def written_results(
    folder: str | os.PathLike[str], source: Source, point: Vector, clustering: Clustering, store: Store
) -> None:
    """A file for each shard: the id, label, density, delta and probability of each row."""
    graph: Any = clustering.landscape.estimator.graph_  # a StoredGraph
    labels = store.put("labels", clustering.labels)
    shares = on_blocks(
        store, "probabilities", _probabilities, graph.rows.blocks, labels, clustering.n_clusters
    )
    values = OfPoints(
        labels,
        store.put("density", clustering.density),
        store.put("delta", clustering.forest.delta),
        store.put("probability", concatenated(shares, "probability")),
    )
    folder = os.path.abspath(folder)
    store.map(
        "labels", _written, [Written(folder, source, i, point, values) for i in range(len(source.shards))]
    )


def _probabilities(block: OpenBlock, labels: Vector, n_clusters: int) -> Arrays:
    found = probabilities(block.graph, block.of_all(labels), n_clusters)
    return {"probability": found[: block.n_own]}


def _written(asked: Written) -> Arrays:
    shard, first = asked.source.shards[asked.number], int(asked.source.starts[asked.number])
    rows = asked.point.mapped()[first : first + shard.n_samples]
    values = [vector.mapped()[rows] for vector in asked.values]
    write_labels(asked.folder, asked.number, shard.ids(0, shard.n_samples), first, *values)
    return {"n_rows": np.array([shard.n_samples])}
