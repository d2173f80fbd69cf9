"""A casino in one process, on virtual time: what must hold holds, whatever goes wrong."""

from __future__ import annotations

import pytest

from tests.conftest import cases
from tests.world.checkers import OneWriter
from tests.world.run import plan, run

LONGER_WORLDS = range(1, 1 + cases(3, 12))
"""Seeds of worlds that last several times as long as the 200 of ``test_seeds.py``."""
LONGER_PAIRS = range(1, 1 + cases(2, 6))


@pytest.mark.parametrize("seed", LONGER_WORLDS)
def test_what_must_hold_holds_under_the_faults_of_a_seed(seed: int) -> None:
    outcome = run(plan(seed, hours=0.3, tables=2, faults=20))
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])
    assert outcome.events > 20, "hardly anything happened"


def test_a_seed_gives_the_same_run_again() -> None:
    first, second = (run(plan(1, hours=0.2, tables=2, faults=15)) for _ in range(2))
    assert first.trace == second.trace


def test_a_world_ends_before_its_rest_is_over_once_all_is_right(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    short = plan(2, hours=0.05, tables=2, faults=4)
    early = run(short)
    monkeypatch.setattr(OneWriter, "is_settled", lambda _checker: False)
    late = run(short)
    assert early.finding is None
    assert late.finding is None
    assert len(early.trace) < len(late.trace)
    assert early.trace == late.trace[: len(early.trace)]


@pytest.mark.parametrize("seed", LONGER_PAIRS)
def test_one_of_two_daemons_plays_under_the_faults_of_a_seed(seed: int) -> None:
    outcome = run(plan(seed, hours=0.15, tables=1, faults=10, pair=True))
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])
    assert outcome.events > 20, "hardly anything happened"
