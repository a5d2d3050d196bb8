"""`explore`: from a fitted model to a page in the browser."""

from __future__ import annotations

import os
import webbrowser
from html import escape
from threading import Thread
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from diffpeaks._density_peaks import DensityPeaks
from diffpeaks.captions import Captions
from diffpeaks.explorer.code import python_lines
from diffpeaks.explorer.desk import Desk
from diffpeaks.explorer.exports import labels_and_names
from diffpeaks.explorer.saved import read_session, replay, saved_session, write_session
from diffpeaks.explorer.server import Server, check_port
from diffpeaks.explorer.session import Session
from diffpeaks.explorer.views import Scene
from diffpeaks.maps import map_coordinates
from diffpeaks.maps import map_name as name_of_map

_POLL_SECONDS = 0.05  # how soon the server sees that it is to stop


class Explorer:
    """A page that is open until `close`; labels and code are those that it shows now.

    Attributes
    ----------
    url : str
        The address of the page, for browsers on this machine.
    labels_ : array of shape (n_samples,)
        The numbers of the clusters, which stay theirs while others are merged, split or cut away.
    code : str
        Python lines that make these labels from `model`.
    """

    def __init__(self, session: Session, server: Server) -> None:
        self._session = session
        self._server = server
        self._desk = server.desk
        self._thread = Thread(
            target=server.serve_forever, args=(_POLL_SECONDS,), name="diffpeaks-explorer", daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        return self._server.url

    @property
    def labels_(self) -> NDArray[np.int64]:
        return self._session.labels

    @property
    def names_(self) -> dict[int, str]:
        """The name of each cluster by its number: as it was given, or else what sets it apart."""
        return self._desk.naming.all_names()

    @property
    def results_(self) -> dict[str, NDArray[Any]]:
        """Columns of results: `label` and, once a cluster was given a name, `name`."""
        return labels_and_names(self._session, self._desk.naming)

    def save_session(self, path: str | os.PathLike[str]) -> None:
        """Save cut, edits and names as a file for `explore(session=...)`, for this fit or another."""
        write_session(path, saved_session(self._session, self._desk.captions))

    @property
    def code(self) -> str:
        return python_lines(self._session)

    def wait(self) -> None:
        """Until the page is closed by `close`, or Ctrl+C is pressed."""
        try:
            while self._thread.is_alive():
                self._thread.join(0.5)
        except KeyboardInterrupt:
            self.close()

    def close(self) -> None:
        """Stop answering; labels and code stay."""
        self._server.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Explorer({self.url})"

    def _repr_html_(self) -> str:
        return f'<iframe src="{escape(self.url)}" width="100%" height="720" style="border:0"></iframe>'


def explore(
    estimator: Any,
    *,
    map: Any = "auto",
    map_name: str | None = None,
    captions: Captions | None = None,
    id_name: str = "id",
    session: str | os.PathLike[str] | None = None,
    title: str = "diffpeaks",
    open_browser: bool = True,
    port: int = 0,
) -> Explorer:
    """Open a page in which the cut of a fitted model is moved by hand, on this machine alone.

    Parameters
    ----------
    estimator : fitted DensityPeaks
        It stays as it is; what was chosen is in `labels_` and `code` of what is returned.
    map : {"auto", "graph", "pca", "umap"} or array of shape (n_samples, 2)
        Where samples are drawn, as in `diffpeaks.maps.map_coordinates`; for the eye alone.
    map_name : str, optional
        What the page calls the map; by default how it is made.
    captions : Captions, optional
        Names, texts, columns and pictures of samples to show.
    id_name : str
        The column of their ids, where they have any, in labels that are saved as CSV.
    session : path, optional
        A session that was saved on the page or by `save_session`, to begin with. On another fit it is
        replayed as far as it applies, and the page says what does not.
    title : str
    open_browser : bool
        Open the page; otherwise `url` says where it is.
    port : int
        0 to 65535; by default 0, one that is free.

    Examples
    --------
    >>> from diffpeaks import DensityPeaks, explore
    >>> model = DensityPeaks(max_link=1.5).fit([[0.0], [1.0], [5.0]])
    >>> with explore(model, open_browser=False) as page:
    ...     page.labels_.tolist(), page.code
    ([0, 0, 1], 'labels = model.recut(cut=model.cut_)')
    """
    if not isinstance(estimator, DensityPeaks):
        raise TypeError(f"explore takes a fitted DensityPeaks, which has a cut to move, got {estimator!r}")
    check_is_fitted(estimator, "forest_")
    check_port(port)
    saved = None if session is None else read_session(session)
    coordinates = map_coordinates(estimator, map)
    captions = Captions(len(coordinates)) if captions is None else captions
    if captions.n_samples != len(coordinates):
        raise ValueError(
            f"captions are of {captions.n_samples} samples, but the model has {len(coordinates)}"
        )
    explored = Session(estimator)
    if saved is not None:
        replay(explored, captions, saved)
    scene = Scene.of(estimator, coordinates)
    if map_name is None:
        map_name = name_of_map(estimator, map)
    desk = Desk(explored, scene, captions, id_name, title, map_name)
    explorer = Explorer(explored, Server(desk, port))
    if open_browser:
        webbrowser.open(explorer.url)
    return explorer
