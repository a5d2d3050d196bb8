"""Types of cells: `DensityPeaks` on an AnnData, as `scanpy.tl.leiden` is called."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.validation import some_of
from diffpeaks._density_peaks import DensityPeaks

__all__ = ["density_peaks"]

_KEY = "diffpeaks"  # of the labels, where none is given
_WEIGHTS = "connectivities"  # what scanpy calls its graph of weights


def density_peaks(
    adata: Any,
    *,
    key_added: str = _KEY,
    neighbors_key: str | None = None,
    obsp: str | None = None,
    use_rep: str | None = None,
    restrict_to: tuple[str, Sequence[str]] | None = None,
    random_state: Any = None,
    copy: bool = False,
    **parameters: Any,
) -> Any:
    """Cluster the cells of an AnnData, on their neighbour graph or on a representation.

    The default is the graph of `scanpy.pp.neighbors`. A representation (`use_rep`) holds more information
    than a graph: cells can be smoothed, and isolated cells are recognised as strangers or outliers.

    Parameters
    ----------
    adata : AnnData
    key_added : str
        The column of `adata.obs` that gets the labels; by default "diffpeaks", or "diffpeaks_R" where cells
        are restricted.
    neighbors_key : str, optional
        The entry of `adata.uns` in which `scanpy.pp.neighbors(key_added=...)` says where its distances are.
    obsp : str, optional
        A matrix of distances in `adata.obsp`.
    use_rep : str, optional
        A representation in `adata.obsm`, such as "X_pca", or "X".
    restrict_to : (str, sequence of str), optional
        A column of `adata.obs` and some of its categories. Only their cells are clustered; the others keep
        the categories of that column.
    random_state : int, RandomState or None
        As in `DensityPeaks`.
    copy : bool
        Return a copy with the labels, and leave `adata` as it is.
    **parameters
        Of `DensityPeaks`: `n_clusters`, `min_prominence`, `min_cluster_size`, with a representation `metric`.

    Returns
    -------
    AnnData or None
        The copy if `copy=True`. These entries are set:

        `adata.obs[key_added]` : categories "0", "1", ... in the order of peak density; "-1" is noise, which
        only `min_cluster_size` and `halo` make.

        `adata.uns[key_added]["params"]` : the parameters, and the number of clusters.
    """
    _check_call(adata, key_added, restrict_to)
    adata = adata.copy() if copy else adata
    cells = None if restrict_to is None else _restricted(adata, *restrict_to)
    X, is_graph = _input_of(adata, neighbors_key, obsp, use_rep)
    if is_graph:
        _check_no_metric(parameters)
        parameters = {**parameters, "metric": "precomputed"}
    if cells is not None:
        X = X[cells][:, cells] if is_graph else X[cells]
    model = DensityPeaks(random_state=random_state, **parameters).fit(X)
    names = model.labels_.astype(str).astype(object)
    if restrict_to is not None:
        key_added += "_R" if key_added == _KEY else ""
        names = _among_others(adata, names, cells, *restrict_to)
    _set(adata, key_added, names)
    sources = {"neighbors_key": neighbors_key, "obsp": obsp, "use_rep": use_rep, "random_state": random_state}
    given = {name: value for name, value in (sources | parameters).items() if _can_be_written(value)}
    adata.uns[key_added] = {"params": {**given, "n_clusters_found": model.n_clusters_}}
    return adata if copy else None


def _check_call(adata: Any, key_added: Any, restrict_to: Any) -> None:
    missing = [name for name in ("X", "obs", "uns", "obsm", "obsp") if not hasattr(adata, name)]
    if missing:
        raise TypeError(f"adata must be an AnnData, got {type(adata).__name__}, which has no {missing[0]}")
    if not isinstance(key_added, str) or not key_added:
        raise ValueError(f"key_added={key_added!r} must be the name of a column of adata.obs")
    is_pair = isinstance(restrict_to, (tuple, list)) and len(restrict_to) == 2
    if restrict_to is not None and not (is_pair and _is_list_of_names(restrict_to[1])):
        raise ValueError(f"restrict_to={restrict_to!r} must be a column and a list of its categories")


def _is_list_of_names(categories: Any) -> bool:
    return isinstance(categories, Collection) and not isinstance(categories, str) and len(categories) > 0


def _input_of(
    adata: Any, neighbors_key: str | None, obsp: str | None, use_rep: str | None
) -> tuple[Any, bool]:
    """What is clustered, and whether it is a graph of distances."""
    sources = {"neighbors_key": neighbors_key, "obsp": obsp, "use_rep": use_rep}
    given = {name: value for name, value in sources.items() if value is not None}
    if len(given) > 1:
        raise ValueError(f"{given} name more than one thing to cluster; give one of them")
    if use_rep == "X" and adata.X is None:
        raise ValueError("use_rep='X' needs adata.X, which is None; name a representation: use_rep='X_pca'")
    if use_rep is not None:
        return (adata.X if use_rep == "X" else _entry(adata.obsm, use_rep, "obsm", "use_rep")), False
    if obsp is None:
        obsp = _distances_key(adata, neighbors_key)
    if obsp.endswith(_WEIGHTS):
        raise ValueError(f"obsp={obsp!r} holds weights, not distances; give the matrix of distances")
    return _entry(adata.obsp, obsp, "obsp", "obsp"), True


def _distances_key(adata: Any, neighbors_key: str | None) -> str:
    """Where `scanpy.pp.neighbors` has put its distances."""
    key = "neighbors" if neighbors_key is None else neighbors_key
    if key not in adata.uns:
        raise ValueError(
            f"adata.uns has no {key!r}: there is no graph of neighbours under that name; run "
            "scanpy.pp.neighbors(adata) first, or give use_rep='X_pca'"
        )
    return str(adata.uns[key].get("distances_key", "distances"))


def _entry(group: Any, key: str, name: str, parameter: str) -> Any:
    if key not in group:
        raise ValueError(f"{parameter}={key!r} is not in adata.{name}, which has {sorted(group.keys())}")
    value = group[key]
    return value.to_numpy() if hasattr(value, "to_numpy") else value  # obsm may hold tables


def _check_no_metric(parameters: dict[str, Any]) -> None:
    if "metric" in parameters:
        raise ValueError(
            f"metric={parameters['metric']!r} has no effect, because distances are those of the neighbour "
            "graph; give it to scanpy.pp.neighbors, or name a representation: use_rep='X_pca'"
        )


def _restricted(adata: Any, key: str, categories: Sequence[str]) -> NDArray[np.int64]:
    """The cells of these categories."""
    column = _entry(adata.obs, key, "obs", "restrict_to").astype(str)
    named = set(map(str, categories))
    unknown = sorted(named - set(column))
    if unknown:
        raise ValueError(
            f"restrict_to names {unknown}, which are no categories of adata.obs[{key!r}]; it has "
            f"{some_of(np.unique(column))}"
        )
    return np.flatnonzero(np.isin(column, list(named)))


def _among_others(
    adata: Any, names: NDArray[Any], cells: Any, key: str, categories: Sequence[str]
) -> NDArray[Any]:
    """Names of all cells, as scanpy has them: those of the restricted ones after their categories."""
    found = np.asarray(adata.obs[key].astype(str), dtype=object)
    found[cells] = [f"{'-'.join(map(str, categories))},{name}" for name in names]
    return found


def _set(adata: Any, key_added: str, names: NDArray[Any]) -> None:
    from natsort import natsorted  # which anndata needs, as it does pandas
    from pandas import Categorical

    adata.obs[key_added] = Categorical(names, categories=natsorted(set(names)))


def _can_be_written(value: Any) -> bool:
    """Whether a file of AnnData can hold it; None need not be told."""
    return isinstance(value, (bool, int, float, str, np.generic))
