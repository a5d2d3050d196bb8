"""`diffpeaks paper EXPERIMENT`: a package of its own, which most users of the library do not need."""

from __future__ import annotations

import argparse
from importlib.util import find_spec

NOT_INSTALLED = (
    "diffpeaks paper needs the package diffpeaks-paper, which is not installed; "
    "install it from a copy of the repository with: pip install ./benchmarks/paper"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    if _is_installed():
        from diffpeaks_paper import command

        command.add_arguments(parser)
    else:  # refused by `run`, as "paper" may also be the name of a file that another command was given
        parser.epilog = NOT_INSTALLED
        parser.add_argument("ignored", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def run(given: argparse.Namespace) -> None:
    if not _is_installed():
        raise ImportError(NOT_INSTALLED)
    from diffpeaks_paper import command

    command.main(given)


def _is_installed() -> bool:
    return find_spec("diffpeaks_paper") is not None
