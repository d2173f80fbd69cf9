"""Memory and open files over thousands of rounds: what is held at half way is held at the end."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable

from tests.chaos.month import GAMES_PER_HOUR, PARTS
from tests.support.chaos.floor import Floor
from tests.support.chaos.report import tell

MONTH = 30 * 24 * GAMES_PER_HOUR
GROWTH = 2_000
"""kB that may come and go; a leak of one small object for each of a thousand rounds would
be more.
"""
PASSING = 2
"""Files that may just be open, while a checkpoint is written."""


def test_nothing_grows(floor: Callable[..., Floor], long: bool) -> None:
    # without chrony: where none answers, a socket to it is open for every other look
    made = floor(clock='chrony = ""')
    made.broker.start()
    rounds = MONTH if long else 1_000
    done = subprocess.run(
        [sys.executable, "-m", "tests.chaos.month", made.daemon.file, str(rounds)],
        capture_output=True,
        text=True,
        check=False,
    )
    tell(done.stdout)
    assert done.returncode == 0, done.stderr
    held = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(held) == PARTS
    first, second = held[: PARTS // 2], held[PARTS // 2 :]
    assert max(part["memory"] for part in second) - second[0]["memory"] < GROWTH
    assert min(part["files"] for part in second) == min(part["files"] for part in first)
    assert max(part["files"] for part in held) - min(part["files"] for part in held) <= PASSING
