"""``novamas simulate``: runs a simulated device as a separate program, because the controller does
not import simulators.
"""

from __future__ import annotations

import argparse
import os
import sys

KINDS = ("wheel", "shoe", "shuffler", "dice", "slot")


def arguments(parser: argparse.ArgumentParser) -> None:
    """KIND and options for the simulator; ``novamas simulate wheel --help`` lists them."""
    parser.add_argument(
        "kind",
        choices=KINDS,
        help="the kind of device; 'wheel --help' lists the options and faults",
    )
    parser.add_argument("options", nargs=argparse.REMAINDER, help="passed on to the simulator")


def run(arguments: argparse.Namespace) -> int:
    """Replace this process by the simulator."""
    sys.stdout.flush()
    os.execv(  # noqa: S606
        sys.executable, [sys.executable, "-m", "simulators", arguments.kind, *arguments.options]
    )
