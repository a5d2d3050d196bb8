"""The parts that `make docs` puts together; the site itself is built there."""

import importlib
import sys
from pathlib import Path

import pytest

import diffpeaks

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "docs" / "_site"))
api_pages, check_links, contents = map(importlib.import_module, ("api_pages", "check_links", "contents"))

HOME = contents.with_made_pages((ROOT / "docs" / "index.md").read_text())
PAGES = {f"docs/{path.stem}" for path in (ROOT / "docs").glob("*.md")} - {"docs/index"}


@pytest.mark.parametrize("room", ["diffpeaks", *(f"diffpeaks.{room}" for room in diffpeaks._ROOMS)])
def test_every_public_name_is_in_the_reference(room):
    listed = {name for names in api_pages.sections().values() for name in names}
    module = importlib.import_module(room)
    assert {f"{room}.{name}" for name in module.__all__} <= listed


def objects():
    """Names of the reference, and what they stand for."""
    for name in sorted({name for names in api_pages.sections().values() for name in names}):
        room, _, own = name.rpartition(".")
        yield name, getattr(importlib.import_module(room), own)


NAMED = dict(objects())


@pytest.mark.parametrize("name", NAMED)
def test_everything_in_the_reference_is_described(name):
    value = NAMED[name]
    described = api_pages.CONSTANTS.get(name) if not callable(value) else value.__doc__
    assert described


def test_the_page_of_the_reference_names_everything(tmp_path):
    api_pages.write_pages(tmp_path)
    page = (tmp_path / "index.rst").read_text()
    for name, _ in objects():
        assert f"   ~{name}\n" in page or f".. py:data:: {name}\n" in page


def test_every_page_is_in_the_sidebar_once():
    listed = [page for _, linked in contents.parts(HOME, PAGES) for page in linked]
    assert len(listed) == len(set(listed))
    assert set(listed) >= PAGES
    assert {"docs/gallery/index", "docs/reference/index", "CHANGELOG", "benchmarks/README"} <= set(listed)


def test_pages_are_of_four_kinds():
    kinds = [caption for caption, linked in contents.parts(HOME, PAGES) if linked]
    assert kinds == ["Tutorial", "How-to", "Explanation", "Reference"]


def test_a_page_that_the_home_page_does_not_link_comes_last():
    parts = dict(contents.parts("# Home\n\n## Guide\n\n- [One](one.md): first.\n", {"docs/one", "docs/two"}))
    assert parts == {"Guide": {"docs/one": "One"}, "More": {"docs/two": None}}
    assert "One </docs/one>" in contents.toctree("Guide", parts["Guide"])


def test_examples_of_the_gallery_are_in_the_order_of_their_list():
    order = contents.OrderOfReadme("examples")
    scripts = [path.name for path in (ROOT / "examples").glob("plot_*.py")]
    assert sorted(scripts, key=order)[0] == "plot_quickstart.py"


def test_links_that_lead_nowhere_are_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<p id="here"><a href="b.html#there">1</a><a href="#here">2</a><a href="b.html#nowhere">3</a>'
        '<a href="missing.html">4</a><img src="a.png"><a href="https://example.org/none">5</a>'
    )
    (tmp_path / "b.html").write_text('<p id="there">')
    (tmp_path / "a.png").write_bytes(b"")
    found = [link for _, link in check_links.broken_links(tmp_path)]
    assert found == ["b.html#nowhere", "missing.html"]
