"""How far a command is, on standard error: an option against it, and what goes around the work."""

from __future__ import annotations

import argparse
import sys
from contextlib import AbstractContextManager, nullcontext

from diffpeaks.progress.lines import printed

_LASTING = 2.0  # seconds from which on a stage is worth a line in a log


def add_quiet(parser: argparse.ArgumentParser, said: str = "errors") -> None:
    parser.add_argument("--quiet", action="store_true", help=f"print only {said} on standard error")


def progress_shown(given: argparse.Namespace) -> AbstractContextManager[None]:
    """Show the progress of the work inside, unless --quiet is given.

    A terminal has one line that is redrawn and then gone, and whatever is printed inside would mingle with
    it. Where standard error goes elsewhere, stages that last leave a line each.
    """
    if given.quiet:
        return nullcontext()
    if sys.stderr.isatty():
        return printed(sys.stderr, redrawn=True, kept_from=float("inf"))
    return printed(sys.stderr, redrawn=False, kept_from=_LASTING)
