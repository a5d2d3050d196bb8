"""Networks and neighbour lists in the files that the authors of learn-to-cluster publish.

Names of parameters, and what the networks are made of, are those of the authors' public program; checksums
are those that its page on data sets prints.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from diffpeaks._base.array_file import FileName
from diffpeaks.datasets.checksums import PUBLISHED_MD5, check_md5
from diffpeaks.graph import NeighborGraph

# How the names of parameters begin there, and here
NAMES = {
    "bn0.": "normalization.",
    "conv1.": "convolutions.0.",
    "conv2.": "convolutions.1.",
    "conv3.": "convolutions.2.",
    "conv4.": "convolutions.3.",
    "layers.0.gc.": "convolutions.0.",
    "layers.1.gc.": "convolutions.1.",
    "classifier.": "head.",
}
_PARALLEL = "module."  # before every name, where several GPUs trained
_FIRST = "convolutions.0.weight"
_COUNTER = "num_batches_tracked"  # of a batch norm; files of old versions of torch have none


def read_published(
    folder: FileName, files: dict[str, str], verify: bool
) -> tuple[int, dict[str, NDArray[Any]]]:
    """The number of features, and the arrays `NETWORK/PARAMETER` of some networks, each in a file."""
    arrays: dict[str, NDArray[Any]] = {}
    for network, name in files.items():
        path = Path(folder) / name
        if not path.is_file():
            raise FileNotFoundError(f"there is no file {str(path)!r} with the weights of {network!r}")
        if verify:
            check_md5(path, PUBLISHED_MD5[name])
        arrays |= {f"{network}/{part}": values for part, values in _weights(path).items()}
    first = f"{next(iter(files))}/{_FIRST}"
    if first not in arrays or arrays[first].ndim != 2:
        raise ValueError(f"{str(folder)!r}: {next(iter(files.values()))} has no matrix {_published(_FIRST)}")
    # the first layer has a row for each feature, and one for the mean of each where it has a bias
    with_own = f"{next(iter(files))}/convolutions.0.bias" in arrays
    return len(arrays[first]) // (2 if with_own else 1), arrays


def set_weights(networks: dict[str, nn.Module], arrays: dict[str, NDArray[Any]], origin: str) -> None:
    """Give networks their weights; one that is missing, left over or of another shape is refused."""
    wanted = {f"{name}/{part}" for name, network in networks.items() for part in network.state_dict()}
    missing = sorted(part for part in wanted - set(arrays) if not part.endswith(_COUNTER))
    if missing:
        raise ValueError(f"{origin!r} has no weights {missing[0]!r} ({len(missing)} are missing)")
    unknown = sorted(set(arrays) - wanted)
    if unknown:
        raise ValueError(f"{origin!r} has weights {unknown[0]!r}, which the network has not ({len(unknown)})")
    for name, network in networks.items():
        state = network.state_dict()
        for part, values in state.items():
            given = arrays.get(f"{name}/{part}", values.numpy())
            if given.shape != tuple(values.shape):
                raise ValueError(
                    f"{origin!r}: {name}/{part} has shape {given.shape}, but the network needs "
                    f"{tuple(values.shape)}; give n_hidden and n_features of the file"
                )
            state[part] = torch.from_numpy(np.array(given))
        network.load_state_dict(state)


def load_published_graph(path: FileName, n_neighbors: int = 80, md5: str | None = None) -> NeighborGraph:
    """The neighbour lists of a file such as `knns/part1_test/faiss_k_80.npz`, by 1 - cosine.

    Parameters
    ----------
    path : path
        An archive of numpy whose array `data` has the shape (n_samples, 2, n_neighbors): neighbours, the
        sample itself counted, and their distances.
    n_neighbors : int
        Lists of another length are refused.
    md5 : str, optional
        The checksum that the file must have; `diffpeaks.datasets.PUBLISHED_MD5` has the authors'.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {str(path)!r} with lists of neighbours")
    if md5 is not None:
        check_md5(path, md5)
    try:
        with path.open("rb") as file, np.load(file) as archive:
            lists = archive["data"]
    except (BadZipFile, KeyError, ValueError, EOFError, OSError) as error:
        raise ValueError(f"{str(path)!r} is no whole archive with an array 'data' ({error})") from error
    if lists.ndim != 3 or lists.shape[1] != 2:
        raise ValueError(f"{str(path)!r} has data of shape {lists.shape}; it must be (n_samples, 2, k)")
    if lists.shape[2] != n_neighbors:
        raise ValueError(
            f"{str(path)!r} has lists of {lists.shape[2]} neighbours, not of n_neighbors={n_neighbors}; take "
            "the file of that many, or give n_neighbors of this one"
        )
    distances = np.maximum(lists[:, 1].astype(np.float32), 0)  # 1 - cosine of a sample itself may round below
    return NeighborGraph.from_arrays(lists[:, 0].astype(np.int64), distances, "cosine", str(path.name))


def _weights(path: Path) -> dict[str, NDArray[Any]]:
    """The parameters in a file of torch, by our names."""
    try:
        stored = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, BadZipFile, ValueError) as error:
        reason = str(error).split("\n")[0]
        raise ValueError(f"{str(path)!r} is no whole file of weights ({reason}); fetch it again") from error
    state = stored.get("state_dict", stored) if isinstance(stored, dict) else None
    if not isinstance(state, dict) or not all(isinstance(values, Tensor) for values in state.values()):
        raise ValueError(f"{str(path)!r} holds no state_dict of tensors; fetch the file again")
    return {_ours(name.removeprefix(_PARALLEL)): values.numpy() for name, values in state.items()}


def _ours(name: str) -> str:
    for theirs, ours in NAMES.items():
        if name.startswith(theirs):
            return ours + name.removeprefix(theirs)
    return name  # refused where the network is given its weights


def _published(name: str) -> str:
    """What the authors' files call a parameter, whichever of their networks it is of."""
    return " or ".join(
        theirs + name.removeprefix(ours) for theirs, ours in NAMES.items() if name.startswith(ours)
    )
