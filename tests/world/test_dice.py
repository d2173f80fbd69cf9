"""Tables of craps in the simulated world: a result is what lies below the reader."""

from __future__ import annotations

import pytest

from tests.world.run import plan, run

PARTS = ("dice",)


@pytest.mark.parametrize("seed", range(1, 4))
def test_results_are_what_the_dice_show_under_the_faults_of_a_seed(seed: int) -> None:
    outcome = run(plan(seed, hours=0.05, tables=0, faults=6, parts=PARTS))
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])
    assert outcome.events > 50, "hardly anything happened"


def test_a_seed_gives_the_same_run_again() -> None:
    first, second = (run(plan(5, hours=0.03, tables=0, faults=3, parts=PARTS)) for _ in range(2))
    assert first.digest == second.digest


def test_the_journal_of_dice_is_archived_and_proves_its_events() -> None:
    outcome = run(plan(1, 0.03, 0, 4, parts=("dice", "recorder", "audit")))
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])
