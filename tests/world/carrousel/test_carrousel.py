"""The jackpots of the world: their ledger is to the cent what the decrees say, whatever happens."""

from __future__ import annotations

from pathlib import Path
from shutil import rmtree

import pytest

from tests.world.faults import Happening
from tests.world.run import Plan, plan, run

PARTS = ("carrousel",)


@pytest.mark.parametrize("seed", range(1, 5))
def test_the_ledger_holds_under_the_faults_of_a_seed(seed: int) -> None:
    outcome = run(plan(seed, hours=0.02, tables=1, faults=6, parts=PARTS))
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])
    assert any(" payers " in line for line in outcome.trace), "nothing was won"


@pytest.mark.parametrize("seed", range(3, 5))
def test_the_ledger_of_eus96_holds_under_the_faults_of_a_seed(seed: int) -> None:
    outcome = run(plan(seed, hours=0.04, tables=0, faults=6, parts=("carrousel-eus96",)))
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])
    assert any(" payers " in line for line in outcome.trace), "nothing was won"


def test_a_seed_gives_the_same_jackpots_again(tmp_path: Path) -> None:
    digests = set()
    for _ in range(2):
        folder = tmp_path / "world"
        folder.mkdir()
        digests.add(run(plan(1, hours=0.01, tables=1, faults=4, parts=PARTS), folder).digest)
        rmtree(folder)
    assert len(digests) == 1


@pytest.mark.parametrize(
    "faults",
    [
        pytest.param(
            (
                Happening(40.0, 70.0, "ledger's disk dead", 1),
                Happening(45.0, 45.0, "controller killed", 1),
            ),
            id="started on a dead disk",
        ),
        pytest.param((Happening(40.0, 70.0, "ledger's disk full", 1),), id="refused commits"),
    ],
)
def test_a_ledger_that_could_not_be_written_is_current_and_in_play_again(
    faults: tuple[Happening, ...],
) -> None:
    outcome = run(Plan(1, hours=0.02, tables=1, parts=PARTS, faults=faults))
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])


def test_a_second_controller_of_a_ledger_floods_no_broker() -> None:
    """Each replaces the alerts of the other; as fast as they arrive, this world would not end."""
    fault = Happening(40.0, 43.0, "second controller", 1)
    outcome = run(Plan(1, hours=0.02, tables=1, parts=PARTS, faults=(fault,)))
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])
