"""``python -m tests.chaos``: what goes wrong, shown on real parts. ``--long`` is the whole of it;
``--seed`` has a run again.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
from pathlib import Path

from tests.chaos.conftest import SEED
from tests.conftest import LONG
from tests.support.chaos.report import tell

TESTS = Path(__file__).parents[1]
TAKES_CASES = re.compile(r"\blong: bool\b|^from tests\.conftest import .*\bcases\b", re.MULTILINE)
THROUGH_A_HELPER = (
    *(
        "controller/configuration/test_hostile_files.py",
        "common/contract/test_hostile_values.py",
    ),
    *(
        "controller/games/test_circle_properties.py",
        "controller/games/test_circle_own_properties.py",
    ),
    *("subscribers/carrousel/test_any_order.py", "subscribers/display/test_picture.py"),
)
"""Tests whose helpers draw more cases in the long form."""


def with_a_long_form() -> list[Path]:
    """The modules elsewhere that draw more cases in it. ``make brokers`` runs its own."""
    elsewhere = (
        path
        for path in TESTS.rglob("test_*.py")
        if not {TESTS / "chaos", TESTS / "brokers"} & {*path.parents}
    )
    found = {path for path in elsewhere if TAKES_CASES.search(path.read_text())}
    return sorted(found | {TESTS / name for name in THROUGH_A_HELPER})


def run(chosen: list[str]) -> int:
    """Run these with pytest, in a process that has imported nothing that it would have to watch."""
    return subprocess.call([sys.executable, "-m", "pytest", "-s", "-v", *chosen])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument(
        "--long",
        action="store_true",
        help="200 kills, every phase, a month of play: forty minutes, and an hour for the console",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=random.randrange(1_000_000),
        help="of the schedule; without one it is drawn",
    )
    arguments, others = parser.parse_known_args()
    os.environ[SEED] = str(arguments.seed)
    if arguments.long:
        os.environ[LONG] = "1"
    tell(f"seed {arguments.seed}: to have this run again, add --seed {arguments.seed}")
    chosen = [TESTS / "chaos", *(with_a_long_form() if arguments.long else ())]
    return run([*map(str, chosen), *others])


if __name__ == "__main__":
    sys.exit(main())
