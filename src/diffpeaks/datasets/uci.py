"""The 13 sets of the UCI Machine Learning Repository in the tables of the paper."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
import sklearn.datasets

from diffpeaks.datasets.labeled import LabeledData, checksum, load_table, write_table
from diffpeaks.datasets.sources import Source, fetch, read_source

VARIABLE = "DIFFPEAKS_DATA"

_BROWNLEE = ("jbrownlee/Datasets", "d20fcb6402ae34e653d4513b00f39257bb37ed7f")
_SMILE = ("haifengl/smile", "25e1a1d6a3e1646af67685275b96f0d5118bc42c")
_GPE_AE = ("finn-schofield/gpe-ae", "67161753537e5ca67710366fd90097929a3cc3f5")
_ARFF = ("renatopp/arff-datasets", "c59f172882592bb58982cc54d2d3c8a2b57e9b73")
_PROJETO_AM = ("newtonlb/ProjetoAM", "0ec4ab9d39f10362448a519804dfe3fc2e7d908f")
_SEGMENTS = ("BRICKFACE", "SKY", "FOLIAGE", "CEMENT", "WINDOW", "PATH", "GRASS")


@dataclass(frozen=True)
class _Set:
    """What is known of a set, and where it comes from: a file elsewhere, or a loader of scikit-learn."""

    shape: tuple[int, int]
    n_classes: int
    checksum: str
    source: Source | None = None
    loader: str | None = None


_SETS = MappingProxyType(
    {
        "banknote": _Set(
            (1372, 4),
            2,
            "2f534e19d2a2fe65d51338dc963304c3bd8191c7e103c937b9090415c6ae445c",
            source=Source(*_BROWNLEE, "banknote_authentication.csv"),
        ),
        "breast_d": _Set(
            (569, 30),
            2,
            "785a9190557f2de8e457b4298dd6f0f5437d0bfaa352f6914e735925e041b30b",
            loader="load_breast_cancer",
        ),
        "breast_o": _Set(
            (699, 9),
            2,
            "364418d1a2dfa75807ba97c1cbbd857aaa4c01ec2d29a536d0fdec9a13ef9dca",
            source=Source(*_BROWNLEE, "breast-cancer-wisconsin.data", n_dropped=1, missing="?"),
        ),
        "control": _Set(
            (600, 60),
            6,
            "69444b8ceae79b669ebb8d2e310ab677904e90bd5c54db8dde19ad491c64bc5c",
            source=Source(
                *_SMILE,
                "base/src/test/resources/data/clustering/synthetic_control.data",
                separator=None,
                block=100,
            ),
        ),
        "glass": _Set(
            (214, 9),
            6,
            "6d3f6d1cb67a749835b71f14349b34aa1aaf54a793070d41dbdc442e675cc458",
            source=Source(*_BROWNLEE, "glass.data", n_dropped=1),
        ),
        "haberman": _Set(
            (306, 3),
            2,
            "66093bebd20ea88146ffe2f89774ae6c25f30f4e7c9a4b9202f3b1c57712c368",
            source=Source(*_BROWNLEE, "haberman.csv"),
        ),
        "ionosphere": _Set(
            (351, 34),
            2,
            "4034791db0fb35822c78093c6dd5f7bab6ea6e1764a31d0aad07e4c71fde7cb5",
            source=Source(*_BROWNLEE, "ionosphere.csv", codes={"b": 0, "g": 1}),
        ),
        "iris": _Set(
            (150, 4),
            3,
            "512f7726ffbfb0eef791e93066aad0ef505e3d51cd760c8236b56e4cce4701cb",
            loader="load_iris",
        ),
        "libras": _Set(
            (360, 90),
            15,
            "d83c7aa382029966f5ec1d221adfdeae6f3e6fff01c2fe1462e950419fef0ec1",
            source=Source(*_GPE_AE, "data/movement_libras.data", skip=("classLast",)),
        ),
        "pageblocks": _Set(
            (5473, 10),
            5,
            "d6c59cf7d50115090a088ea282f07f7e8d36a214b910748fab279a11a40c38ad",
            source=Source(*_ARFF, "classification/page.blocks.arff", skip=("%", "@")),
        ),
        "seeds": _Set(
            (210, 7),
            3,
            "c3d68b4ef3cb4d22cb358baa4d4977cd9fe7eee2c984f83e6cc5b9e919c6acc0",
            source=Source(*_BROWNLEE, "wheat-seeds.csv"),
        ),
        "segment": _Set(
            (210, 19),
            7,
            "0269643693c707386cb2e611311db1d75699bf35c4f4af4be50b221de449fd70",
            source=Source(
                *_PROJETO_AM,
                "segmentation.data",
                skip=(";;;", "REGION-CENTROID-COL"),
                label_first=True,
                codes={name: code for code, name in enumerate(_SEGMENTS)},
            ),
        ),
        "wine": _Set(
            (178, 13),
            3,
            "3fdc6d142f2be1ee7308926eac7c83883814d23d9a593a72ae53a57bf3096457",
            loader="load_wine",
        ),
    }
)
UCI_NAMES = tuple(_SETS)


def load_uci(name: str, folder: str | os.PathLike[str] | None = None, download: bool = True) -> LabeledData:
    """A set of the paper's Table 1, with the features and labels of its file: no scaling, NaN where missing.

    Iris, wine and breast_d come with scikit-learn. The others are read from `uci/NAME.csv` in the
    folder of data; where it is not there it is downloaded and kept. What is read must have the
    values that are expected, or it is refused. The sets are licensed CC BY 4.0.

    Parameters
    ----------
    name : str
        One of `UCI_NAMES`.
    folder : path, optional
        The folder of data, which must exist. By default the one that the environment variable
        DIFFPEAKS_DATA names, or else `diffpeaks` in the user's folder of caches.
    download : bool
        False refuses where there is no file.

    Examples
    --------
    >>> from diffpeaks.datasets import load_uci
    >>> X, y, name = load_uci("iris")
    >>> X.shape
    (150, 4)
    """
    if name not in _SETS:
        raise ValueError(f"name={name!r} is none of the sets: {', '.join(UCI_NAMES)}")
    expected = _SETS[name]
    if expected.source is None:
        X, y = getattr(sklearn.datasets, str(expected.loader))(return_X_y=True)
        data = LabeledData(X, y.astype(np.int64), name)
        return _checked(data, expected, f"sklearn.datasets.{expected.loader}", "use another version of it")
    path = data_folder(folder) / "uci" / f"{name}.csv"
    if not path.exists():
        _make_table(path, expected, expected.source, download)
    return _checked(load_table(path), expected, str(path), "delete the file to download it anew")


def _make_table(path: Path, expected: _Set, source: Source, download: bool) -> None:
    """Convert the published file, which may lie beside the table, and keep the table."""
    by_hand = path.with_suffix(".source")
    if not by_hand.exists() and not download:
        raise FileNotFoundError(
            f"there is no file {str(path)!r}; allow download=True, or put the file {source.url}, as it is, "
            f"at {str(by_hand)!r}"
        )
    origin = str(by_hand) if by_hand.exists() else source.url
    content = by_hand.read_bytes() if by_hand.exists() else fetch(source.url, by_hand)
    data = read_source(source, content, path.stem, expected.shape[1], origin)
    _checked(data, expected, origin, "it is no longer what was published")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_table(path, data)


def _checked(data: LabeledData, expected: _Set, origin: str, remedy: str) -> LabeledData:
    if data.X.shape != expected.shape:
        raise ValueError(f"{origin!r} has shape {data.X.shape} instead of {expected.shape}; {remedy}")
    found = checksum(data)
    if found != expected.checksum:
        raise ValueError(
            f"{origin!r} has other values than expected: their SHA-256 is {found} instead of "
            f"{expected.checksum}; {remedy}"
        )
    return data


def data_folder(folder: str | os.PathLike[str] | None = None) -> Path:
    """The folder given, or that of the environment variable, or the user's cache, which need not exist."""
    given = os.environ.get(VARIABLE)
    said = f"folder={str(folder)!r}" if folder is not None else f"the folder {VARIABLE}={given!r}"
    chosen = folder if folder is not None else given or None
    if chosen is None:
        caches = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
        # the specification of the variable says to ignore a relative path
        return (caches if caches.is_absolute() else Path("~/.cache").expanduser()) / "diffpeaks"
    if not Path(chosen).is_dir():
        raise FileNotFoundError(f"{said} does not exist; make it, or give none to use the user's cache")
    return Path(chosen)
