"""`diffpeaks paper EXPERIMENT`: a package of its own, installed beside."""

from __future__ import annotations

import argparse

from diffpeaks_paper import command


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    command.add_arguments(parser)


def run(given: argparse.Namespace) -> None:
    command.main(given)
