"""People give signed commands in a world, whatever goes wrong with them and everything else."""

from __future__ import annotations

import pytest

from tests.world.people.faults import PEOPLE_FAULTS
from tests.world.run import Plan, plan, plan_of, run

PEOPLE = ("people",)


def only_people(seed: int, pair: bool = False) -> Plan:
    """Many faults of people, and few others."""
    drawn = plan(seed, hours=0.05, tables=1, faults=60, pair=pair, parts=PEOPLE)
    kept = [fault for fault in drawn.faults if fault.name in PEOPLE_FAULTS]
    return Plan(seed, 0.05, 1, pair=pair, parts=PEOPLE, faults=tuple(kept))


@pytest.mark.parametrize("seed", [1])
@pytest.mark.parametrize("pair", [False, True])
def test_what_people_are_told_is_true(seed: int, pair: bool) -> None:
    outcome = run(only_people(seed, pair))
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])
    followed = [line for line in outcome.trace if "/reply" in line and line.endswith("followed")]
    assert len(followed) > 3, "hardly anybody was followed"


def test_forged_commands_reach_the_daemon() -> None:
    outcome = run(plan_of(only_people(1), ["command forged"]))
    assert outcome.finding is None
    assert any(" forged-" in line for line in outcome.trace)


def test_a_seed_with_people_gives_the_same_run_again() -> None:
    first, second = (run(only_people(3)) for _ in range(2))
    assert first.digest == second.digest
