"""``novamas simulate``: a simulated device, in a program of its own, for a controller knows no
simulator.
"""

from __future__ import annotations

import argparse
import os
import sys

HELP = "stand in for a device: a simulated one on a pseudo-terminal, a TCP port or a broker"

KINDS = ("wheel", "shoe", "shuffler", "dice", "slot")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything is handed on; ``novamas simulate wheel --help`` tells what there is."""
    parser.add_argument(
        "kind",
        choices=KINDS,
        help="the kind of device; 'wheel --help' tells the options and faults",
    )
    parser.add_argument("options", nargs=argparse.REMAINDER, help="handed on to the simulator")


def run(arguments: argparse.Namespace) -> int:
    """Become the simulator."""
    sys.stdout.flush()
    os.execv(  # noqa: S606
        sys.executable, [sys.executable, "-m", "simulators", arguments.kind, *arguments.options]
    )
