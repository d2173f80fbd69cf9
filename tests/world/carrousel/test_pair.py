"""Two controllers of the jackpots: one history to the cent, one that publishes, and one serves
wherever one could, within two leases.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest

from common.standby.right import LeaseHolder
from subscribers.carrousel.follower import LedgerFollower
from subscribers.carrousel.tenure import LedgerTenure
from tests.world.carrousel.pair import PAIR_FAULTS, TAKEOVER_SECONDS
from tests.world.faults import Happening
from tests.world.lease_store import WorldFence
from tests.world.run import Outcome, Plan, plan, run

PARTS = ("carrousel-pair",)
FAULT_AT = 31.0


def under(seed: int, *kinds: str, seconds: float = 40.0) -> Outcome:
    """Run a world with these faults, one after the other."""
    faults = tuple(
        Happening(FAULT_AT + 60.0 * number, FAULT_AT + 60.0 * number + seconds, kind, seed)
        for number, kind in enumerate(kinds)
    )
    return run(Plan(seed, hours=0.01, tables=1, pace=0.5, parts=PARTS, faults=faults))


@pytest.mark.parametrize("kind", PAIR_FAULTS)
def test_no_cent_is_lost_under_a_fault(kind: str) -> None:
    outcome = under(3, kind)
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])
    assert all(takeover.seconds <= TAKEOVER_SECONDS for takeover in outcome.takeovers)
    assert any(" payers " in line for line in outcome.trace), "nothing was won"


@pytest.mark.parametrize("seed", range(1, 3))
def test_both_ledgers_hold_under_the_faults_of_a_seed(seed: int) -> None:
    outcome = run(plan(seed, hours=0.03, tables=1, faults=8, parts=PARTS))
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])


def test_a_seed_gives_the_same_pair_again(tmp_path: Path) -> None:
    digests = set()
    for _ in range(2):
        folder = tmp_path / "world"
        folder.mkdir()
        digests.add(run(plan(1, hours=0.01, tables=1, faults=4, parts=PARTS), folder).digest)
        rmtree(folder)
    assert len(digests) == 1


def not_shipped(patch: pytest.MonkeyPatch) -> None:
    """Nothing is appended to the log before it counts."""

    async def ship(*_: Any) -> None: ...

    patch.setattr(LedgerTenure, "ship", ship)


def fence_forgotten(patch: pytest.MonkeyPatch) -> None:
    """Neither the clock nor the store keeps a controller from publishing."""

    async def confirm(_: LeaseHolder) -> None: ...

    patch.setattr(WorldFence, "extend", lambda *_: None)
    patch.setattr(WorldFence, "check", lambda _: None)
    patch.setattr(WorldFence, "end", lambda *_: None)
    patch.setattr(LedgerTenure, "confirm", confirm)


def not_followed(patch: pytest.MonkeyPatch) -> None:
    """A controller that takes over does not store what it had not followed."""

    async def follow(follower: LedgerFollower, _books: Any, bounds: Any) -> None:
        follower.sequence = bounds.last

    patch.setattr(LedgerFollower, "_follow", follow)


DEFECTS: dict[Callable[[pytest.MonkeyPatch], None], tuple[str, ...]] = {
    not_shipped: ("serving controller killed",),
    fence_forgotten: ("serving controller frozen", "serving controller cut off"),
    not_followed: ("serving controller killed",),
}
"""Defects that are planted, and the faults that reveal them."""


@pytest.mark.parametrize("plant", DEFECTS, ids=lambda plant: plant.__name__)
def test_a_planted_defect_is_found(
    plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    assert any(under(seed, *DEFECTS[plant]).finding for seed in range(1, 6))
