"""The site of the documentation: `make docs` builds it into docs/_build/html.

The source folder is the repository itself, so that a link between pages is the same here and where the
repository is browsed. What is not plain Markdown is made: contents from the lists of links on the home page,
the reference from docstrings, the gallery from the examples.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import api_pages

import diffpeaks

project = "diffpeaks"
author = "The diffpeaks developers"
project_copyright = author
version = release = diffpeaks.__version__

extensions = [
    "contents",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**", "benchmarks/**.md", "examples/README.md", "src/diffpeaks/*/README.md"]
exclude_patterns = ["README.md", "docs/_build", "docs/_site", "docs/gallery/*.ipynb", ".venv", "build", "out"]
templates_path = [str(HERE / "templates")]  # autosummary would look in the repository

html_theme = "furo"
html_title = f"diffpeaks {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_extra_path = ["extra"]
html_copy_source = html_show_sourcelink = False
pygments_style, pygments_dark_style = "friendly", "github-dark"

myst_heading_anchors = 3
suppress_warnings = ["config.cache"]  # the gallery's order is a class
copybutton_exclude = ".linenos, .gp, .go"

default_role = "py:obj"  # single quotes of docstrings: a link where there is such an object, else code
autodoc_typehints = "none"  # types are told in the sections of parameters
autosummary_generate = True
numpydoc_show_class_members = False  # the template lists them

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "docs/gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"(^|/)(?!plot_)\w+\.py$",
    "within_subsection_order": "contents.OrderOfReadme",
    "backreferences_dir": "docs/gallery/backreferences",
    "doc_module": ("diffpeaks",),
    "image_srcset": ["2x"],
    "min_reported_time": 60,
    "show_memory": False,
    "show_signature": False,
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "write_computation_times": False,
}

api_pages.write_pages(HERE.parent / "reference")
