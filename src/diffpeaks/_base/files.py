"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

_FULL = (errno.ENOSPC, errno.EDQUOT)


def check_replaceable(path: str | os.PathLike[str]) -> None:
    """Refuse what no file can take the place of: a folder, a device, a pipe, a name in no folder."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder; give the name of a file in it")
    if target.exists() and not target.is_file():
        raise ValueError(f"{str(path)!r} is a device or a pipe, not a file; give the name of a file")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"the folder {str(target.parent)!r} does not exist; make it first")


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` when the block ends: a reader finds the old or the new one."""
    target = Path(os.path.realpath(path))  # a link stays a link
    check_replaceable(target)
    # in the same folder, because only there the rename is one step
    temporary = target.parent / f".diffpeaks-{secrets.token_hex(8)}.tmp"
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in _FULL:
            raise OSError(
                f"there is no space left for {str(path)!r}; nothing was written; give another folder"
            ) from error
        raise
