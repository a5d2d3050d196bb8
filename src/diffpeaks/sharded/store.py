"""The files of a run: what tasks leave behind, whole or not at all, and which tasks are done."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.array_file import Arrays, Format, read_array_file, write_array_file
from diffpeaks._base.files import replacing
from diffpeaks.progress import stage

if TYPE_CHECKING:
    from diffpeaks.sharded.executors import Executor

T = TypeVar("T")
_RESULT = Format("result of a task", b"\x89DPT\r\n\x1a\n", 1)
_IDENTITY = "run.json"


class Vector(NamedTuple):
    """An array with a value for each point, in a file that tasks map into memory."""

    path: str

    def mapped(self) -> NDArray[Any]:
        found: NDArray[Any] = np.load(self.path, mmap_mode="r")
        return found


class Store:
    """A folder with what the stages of a run have found.

    A stage has a folder, named by its place in the run, and each of its tasks a file. A task whose file is
    there is done: a run that starts again in the same folder goes on where it was.
    """

    def __init__(self, folder: str | os.PathLike[str], executor: Executor) -> None:
        self.folder, self.executor = Path(folder), executor
        self._n_stages = 0
        self.n_resumed = 0

    def claim(self, identity: dict[str, Any]) -> None:
        """Make the folder that of this run, or refuse it if another one has it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path, text = self.folder / _IDENTITY, json.dumps(identity, indent=1, sort_keys=True)
        if not path.exists():
            if any(self.folder.iterdir()):
                raise ValueError(
                    f"the folder {str(self.folder)!r} has files that no run made; give an empty one"
                )
            with replacing(path) as file:
                file.write(text.encode())
            return
        earlier = path.read_text()
        if earlier != text:
            raise ValueError(
                f"the folder {str(self.folder)!r} has a run in which {_difference(earlier, identity)}; "
                "to start again remove the folder, or give another one"
            )

    def map(self, name: str, task: Callable[[T], Arrays], arguments: Sequence[T]) -> list[Path]:
        """The files with what a task finds for each argument. What is there is not computed again."""
        return self.map_together(name, partial(_one_by_one, task), arguments, 1)

    def map_together(
        self, name: str, task: Callable[[list[T]], Iterable[Arrays]], arguments: Sequence[T], most: int
    ) -> list[Path]:
        """The same, where a task does up to so many in a row at once, and leaves a file for each of them."""
        folder = self.stage(name)
        paths = [folder / f"{i:06d}.part" for i in range(len(arguments))]
        left = [
            (argument, path) for argument, path in zip(arguments, paths, strict=True) if not _is_whole(path)
        ]
        self.n_resumed += len(paths) - len(left)
        size = max(
            1, min(most, len(left) // (2 * self.executor.n_workers))
        )  # all workers have something to do
        groups = [left[first : first + size] for first in range(0, len(left), size)]
        with stage(name, len(left)) as done:
            for group, _ in zip(
                groups, self.executor.run(name, partial(_written, task), groups), strict=True
            ):
                done(len(group))
        return paths

    def stage(self, name: str) -> Path:
        """The folder of the next stage."""
        self._n_stages += 1
        folder = self.folder / f"{self._n_stages:03d}-{name.replace(' ', '-')}"
        folder.mkdir(exist_ok=True)
        return folder

    def put(self, name: str, values: NDArray[Any]) -> Vector:
        """A vector that tasks may read."""
        self._n_stages += 1
        path = self.folder / f"{self._n_stages:03d}-{name}.npy"
        with replacing(path) as file:
            np.lib.format.write_array(file, np.ascontiguousarray(values), allow_pickle=False)
        return Vector(str(path))


def read(path: str | os.PathLike[str], *names: str) -> Any:
    """Some arrays of the result of a task, in this order; those that are not asked for are not read."""
    _, arrays = read_array_file(path, _RESULT, mmap=True, check=False)
    found = [np.array(arrays[name]) for name in names]
    return found[0] if len(found) == 1 else found


def mapped(path: str | os.PathLike[str]) -> Arrays:
    """The result of a task as it lies in the file."""
    return read_array_file(path, _RESULT, mmap=True, check=False)[1]


def concatenated(paths: Sequence[Path], name: str) -> NDArray[Any]:
    """One array of the results of all tasks, one after the other."""
    return np.concatenate([read(path, name) for path in paths])


def in_turn(paths: Sequence[Path], *names: str) -> Iterator[Any]:
    """Some arrays of the result of each task."""
    return (read(path, *names) for path in paths)


def _one_by_one(task: Callable[[T], Arrays], arguments: list[T]) -> Iterator[Arrays]:
    return map(task, arguments)


def _written(task: Callable[[list[T]], Iterable[Arrays]], group: list[tuple[T, Path]]) -> None:
    found = task([argument for argument, _ in group])
    for (_, path), arrays in zip(group, found, strict=True):
        write_array_file(path, _RESULT, {}, arrays)


def _is_whole(path: Path) -> bool:
    if not path.exists():
        return False
    try:
        read_array_file(path, _RESULT, mmap=False, check=True)
    except (OSError, ValueError):
        return False
    return True


def _difference(earlier: str, identity: dict[str, Any]) -> str:
    """What was not the same in another run."""
    try:
        known = json.loads(earlier)
        name = next(name for name in identity if known.get(name) != identity[name])
        then, now = known.get(name), identity[name]
        if name != "shards":
            return f"{name} was {then}, where it is {now} now"
        if len(then) != len(now):
            return f"there were {len(then)} shards, where there are {len(now)} now"
        changed = next(shard for shard, other in zip(now, then, strict=True) if shard != other)
        return f"the shard {changed['name']!r} was different"
    except (AttributeError, KeyError, StopIteration, TypeError, ValueError):
        return "the settings were different"
