"""``python -m tests.steps record FILE`` and ``compare FILE``: see the package."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from pathlib import Path

import msgspec

from tests import steps
from tests.steps.recording import FormError, check_form, difference, lines, record, write
from tests.steps.runs import runs

DEFAULT_STEPS = 1_000_000


def main(words: list[str]) -> int:
    """Return 1 if anything differs, 2 if the file cannot be compared."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.steps", description=(steps.__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("act", choices=("record", "compare"))
    parser.add_argument("file", type=Path)
    parser.add_argument(
        "--steps",
        type=int,
        default=DEFAULT_STEPS,
        help="random inputs to record (default: a million)",
    )
    given = parser.parse_args(words)
    if given.act == "compare":
        try:
            check_form(given.file)
        except FormError as error:
            parser.exit(2, f"{error}\n")
    with multiprocessing.get_context("fork").Pool(os.cpu_count()) as pool:
        if given.act == "record":
            count = write(given.file, pool.imap(record, runs(given.steps), chunksize=8))
            return _report(f"{count} steps recorded")
        found = [
            each
            for each in pool.imap(difference, lines(given.file), chunksize=8)
            if each is not None
        ]
    for each in found:
        where = f"{each.run.source}, {each.run.game} {each.run.decree}, step {each.step}"
        _report(f"{where}: {each.given}\n  says now {msgspec.json.encode(each.output).decode()}")
    count = sum(len(line.steps) for line in lines(given.file))
    _report(f"{count} steps compared, {len(found)} runs differ")
    return 1 if found else 0


def _report(line: str) -> int:
    sys.stdout.write(line + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
