"""The disk of a world: its faults and restored backups, on the model and on real files."""

from __future__ import annotations

import pytest

from tests.world.faults import Happening
from tests.world.run import Plan, plan, plan_of, run

DISK = ("disk full", "disk hung", "disk unreadable", "commit fails", "power cut")


def disks(seed: int, *parts: str) -> Plan:
    return plan_of(plan(seed, 0.15, 1, 8, parts=parts), DISK)


def restores(seed: int) -> Plan:
    return plan_of(plan(seed, 0.1, 1, 3, parts=("backup", "audit")), ("old backup restored",))


@pytest.mark.parametrize("of", [disks(1), disks(2), disks(3, "sqlite"), restores(1)])
def test_what_must_hold_holds_whatever_happens_to_the_disk(of: Plan) -> None:
    outcome = run(of)
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])
    assert outcome.events > 20, "hardly anything happened"


def test_a_commit_that_fails_long_after_its_fault_was_drawn_delays_what_waits() -> None:
    """A number waits for a full disk, then the machine is suspended; the first commit after that
    has been bound to fail for minutes, and is tried again 10 s later.
    """
    faults = (
        Happening(at=227.97, until=288.17, name="disk full", seed=1),
        Happening(at=244.17, until=244.17, name="machine suspended", seed=1),
        Happening(at=428.17, until=428.17, name="commit fails", seed=1),
    )
    of = Plan(1, hours=0.1, tables=1, pace=4.0, wheel="phase-display", faults=faults)
    outcome = run(of)
    assert outcome.finding is None
    fails, stores = (
        next(at for at, line in enumerate(outcome.trace) if text in line)
        for text in ("disk I/O error", "round.result 15 session 1 round 4 spin 4")
    )
    assert fails < stores, "the commit did not fail while the number waited"


def test_a_backup_that_is_restored_gives_the_same_run_again() -> None:
    first, second = (run(restores(2)) for _ in range(2))
    assert first.digest == second.digest
    assert any("RESTORED" in line for line in first.trace)


def test_a_world_runs_alike_on_the_model_and_on_real_files() -> None:
    model, real = (run(plan(1, 0.05, 1, 0, parts=parts)) for parts in ((), ("sqlite",)))
    assert model.trace == real.trace


PAUSES = (
    Plan(
        201833,
        0.0125,
        1,
        faults=(
            Happening(102.4, 192.4, "disk hung", 3142367833),
            Happening(156.8, 157.3, "machine suspended", 678732619),
        ),
    ),
    Plan(
        201776,
        0.0125,
        1,
        faults=(
            Happening(115.74441267434408, 205.74441267434406, "disk full", 265475536),
            Happening(177.79957353594608, 267.7995735359461, "daemon starved", 839051642),
        ),
    ),
)


@pytest.mark.parametrize("of", PAUSES, ids=lambda of: of.faults[1].name)
def test_a_result_that_waits_for_the_disk_and_then_for_its_machine_is_not_old(of: Plan) -> None:
    """It was decided when the wheel showed it."""
    outcome = run(of)
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])
