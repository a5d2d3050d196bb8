"""Answers to the questions of the page, and the changes that it asks for: one at a time, each checked."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from http import HTTPStatus
from threading import Lock
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.palette import N_COLORS, NOISE_COLOR, css_color
from diffpeaks._base.validation import check_integer
from diffpeaks.captions import Captions, Characteristics
from diffpeaks.captions.captions import PICTURE_SUFFIXES
from diffpeaks.explorer import words
from diffpeaks.explorer.cluster_colors import ClusterColors
from diffpeaks.explorer.code import python_lines
from diffpeaks.explorer.colourings import Colourings
from diffpeaks.explorer.exports import labels_and_names, labels_as_csv, labels_as_npy
from diffpeaks.explorer.naming import Naming
from diffpeaks.explorer.saved import replay, saved_session
from diffpeaks.explorer.selection import Finder, Order, inside
from diffpeaks.explorer.session import Session
from diffpeaks.explorer.views import Scene, packed_clustering, packed_selection

MEMBERS_A_PAGE = 60
NEIGHBORS_SHOWN = 12
MOST_PEAKS = 50_000  # by a lasso
MOST_GATHERED = 100_000  # samples that become a cluster: the Python lines name each
MOST_SAMPLES_ASKED = 200  # of which captions are told at once
BINARY = "application/octet-stream"
_PICTURE_TYPES = {suffix: f"image/{suffix[1:]}" for suffix in PICTURE_SUFFIXES} | {".jpg": "image/jpeg"}
_DELTA_NOTES = {
    True: "the delta of hilltops is still looked for: they are at the top",
    False: "the delta of hilltops is not known from this graph: they are at the top",
}


@dataclass(frozen=True)
class Answer:
    """Bytes and what they are."""

    body: bytes
    content_type: str
    status: HTTPStatus = HTTPStatus.OK

    @classmethod
    def of_json(cls, value: Any, status: HTTPStatus = HTTPStatus.OK) -> Self:
        return cls(json.dumps(value, allow_nan=False).encode(), "application/json", status)


class StaleError(Exception):
    """A change was asked for by a page that shows an older state."""

    def __init__(self) -> None:
        super().__init__("the clusters were changed elsewhere, in another tab or in Python; nothing was done")


class Desk:
    """One session behind a lock, with everything that may be asked of it by name."""

    def __init__(
        self, session: Session, scene: Scene, captions: Captions, id_name: str, title: str, map_name: str
    ) -> None:
        self.session = session
        self._scene = scene
        self.captions = captions
        self._id_name = id_name
        self._finder = Finder(scene, captions, session.model.forest_.rank)
        characteristics = Characteristics(captions)
        self._colourings = Colourings(characteristics)
        self.naming = Naming(session, characteristics)
        self._cluster_colors = ClusterColors(session, scene.on_map)
        self._about = _about(title, map_name, captions, self._colourings)
        self._lock = Lock()
        self.readings = {
            "/api/scene": self._packed_scene,
            "/api/pending": self._pending,
            "/api/clustering": self._clustering,
            "/api/code": self._code,
            "/api/sample": self._sample,
            "/api/samples": self._samples,
            "/api/members": self._members,
            "/api/colouring": self._colouring,
            "/api/names": self._names,
            "/api/picture": self._picture,
            "/api/labels.csv": self._labels_csv,
            "/api/labels.npy": self._labels_npy,
        }
        self.questions = {
            "/api/select": self._select,
            "/api/selected.csv": self._selected_csv,
            "/api/session.json": self._session,
        }
        self.changes = {
            f"/api/{name}": self._changing(change) for name, change in self._ways_to_change().items()
        }

    @property
    def revision(self) -> int:
        return self.session.revision

    def _ways_to_change(self) -> dict[str, Callable[..., Any]]:
        """What changes the session, by the name under which it is asked for."""
        session = self.session
        return {
            "rule": session.set_rule,
            "score": session.set_score,
            "policy": session.set_policy,
            "peaks": session.choose_peaks,
            "lasso": self._lasso,
            "merge": session.merge,
            "split": session.split,
            "gather": self._gather,
            "rename": session.rename,
            "open": self._open,
            "return": session.return_to,
            "undo": session.undo,
            "redo": session.redo,
        }

    def _changing(self, change: Callable[..., Any]) -> Callable[..., Answer]:
        """The same as an answer to whoever names the revision that it is about."""

        @wraps(change)  # with its fields
        def answered(revision: int, /, **values: Any) -> Answer:
            with self._lock:
                if revision != self.revision:
                    raise StaleError
                start = time.perf_counter()
                view = change(**values)  # that of a session that was opened
                return self._clustering_since(start, result=self.session.result, view=view)

        return answered

    def _clustering(self) -> Answer:
        with self._lock:
            return self._clustering_since(time.perf_counter(), result=[], view=None)

    def _clustering_since(self, start: float, **own: Any) -> Answer:
        """What is shown now; `own` is for whoever asked alone, such as the clusters that were made."""
        session = self.session
        seconds = round(time.perf_counter() - start, 4)
        about = words.about_clustering(session) | {"seconds": seconds} | own
        return Answer(packed_clustering(session, self._scene, self._cluster_colors.by_label(), about), BINARY)

    def _code(self) -> Answer:
        with self._lock:
            return Answer.of_json({"code": python_lines(self.session)})

    def _packed_scene(self) -> Answer:
        cuts = self.session.cuts
        with self._lock:
            cuts.start_preparing()  # not before there is a page to look at
            if not self._scene.is_exact and cuts.knows_delta:
                self._scene = self._scene.with_exact_delta(self.session.model)
        about = self._about | {"is_pending": self._is_pending, "delta_note": _DELTA_NOTES[self._is_pending]}
        return Answer(self._scene.packed(about), BINARY)

    def _pending(self) -> Answer:
        """Whether it is worth asking for the scene again, later."""
        return Answer.of_json({"is_pending": self.session.cuts.is_preparing})

    @property
    def _is_pending(self) -> bool:
        cuts = self.session.cuts
        return not self._scene.is_exact and (cuts.is_preparing or cuts.knows_delta)

    def _lasso(self, polygon: Any) -> None:
        found = inside(self._scene.in_graph, polygon)
        if not len(found):
            raise ValueError("there is no sample inside; draw around the peaks")
        if len(found) > MOST_PEAKS:
            raise ValueError(
                f"there are {len(found):,} samples inside, more than {MOST_PEAKS:,}; draw around fewer"
            )
        self.session.choose_peaks(found.tolist())

    def _gather(self, text: Any = None, polygon: Any = None) -> None:
        found = self._finder.found(text, polygon)
        if len(found) > MOST_GATHERED:
            raise ValueError(
                f"there are {len(found):,} samples in the selection, over {MOST_GATHERED:,}; select fewer"
            )
        self.session.gather(found.tolist())

    def _select(self, text: Any = None, polygon: Any = None, order: Any = None) -> Answer:
        with self._lock:
            found = self._finder.found(text, polygon)
            found = self._finder.sorted(found, self.session.labels, _order(order))
            return Answer(packed_selection(self.session, self._scene, found), BINARY)

    def _colouring(self, by: str) -> Answer:
        with self._lock:
            return Answer(self._colourings.of(by, self.session.now).packed(self._scene.drawn), BINARY)

    def _samples(self, samples: str) -> Answer:
        """What is known of samples, in the order in which they are named."""
        named = samples.split(",")
        if len(named) > MOST_SAMPLES_ASKED:
            raise ValueError(f"{len(named)} samples are asked for; ask for {MOST_SAMPLES_ASKED} at most")
        last = self.captions.n_samples - 1
        asked = [check_integer("sample", _integer("sample", one), 0, last) for one in named]
        with self._lock:
            show = words.Shown(self.session, self._scene, self.captions)
            return Answer.of_json({"samples": words.about_samples(show, asked)})

    def _sample(self, sample: str) -> Answer:
        with self._lock:
            show = words.Shown(self.session, self._scene, self.captions)
            return Answer.of_json(words.about_sample(show, _integer("sample", sample), NEIGHBORS_SHOWN))

    def _members(self, cluster: str, start: str = "0") -> Answer:
        with self._lock:
            show = words.Shown(self.session, self._scene, self.captions)
            number, first = _integer("cluster", cluster), _integer("start", start)
            about = words.about_cluster(show, number, first, MEMBERS_A_PAGE)
            return Answer.of_json(about | self.naming.of_cluster(number))

    def _picture(self, sample: str) -> Answer:
        """A picture that the user named; the room of captions keeps to its folder."""
        number = check_integer("sample", _integer("sample", sample), 0, self.captions.n_samples - 1)
        path = self.captions.picture_of(number)
        if path is None:
            raise ValueError(f"there is no picture of sample {number}")
        return Answer(path.read_bytes(), _PICTURE_TYPES[path.suffix.lower()])

    def _names(self) -> Answer:
        with self._lock:
            return Answer.of_json(self.naming.of_list())

    def _open(self, saved: Any) -> Any:
        return replay(self.session, self.captions, saved)

    def _session(self, view: Any = None) -> Answer:
        with self._lock:
            return Answer.of_json(saved_session(self.session, self.captions, view))

    def _labels_csv(self) -> Answer:
        return self._csv(np.arange(self.captions.n_samples))

    def _selected_csv(self, text: Any = None, polygon: Any = None) -> Answer:
        return self._csv(np.sort(self._finder.found(text, polygon)))

    def _csv(self, samples: NDArray[np.int64]) -> Answer:
        with self._lock:
            columns = labels_and_names(self.session, self.naming)
        table = labels_as_csv(columns, self.captions, self._id_name, samples)
        return Answer(table, "text/csv; charset=utf-8")

    def _labels_npy(self) -> Answer:
        return Answer(labels_as_npy(self.session), BINARY)


def _order(given: Any) -> Order:
    """How a table is sorted, as it was sent; by density where nothing was."""
    if given is None:
        return Order()
    if not isinstance(given, dict) or not set(given) <= set(Order._fields):
        raise ValueError(f"an order has the fields {', '.join(Order._fields)}, got {given!r}")
    order = Order(**given)
    is_named = isinstance(order.by, str) and isinstance(order.column, (str, type(None)))
    if not is_named or not isinstance(order.descending, bool):
        raise TypeError(f"an order is by a name, descending or not, got {given!r}")
    return order


def _integer(name: str, given: str) -> int:
    """The number that a part of an address tells."""
    if not re.fullmatch("-?[0-9]{1,18}", given):
        raise ValueError(f"{name}={given!r} must be an integer of at most 18 digits")
    return int(given)


def _about(title: str, map_name: str, captions: Captions, colourings: Colourings) -> dict[str, Any]:
    """What a page shows that no change of the session changes."""
    colours = {"clusters": [css_color(label) for label in range(N_COLORS)], "noise": NOISE_COLOR}
    return {
        "title": title,
        "map_name": map_name,
        "palette": colours,
        "colourings": colourings.names,
        "columns": list(captions.metadata),
        "has_texts": captions.text is not None,
        "has_pictures": captions.pictures is not None,
    }
