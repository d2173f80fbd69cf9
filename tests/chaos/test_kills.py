"""The daemon is killed at any moment, and its broker too: every event arrives once, in order, and none is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from tests.chaos.archive import broken, events_of
from tests.chaos.floor import Floor
from tests.chaos.report import tell
from tests.chaos.schedule import schedule
from tests.chaos.truth import lost_spins, open_rounds, wrong_numbers


@pytest.mark.parametrize("broker", [False, True], ids=["the-daemon-alone", "the-broker-too"])
def test_kills(floor: Callable[..., Floor], seed: int, long: bool, broker: bool) -> None:
    made = floor()
    steps = schedule(seed, (200 if broker else 50) if long else (8 if broker else 4), broker=broker)
    tell(f"seed {seed}")
    archive = made.start()
    for number, step in enumerate(steps, 1):
        tell(f"{number:>4} {step}")
        made.follow(step)
    made.until_results(1)
    verdict = made.settle()
    events = [event for event in archive.held.values() if event["table"] == "r1"]
    types = Counter(event["type"] for event in events)
    done = Counter(step.do for step in steps)
    tell(
        f"{done['kill daemon']} kills, {done['kill broker'] + done['freeze broker']} outages of the broker; "
        f"{len(made.wheels['r1'].played)} spins played, {len(events)} events, {types['round.result']} results, "
        f"{types['round.unresolved']} unresolved; lost {len(verdict.lost)}, doubled and dropped {archive.tally.doubled}, "
        f"filled {archive.tally.filled}, recalled {archive.tally.recalled}, misordered {len(verdict.misordered)}"
    )
    assert verdict.flawless, verdict
    assert broker or not archive.tally.recalled  # a broker that stays up forgets nothing
    assert made.daemon.stop() == 0
    assert broken(made.journal) is None
    ordered = events_of(made.journal)
    assert not wrong_numbers(ordered, made.wheels["r1"].played)
    assert not open_rounds(ordered)
    assert not lost_spins(made.journal, "r1")
    assert "Traceback" not in made.daemon.log()
