"""``python -m tests.brokers``: the contract at each engine, and a hundred faults of a cluster.
``--seed`` has a run again.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from pathlib import Path

from tests.chaos.__main__ import run
from tests.chaos.conftest import SEED
from tests.conftest import LONG
from tests.support.chaos.report import tell


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.brokers", description=__doc__)
    parser.add_argument(
        "--seed",
        type=int,
        default=random.randrange(1_000_000),
        help="of the faults; without one it is drawn",
    )
    arguments, others = parser.parse_known_args()
    os.environ |= {SEED: str(arguments.seed), LONG: "1"}
    tell(f"seed {arguments.seed}: to have this run again, add --seed {arguments.seed}")
    here = Path(__file__).parent
    return run([str(here), str(here.parent / "cluster"), *others])


if __name__ == "__main__":
    sys.exit(main())
