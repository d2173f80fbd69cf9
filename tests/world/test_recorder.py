"""The recorder and the audit in a world: the archive and the journals agree with what was
published, whatever goes wrong.
"""

from __future__ import annotations

import pytest

from tests.world.run import plan, run

PARTS = "recorder", "audit"


@pytest.mark.parametrize("seed", range(1, 5))
def test_the_archive_and_the_journals_agree_under_the_faults_of_a_seed(seed: int) -> None:
    outcome = run(plan(seed, hours=0.15, tables=1, faults=15, parts=PARTS))
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])
    assert outcome.events > 20, "hardly anything happened"


def test_a_seed_gives_the_same_run_again() -> None:
    first, second = (run(plan(1, 0.1, 1, 10, parts=PARTS)) for _ in range(2))
    assert first.digest == second.digest
