"""The server answers its own page on this machine alone, and serves its own files and nothing beside."""

import csv
import http.client
import io
import json
import os
import socket
from urllib.request import Request, urlopen

import numpy as np
import pytest
from clouds import general_position, same_partition
from packets import unpacked
from refusals import refuses

import diffpeaks
from diffpeaks import DensityPeaks
from diffpeaks.captions import Captions, Pictures
from diffpeaks.explorer.server import MOST_BYTES, PAGE_FILES, REVISION_HEADER, TOKEN_HEADER

X = general_position(4, 220)
MODEL = DensityPeaks().fit(X)
PIXEL = b"\x89PNG\r\n\x1a\n" + b"0" * 20


@pytest.fixture
def page(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    (folder / "0.png").write_bytes(PIXEL)
    (tmp_path / "secret.png").write_bytes(b"secret")
    os.symlink(tmp_path / "secret.png", folder / "1.png")
    pictures = Pictures(str(folder), np.arange(220))
    with diffpeaks.explore(MODEL, captions=Captions(220, pictures=pictures), open_browser=False) as opened:
        yield opened


def asked(page, path, method="GET", body=None, **headers):
    """(status, headers, body) of one question, with token and revision unless they are given otherwise."""
    server = page._server
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=20)
    known = {TOKEN_HEADER: server.token, REVISION_HEADER: str(server.desk.revision)}
    sent = known | {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body, {name: value for name, value in sent.items() if value is not None})
    answer = connection.getresponse()
    found = answer.status, dict(answer.getheaders()), answer.read()
    connection.close()
    return found


def change(page, name, /, **values):
    status, _, body = asked(page, f"/api/{name}", "POST", json.dumps(values), Content_Type="application/json")
    return status, json.loads(body) if status != 200 else unpacked(body)


def test_it_listens_on_loopback_alone(page):
    assert page._server.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize("name", ["/", *PAGE_FILES])
def test_files_of_the_page_are_served_with_strict_headers(page, name):
    status, headers, body = asked(page, name, X_Diffpeaks_Token=None)
    assert status == 200
    assert body
    assert headers["X-Content-Type-Options"] == "nosniff"
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http:" not in policy.split("frame-ancestors")[0]


@pytest.mark.parametrize("host", ["example.com", "evil.localhost:80", "127.0.0.1", "0.0.0.0:80", ""])
def test_other_hosts_are_refused(page, host):
    for path in ("/", "/api/clustering"):
        assert asked(page, path, Host=host)[0] == 403


@pytest.mark.parametrize("origin", ["http://example.com", "null", "https://127.0.0.1", "http://localhost:1"])
def test_other_origins_are_refused(page, origin):
    assert asked(page, "/api/clustering", Origin=origin)[0] == 403
    assert asked(page, "/api/undo", "POST", "{}", Origin=origin, Content_Type="application/json")[0] == 403


def test_its_own_names_are_answered(page):
    port = page._server.server_port
    for host in (f"127.0.0.1:{port}", f"localhost:{port}"):
        assert asked(page, "/api/clustering", Host=host, Origin=f"http://{host}")[0] == 200


@pytest.mark.parametrize("token", [None, "", "wrong", "é".encode("latin-1")])
def test_nothing_is_told_without_the_token(page, token):
    read = (
        "scene",
        "clustering",
        "sample?sample=0",
        "samples?samples=0",
        "colouring?by=density",
        "code",
        "nothing",
    )
    for path in (*(f"/api/{name}" for name in read), "/api/labels.csv"):
        assert asked(page, path, X_Diffpeaks_Token=token)[0] == 403
    before = page.labels_
    sent = {"X_Diffpeaks_Token": token, "Content_Type": "application/json"}
    assert asked(page, "/api/split", "POST", '{"cluster": 0}', **sent)[0] == 403
    assert page.labels_ is before


@pytest.mark.parametrize(
    "path",
    [
        "/../server.py",
        "/..%2fserver.py",
        "/page/../../server.py",
        "//etc/passwd",
        "/%2e%2e/%2e%2e/session.py",
        "/README.md",
        "/index.html/",
        "/etc/passwd",
        "/api/../server.py",
        "/api/picture/../../secret.png",
        "http://example.com/index.html",
    ],
)
def test_nothing_else_is_served(page, path):
    status, _, body = asked(page, path)
    assert status in (404, 422) or path.startswith("http://example.com")  # whose path is that of a page file
    assert b"secret" not in body
    assert b"import" not in body or status == 200


def test_pictures_are_those_of_the_folder_alone(page):
    status, headers, body = asked(page, "/api/picture?sample=0")
    assert (status, headers["Content-Type"], body) == (200, "image/png", PIXEL)
    for sample in ("1", "2", "-1", "220", "../secret", "0/../../secret.png", ""):
        status, _, body = asked(page, f"/api/picture?sample={sample}")
        assert status == 422
        assert b"secret" not in body or b"leaves the folder" in body or b"must be an integer" in body


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE"])
def test_other_methods_are_refused(page, method):
    assert asked(page, "/api/undo", method)[0] == 501


def test_a_change_must_be_json_of_a_modest_size(page):
    assert asked(page, "/api/undo", "POST", "{}", Content_Type="text/plain")[0] == 415
    assert asked(page, "/api/undo", "POST", "{", Content_Type="application/json")[0] == 422
    assert asked(page, "/api/undo", "POST", "[]", Content_Type="application/json")[0] == 422
    long = {"Content_Type": "application/json", "Content_Length": str(MOST_BYTES + 1)}
    assert asked(page, "/api/undo", "POST", "{}", **long)[0] == 413
    assert (
        asked(page, "/api/undo", "POST", "{}", Content_Type="application/json", Content_Length="-1")[0] == 413
    )
    assert asked(page, "/api/undo")[0] == 404  # what changes something is not read


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("rule", {"name": "n_clusters", "value": 0}),
        ("rule", {"name": "__class__", "value": 1}),
        ("rule", {"name": "n_clusters", "value": "3"}),
        ("rule", {}),
        ("rule", {"name": "n_clusters", "value": 2, "other": 1}),
        ("policy", {"halo": "yes"}),
        ("merge", {"clusters": "01"}),
        ("merge", {"clusters": 3}),
        ("split", {"cluster": None}),
        ("gather", {"text": "nothing has this"}),
        ("gather", {"polygon": [[0, 0]]}),
        ("select", {"text": 1}),
        ("select", {"samples": [1]}),
        ("selected.csv", {}),
        ("lasso", {"polygon": []}),
        ("lasso", {"polygon": [["a", 0], [1, 1], [2, 2]]}),
        ("peaks", {"samples": [1.5, "x"]}),
        ("score", {"least": None}),
        ("nothing", {}),
    ],
)
def test_bad_changes_are_refused_in_words_and_change_nothing(page, name, values):
    before = page.labels_
    status, found = change(page, name, **values)
    assert status in (404, 422)
    assert found["error"]
    assert page.labels_ is before


@pytest.mark.parametrize(
    ("name", "body", "words"),
    [
        ("undo", "[" * 200_000, "nested too deeply"),
        ("rule", f'{{"name": "max_link", "value": 1{"0" * 400}}}', "beyond the range of floats"),
        ("rule", f'{{"name": "n_clusters", "value": 1{"0" * 400}}}', "beyond the range of floats"),
        ("score", f'{{"least": 1{"0" * 400}}}', "beyond the range of floats"),
        ("lasso", f'{{"polygon": [[1{"0" * 400}, 1]]}}', "beyond the range of floats"),
        ("lasso", '{"polygon": [[[1, 1]]]}', "a list of corners"),
        ("merge", '{"clusters": [0, 1.5]}', "cluster must be an integer"),
        ("merge", '{"clusters": null}', "clusters must be a list of integers, got None"),
        ("split", '{"cluster": 1.5}', "cluster must be an integer"),
        ("split", "{}", "the field 'cluster' is missing"),
        ("split", '{"cluster": 0, "self": 1}', "the field 'self' is unknown; use cluster"),
        ("undo", '{"steps": 2}', "the field 'steps' is unknown; use none"),
        ("policy", '{"self": 1}', "'self' is unknown; use halo"),
        ("return", '{"what": []}', "[] is unknown; use 'automatic' or 'fit'"),
        ("score", '{"least": NaN}', "least=nan"),
    ],
)
def test_refusals_are_in_words_about_what_was_sent(page, name, body, words, capfd):
    status, _, answer = asked(page, f"/api/{name}", "POST", body, Content_Type="application/json")
    assert status == 422
    assert words in json.loads(answer)["error"]
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("sample", "the field 'sample' is missing"),
        ("sample?sample=0&desk=1", "the field 'desk' is unknown; use sample"),
        ("sample?sample=one", "sample='one' must be an integer"),
        ("members?cluster=0&start=1.5", "start='1.5' must be an integer"),
        (f"members?cluster={'1' * 5000}", "must be an integer of at most 18 digits"),
    ],
)
def test_questions_are_refused_in_words_too(page, query, words):
    status, _, answer = asked(page, f"/api/{query}")
    assert status == 422
    assert words in json.loads(answer)["error"]


def error_shown(page, error, capfd):
    try:
        raise error
    except type(error):
        page._server.handle_error(None, ("127.0.0.1", 1))
    return capfd.readouterr().err


def test_a_page_that_hangs_up_leaves_no_traceback_but_other_errors_do(page, capfd):
    assert error_shown(page, BrokenPipeError(), capfd) == ""
    assert error_shown(page, ConnectionResetError(), capfd) == ""
    assert "ZeroDivisionError" in error_shown(page, ZeroDivisionError(), capfd)


def test_changes_are_those_of_the_session(page):
    status, found = change(page, "rule", name="n_clusters", value=6)
    assert status == 200
    assert same_partition(page.labels_, MODEL.recut(n_clusters=6))
    assert found["n_clusters"] == 6
    assert page.code == json.loads(asked(page, "/api/code")[2])["code"]
    assert page.code.splitlines()[1] == "labels = model.recut(n_clusters=6)"
    assert change(page, "merge", clusters=[0, 3])[1]["n_clusters"] == 5
    assert change(page, "undo")[1]["n_clusters"] == 6
    lines = asked(page, "/api/labels.csv")[2].decode().splitlines()
    assert lines[0] == "row,label"
    assert [int(line.split(",")[1]) for line in lines[1:]] == page.labels_.tolist()
    np.testing.assert_array_equal(np.load(io.BytesIO(asked(page, "/api/labels.npy")[2])), page.labels_)


def test_labels_are_saved_with_the_ids_that_samples_have():
    ids = np.array([f'a "{row}", b\n' for row in range(220)], object)
    with diffpeaks.explore(MODEL, captions=Captions(220, ids), id_name="a,b", open_browser=False) as page:
        rows = list(csv.reader(io.StringIO(asked(page, "/api/labels.csv")[2].decode(), newline="")))
    assert rows[0] == ["a,b", "label"]
    assert rows[1:] == [[name, str(label)] for name, label in zip(ids, MODEL.labels_, strict=True)]
    with diffpeaks.explore(MODEL, captions=Captions(220, ids), id_name="label", open_browser=False) as page:
        assert asked(page, "/api/labels.csv")[0] == 422


def test_a_lasso_chooses_peaks_and_is_not_endless(page, monkeypatch):
    whole = [[-99, -99], [99, -99], [99, 99], [-99, 99]]
    monkeypatch.setattr("diffpeaks.explorer.desk.MOST_PEAKS", 219)
    status, found = change(page, "lasso", polygon=whole)
    assert status == 422
    assert "220 samples inside, more than 219" in found["error"]
    monkeypatch.undo()
    assert change(page, "lasso", polygon=whole)[1]["n_clusters"] == 220


def test_captions_of_some_samples_are_told_in_their_order(page):
    found = json.loads(asked(page, "/api/samples?samples=7,0")[2])["samples"]
    assert [one["sample"] for one in found] == [7, 0]
    for query in ("220", "-1", "1,", "a", ",".join(["0"] * 201)):
        assert asked(page, f"/api/samples?samples={query}")[0] == 422


def test_too_large_a_selection_makes_no_cluster(page, monkeypatch):
    whole = [[-99, -99], [99, -99], [99, 99], [-99, 99]]
    monkeypatch.setattr("diffpeaks.explorer.desk.MOST_GATHERED", 219)
    status, found = change(page, "gather", polygon=whole)
    assert status == 422
    assert "220 samples in the selection, over 219" in found["error"]


def test_the_address_opens_and_closes():
    page = diffpeaks.explore(MODEL, open_browser=False, title='<script>"')
    address, _, token = page.url.partition("#")
    assert token not in address
    assert urlopen(Request(address)).status == 200
    html = page._repr_html_()
    assert html.startswith("<iframe")
    assert page.url in html
    page.close()
    page.close()
    with pytest.raises(OSError, match="refused"):
        urlopen(address)
    np.testing.assert_array_equal(page.labels_, MODEL.labels_)


def test_explore_refuses_captions_of_other_samples():
    with refuses("captions|3 samples|220"):
        diffpeaks.explore(MODEL, captions=Captions(3), open_browser=False)


@pytest.mark.parametrize("port", [-1, 65536, 1.5, True, "8000"])
def test_explore_refuses_what_is_no_port(port):
    with refuses(f"port={port!r}|0 .. 65535|free"):
        diffpeaks.explore(MODEL, port=port, open_browser=False)


def test_a_port_that_is_taken_is_refused_before_the_map_is_made(page, monkeypatch):
    monkeypatch.setattr("diffpeaks.explorer.launch.map_coordinates", lambda *_: pytest.fail("a map was made"))
    taken = page._server.server_port
    with refuses(f"port={taken}|in use|0 for one that is free"):
        diffpeaks.explore(MODEL, port=taken, open_browser=False)


def test_the_browser_is_opened_at_the_address(monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    with diffpeaks.explore(MODEL) as page:
        assert opened == [page.url]


def test_a_change_names_the_revision_that_it_is_about(page):
    first = page._server.desk.revision
    assert change(page, "rule", name="n_clusters", value=5)[1]["revision"] == first + 1
    before = page.labels_
    body = json.dumps({"clusters": before[:2].tolist()})
    for revision, expected in (
        (str(first), 409),
        ("9" * 18, 409),
        (None, 428),
        ("", 428),
        ("-1", 428),
        ("1.0", 428),
    ):
        sent = {"Content_Type": "application/json", "X_Diffpeaks_Revision": revision}
        status, headers, answer = asked(page, "/api/merge", "POST", body, **sent)
        assert status == expected
        assert json.loads(answer)["error"]
        assert headers[REVISION_HEADER] == str(first + 1)
    assert page.labels_ is before


def test_a_merge_that_repeats_a_cluster_is_answered_shortly(page):
    numbers = change(page, "rule", name="n_clusters", value=5)[1]["clusters"].tolist()
    assert change(page, "merge", clusters=numbers[:2] * 100_000)[0] == 200
    assert len(asked(page, "/api/code")[2]) < 1000


def test_a_refusal_does_not_repeat_all_that_was_sent(page):
    status, found = change(page, "split", cluster=list(range(100_000)))
    assert status == 422
    assert len(found["error"]) < 500
    assert found["error"].startswith("cluster must be an integer")
    assert found["error"].endswith("99999]")


def test_a_length_in_other_digits_ends_the_connection(page):
    server = page._server
    lines = [
        "POST /api/undo HTTP/1.1",
        f"Host: 127.0.0.1:{server.server_port}",
        f"{TOKEN_HEADER}: {server.token}",
        "Content-Type: application/json",
        "Content-Length: \xb2",  # a digit for Unicode
        "",
        "GET /icon.svg HTTP/1.1",
        f"Host: 127.0.0.1:{server.server_port}",
        "",
        "",
    ]
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=20) as connection:
        connection.sendall("\r\n".join(lines).encode("latin-1"))
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 413")
    assert answer.count(b"HTTP/1.1 ") == 1  # what follows is no question of its own
