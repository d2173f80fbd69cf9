"""``python -m tests.chaos``: what goes wrong, shown on real parts. ``--long`` is the whole of it;
``--seed`` has a run again.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
from pathlib import Path

from tests.chaos.conftest import SEED
from tests.conftest import LONG
from tests.support.chaos.report import tell

FAMILIES = (
    *("banked", "blackjack", "cells", "chemin", "circle", "circle_own", "craps", "house_poker"),
    *("punto_banca", "roulette", "trente"),
)
"""Of games: what holds whatever happens at their tables."""
WITH_A_LONG_FORM = (
    *("controller/confidential/test_confidential.py", "controller/confidential/test_two_worlds.py"),
    *("controller/journal/test_journal_damage.py", "controller/proof/test_damaged_cells.py"),
    *(
        "controller/configuration/test_hostile_files.py",
        "controller/contract/test_hostile_values.py",
    ),
    *("controller/standby/test_lease.py", "controller/proof/test_processes.py"),
    "controller/mqtt/test_table_claims.py",
    *(f"controller/games/test_{family}_properties.py" for family in FAMILIES),
    *("controller/games/test_circle_showdown.py", "controller/games/test_drives.py"),
    "controller/games/test_hands_published.py",
    *("controller/people/test_gate.py", "controller/people/test_signed_command.py"),
    "devices/profiles/test_reachable.py",
    *("devices/test_evidence.py", "devices/test_splits.py", "devices/test_stalls.py"),
    *("subscribers/display/test_bodies.py", "subscribers/display/test_worlds.py"),
    "mutants/test_mutants.py",
    *("subscribers/carrousel/test_any_order.py", "subscribers/carrousel/test_kills.py"),
    *("subscribers/carrousel/test_store.py", "subscribers/surveillance/test_outages.py"),
    *("subscribers/console/test_second_person.py", "subscribers/display/test_picture.py"),
    *("web/test_any_request.py", "web/test_interrupted.py", "web/test_jackpot.py"),
    "web/test_surveillance.py",
)
"""Tests elsewhere that draw more cases in it."""


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
    here = Path(__file__).parent
    chosen = [here, *(here.parent / name for name in WITH_A_LONG_FORM * arguments.long)]
    return run([*map(str, chosen), *others])


if __name__ == "__main__":
    sys.exit(main())
