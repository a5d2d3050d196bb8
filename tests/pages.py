"""A page as a reader and a browser see it: text, elements and what they would load."""

from html.parser import HTMLParser

_EMPTY = {"meta", "img", "input", "br", "link"}


class Page(HTMLParser):
    """What there is in a page of HTML.

    Attributes
    ----------
    elements : (name, attributes) of each, in order
    text : what is read, without scripts and styles
    scripts : the content of script elements
    """

    def __init__(self, source):
        super().__init__()
        self.elements, self.scripts, self._open, self._texts = [], [], [], []
        self.feed(source)
        self.close()
        self.text = " ".join(" ".join(self._texts).split())

    @classmethod
    def of(cls, path):
        return cls(path.read_text())

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in _EMPTY:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self._open.pop() == tag, tag

    def handle_data(self, data):
        if self._open and self._open[-1] == "script":
            self.scripts.append(data)
        elif not self._open or self._open[-1] != "style":
            self._texts.append(data)

    def ids(self):
        """The ids of clusters."""
        return [
            attributes["id"]
            for _, attributes in self.elements
            if attributes.get("id", "").startswith("cluster-")
        ]

    def targets(self):
        """All that an element would load or lead to."""
        names = ("src", "href", "xlink:href", "action", "srcset", "data", "poster")
        return [attributes[name] for _, attributes in self.elements for name in names if name in attributes]

    def with_class(self, name):
        return [tag for tag, attributes in self.elements if name in (attributes.get("class") or "").split()]
