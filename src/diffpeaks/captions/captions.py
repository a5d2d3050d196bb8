"""What is known of samples beside their numbers: names, texts, columns of a table, pictures."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.typed_columns import shown_value

PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff")


class OutsideFolderError(ValueError):
    """A picture's name leads out of the folder of pictures."""


@dataclass(frozen=True)
class Pictures:
    """A folder of pictures; a file that is not there is a missing picture, one outside is refused.

    Parameters
    ----------
    folder : path of the folder
    names : array of shape (n_samples,)
        The file of each sample, relative to the folder; a name without an ending of a picture is completed
        by one. None, NaN and "" stand for no picture.
    """

    folder: str
    names: NDArray[Any]

    def __post_init__(self) -> None:
        if not Path(self.folder).exists():
            raise FileNotFoundError(f"there is no folder {self.folder!r}")
        if not Path(self.folder).is_dir():
            raise NotADirectoryError(f"{self.folder!r} is no folder; give the one that holds the pictures")
        for row, value in enumerate(self.names.tolist()):
            self._check_relative(row, shown_value(value))

    def path(self, sample: int) -> Path | None:
        """The file of a sample, with links followed; None where there is none."""
        name = shown_value(self.names[sample])
        if not name:
            return None
        is_whole = PurePath(name).suffix.lower() in PICTURE_SUFFIXES
        for candidate in [name] if is_whole else [name + suffix for suffix in PICTURE_SUFFIXES]:
            found = _file_at(Path(self.folder) / candidate)
            if found is not None:
                if not found.is_relative_to(Path(self.folder).resolve()):
                    raise self._outside(sample, name, "a link leads there")
                return found
        return None

    def _check_relative(self, row: int, name: str) -> None:
        """Names alone are looked at, so that all can be before the work; links are when they are followed."""
        if "\0" in name:
            raise ValueError(f"row {row}: the picture {name!r} has a zero byte in its name")
        if os.path.isabs(name) or (".." in name and ".." in PurePath(name).parts):
            raise self._outside(row, name, "names must be relative to it and without '..'")

    def _outside(self, row: int, name: str, why: str) -> OutsideFolderError:
        return OutsideFolderError(f"row {row}: the picture {name!r} leaves the folder {self.folder!r}; {why}")


@dataclass(frozen=True)
class Captions:
    """All of it, one value for each sample.

    Parameters
    ----------
    n_samples : int
    ids : array of shape (n_samples,), optional
        What samples are called; by default their row numbers, from 0.
    text : array of shape (n_samples,), optional
    metadata : arrays of shape (n_samples,) by the names of their columns
    pictures : Pictures, optional

    Examples
    --------
    >>> import numpy as np
    >>> from diffpeaks.captions import Captions
    >>> captions = Captions(2, text=np.array(["a cat", None]), metadata={"year": np.array([2001, 2002])})
    >>> captions.name_of(1), captions.text_of(0), captions.text_of(1), captions.metadata_of(1)
    ('1', 'a cat', '', {'year': '2002'})
    """

    n_samples: int
    ids: NDArray[Any] | None = None
    text: NDArray[Any] | None = None
    metadata: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    pictures: Pictures | None = None

    def __post_init__(self) -> None:
        columns = {"ids": self.ids, "text": self.text, **self.metadata}
        if self.pictures is not None:
            columns["pictures"] = self.pictures.names
        for name, values in columns.items():
            if values is not None and np.shape(values) != (self.n_samples,):
                raise ValueError(
                    f"{name!r} has shape {np.shape(values)}; one value is needed for each of "
                    f"{self.n_samples} samples"
                )

    def name_of(self, sample: int) -> str:
        return str(sample) if self.ids is None else shown_value(self.ids[sample])

    def text_of(self, sample: int) -> str:
        return "" if self.text is None else shown_value(self.text[sample])

    def metadata_of(self, sample: int) -> dict[str, str]:
        return {name: shown_value(values[sample]) for name, values in self.metadata.items()}

    def picture_of(self, sample: int) -> Path | None:
        return None if self.pictures is None else self.pictures.path(sample)


def _file_at(path: Path) -> Path | None:
    """The file that a path leads to, if there is one; a name that the system does not take leads to none."""
    try:
        found = path.resolve()
        return found if found.is_file() else None
    except OSError:
        return None
