"""The web server's floor in a world: a screen shows nothing as current longer than it may."""

from __future__ import annotations

from random import Random

import pytest

from tests.world.faults import Happening
from tests.world.run import Plan, plan, plan_of, run

PARTS = ("floor",)
QOS0_SEED = 6
"""In its world the broker loses that a daemon is online again."""


@pytest.mark.parametrize("seed", range(10, 14))
def test_nothing_stale_is_shown_under_the_faults_of_a_seed(seed: int) -> None:
    outcome = run(plan(seed, hours=0.2, tables=1, faults=15, parts=PARTS))
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])
    assert outcome.events > 20, "hardly anything happened"


def test_a_seed_gives_the_same_run_again() -> None:
    first, second = (run(plan(1, 0.1, 1, 10, parts=PARTS)) for _ in range(2))
    assert first.digest == second.digest


def test_a_daemon_that_is_lost_together_with_its_broker_is_not_shown_for_long() -> None:
    """The broker retains *online* over its restart, and publishes no will."""
    seed = next(each for each in range(100) if chosen(each) == (1, 600.0))
    faults = (
        Happening(200.0, 200.0, "machine suspended", seed),
        Happening(201.0, 204.0, "broker down, keeps retained", 1),
    )
    outcome = run(Plan(1, 0.1, 1, parts=PARTS, faults=faults))
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])


def test_a_lost_status_leaves_a_picture_grey_only_until_it_is_published_again() -> None:
    faults = ["broker loses QoS 0", "broker loses QoS 0", "daemon killed"]
    outcome = run(plan_of(plan(QOS0_SEED, 0.15, 1, 16, 4.0, parts=PARTS), faults))
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])


def chosen(seed: int) -> tuple[int, float]:
    """Return which of the two machines that seed suspends, and for how long."""
    random = Random(seed)
    return random.choice((0, 1)), random.choice((2.0, 60.0, 600.0))
