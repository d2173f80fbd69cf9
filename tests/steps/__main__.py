"""``python -m tests.steps record FILE`` and ``compare FILE``: see the package."""

from __future__ import annotations

import argparse
import gzip
import multiprocessing
import os
import sys
from pathlib import Path

import msgspec

from tests import steps
from tests.steps.recording import difference, lines, record
from tests.steps.runs import runs

MILLION = 1_000_000


def main(words: list[str]) -> int:
    """1 if anything differs."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.steps", description=(steps.__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("act", choices=("record", "compare"))
    parser.add_argument("file", type=Path)
    parser.add_argument(
        "--steps", type=int, default=MILLION, help="random inputs to record (default: a million)"
    )
    given = parser.parse_args(words)
    with multiprocessing.get_context("fork").Pool(os.cpu_count()) as pool:
        if given.act == "record":
            count = 0
            with gzip.open(given.file, "wb", compresslevel=1) as file:
                for line in pool.imap(record, runs(given.steps), chunksize=8):
                    file.write(msgspec.json.encode(line) + b"\n")
                    count += len(line.steps)
            return _tell(f"{count} steps recorded")
        found = [
            each
            for each in pool.imap(difference, lines(given.file), chunksize=8)
            if each is not None
        ]
    for each in found:
        where = f"{each.run.source}, {each.run.game} {each.run.decree}, step {each.step}"
        _tell(f"{where}: {each.given}\n  says now {msgspec.json.encode(each.told).decode()}")
    count = sum(len(line.steps) for line in lines(given.file))
    _tell(f"{count} steps compared, {len(found)} runs differ")
    return 1 if found else 0


def _tell(line: str) -> int:
    sys.stdout.write(line + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
