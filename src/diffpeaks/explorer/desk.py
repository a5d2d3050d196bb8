"""Answers to the questions of the page, and the changes that it asks for: one at a time, each checked."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from threading import Lock
from typing import Any, Self

import numpy as np

from diffpeaks.explorer import words
from diffpeaks.explorer.code import python_lines
from diffpeaks.explorer.session import Session
from diffpeaks.explorer.views import Scene, packed_clustering

MEMBERS_A_PAGE = 60
NEIGHBORS_SHOWN = 12
BINARY = "application/octet-stream"


@dataclass(frozen=True)
class Answer:
    """Bytes and what they are."""

    body: bytes
    content_type: str
    status: HTTPStatus = HTTPStatus.OK

    @classmethod
    def of_json(cls, value: Any, status: HTTPStatus = HTTPStatus.OK) -> Self:
        return cls(json.dumps(value, allow_nan=False).encode(), "application/json", status)


class Desk:
    """One session behind a lock, with everything that may be asked of it by name."""

    def __init__(self, session: Session, scene: Scene, title: str, map_name: str) -> None:
        self.session = session
        self.scene = scene
        self._about = {"title": title, "map": map_name}
        self._lock = Lock()
        self.readings = {
            "/api/scene": self._scene,
            "/api/clustering": self._clustering,
            "/api/sample": self._sample,
            "/api/members": self._members,
            "/api/labels.csv": self._labels_csv,
            "/api/labels.npy": self._labels_npy,
        }
        self.changes = {
            f"/api/{name}": self._changing(change)
            for name, change in {
                "rule": session.set_rule,
                "score": session.set_score,
                "policy": session.set_policy,
                "merge": session.merge,
                "split": session.split,
                "return": session.return_to,
                "undo": session.undo,
                "redo": session.redo,
                "peaks": session.choose_peaks,
                "lasso": self._lasso,
            }.items()
        }

    def _changing(self, change: Callable[..., None]) -> Callable[..., Answer]:
        def answered(**values: Any) -> Answer:
            with self._lock:
                start = time.perf_counter()
                change(**values)
                return self._clustering_after(start)

        return answered

    def _clustering(self) -> Answer:
        with self._lock:
            return self._clustering_after(time.perf_counter())

    def _clustering_after(self, start: float) -> Answer:
        session = self.session
        about = words.about_clustering(session) | {"seconds": round(time.perf_counter() - start, 4)}
        code = python_lines(session.state, session.model)
        return Answer(packed_clustering(session, self.scene, about | {"code": code}), BINARY)

    def _scene(self) -> Answer:
        return Answer(self.scene.packed(self._about), BINARY)

    def _lasso(self, polygon: Any) -> None:
        found = self.scene.inside(polygon)
        if not len(found):
            raise ValueError("there is no sample inside; draw around the peaks")
        self.session.choose_peaks(found.tolist())

    def _sample(self, sample: str) -> Answer:
        with self._lock:
            return Answer.of_json(words.about_sample(self.session, self.scene, int(sample), NEIGHBORS_SHOWN))

    def _members(self, cluster: str, start: str = "0") -> Answer:
        with self._lock:
            return Answer.of_json(
                words.about_cluster(self.session, int(cluster), int(start), MEMBERS_A_PAGE)
            )

    def _labels_csv(self) -> Answer:
        labels = self.session.labels
        lines = [f"{row},{label}" for row, label in enumerate(labels.tolist())]
        return Answer("\n".join(["row,label", *lines, ""]).encode(), "text/csv; charset=utf-8")

    def _labels_npy(self) -> Answer:
        file = io.BytesIO()
        np.save(file, self.session.labels)
        return Answer(file.getvalue(), BINARY)
