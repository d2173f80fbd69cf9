"""``python -m tests.chaos``: what goes wrong, shown on real parts. ``--long`` is the whole of it;
``--seed`` has a run again.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from pathlib import Path

import pytest

from tests.chaos.conftest import LONG, SEED
from tests.chaos.report import tell


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument(
        "--long",
        action="store_true",
        help="200 kills, every phase, a month of play: about twenty minutes",
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
    return int(pytest.main(["-s", "-v", str(Path(__file__).parent), *others]))


if __name__ == "__main__":
    sys.exit(main())
