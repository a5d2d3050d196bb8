"""`diffpeaks explore IN...`: a page in the browser in which the cut is moved by hand."""

from __future__ import annotations

import argparse
import sys

from diffpeaks.cli.captions import add_captions, with_own_columns
from diffpeaks.cli.inputs import add_inputs
from diffpeaks.cli.mapping import add_map
from diffpeaks.cli.parameters import add_parameters
from diffpeaks.cli.progress import add_quiet, progress_shown
from diffpeaks.cli.results import with_ids
from diffpeaks.cli.shown import add_model, check_shown, read_shown, title_of
from diffpeaks.explorer import Explorer, explore
from diffpeaks.explorer.saved import read_session
from diffpeaks.explorer.server import check_port
from diffpeaks.files import Samples, check_destination, check_present, write_results


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser, are_needed=False)
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="the file for the labels, written when the command stops; default: none",
    )
    add_model(parser)
    add_quiet(parser, "errors and the address of the page")
    page = parser.add_argument_group("the page")
    page.add_argument("--title", help="title of the page; default: the names of the files")
    page.add_argument("--session", metavar="FILE", help="a session saved on the page, to start from")
    page.add_argument(
        "--port", type=int, metavar="N", default=0, help="port of the page; default: a free one"
    )
    page.add_argument(
        "--browser",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="open the page, or only print its address",
    )
    add_captions(parser)
    add_map(parser)
    add_parameters(parser)


def run(given: argparse.Namespace) -> None:
    check_port(given.port)
    check_shown(given)
    if given.session is not None:
        check_present(given.session)
        read_session(given.session)
    if given.output is not None:
        check_destination(given.output, [*given.inputs, *filter(None, [given.model])])
    with progress_shown(given):
        page, samples = _opened(given)
    print(
        f"page   {page.url}\n       for browsers on this machine; Ctrl+C ends it", file=sys.stderr, flush=True
    )
    page.wait()
    if given.output is not None:
        write_results(given.output, with_ids(samples, page.results_), given.inputs)
    if not given.quiet:
        told = "" if given.output is None else f"\nlabels {given.output}"
        print(f"{page.code}{told}", file=sys.stderr)


def _opened(given: argparse.Namespace) -> tuple[Explorer, Samples]:
    """The page, and the samples that are on it."""
    model, samples, captions, drawn = read_shown(given)
    if drawn.how is None:
        raise ValueError("--map none leaves no map to explore; use another, or give --coordinates")
    if given.model is None:
        model.fit(samples.X)
    page = explore(
        model,
        map=drawn.how,
        map_name=None if given.coordinates is None else ", ".join(given.coordinates),
        captions=with_own_columns(captions, samples),
        id_name="id" if samples.ids is None else samples.ids.name,
        session=given.session,
        title=title_of(given),
        open_browser=given.browser,
        port=given.port,
    )
    return page, samples
