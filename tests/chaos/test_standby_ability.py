"""One machine of a pair cannot serve: it lets go of the tables, or does not take them, and the
other one plays.
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.chaos.report import tell
from tests.support.daemon.impaired_pair import FAULTS, ImpairedPair
from tests.support.daemon.impaired_takeovers import Outcome, befall, judged

pytestmark = pytest.mark.usefixtures("programs")

LEASE = 4.0
MANY = 300
ON_A_REAL_DISK = ("full disk, serving", "hung commit")
"""The faults of the short form. All others are those of tests/world/test_pair.py."""


def test_play_continues_wherever_one_machine_is_able(
    tmp_path: Path, seed: int, long: bool, request: pytest.FixtureRequest
) -> None:
    with ExitStack() as stack:
        pair = ImpairedPair(tmp_path, stack, LEASE, seed)
        stack.callback(lambda: request.node.add_report_section("teardown", "logs", pair.log()))
        kinds = [*FAULTS]
        chosen = [pair.random.choice(kinds) for _ in range(MANY)] if long else ON_A_REAL_DISK
        outcomes = []
        for number, what in enumerate(chosen, 1):
            outcomes.append(befall(pair, what))
            tell(f"{number:>4} {told(outcomes[-1])}")
        tell(f"{summary(outcomes, LEASE)}; {judged(pair)}")


def told(outcome: Outcome) -> str:
    return f"{outcome.what}: taken after {outcome.taken:.1f} s, played after {outcome.played:.1f} s"


def summary(outcomes: list[Outcome], lease: float) -> str:
    kinds = Counter(outcome.what for outcome in outcomes)
    ordered = sorted(outcome.taken for outcome in outcomes)
    within = sum(each <= 2 * lease for each in ordered)
    counted = ", ".join(f"{count} {what}" for what, count in sorted(kinds.items()))
    return (
        f"{len(outcomes)} faults ({counted}), "
        f"lease {lease:g} s: the tables were taken {within} times within two leases, median "
        f"{ordered[len(ordered) // 2]:.1f} s, longest {ordered[-1]:.1f} s"
    )
