"""The command `diffpeaks`: thin, every command is a file in `commands`, imported when it is called."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

import diffpeaks

FAILED, REFUSED, INTERRUPTED, UNREAD = 1, 2, 130, 141  # the last two as shells report them
EXIT_CODES = """exit codes:
  0    done
  1    a failure while working, such as no memory, a full disk, or a limit that was not reached
  2    bad usage or bad input
  130  interrupted; no file is half-written
  141  the reader of the output has stopped reading, as `head` does"""

COMMANDS = {
    "cluster": "cluster the points of files",
    "report": "cluster points, or load a saved model, and write an HTML page about the clusters",
    "explore": "change the cut and the clusters by hand, on a page in the browser",
    "predict": "label new points with a saved model",
    "score": "compare labels with true labels",
    "info": "predict the memory and the time of a run, without running it",
    "demo": "cluster a data set that ships with scikit-learn",
    "paper": "reproduce the tables and figures of the paper; an interrupted run is continued",
}
# What a user can mend before any work; other errors of the system come while working.
_BAD_INPUT = (
    ValueError,
    TypeError,
    ImportError,
    FileNotFoundError,
    IsADirectoryError,
    NotADirectoryError,
    PermissionError,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; errors that a user can mend are one line, without a traceback."""
    words = [_dashed(word) for word in (sys.argv[1:] if arguments is None else arguments)]
    given = _parser(words).parse_args(words)
    try:
        import_module(f"diffpeaks.cli.{given.command}").run(given)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _ended(INTERRUPTED, "interrupted; what was finished is kept")
    except BrokenPipeError:
        _silence()
        return UNREAD
    except _BAD_INPUT as error:
        return _ended(REFUSED, str(error))
    except MemoryError as error:
        return _ended(FAILED, f"there is not enough memory ({str(error) or 'nothing more is known'})")
    except (OSError, RuntimeError) as error:
        return _ended(FAILED, str(error))
    return 0


def _ended(code: int, reason: str) -> int:
    print(f"diffpeaks: {reason}", file=sys.stderr)
    return code


def _silence() -> None:
    """Python flushes what is left when it ends, and would complain that it has no reader either."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())


def _dashed(word: str) -> str:
    """Options as the parameters are called, --n_clusters, are options too."""
    name, equals, value = word.partition("=")
    return name.replace("_", "-") + equals + value if word.startswith("--") else word


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """The parser of all commands; only one that is named is asked for its arguments, as that imports it."""
    parser = argparse.ArgumentParser(
        prog="diffpeaks",
        description=diffpeaks.__doc__,
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"diffpeaks {diffpeaks.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")
    for name, what in COMMANDS.items():
        command = commands.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.")
        if name in words:
            import_module(f"diffpeaks.cli.{name}").add_arguments(command)
    return parser
