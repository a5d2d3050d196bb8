"""The lines of a file of results as a markdown table; measures nothing. A ~ marks estimated seconds.

usage: table.py RESULTS [--threads T ...] [--sets NAME ...]
"""

import argparse
from itertools import groupby

from diffpeaks_paper.records import Records

MARK = "kind"  # what every line of results has
OURS = ("diffpeaks", "diffpeaks exact", "diffpeaks tree")


def comparison(line):
    """What lines have in common that are compared with one another."""
    return tuple(line[key] for key in ("set", "n", "d", "k", "threads", "target"))


def ratio(line, lines):
    """How many times the seconds of diffpeaks at the same task; None where that was not timed."""
    ours = [other["seconds"] for other in lines if other["system"] in OURS]
    return line["seconds"] / min(ours) if ours else None


def setting_text(line):
    if line["system"] in OURS:
        return line["kernel"] or ""
    effort = {} if line["effort"] is None else {"effort": line["effort"]}
    return ", ".join(f"{name} {value}" for name, value in {**line["setting"], **effort}.items())


def row(line, lines):
    times = ratio(line, lines)
    cells = (
        line["set"],
        f"{line['n']:,} x {line['d']}",
        line["k"],
        line["threads"],
        line["target"],
        line["system"],
        setting_text(line),
        f"{line['recall']:.3f}",
        f"{'~' if line['kind'] == 'missed' else ''}{line['seconds']:.2f}",
        "" if times is None else f"{times:.2f}",
    )
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def latest_results(lines):
    """Of each system at each task the last line, which a rerun may have bettered."""
    results = (line for line in lines if line["kind"] in ("timed", "missed"))
    return {(*comparison(line), line["system"], line["kernel"]): line for line in results}.values()


def markdown(lines):
    names = (
        "set | size | neighbours | threads | recall asked | system | setting | recall | seconds | times ours"
    )
    table = [f"| {names} |", "|" + "---|" * len(names.split(" | "))]
    for _, group in groupby(sorted(latest_results(lines), key=comparison), key=comparison):
        compared = sorted(group, key=lambda line: line["seconds"])
        table += [row(line, compared) for line in compared]
    return "\n".join(table)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results")
    parser.add_argument("--threads", type=int, nargs="+")
    parser.add_argument("--sets", nargs="+")
    given = parser.parse_args()
    lines = Records(given.results, MARK).lines
    lines = [line for line in lines if given.threads is None or line["threads"] in given.threads]
    print(markdown([line for line in lines if given.sets is None or line["set"] in given.sets]))


if __name__ == "__main__":
    main()
