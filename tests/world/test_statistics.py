"""The watch over wheels in the simulated world: it counts what the journals have."""

from __future__ import annotations

import pytest

from tests.world.run import plan, run


@pytest.mark.parametrize("seed", range(4, 7))
def test_the_watch_counts_what_the_journals_have(seed: int) -> None:
    outcome = run(plan(seed, hours=0.1, tables=2, faults=8, pace=4.0, parts=("statistics",)))
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])
    assert any("round.result" in line for line in outcome.trace), "nothing to count"


def test_the_recorder_may_be_named_or_not() -> None:
    parts = ("statistics", "recorder"), ("statistics",)
    first, second = (run(plan(1, 0.05, 1, 4, 4.0, parts=each)) for each in parts)
    assert first.finding is None
    assert second.finding is None
