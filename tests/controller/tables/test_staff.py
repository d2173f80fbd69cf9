"""Staff at the table: who may report them, how they are shown, and until when they are valid."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from common.contract.commands import (
    Command,
    Duty,
    Role,
    SessionClose,
    SessionOpen,
    Signature,
    StaffOff,
    StaffOn,
)
from common.contract.events import StaffArrived, StaffLeft
from common.contract.refusals import RejectedError
from controller.games.games import make_game
from controller.tables.staff import MAX_STAFF
from controller.tables.table import Table
from tests.support.for_each import for_each
from tests.support.games.decrees import PAIRS

TIME = "2026-03-20T20:00:00.000000Z"
HEAD: dict[str, Any] = {"at": 1.0, "by": "M. Lasa", "role": "table_head"}
OPEN, CLOSE = SessionOpen(**HEAD), SessionClose(**HEAD)


def table(
    game: str = "roulette-french", decree: str = "ARA02", saved: bytes | None = None
) -> Table:
    return Table(
        site="site",
        id="table",
        game_id=game,
        decree=decree,
        game=make_game(game, decree, {}),
        boot="boot",
        saved=saved,
    )


def take(at: Table, *given: Command) -> list[Any]:
    return [event for each in given for event in at.handle(each, TIME, 0).events]  # type: ignore[arg-type]


def on(person: str = "A. Vila", duty: Duty = "croupier") -> StaffOn:
    return StaffOn(**HEAD, person=person, duty=duty)


def off(person: str = "A. Vila", duty: Duty = "croupier") -> StaffOff:
    return StaffOff(**HEAD, person=person, duty=duty)


def state(of: Table) -> dict[str, Any]:
    body = of.retained()["state"]
    assert body is not None
    told: dict[str, Any] = msgspec.json.decode(body)
    return told


def refused(at: Table, given: Command) -> str:
    with pytest.raises(RejectedError) as caught:
        take(at, given)
    return caught.value.refusal.key


@for_each(("game", "decree"), PAIRS)
def test_who_is_at_the_table_is_shown_until_the_session_closes(game: str, decree: str) -> None:
    at = table(game, decree)
    assert refused(at, on()) == "no_session"
    take(at, OPEN)
    events = take(at, on(), on("M. Lasa", "table_head"), on("B. Roca"))
    assert [(type(each), each.person, each.duty, each.by) for each in events] == [
        (StaffArrived, "A. Vila", "croupier", "M. Lasa"),
        (StaffArrived, "M. Lasa", "table_head", "M. Lasa"),
        (StaffArrived, "B. Roca", "croupier", "M. Lasa"),
    ]
    assert {each.session for each in events} == {1}
    assert state(at)["staff"] == {"croupier": ["A. Vila", "B. Roca"], "table_head": ["M. Lasa"]}
    [left] = take(at, off())
    assert isinstance(left, StaffLeft)
    assert state(at)["staff"] == {"croupier": ["B. Roca"], "table_head": ["M. Lasa"]}
    take(at, CLOSE)
    assert state(at)["staff"] == {}


def test_staff_is_kept_over_a_restart() -> None:
    at = table()
    take(at, OPEN, on())
    again = table(saved=at.saved())
    assert state(again)["staff"] == {"croupier": ["A. Vila"]}
    assert refused(again, on()) == "staff_on_already"


def test_staff_is_accepted_while_a_session_is_open() -> None:
    at = table()
    assert not {"staff.on", "staff.off"} & {*state(at)["takes"]}
    take(at, OPEN)
    assert "staff.on" in state(at)["takes"]
    assert "staff.off" not in state(at)["takes"]
    take(at, on())
    assert "staff.off" in state(at)["takes"]
    take(at, CLOSE)
    assert not {"staff.on", "staff.off"} & {*state(at)["takes"]}


def test_a_report_without_a_change_is_refused() -> None:
    at = table()
    take(at, OPEN, on())
    assert refused(at, on()) == "staff_on_already"
    assert refused(at, off("B. Roca")) == "staff_not_on"
    assert refused(at, off(duty="inspector")) == "staff_not_on"
    take(at, *(on(f"person {number}") for number in range(MAX_STAFF - 1)))
    assert refused(at, on("one more")) == "staff_too_many"


@pytest.mark.parametrize("role", ["table_head", "inspector", "director"])
def test_the_person_in_charge_reports_staff(role: Role) -> None:
    at = table()
    take(at, OPEN)
    given = msgspec.structs.replace(on(), role=role)
    assert take(at, given)


def test_a_croupier_reports_only_himself_and_signed() -> None:
    at = table()
    take(at, OPEN)
    signature = Signature(id="vila", name="A. Vila", role="croupier", token="token")
    own = msgspec.structs.replace(on(), by="A. Vila", role="croupier")
    assert refused(at, own) == "staff_themself_only"
    signed = msgspec.structs.replace(own, signed=(signature,))
    assert refused(at, msgspec.structs.replace(signed, person="B. Roca")) == "staff_themself_only"
    assert refused(at, msgspec.structs.replace(signed, duty="inspector")) == "staff_themself_only"
    [event] = take(at, signed)
    assert event.signed_by[0].id == "vila"
    technician = msgspec.structs.replace(on(), role="technician")
    assert refused(at, technician) == "role_not_allowed"


def test_a_table_that_can_store_nothing_refuses_it() -> None:
    at = table()
    take(at, OPEN)
    at.halted = "the journal could not be written"
    assert refused(at, on()) == "table_in_fault"
    assert state(at)["takes"] == []
