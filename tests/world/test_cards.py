"""Tables with cards in the simulated world: what must hold of cards holds, whatever goes wrong."""

from __future__ import annotations

import pytest

from tests.world.run import plan, run

PARTS = ("cards",)


@pytest.mark.parametrize("seed", range(1, 5))
def test_cards_stay_what_and_where_they_are_under_the_faults_of_a_seed(seed: int) -> None:
    outcome = run(plan(seed, hours=0.05, tables=0, faults=6, parts=PARTS))
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])
    assert outcome.events > 50, "hardly anything happened"


def test_a_seed_gives_the_same_run_again() -> None:
    first, second = (run(plan(5, hours=0.03, tables=0, faults=3, parts=PARTS)) for _ in range(2))
    assert first.trace == second.trace


def test_tables_with_cards_beside_those_of_jackpots() -> None:
    outcome = run(plan(1, 0.02, 0, 4, parts=("cards", "carrousel")))
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])
