"""``novamas wheel``: reports statistics of wheels, shoes and second witnesses from a surveillance
archive.
"""

from __future__ import annotations

import argparse
import os
import sys

PROGRAM = "subscribers.statistics"


def arguments(parser: argparse.ArgumentParser) -> None:
    """[TABLE ...] --archive PATH [--since TIME] [--witnesses] [--json]."""
    parser.add_argument("table", nargs="*", metavar="TABLE", help="only these tables")
    parser.add_argument(
        "--archive", required=True, metavar="PATH", help="a file, or postgresql://..."
    )
    parser.add_argument(
        "--since", metavar="TIME", help="only from then on: 2026-11-01, or 2026-11-01T06:00"
    )
    parser.add_argument(
        "--witnesses", action="store_true", help="only how often second witnesses agree"
    )
    parser.add_argument("--json", action="store_true", help="one object on one line for each")


def run(arguments: argparse.Namespace) -> int:
    """Replace this process by the statistics program."""
    options = [f"--archive={arguments.archive}"]
    options += [] if arguments.since is None else [f"--since={arguments.since}"]
    options += ["--witnesses"] if arguments.witnesses else []
    options += ["--json"] if arguments.json else []
    sys.stdout.flush()
    program = [sys.executable, "-m", PROGRAM, *options, "--", *arguments.table]
    os.execv(sys.executable, program)  # noqa: S606 - no shell is wanted
