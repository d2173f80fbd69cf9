"""Events between the first signature and the second: a round or session that ends, a state that
changes. The first signature is void then, and its person is notified.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from common.contract.commands import SessionOpen
from common.contract.topics import Topics, level
from common.people.seen import SeenCommands
from common.readings import LinkLost, LinkUp, Phase, WheelFault, WheelNumber, WheelPhase
from controller.journal.journal import Journal
from controller.mqtt.connection import IncomingMessage
from controller.mqtt.served_table import ServedTable
from controller.mqtt.tables_api import TablesApi
from controller.people.authority import command_rights
from controller.people.gate import CommandGate
from tests.controller.people.test_at_a_table import people
from tests.controller.tables.test_runner import make_runner
from tests.support.people.signing import LASA, VIDAL, claims, token

ROLES = {LASA: "table_head", VIDAL: "director"}
PHASES: tuple[Phase, ...] = ("bets_open", "ball_in_rim", "no_more_bets")


class Wheel:
    """A table with its wheel, and the persons in charge."""

    def __init__(self, journal: Journal) -> None:
        topics = Topics("palma")
        gate = CommandGate(
            f"{topics.root}/r1",
            "r1",
            people(),
            command_rights("roulette-french", "ARA02"),
            SeenCommands(),
        )
        self.runner = make_runner(journal)
        place = ServedTable(self.runner, topics, {}, 1.0, gate, True)
        self.api = TablesApi("pit-1", "b1", topics, {"r1": place})
        self.told: list[dict[str, Any]] = []
        """The published events."""
        self._spin = 0

    async def open(self) -> None:
        await self.runner.execute(SessionOpen(at=1.0, by="M. Lasa", role="table_head"))
        self.runner.on_readings([LinkUp(at=1.0, device="wheel")])

    def spin(self, number: int, *, sure: bool = True) -> None:
        """A round. If it is not sure, a person must confirm the result."""
        self._spin += 1
        for phase in PHASES:
            self.runner.on_readings(
                [WheelPhase(at=1.0, device="wheel", phase=phase, spin=self._spin)]
            )
        for active in () if sure else (True, False):
            fault = WheelFault(at=1.0, device="wheel", fault="ball_removed", active=active)
            self.runner.on_readings([fault])
        self.runner.on_readings(
            [WheelNumber(at=1.0, device="wheel", number=number, spin=self._spin)]
        )

    async def send(self, who: str, command: str, **fields: Any) -> str | None:
        """Send a signed command. Return the key of its refusal; None: it was followed."""
        given = claims(who, command, ROLES[who], **fields)
        name = level(command)
        answers = await self.api.commands.answer(
            "r1", name, IncomingMessage("", token(given), retain=False)
        )
        # the person who signed first is answered too
        [reply] = [
            reply for answer in answers if (reply := json.loads(answer.payload))["id"] == given.jti
        ]
        assert reply["ok"] or "refusal" in reply, reply
        return None if reply["ok"] else reply["refusal"]["key"]

    async def both(self, command: str, **fields: Any) -> None:
        """Two persons send it, and it is followed."""
        assert await self.send(LASA, command, **fields) == "second_person_wanted"
        assert await self.send(VIDAL, command, **fields) is None

    def over(self) -> list[str]:
        """The notices sent so far about first signatures that no longer wait."""
        return [
            json.loads(each.payload)["refusal"]["key"]
            for each in self.api.commands.expired_replies(time.time())
        ]

    def results(self) -> list[Any]:
        """The results in the retained history of the session."""
        history = json.loads(self.runner.retained["history"] or b"{}")
        found: list[Any] = history["results"]
        return found


@pytest.fixture
async def at(tmp_path: Path) -> AsyncIterator[Wheel]:
    with closing(Journal(tmp_path / "journal.sqlite3")) as journal:
        wheel = Wheel(journal)
        await wheel.open()
        yield wheel


async def session_ends(at: Wheel) -> None:
    """Another session has a round with the same number."""
    assert await at.send(VIDAL, "session.close") is None
    await at.open()


async def round_is_void(at: Wheel) -> None:
    """One person decides it alone."""
    assert await at.send(LASA, "round.void", reason="ball_out") is None


async def round_has_result(at: Wheel) -> None:
    """One person confirms the wheel's number."""
    assert await at.send(VIDAL, "round.confirm") is None


async def result_changes(at: Wheel) -> None:
    """The same persons correct it, and correct it back."""
    await at.both("result.correct", round=1, number=30)
    await at.both("result.correct", round=1, number=20)


async def table_is_rebuilt(at: Wheel) -> None:
    """The disk accepted nothing for a while; the table is rebuilt from the journal."""
    await at.both("result.correct", round=1, number=30)
    await at.runner.drain()
    at.runner._behind = True
    at.runner._publish_stored()


Meanwhile = Callable[[Wheel], Coroutine[Any, Any, None]]
CORRECT: tuple[str, dict[str, Any]] = ("result.correct", {"round": 1, "number": 3})
CONFIRM: tuple[str, dict[str, Any]] = ("round.confirm", {"number": 7})
BY_NUMBER: tuple[str, dict[str, Any]] = ("round.confirm", {"number": 7, "round": 1})


@pytest.mark.parametrize(
    ("given", "meanwhile"),
    [
        (CONFIRM, round_is_void),
        (CONFIRM, round_has_result),
        (CONFIRM, session_ends),
        (BY_NUMBER, round_is_void),
        (BY_NUMBER, round_has_result),
        (BY_NUMBER, session_ends),
        (CORRECT, session_ends),
        (CORRECT, result_changes),
        (CORRECT, table_is_rebuilt),
    ],
)
@pytest.mark.parametrize("looked", [False, True])
async def test_a_first_signature_is_void_once_its_subject_has_changed(
    at: Wheel, given: tuple[str, dict[str, Any]], meanwhile: Meanwhile, looked: bool
) -> None:
    """``looked``: the daemon has checked the waiting signatures in between, as it does every
    second.
    """
    (command, fields), sure = given, given is CORRECT
    at.spin(20, sure=sure)
    assert await at.send(LASA, command, **fields) == "second_person_wanted"
    await meanwhile(at)
    at.spin(21, sure=sure)
    if looked:
        assert at.over() == ["second_person_over"]
    await at.runner.drain()
    before = at.results()
    assert await at.send(VIDAL, command, **fields) is not None
    await at.runner.drain()
    assert at.results() == before
    if not looked:
        assert at.over() == ["second_person_over"]


@pytest.mark.parametrize("given", [CORRECT, CONFIRM])
async def test_what_happens_elsewhere_does_not_matter(
    at: Wheel, given: tuple[str, dict[str, Any]]
) -> None:
    (command, fields), sure = given, given is CORRECT
    at.spin(20, sure=sure)
    assert await at.send(LASA, command, **fields) == "second_person_wanted"
    at.runner.on_readings(
        [LinkLost(at=1.0, device="wheel", reason="x"), LinkUp(at=1.0, device="wheel")]
    )
    if sure:
        at.spin(21)
        await at.both("result.correct", round=2, number=22)
    assert at.over() == []
    assert await at.send(VIDAL, command, **fields) is None
