"""Shufflers beside shoes in the simulated world: a wrong deck is not dealt."""

from __future__ import annotations

import pytest

from tests.world.run import plan, run

PARTS = ("shufflers",)


@pytest.mark.parametrize("seed", range(1, 4))
def test_no_wrong_deck_is_dealt_under_the_faults_of_a_seed(seed: int) -> None:
    outcome = run(plan(seed, hours=0.05, tables=0, faults=6, parts=PARTS))
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])
    assert outcome.events > 50, "hardly anything happened"


def test_a_seed_gives_the_same_run_again_beside_other_tables_with_cards() -> None:
    parts = ("cards", *PARTS)
    first, second = (run(plan(5, hours=0.02, tables=0, faults=3, parts=parts)) for _ in range(2))
    assert first.finding is None, "\n".join(first.trace[-50:])
    assert first.digest == second.digest
