"""Every line of the games in the gazettes belongs to a numbered rule, or gives no order to the
house or the table: ``no_order.tsv`` has the lines of the second kind, and their content.

``python -m tests.controller.rulebooks.test_lines`` counts both for each decree.
"""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path

from controller.rulebooks.numbered import numbered
from tests.conftest import SHARED
from tests.controller.rulebooks.printed import COPIES

GAMES = {
    "BAL05": (94, 3008),
    "BAL09": (52, 1350),
    "ARA02": (168, 1675),
    "EUS96": (196, 2933),
    "GAL07": (92, 1037),
}
"""The first and last line of the games that a table plays, without preambles, raffles and
annexes.
"""
TABLE = Path(__file__).with_name("no_order.tsv")


def printed(shared: Path, decree: str) -> set[int]:
    """The lines of the games that are not empty."""
    [copy] = shared.glob(f"seeds/{COPIES[decree]}")
    first, last = GAMES[decree]
    lines = copy.read_text(encoding="utf-8").split("\n")
    return {number for number in range(first, last + 1) if lines[number - 1].strip()}


def of_rules(decree: str) -> set[int]:
    """The lines that a numbered rule of the decree is printed in."""
    spans = (
        span
        for rule in numbered().values()
        if rule.decree == decree
        for span in re.findall(r"L(\d+)(?:-(\d+))?", rule.lines)
    )
    return {line for first, last in spans for line in range(int(first), int(last or first) + 1)}


def without_orders(decree: str) -> set[int]:
    """The lines that were read, and give no order."""
    with TABLE.open(encoding="utf-8", newline="") as table:
        rows = [row for row in csv.DictReader(table, delimiter="\t") if row["decree"] == decree]
    return {line for row in rows for line in range(int(row["first"]), int(row["last"]) + 1)}


def test_every_line_of_the_games_was_read(shared: Path) -> None:
    for decree in GAMES:
        assert printed(shared, decree) - of_rules(decree) - without_orders(decree) == set()


def test_a_line_without_orders_is_not_wholly_of_a_rule(shared: Path) -> None:
    with TABLE.open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table, delimiter="\t"))
    for row in rows:
        lines = set(range(int(row["first"]), int(row["last"]) + 1)) & printed(shared, row["decree"])
        assert lines - of_rules(row["decree"]), row


def main() -> None:
    """Print how many lines of each decree's games no rule has."""
    for decree in GAMES:
        lines = printed(SHARED, decree)
        left = lines - of_rules(decree)
        sys.stdout.write(f"{decree}: {len(left)} of {len(lines)} lines are of no numbered rule\n")


if __name__ == "__main__":
    main()
