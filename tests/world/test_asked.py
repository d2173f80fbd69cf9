"""Wheels that are asked for their parameters and their log, in a world."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from common.contract.events import DeviceState
from controller.tables import device_claims, wheel_logs
from devices.wheel import cammegh_ss2_asking
from tests.world.run import Plan, plan, run
from tests.world.test_witnesses import results
from tests.world.wheels.asked import AnswersAreTrue

MAX_SEEDS = 40


def plan_of_seed(seed: int) -> Plan:
    return plan(seed, 0.3, 1, 15, 4.0, parts=("asked",), wheel="cammegh-ss2")


@pytest.mark.parametrize("seed", range(1, 9))
def test_seed(seed: int) -> None:
    outcome = run(replace(plan_of_seed(seed), parts=("asked", "audit")))
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])


def limits_are_not_looked_at(patch: pytest.MonkeyPatch) -> None:
    """Every value of a parameter makes sense."""
    patch.setattr(cammegh_ss2_asking, "expected", lambda *_: None)


def gap_is_reconciled(patch: pytest.MonkeyPatch) -> None:
    """A log is reconciled whatever it has beside the journal."""
    patch.setattr(wheel_logs, "align", lambda *_: [])


def spins_are_counted_from_too_early(patch: pytest.MonkeyPatch) -> None:
    """The next reading of a log begins with the last spin of this one."""
    begun = wheel_logs._begun

    def early(*arguments: Any) -> wheel_logs.WheelLedger:
        ledger = begun(*arguments)
        return replace(ledger, entries=ledger.entries - 1, tail=ledger.tail[:-1])

    patch.setattr(wheel_logs, "_begun", early)


def log_is_taken_for_another(patch: pytest.MonkeyPatch) -> None:
    """A log always seems to have been rewritten."""
    patch.setattr(wheel_logs, "_obstacle", lambda *_: "rewritten")


def answers_change_the_game(patch: pytest.MonkeyPatch) -> None:
    """With each comparison of the log a device is reported as lost."""
    on_log = wheel_logs.on_log

    def more(*arguments: Any) -> Any:
        ledgers, events = on_log(*arguments)
        return ledgers, [*events, DeviceState(device="wheel", state="lost")]

    patch.setattr(device_claims, "on_log", more)


DEFECTS: dict[Callable[[pytest.MonkeyPatch], None], str] = {
    limits_are_not_looked_at: "a wrong parameter and its alert differ",
    gap_is_reconciled: "a spin that no round has is reconciled",
    spins_are_counted_from_too_early: "a difference that does not exist",
    log_is_taken_for_another: "a log counts as erased and is not",
    answers_change_the_game: "an answer of the wheel has changed the game",
}
"""What is planted, and how its finding begins."""
FIRST_SEEDS: dict[Callable[[pytest.MonkeyPatch], None], int] = {
    limits_are_not_looked_at: 4,
    gap_is_reconciled: 35,
}
"""The first seed that finds a defect, where it is not 1."""


@pytest.mark.parametrize("plant", DEFECTS, ids=lambda plant: plant.__name__)
def test_a_planted_defect_is_found(
    plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    seeds = dict.fromkeys((FIRST_SEEDS.get(plant, 1), *range(1, MAX_SEEDS + 1)))
    findings = (run(plan_of_seed(seed)).finding or "" for seed in seeds)
    assert any(finding.startswith(DEFECTS[plant]) for finding in findings)


def test_asking_delays_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """The results of a seed come at the same virtual moment if nothing is asked: the wheel stops as
    often, and its answers are read beside its status.
    """
    asking = replace(plan_of_seed(6), faults=(), parts=("results", "asked"))
    with results(monkeypatch) as asked:
        assert run(asking).finding is None
    assert len(asked.found) > 5, "hardly anything happened"
    ask = cammegh_ss2_asking.AskingCammeghSS2.ask
    requests: list[bytes] = []

    def silent(codec: Any, now: float) -> bytes:
        requests.append(ask(codec, now))
        return b""

    monkeypatch.setattr(cammegh_ss2_asking.AskingCammeghSS2, "ask", silent)
    with results(monkeypatch) as unasked:
        assert run(asking).finding is None
    assert any(requests)
    assert unasked.found == asked.found


def test_all_that_is_asked_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The checker has something to look at."""
    made: list[AnswersAreTrue] = []
    make = AnswersAreTrue.__init__

    def remember(checker: AnswersAreTrue, *arguments: Any) -> None:
        make(checker, *arguments)
        made.append(checker)

    monkeypatch.setattr(AnswersAreTrue, "__init__", remember)
    for seed in range(1, 4):
        assert run(plan_of_seed(seed)).finding is None
    noted = {kind for checker in made for kind in checker.counts}
    kinds = {"reconciled", "unreconciled first", "unreconciled cleared"}
    assert noted >= {"m", *(f"wheel.{kind}" for kind in kinds)}
