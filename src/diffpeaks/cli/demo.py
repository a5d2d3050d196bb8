"""`diffpeaks demo [FOLDER]`."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", default="out", help="where labels and a picture are written")


def run(given: argparse.Namespace) -> None:
    from diffpeaks.cli import demonstration

    demonstration.main(given.folder)
