"""Points in every layout of files that shards are read from."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from clouds import general_position

from diffpeaks.sharded.sources import open_source

X = general_position(0, 60, 5).astype(np.float32)
IDS = [f"sample {i}" for i in range(len(X))]


def write_lists(path, rows, kind=None, **options):
    """The rows as a column of lists, with ids and a text beside them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    ids = [IDS[np.flatnonzero((row == X).all(axis=1))[0]] for row in rows]
    embedding = pa.array(list(rows), kind or pa.list_(pa.float32()))
    texts = pa.array(["words"] * len(rows), pa.string())
    pq.write_table(
        pa.table({"id": pa.array(ids, pa.string()), "text": texts, "e": embedding}), path, **options
    )


def folder_of_npy(folder):
    """Names whose natural order is not that of their letters."""
    for number, rows in {2: X[:20], 10: X[20:45], 11: X[45:]}.items():
        np.save(folder / f"part-{number}.npy", rows)
    return open_source(folder)


def folder_of_both(folder):
    """With shards of no rows, and files that are no shards."""
    write_lists(folder / "0.parquet", X[:0])
    np.save(folder / "1.npy", X[:20])
    np.save(folder / "2.npy", np.empty((0, 0)))
    write_lists(folder / "3.parquet", X[20:], row_group_size=9)
    np.save(folder / "_unfinished.npy", X)
    (folder / "_SUCCESS").touch()
    (folder / "readme.txt").write_text("about the shards")
    return open_source(folder, "e")


def curated(folder):
    """What curation pipelines write: a folder for each of their cells."""
    for cell, rows in {0: X[:5], 2: X[5:30], 10: X[30:]}.items():
        write_lists(folder / f"nearest_cent={cell}" / "part.0.parquet", rows)
    return open_source(folder, "e", "id")


def fixed_lists(folder):
    write_lists(folder / "points.parquet", X, pa.list_(pa.float32(), X.shape[1]), row_group_size=11)
    return open_source(str(folder / "points.parquet"), ["e"], "id")


def columns(folder):
    table = {"id": IDS, **{f"x{i}": X[:, i] for i in range(X.shape[1])}}
    pq.write_table(pa.table(table), folder / "points.parquet", row_group_size=7)
    return open_source(folder / "points.parquet", id_column="id")


def listed(folder):
    np.save(folder / "b.npy", X[:20])
    np.save(folder / "a.npy", X[20:])
    return open_source([folder / "b.npy", str(folder / "a.npy")])


def column_after_column(folder):
    np.save(folder / "points.npy", np.asfortranarray(X))
    return open_source(folder / "points.npy")


def mapped(folder):
    """After something else in the file."""
    np.concatenate([np.ones(3, np.float32), X.ravel()]).tofile(folder / "raw")
    return open_source(np.memmap(folder / "raw", np.float32, "r", 12, X.shape))


def part_of_mapped(folder):
    np.save(folder / "points.npy", np.vstack([X[:7], X, X[:3]]))
    return open_source(np.load(folder / "points.npy", mmap_mode="r")[2:][5:-3])


def in_memory(folder):
    return open_source(X)


def zarr_array(folder, X=X, **options):
    zarr = pytest.importorskip("zarr", reason="zarr is not installed: its arrays are not read")
    path = str(folder / "points.zarr")
    array = zarr.open_array(path, mode="w", shape=X.shape, chunks=(7, 2), dtype=X.dtype, **options)
    array[:] = X
    return open_source(folder / "points.zarr")


def zarr_array_of_the_older_format(folder):
    zarr = pytest.importorskip("zarr", reason="zarr is not installed: its arrays are not read")
    return zarr_array(folder, **({} if zarr.__version__ < "3" else {"zarr_format": 2}))


LAYOUTS = {
    layout.__name__: layout
    for layout in (
        folder_of_npy,
        folder_of_both,
        curated,
        fixed_lists,
        columns,
        listed,
        column_after_column,
        mapped,
        part_of_mapped,
        in_memory,
        zarr_array,
        zarr_array_of_the_older_format,
    )
}
WITH_IDS = ("curated", "fixed_lists", "columns")


def with_value(row, column, value, dtype=np.float32):
    points = X.astype(dtype)
    points[row, column] = value
    return points
