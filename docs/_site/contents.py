"""The sidebar from the sections of links on the home page, so that pages stay plain Markdown."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"^- \[([^\]]+)\]\(([^)#]+)\.(?:md|rst)\)", re.MULTILINE)
# what the home page links, and the page that is made of it for the site
MADE = {"../examples/README.md": "gallery/index.rst", "../src/diffpeaks/__init__.py": "reference/index.rst"}


class OrderOfReadme:
    """Examples in the order of the table in examples/README.md."""

    def __init__(self, src_dir):
        self.scripts = re.findall(r"\]\((\w+\.py)\)", (ROOT / "examples" / "README.md").read_text())

    def __call__(self, script):
        return self.scripts.index(script)


def with_made_pages(home):
    """The home page with links to what the site has in the place of files of the repository."""
    for file, page in MADE.items():
        home = home.replace(f"]({file})", f"]({page})")
    return home


def parts(home, pages):
    """Captions, and below each the pages that a section of the home page links, with the words of the links.

    Other pages of docs/ come last, with their own titles.
    """
    named = set()
    for section in re.split(r"^## ", home, flags=re.MULTILINE)[1:]:
        caption, _, body = section.partition("\n")
        linked = {_page(link): words for words, link in LINK.findall(body)}
        named |= {*linked}
        yield caption, linked
    yield "More", {page: None for page in sorted(pages - named) if re.fullmatch(r"docs/[\w-]+", page)}


def _page(link):
    return (ROOT / "docs" / link).resolve().relative_to(ROOT).as_posix()


def toctree(caption, linked):
    entries = "\n".join(f"{words} </{page}>" if words else f"/{page}" for page, words in linked.items())
    return f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{entries}\n```\n"


def prepare(app, page, source):
    """What a page of plain Markdown lacks for Sphinx."""
    home = with_made_pages((ROOT / f"{app.config.root_doc}.md").read_text())
    listed = dict(parts(home, app.env.found_docs - {app.config.root_doc}))
    if page == app.config.root_doc:
        source[0] = home + "".join(toctree(caption, linked) for caption, linked in listed.items() if linked)
    elif not any(page in linked for linked in listed.values()) and (ROOT / f"{page}.md").exists():
        source[0] = f"---\norphan: true\n---\n\n{source[0]}"  # links lead there, the sidebar does not
    if page == "examples/README":
        source[0] = re.sub(r"\]\((plot_\w+)\.py\)", r"](../docs/gallery/\1.rst)", source[0])
    if table := re.fullmatch(r"docs/reproduction/table(\d)", page):
        title = f"# Table {table[1]}\n\n"
        source[0] = source[0].replace("---\n\n", f"---\n\n{title}", 1).replace("\n### ", "\n## ")


def setup(app):
    app.connect("source-read", prepare)
    return {"parallel_read_safe": True}
