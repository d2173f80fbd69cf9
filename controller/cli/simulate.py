"""``novamas simulate``: runs a simulated device as a program of its own, because the controller
knows no simulator.
"""

from __future__ import annotations

import argparse
import os
import sys

KINDS = ("wheel", "shoe", "shuffler", "dice", "slot")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything is passed on; ``novamas simulate wheel --help`` lists the options."""
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
