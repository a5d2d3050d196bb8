"""HTTP on loopback: files of the page from a fixed list, and questions to the desk for whoever has the token.

The token is in the part of the address that browsers keep to themselves, and scripts send it in a header:
no cookie, so that no other page can make a browser send it.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from importlib.resources import files
from inspect import Parameter, signature
from typing import Any
from urllib.parse import parse_qs, urlsplit

from diffpeaks.explorer.desk import Answer, Desk, StaleError

TOKEN_HEADER = "X-Diffpeaks-Token"
REVISION_HEADER = "X-Diffpeaks-Revision"
MOST_BYTES = 4 * 2**20  # of a question
LONGEST_REASON = 400  # characters of a refusal: it tells a value that was sent, which may be long
MOST_PORT = 2**16 - 1
_ADDRESS = "127.0.0.1"
PAGE = files("diffpeaks.explorer") / "page"
_TYPES = {
    "html": "text/html",
    "css": "text/css",
    "js": "text/javascript",
    "svg": "image/svg+xml",
    "vert": "text/plain",
    "frag": "text/plain",
}
PAGE_FILES = {
    f"/{entry.name}": f"{_TYPES[entry.name.rpartition('.')[2]]}; charset=utf-8"
    for entry in PAGE.iterdir()
    if entry.name.rpartition(".")[2] in _TYPES
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self' http://localhost:* http://127.0.0.1:*"
)
_HUNG_UP = (BrokenPipeError, ConnectionResetError, ConnectionAbortedError)
_IN_WORDS: dict[type, str] = {  # where Python's own words are about Python
    RecursionError: "what was sent is nested too deeply; send lists of numbers at most",
    OverflowError: "a number that was sent is beyond the range of floats; send a smaller one",
}
_ALWAYS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def check_port(port: int) -> int:
    """A port that a server can have now; 0 stands for any that is free."""
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= MOST_PORT:
        raise ValueError(f"port={port!r} must be an integer in 0 .. {MOST_PORT}; 0 takes one that is free")
    try:
        HTTPServer((_ADDRESS, port), BaseHTTPRequestHandler).server_close()
    except OSError as error:
        raise ValueError(
            f"port={port} cannot be opened: {error.strerror}; give another, or 0 for one that is free"
        ) from error
    return port


class Server(ThreadingHTTPServer):
    """Serves one desk on 127.0.0.1, and on no other address."""

    daemon_threads = True

    def __init__(self, desk: Desk, port: int = 0) -> None:
        self.desk = desk
        self.token = secrets.token_urlsafe(24)
        self.has_ended = False
        super().__init__((_ADDRESS, port), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Show an error on the terminal, unless it is that a page was closed before it had its answer."""
        if not isinstance(sys.exception(), _HUNG_UP):
            super().handle_error(request, client_address)

    def end(self) -> None:
        """Answer nobody from now on."""
        self.has_ended = True
        self.shutdown()
        self.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/#{self.token}"

    @property
    def hosts(self) -> set[str]:
        return {f"127.0.0.1:{self.server_port}", f"localhost:{self.server_port}"}


class _RefusedError(Exception):
    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "diffpeaks", ""
    timeout = 60  # of a connection on which nothing is asked

    def do_GET(self) -> None:
        self._answer(self._read)

    def do_POST(self) -> None:
        self._answer(self._posted)

    def _answer(self, work: Any) -> None:
        if self.server.has_ended:  # but connections that were open still ask
            self.close_connection = True
            return
        try:
            self._check_origin()
            answer = work()
        except _RefusedError as refusal:
            self.close_connection = True  # what was not read of the question must not be taken for another
            answer = Answer.of_json({"error": str(refusal)}, refusal.status)
        except StaleError as stale:
            answer = Answer.of_json({"error": str(stale)}, HTTPStatus.CONFLICT)
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            reason = _shortened(_IN_WORDS.get(type(error), str(error)))
            answer = Answer.of_json({"error": reason}, HTTPStatus.UNPROCESSABLE_ENTITY)
        self._send(answer)

    def _read(self) -> Answer:
        asked = urlsplit(self.path)
        name = "/index.html" if asked.path == "/" else asked.path
        if name in PAGE_FILES:
            return Answer((PAGE / name[1:]).read_bytes(), PAGE_FILES[name])
        self._check_token()
        values = {key: found[-1] for key, found in parse_qs(asked.query).items()}
        return _offered(self.server.desk.readings, asked.path, values)(**values)

    def _posted(self) -> Answer:
        """A change, or a question that is too long for an address."""
        self._check_token()
        if self.headers.get_content_type() != "application/json":
            raise _RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "what is posted is application/json")
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch("[0-9]{1,18}", length) or int(length) > MOST_BYTES:
            raise _RefusedError(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"what is posted has at most {MOST_BYTES} bytes"
            )
        values = json.loads(self.rfile.read(int(length)))
        if not isinstance(values, dict):
            raise ValueError("what is posted is a JSON object")
        desk = self.server.desk
        if self.path in desk.questions:
            return _offered(desk.questions, self.path, values)(**values)
        change = _offered(desk.changes, self.path, values)
        revision = self.headers.get(REVISION_HEADER, "")
        if not re.fullmatch("[0-9]{1,18}", revision):
            raise _RefusedError(
                HTTPStatus.PRECONDITION_REQUIRED,
                f"a change names the revision that it is about: {REVISION_HEADER}",
            )
        return change(int(revision), **values)

    def _check_origin(self) -> None:
        """Refuse what another site may have made a browser ask: by other names, or from other origins."""
        hosts = self.server.hosts
        if self.headers.get("Host") not in hosts:
            raise _RefusedError(HTTPStatus.FORBIDDEN, "this server answers to its own address only")
        origin = self.headers.get("Origin")
        if origin is not None and origin not in {f"http://{host}" for host in hosts}:
            raise _RefusedError(HTTPStatus.FORBIDDEN, "this server answers its own page only")

    def _check_token(self) -> None:
        given = self.headers.get(TOKEN_HEADER, "")
        if not hmac.compare_digest(given.encode(), self.server.token.encode()):
            raise _RefusedError(
                HTTPStatus.FORBIDDEN, "the token is missing or wrong; open the address that was printed"
            )

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        headers = _ALWAYS | {
            "Content-Type": answer.content_type,
            "Content-Length": str(len(answer.body)),
            REVISION_HEADER: str(self.server.desk.revision),
        }
        for name, value in headers.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: a terminal is for the program that started the server."""


def _shortened(reason: str) -> str:
    """The beginning and the end of a long reason, where the bound and the remedy are."""
    if len(reason) <= LONGEST_REASON:
        return reason
    half = LONGEST_REASON // 2
    return f"{reason[:half]} … {reason[-half:]}"


def _offered(offered: dict[str, Any], path: str, values: dict[str, Any]) -> Any:
    """What is asked for, if it is there and takes these values."""
    if path not in offered:
        raise _RefusedError(HTTPStatus.NOT_FOUND, "there is nothing of that name")
    _check_fields(offered[path], values)
    return offered[path]


def _check_fields(asked: Any, values: dict[str, Any]) -> None:
    """Refuse fields that the question does not have, and that it lacks."""
    parameters = signature(asked).parameters.values()
    named = {field.name: field for field in parameters if field.kind is not Parameter.VAR_KEYWORD}
    unknown = [name for name in values if name not in named]
    if unknown and len(named) == len(parameters):
        raise ValueError(f"the field {unknown[0]!r} is unknown; use {', '.join(named) or 'none'}")
    for name, field in named.items():
        if field.default is Parameter.empty and name not in values:
            raise ValueError(f"the field {name!r} is missing")
