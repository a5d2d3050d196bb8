"""What is taken away from a session: labels with names as files."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks.captions import Captions
from diffpeaks.explorer.naming import Naming
from diffpeaks.explorer.session import Session
from diffpeaks.files import text


def labels_and_names(session: Session, naming: Naming) -> dict[str, NDArray[Any]]:
    """The number of each sample's cluster and, once any cluster was given a name, the names of all."""
    labels = session.labels
    if not session.names:
        return {"label": labels}
    names = naming.all_names()
    numbers, place = np.unique(labels, return_inverse=True)
    told = np.array([names.get(number, "") for number in numbers.tolist()], object)
    return {"label": labels, "name": told[place]}


def labels_as_csv(
    columns: dict[str, NDArray[Any]], captions: Captions, id_name: str, samples: NDArray[np.int64]
) -> bytes:
    """These columns of samples, with their ids, or else their rows."""
    ids = captions.ids
    names = {"row": samples} if ids is None else {id_name: ids[samples]}
    for name in columns:
        if name in names:
            raise ValueError(f"the ids are named {name!r} like the {name}s; rename them in the input")
    file = io.BytesIO()
    text.write(file, names | {name: values[samples] for name, values in columns.items()}, None, ",")
    return file.getvalue()


def labels_as_npy(session: Session) -> bytes:
    file = io.BytesIO()
    np.save(file, session.labels)
    return file.getvalue()
