"""The terminal display in the simulated world: it draws nothing old as current."""

from __future__ import annotations

import pytest

from tests.world.run import plan, run

PARTS = ("terminal",)


@pytest.mark.parametrize("seed", range(10, 13))
def test_nothing_stale_is_drawn_under_the_faults_of_a_seed(seed: int) -> None:
    outcome = run(plan(seed, hours=0.1, tables=2, faults=10, pace=4.0, parts=PARTS))
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])
    assert outcome.events > 20, "hardly anything happened"


def test_a_seed_gives_the_same_run_again() -> None:
    first, second = (run(plan(1, 0.05, 1, 6, 4.0, parts=PARTS)) for _ in range(2))
    assert first.digest == second.digest
