"""Every link of a built site leads to a page of it, and to a place on that page: check_links.py FOLDER."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, and the places that links may lead to."""

    def __init__(self, path):
        super().__init__()
        self.links, self.places = [], {""}
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            if name in ("id", "name") and value:
                self.places.add(value)


def broken_links(folder):
    """(page, link) for each link that leads nowhere; links to other hosts are not looked at."""
    pages = {path.resolve(): Page(path) for path in Path(folder).rglob("*.html")}
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            is_there = target in pages and unquote(parts.fragment) in pages[target].places
            if not is_there and not (target.is_file() and target not in pages):
                yield path.relative_to(Path(folder).resolve()), link


def main(folder):
    broken = [f"{page}: {link}" for page, link in broken_links(folder)]
    print("\n".join(broken) or f"all links within {folder} lead somewhere")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
