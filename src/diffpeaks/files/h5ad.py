"""`.h5ad`: a matrix of AnnData, X or one of obsm; results become columns of obs in a copy of the file."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from diffpeaks.files.columns import check_column
from diffpeaks.files.contract import Choice, Ids, Results, Samples, Source, Wanted, extra, one_of, shown

EXTRA = ("anndata.io", "h5ad")
PREFIX = "diffpeaks_"  # of the columns that are written, so that none of another origin is replaced


def read(source: Source, wanted: Wanted) -> Samples:
    with _opened(source) as (h5, read_elem):
        key = "X" if wanted.key is None else wanted.key
        group = h5 if key == "X" else h5.get("obsm", {})
        X = read_elem(group[key]) if key in group else None
        if X is None:
            raise source.fault(
                f"has no matrix {key!r}; name one of {shown(list(h5.get('obsm', ())))} with --key"
            )
        obs = read_elem(h5["obs"])
        others = list(h5.get("obsm", ()))
    if hasattr(X, "to_numpy"):  # obsm may hold tables
        X = X.to_numpy()
    for name in wanted.no_numbers:
        check_column(source, list(obs.columns), name)
    if wanted.id is None:
        ids = Ids(str(obs.index.name or "obs_name"), obs.index.to_numpy(object))
    else:
        ids = Ids(wanted.id, np.asarray(obs[wanted.id]))
    beside = {name: np.asarray(obs[name]) for name in wanted.beside}
    return Samples(X, None, ids, beside, _note_of_choice(source, wanted, others))


def _note_of_choice(source: Source, wanted: Wanted, others: list[str]) -> tuple[str, ...]:
    """What is taken without being asked for, where there was a choice."""
    if wanted.key is not None or not others:
        return ()
    better = "X_pca" if "X_pca" in others else others[0]
    return (
        f"{source.name!r}: the matrix X is taken; obsm has {shown(others)}, such as --key {better} for "
        "coordinates that were reduced before",
    )


def column(source: Source, choice: Choice) -> NDArray[Any]:
    with _opened(source) as (h5, read_elem):
        obs = read_elem(h5["obs"])
    return np.asarray(obs[one_of(source, list(obs.columns), choice, "column")])


def write(file: BinaryIO, results: Results, origin: Path | None) -> None:
    """All that the samples came from, and the results in obs; labels are categories, as plots want them."""
    assert origin is not None  # checked before the work
    anndata, h5py, pandas = extra(*EXTRA), extra("h5py", EXTRA[1]), extra("pandas", EXTRA[1])
    with open(origin, "rb") as content:
        shutil.copyfileobj(content, file)
    file.flush()
    with h5py.File(file.name, "r+") as h5:
        obs = anndata.read_elem(h5["obs"])
        for name in ("label", "density", "delta", "probability"):
            if name in results:
                values = results[name]
                obs[PREFIX + name] = pandas.Categorical(values.astype(str)) if name == "label" else values
        anndata.write_elem(h5, "obs", obs)


@contextmanager
def _opened(source: Source) -> Iterator[tuple[Any, Any]]:
    """The open file, and the function that reads its elements."""
    anndata, h5py = extra(*EXTRA), extra("h5py", EXTRA[1])
    try:
        with source.open() as file, h5py.File(file, "r") as h5:
            if "obs" not in h5:
                raise source.fault("is no AnnData, it has no 'obs'")
            yield h5, anndata.read_elem
    except OSError as error:
        raise source.fault(f"cannot be read ({error})") from error
