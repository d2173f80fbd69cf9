"""The people at a table as a second witness: ``witness.report`` follows the rules of a device, and
is refused, with the reason, where a device's report would be ignored.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from common.contract.commands import SessionClose, WitnessReport
from common.contract.event_fields import WITNESS_KEYPAD
from common.contract.events import AlertRaised, RoundResult, RoundUnresolved, WitnessReported
from common.contract.refusals import RejectedError
from common.readings import DiceRead
from controller.tables.device_links import RESTART_REASON
from controller.tables.table import Table
from tests.controller.tables.test_witnesses import (
    HEAD,
    WITHIN,
    bets,
    make,
    number,
    of,
    playing,
    seen,
    take,
)


def typed(
    at: float, value: int | str | None, number_: int = 1, dice: tuple[int, ...] | None = None
) -> WitnessReport:
    """What the croupier types at the keypad."""
    croupier: dict[str, Any] = {"by": "A. Riera", "role": "croupier"}
    return WitnessReport(at=at, round=number_, number=value, dice=dice, **croupier)


def refusal(table: Table, command: WitnessReport) -> str:
    before = table.saved()
    with pytest.raises(RejectedError) as refused:
        take(table, command)
    assert table.saved() == before
    return refused.value.refusal.key


def at_keypad(closed: float = 100.0, **made: Any) -> Table:
    return playing(closed, witnesses=(WITNESS_KEYPAD,), **made)


def offer(table: Table) -> tuple[int | None, bool]:
    """The round that the table offers to a witness at the keypad, and whether it accepts one."""
    state = msgspec.json.decode(table.retained()["state"] or b"")
    return state.get("witness_round"), "witness.report" in state["takes"]


def test_what_the_croupier_types_before_the_result_is_noted_with_the_name() -> None:
    table = at_keypad()
    assert offer(table) == (1, True)
    (report,) = take(table, typed(104, 17))
    assert isinstance(report, WitnessReported)
    assert (report.device, report.round, report.number) == (WITNESS_KEYPAD, 1, 17)
    assert (report.by, report.role, report.agrees) == ("A. Riera", "croupier", None)
    (result,) = of(RoundResult, take(table, number(105, 17)))
    assert result.witnesses == (seen(WITNESS_KEYPAD, number=17, agrees=True),)


def test_a_croupier_who_saw_another_number_before_the_result_stops_it() -> None:
    table = at_keypad()
    take(table, typed(104, 20))
    events = take(table, number(105, 17))
    assert not of(RoundResult, events)
    (doubt,) = of(RoundUnresolved, events)
    assert (doubt.why, doubt.witnesses[0].number) == ("witnesses_disagree", 20)


def test_what_the_croupier_types_after_the_result() -> None:
    table = at_keypad()
    take(table, number(105, 17))
    assert offer(table) == (1, True)
    events = take(table, typed(107, 20))
    (report,), (alert,) = of(WitnessReported, events), of(AlertRaised, events)
    assert (report.by, report.agrees) == ("A. Riera", False)
    assert (alert.what, alert.detail) == ("witness.disagrees", "17; keypad: 20")
    (report,) = of(WitnessReported, take(table, typed(108, 17)))
    assert report.agrees, "a slip is typed again, and both stay in the journal"


def test_a_croupier_who_types_nothing_delays_nothing() -> None:
    table = at_keypad()
    (result,) = of(RoundResult, take(table, number(105, 17)))
    assert result.witnesses == (seen(WITNESS_KEYPAD),)


def test_a_report_of_a_person_that_cannot_count_is_refused_and_changes_nothing() -> None:
    table = at_keypad()
    assert refusal(table, typed(104, 37)) == "number_not_on_wheel"
    assert refusal(table, typed(104, None)) == "number_missing"
    assert refusal(table, typed(104, 17, 2)) == "witness_round_other"
    take(table, typed(104, 17))
    assert refusal(table, typed(104, 17)) == "witness_same", "doubled"
    take(table, number(105, 17))
    assert refusal(table, typed(105 + WITHIN + 1, 20)) == "witness_not_now", "it has waited"
    take(table, *bets(120))
    assert refusal(table, typed(121, 20)) == "witness_round_other", "it has waited"
    take(table, typed(121, 20, 2))
    take(table, SessionClose(at=150, **HEAD))
    assert offer(table) == (None, False)
    assert refusal(table, typed(151, 20, 2)) == "no_session"
    technician = msgspec.structs.replace(typed(151, 20, 2), role="technician")
    assert refusal(table, technician) == "role_not_allowed"


def test_a_late_report_of_a_person_never_counts_for_the_next_round() -> None:
    table = at_keypad()
    take(table, number(105, 17), *bets(107))
    assert offer(table) == (2, True)
    assert refusal(table, typed(108, 17, 1)) == "witness_round_other"
    assert refusal(table, typed(108, 17, 2)) == "witness_not_now"
    take(table, typed(105 + WITHIN + 1, 20, 2))


def test_a_restart_between_the_report_of_a_person_and_the_result() -> None:
    table = at_keypad()
    take(table, typed(104, 17))
    again = make(witnesses=(WITNESS_KEYPAD,), saved=table.saved())
    take(again, *again.gap(110.0, RESTART_REASON))
    assert refusal(again, typed(112, 20)) == "witness_not_now", "it may be from before"
    (unresolved,) = of(RoundUnresolved, take(again, SessionClose(at=200, **HEAD)))
    assert unresolved.witnesses == (seen(WITNESS_KEYPAD, number=17),)


def test_no_person_is_a_witness_where_none_is_configured() -> None:
    table = playing()
    assert offer(table) == (None, False)
    assert refusal(table, typed(104, 17)) == "witness_keypad_none"
    cards = make("blackjack", {}, witnesses=())
    assert refusal(cards, typed(104, 17)) == "unknown_command"


def test_a_person_as_the_witness_of_dice() -> None:
    settings = {"serials": "unwatched", "shooter": "unwatched"}
    table = at_keypad(game="craps", settings=settings)
    assert refusal(table, typed(104, 7)) == "dice_values_wrong"
    assert refusal(table, typed(104, None, dice=(7, 1))) == "dice_values_wrong"
    take(table, typed(104, 7, dice=(4, 3)))
    result = DiceRead(at=105, device="device", values=(3, 4))
    (event,) = of(RoundResult, take(table, result))
    assert event.witnesses == (seen(WITNESS_KEYPAD, dice=(4, 3), agrees=True),)
