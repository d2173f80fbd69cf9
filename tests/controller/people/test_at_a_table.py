"""Signed commands at a table: those that take two, and the notice when no second person comes."""

from __future__ import annotations

import json
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from common.contract.commands import RoundConfirm, RoundVoid, SessionOpen
from common.contract.notation import Input
from common.contract.refusals import RejectedError
from common.contract.topics import Topics
from common.people.register import People, checked_people
from common.people.seen import SeenCommands
from common.people.two_persons import SECOND_PERSON_SECONDS, needs_two
from common.readings import LinkUp, Phase, WheelFault, WheelNumber, WheelPhase
from controller.games.games import make_game
from controller.journal.journal import Journal
from controller.mqtt.connection import IncomingMessage
from controller.mqtt.served_table import ServedTable
from controller.mqtt.tables_api import TablesApi
from controller.people.authority import command_rights
from controller.people.gate import CommandGate
from controller.proof.evidence import Evidence
from controller.tables.runner import TableRunner
from controller.tables.table import Table
from tests.controller.tables.test_runner import make_runner
from tests.support.people.signing import LASA, SCREEN, VIDAL, claims, token
from tests.support.people.staff import HEAD, PERSONS

WHO: dict[str, Any] = {"at": 1.0, "by": "M. Lasa", "role": "table_head"}


def people() -> People:
    persons = [replace(person, tables=("*",), pits=()) for person in PERSONS]
    return checked_people(replace(HEAD, site="palma"), persons)


def spins(*numbers: Any, confirmed: bool = True) -> list[Input]:
    """Whole spins; in the last one the ball is out of sight, which leaves it to a person."""
    phases: tuple[Phase, ...] = ("bets_open", "ball_in_rim", "no_more_bets")
    found: list[Input] = [SessionOpen(**WHO), LinkUp(at=1.0, device="wheel")]
    for spin, number in enumerate(numbers, 1):
        found += [WheelPhase(at=1.0, device="wheel", phase=phase, spin=spin) for phase in phases]
        if spin == len(numbers) and not confirmed:
            found.append(WheelFault(at=1.0, device="wheel", fault="ball_removed", active=True))
            found.append(WheelFault(at=1.0, device="wheel", fault="ball_removed", active=False))
        if number is not None:
            found.append(WheelNumber(at=1.0, device="wheel", number=number, spin=spin))
    return found


def table(*given: Input) -> Table:
    game = make_game("roulette-french", "EUS96", {})
    made = Table("palma", "r1", "roulette-french", "EUS96", game, "b1")
    for each in given:
        made.handle(each, "2026-11-22T12:00:00Z", 1)
    return made


@pytest.mark.parametrize("seen", [0, 17])
def test_confirming_the_wheels_number_needs_no_second_person(seen: int) -> None:
    at = table(*spins(5, seen, confirmed=False))
    before = at.saved()
    for number, two in ((None, False), (seen, False), (12, True)):
        given = RoundConfirm(**WHO, number=number)
        assert needs_two(given, at.preview(given)) == two
    assert at.saved() == before


def test_stating_a_number_that_no_wheel_saw_needs_a_second_person() -> None:
    at = table(*spins(5, "00", confirmed=False))  # this wheel has no double zero
    given = RoundConfirm(**WHO, number=0)
    assert needs_two(given, at.preview(given))


def test_a_command_against_the_rules_is_refused_before_a_second_person_is_asked() -> None:
    at = table(*spins(5))
    for given in (RoundVoid(**WHO, reason="ball_out", round=1), RoundConfirm(**WHO, number=5)):
        with pytest.raises(RejectedError):
            at.preview(given)


def make(journal: Journal, *, required: bool = True) -> TablesApi:
    topics = Topics("palma")
    gate = CommandGate(
        f"{topics.root}/r1",
        "r1",
        people(),
        command_rights("roulette-french", "ARA02"),
        SeenCommands(),
    )
    place = ServedTable(make_runner(journal), topics, {}, 1.0, gate, required)
    return TablesApi("pit-1", "b1", topics, {"r1": place})


async def give(api: TablesApi, name: str, body: bytes) -> Any:
    [answer] = await api.commands.answer("r1", name, IncomingMessage("", body, retain=False))
    return json.loads(answer.payload)


async def play(runner: TableRunner) -> None:
    """A session with one spin."""
    for each in spins(5):
        if isinstance(each, SessionOpen):
            await runner.execute(each)
        else:
            runner.on_readings([each])  # type: ignore[list-item]


async def test_a_missing_second_person_is_reported_to_the_first(tmp_path: Path) -> None:
    with closing(Journal(tmp_path / "journal.sqlite3")) as journal:
        api = make(journal)
        runner = api._served["r1"].runner
        await play(runner)
        given = claims(LASA, "result.correct", round=1, number=12)
        reply = await give(api, "result-correct", token(given))
        assert reply["refusal"]["key"] == "second_person_wanted"
        assert api.commands.expired_replies(time.time() + SECOND_PERSON_SECONDS - 10) == []
        [late] = api.commands.expired_replies(time.time() + SECOND_PERSON_SECONDS + 1)
        told = json.loads(late.payload)
        assert late.topic == "novamas/v1/palma/r1/reply/m-lasa"
        assert (told["id"], told["refusal"]["key"]) == (given.jti, "second_person_late")
        assert api.commands.expired_replies(time.time() + SECOND_PERSON_SECONDS + 1) == []
        await runner.drain()
        kept = [
            json.loads(entry.body)
            for _, entry in Evidence(tmp_path / "journal.sqlite3").entries()
            if entry.kind == "input" and b"command.refused" in entry.body
        ]
        assert [each["refusal"] for each in kept] == ["second_person_wanted", "second_person_late"]
        other = claims(VIDAL, "result.correct", "director", round=1, number=12)
        reply = await give(api, "result-correct", token(other))
        assert reply["refusal"]["key"] == "second_person_wanted"


async def test_the_first_person_is_answered_too_when_the_second_has_signed(tmp_path: Path) -> None:
    with closing(Journal(tmp_path / "journal.sqlite3")) as journal:
        api = make(journal)
        runner = api._served["r1"].runner
        await play(runner)
        first = claims(LASA, "result.correct", round=1, number=12)
        second = claims(VIDAL, "result.correct", "director", round=1, number=12)
        reply = await give(api, "result-correct", token(first))
        assert reply["refusal"]["key"] == "second_person_wanted"
        message = IncomingMessage("", token(second), retain=False)
        answers = await api.commands.answer("r1", "result-correct", message)
        told = [(each.topic, json.loads(each.payload)) for each in answers]
        assert told == [
            ("novamas/v1/palma/r1/reply/t-vidal", {"id": second.jti, "ok": True}),
            ("novamas/v1/palma/r1/reply/m-lasa", {"id": first.jti, "ok": True}),
        ]


async def test_a_reader_is_answered_whose_recall_cannot_be_read(tmp_path: Path) -> None:
    given = claims(SCREEN, "recall", "reader", limit=1000)
    with closing(Journal(tmp_path / "journal.sqlite3")) as journal:
        reply = await give(make(journal), "recall", token(given))
        assert (reply["id"], reply["ok"]) == (given.jti, False)


async def test_where_signatures_are_not_required_both_are_followed(tmp_path: Path) -> None:
    typed = b'{"by":"Somebody","role":"table_head","client":"t","id":7}'
    with closing(Journal(tmp_path / "journal.sqlite3")) as journal:
        api = make(journal, required=False)
        assert (await give(api, "session-open", typed))["ok"]
        assert (await give(api, "session-close", token(claims(LASA, "session.close"))))["ok"]
        stranger = token(claims(LASA, "session.open"), "stranger")
        assert (await give(api, "session-open", stranger))["refusal"]["key"] == "key_unknown"


@pytest.mark.parametrize(
    "fields", [b'"signed":[]', b'"signed":[{"id":"m-lasa","name":"x","role":"director"}]']
)
async def test_signature_fields_cannot_be_set_by_a_client(fields: bytes, tmp_path: Path) -> None:
    body = b'{"by":"M. Lasa","role":"table_head","client":"t","id":7,%b}' % fields
    with closing(Journal(tmp_path / "journal.sqlite3")) as journal:
        reply = await give(make(journal, required=False), "session-open", body)
        assert (reply["ok"], "signed: leave out" in reply["error"]) == (False, True)
