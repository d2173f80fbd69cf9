"""The daemon is killed at any moment, and its broker too: every event arrives once, in order, and
none is wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.chaos.archive import Verdict
from tests.support.chaos.floor import Floor
from tests.support.chaos.proof import sound
from tests.support.chaos.report import tell
from tests.support.chaos.schedule import Step, schedule
from tests.support.waiting import until


@pytest.mark.essential
def test_kills(floor: Callable[..., Floor], seed: int) -> None:
    alone, both = (
        schedule(seed, 2, broker=False),
        schedule(seed, 4, broker=True),
    )
    tell(
        f"seed {seed}: {len(alone)} steps with a broker that stays up, then {len(both)} with one "
        "that does not"
    )
    made = floor()
    archive = made.start()
    _play(made, alone)
    until(
        "everything that is stored is in the archive",
        lambda: not archive.verdict(made.journal).lost,
        made.daemon.log,
    )
    _play(made, both)
    made.until_results(1)
    events, verdict = sound(made)
    _report(made, [*alone, *both], events, verdict)


def _play(floor: Floor, steps: list[Step]) -> None:
    for number, step in enumerate(steps, 1):
        tell(f"{number:>4} {step}")
        floor.follow(step)


def _report(
    floor: Floor, steps: list[Step], events: list[dict[str, Any]], verdict: Verdict
) -> None:
    assert floor.archive is not None
    done, types, tally = (
        Counter(step.do for step in steps),
        Counter(event["type"] for event in events),
        floor.archive.tally,
    )
    tell(
        f"{done['kill daemon']} kills of the daemon, {done['kill broker']} of the broker, "
        f"{done['freeze broker']} freezes of it"
    )
    tell(
        f"{len(floor.wheels['r1'].played)} spins: {types['round.result']} results, "
        f"{types['round.unresolved']} unresolved"
    )
    tell(
        f"{len(events)} events: {len(verdict.lost)} lost, 0 doubled, {len(verdict.misordered)} "
        "misordered"
    )
    tell(
        f"on the way {tally.doubled} doubles were dropped; {tally.filled} arrived marked as late, "
        f"{tally.recalled} by a recall"
    )
