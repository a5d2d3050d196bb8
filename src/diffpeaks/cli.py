"""The command `diffpeaks`: thin, every decision is made elsewhere."""

from __future__ import annotations

import argparse
import sys

import diffpeaks

INTERRUPTED = 130  # as shells report it
REFUSED = 2


def main(arguments: list[str] | None = None) -> int:
    """Run a command; errors that a user can mend are one line, without a traceback."""
    given = _parser().parse_args(arguments)
    try:
        given.run(given)
    except KeyboardInterrupt:
        print("diffpeaks: interrupted; what was finished is kept", file=sys.stderr)
        return INTERRUPTED
    except (ValueError, TypeError, OSError, ImportError, MemoryError, RuntimeError) as error:
        print(f"diffpeaks: {error}", file=sys.stderr)
        return REFUSED
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="diffpeaks", description=diffpeaks.__doc__)
    parser.add_argument("--version", action="version", version=f"diffpeaks {diffpeaks.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_demo(commands)
    _add_paper(commands)
    return parser


def _add_demo(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("demo", help="cluster data that ships with scikit-learn")
    parser.add_argument("folder", nargs="?", default="out", help="where labels and a picture are written")

    def run(given: argparse.Namespace) -> None:
        from diffpeaks import demo

        demo.main(given.folder)

    parser.set_defaults(run=run)


def _add_paper(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from diffpeaks_paper import command

    parser = commands.add_parser(
        "paper",
        help="the tables and figures of the paper, ours beside theirs",
        description="Run what is missing, then make a table or figure; an interrupted run goes on.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_arguments(parser)
    parser.set_defaults(run=command.main)
