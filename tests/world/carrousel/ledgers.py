"""``make ledgers BASE=COMMIT`` compares two commits: what the jackpot controller stores and
publishes in the same worlds.

``python -m tests.world.carrousel.ledgers`` prints a line for each seed: a digest of the rows of its
ledger, and one of every message and all else that happened.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import sqlite3
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from pathlib import Path
from shutil import rmtree
from unittest import mock

from common.contract import version
from tests.world.__main__ import be_quiet
from tests.world.carrousel import part
from tests.world.run import plan, run
from tests.world.world import MEMORY

FOLDER = Path(MEMORY or "build") / "novamas-ledgers"
"""The same for each run, since the ledger holds the digest of a configuration that names it."""
TABLES = ("entry", "posting", "saved", "cursor")


def main(words: list[str]) -> int:
    """Print one line for each seed. Return 1 if a world has a finding."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=15, help="how many seeds")
    parser.add_argument("--hours", type=float, default=0.1, help="hours of one world")
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args(words)
    seeds = range(1, chosen.seeds + 1)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (
        (FOLDER / "lock").open("w") as lock,
        ProcessPoolExecutor(chosen.jobs, initializer=_prepare) as pool,
    ):
        fcntl.flock(lock, fcntl.LOCK_EX)  # another run would use the same folders
        results = list(pool.map(_result, seeds, [chosen.hours] * len(seeds)))
    sys.stdout.writelines(f"{line}\n" for line, _ in results)
    return int(any(finding is not None for _, finding in results))


def _prepare() -> None:
    """Log nothing, and hide the version, which differs between any two commits."""
    be_quiet()
    names = {"SOFTWARE": version.SOFTWARE, "VERSION": version.VERSION}
    for module in list(sys.modules.values()):
        for name, value in names.items():
            if getattr(module, name, None) == value:
                setattr(module, name, version.RELEASE)


def _result(seed: int, hours: float) -> tuple[str, str | None]:
    """Return the line of a seed, and the finding of its world."""
    folder = FOLDER / str(seed)
    rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with mock.patch.object(part, "program_digest", return_value="program"):
        outcome = run(plan(seed, hours, tables=1, parts=("carrousel",)), folder)
    rows, count = _rows(folder / part.MACHINE / "ledger" / "carrousel.sqlite3")
    rmtree(folder)
    line = f"seed {seed}: {count} rows {rows}, all messages {outcome.digest[:32]}"
    if outcome.finding is not None:
        line += f", FOUND {outcome.finding[:200]}"
    return line, outcome.finding


def _rows(path: Path) -> tuple[str, int]:
    """Return a digest of all rows of a ledger, and their number."""
    digest, count = hashlib.blake2b(digest_size=16), 0
    with closing(sqlite3.connect(path)) as file:
        for table in TABLES:
            for row in file.execute(f"SELECT * FROM {table} ORDER BY 1, 2"):
                digest.update(f"{table} {row}\n".encode())
                count += 1
    return digest.hexdigest(), count


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
