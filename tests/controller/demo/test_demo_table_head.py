"""The demo's people at a broker, at a table whose messages arrive in an unlucky order, as on a busy
machine.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import aiomqtt
import msgspec
import pytest

from common.contract.command_fields import Command
from common.contract.commands import SessionOpen
from common.contract.orders import read_order
from common.contract.refusals import RejectedError
from common.contract.topics import Topics
from common.people.signed_command import claims_of
from common.readings import CardDrawn
from controller.demo import table_head
from controller.demo.floor import DemoError
from controller.demo.places import places
from controller.demo.staff import enrol
from controller.demo.table_head import PLAYER_BY_GAME, TableHead
from tests.controller.demo.test_demo_people import OPENING, PACKETS, AtTable
from tests.support.brokers.mosquitto import Mosquitto
from tests.support.waiting import TIMEOUT_SECONDS

LATER_SECONDS = 0.2
"""Delay of the later messages: long enough for an answer in between."""
SITE, BOOT = "demo", "b1"
TOPICS = Topics(SITE, simulated=True)
OPEN = SessionOpen(at=0.0, by="another", role="table_head", minimum=1000, currency="EUR")


class TablePublisher:
    """Does what the daemon does for one table: follows commands one after the other, answers them,
    and publishes events and states.

    ``events_first``: the order in which these are published, the second kind ``LATER_SECONDS``
    later. ``before`` runs when a command has arrived, before it is followed; ``silent``: no event
    is ever delivered.
    """

    def __init__(
        self,
        client: aiomqtt.Client,
        table: str,
        at: AtTable,
        *,
        events_first: bool = False,
        silent: bool = False,
        before: Callable[[AtTable, str], None] = lambda *_: None,
    ) -> None:
        self.said: list[str] = []
        self.refused: list[str] = []
        self._client, self._table, self._at = client, table, at
        self._events_first, self._silent, self._before = events_first, silent, before
        self._told = 0

    async def publish_state(self) -> None:
        body = {"boot": BOOT, "seq": len(self._at.events), "shown": self._at.shown}
        await self._client.publish(
            TOPICS.table(self._table, "state"), json.dumps(body), qos=1, retain=True
        )

    async def publish_events(self) -> None:
        new, self._told = self._at.events[self._told :], len(self._at.events)
        for event in new:
            if not self._silent:
                await self._client.publish(
                    TOPICS.table(self._table, "event"), json.dumps(event | {"boot": BOOT}), qos=1
                )

    async def follow(self) -> None:
        """Follow commands until cancelled."""
        await self._client.subscribe(TOPICS.command(self._table), qos=1)
        await self.publish_state()
        async for message in self._client.messages:
            await self._follow(message.topic.value.rpartition("/")[2], bytes(message.payload))

    async def _follow(self, name: str, body: bytes) -> None:
        self.said.append(name)
        claims = claims_of(body)
        who = {"by": claims.iss, "role": claims.role}
        _, given = read_order(name, msgspec.json.encode({**claims.fields, **who}), 0.0)
        assert isinstance(given, Command)
        error = None
        try:
            self._before(self._at, name)
            self._at.receive(given)
        except RejectedError as no:
            error = str(no)
            self.refused.append(error)
        reply = {"id": claims.jti, "ok": error is None, "error": error}
        await self._client.publish(TOPICS.reply(self._table, "demo"), json.dumps(reply), qos=1)
        first, second = (
            (self.publish_events, self.publish_state)
            if self._events_first
            else (self.publish_state, self.publish_events)
        )
        await first()
        await asyncio.sleep(LATER_SECONDS)
        await second()
        await self.publish_state()  # a device's state has changed
        await asyncio.sleep(LATER_SECONDS)


@pytest.fixture
def port(programs: None, tmp_path: Path) -> Iterator[int]:
    """Port of a broker without authentication."""
    broker = Mosquitto(tmp_path / "mosquitto")
    try:
        broker.start()
        yield broker.port
    finally:
        broker.kill()


@asynccontextmanager
async def presided(
    port: int, game: str, decree: str, settings: dict[str, Any], **how: Any
) -> AsyncIterator[tuple[TablePublisher, AtTable]]:
    """A table that its head has opened, and its publisher; exceptions of the head are raised."""
    place = next(place for place in places(decree, floor=True) if place.game == game)
    at = AtTable(game, decree, PLAYER_BY_GAME[game], settings)
    async with aiomqtt.Client("127.0.0.1", port) as client:
        publisher = TablePublisher(client, place.table, at, **how)
        with TemporaryDirectory() as folder:
            staff = enrol(Path(folder, "people.jsonl"), SITE, [place.role])
        head = TableHead(port, SITE, [place], 1, 1000.0, staff)
        tasks = [asyncio.create_task(publisher.follow()), asyncio.create_task(head.preside())]
        opened = asyncio.create_task(head.opened.wait())
        try:
            done, _ = await asyncio.wait(
                {*tasks, opened}, timeout=TIMEOUT_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            assert done, f"said: {publisher.said}; refused: {publisher.refused}"
            for task in done:
                task.result()
            yield publisher, at
        finally:
            left = {*tasks, opened}
            # Repeatedly: asyncio.wait_for of Python 3.11, by which aiomqtt publishes, may swallow a
            # cancellation.
            while left:
                for task in left:
                    task.cancel()
                _, left = await asyncio.wait(left, timeout=LATER_SECONDS)


OPENINGS = [
    ("boule", {"phases": "device"}, ["session.open"]),
    ("punto-banca", {"rounds": "shoe", "turn": "when_complete"}, ["session.open", "shoe.start"]),
    ("craps", {"rounds": "dice"}, OPENING),
    ("poker-no-draw", PACKETS, ["session.open", "bets.open", "boxes.set", "bet.place"]),
    ("three-card-poker", PACKETS, ["session.open", "bets.open", "boxes.set", "bet.place"]),
]
"""Commands at a table of each game before it may play."""


@pytest.mark.parametrize("events_first", [False, True], ids=["state first", "events first"])
@pytest.mark.parametrize(
    ("game", "settings", "words"), OPENINGS, ids=[game for game, *_ in OPENINGS]
)
async def test_a_state_may_arrive_apart_from_its_events(
    game: str, settings: dict[str, Any], words: list[str], events_first: bool, port: int
) -> None:
    async with presided(port, game, "EUS96", settings, events_first=events_first) as (
        publisher,
        at,
    ):
        await asyncio.sleep(3 * LATER_SECONDS)  # the other commands are refused
        assert publisher.said == [word.replace(".", "-") for word in words]
        assert publisher.refused == []
        assert "round.void" not in at.types()


async def test_events_before_his_arrival_are_not_waited_for_forever(
    monkeypatch: pytest.MonkeyPatch, port: int
) -> None:
    monkeypatch.setattr(table_head, "MISSED_EVENT_SECONDS", LATER_SECONDS)
    async with presided(port, "boule", "EUS96", {"phases": "device"}, silent=True) as (
        publisher,
        _,
    ):
        assert publisher.said == ["session-open"]


async def test_a_table_that_has_moved_on_is_looked_at_again(port: int) -> None:
    def another_opens(at: AtTable, name: str) -> None:
        if name == "session-open":
            at.receive(OPEN)

    async with presided(port, "poker-no-draw", "EUS96", PACKETS, before=another_opens) as (
        publisher,
        _,
    ):
        assert len(publisher.refused) == 1
        assert publisher.said == ["session-open", "bets-open", "boxes-set", "bet-place"]


async def test_a_table_that_keeps_refusing_does_not_open(
    monkeypatch: pytest.MonkeyPatch, port: int
) -> None:
    monkeypatch.setattr(table_head, "RETRY_SECONDS", (0.0, 2 * LATER_SECONDS))

    def refuse(_: AtTable, name: str) -> None:
        raise RejectedError("unknown_command", command=name)

    with pytest.raises(ExceptionGroup) as raised:
        async with presided(port, "poker-no-draw", "EUS96", PACKETS, before=refuse):
            pass
    [failed] = raised.value.exceptions
    assert isinstance(failed, DemoError)
    assert str(failed) == "the table poker-1 does not open: this game has no command session-open"


async def test_the_same_command_about_another_irregularity_is_not_delayed(
    monkeypatch: pytest.MonkeyPatch, port: int
) -> None:
    monkeypatch.setattr(table_head, "RETRY_SECONDS", (0.0, 10 * TIMEOUT_SECONDS))
    settings = {"rounds": "shoe", "turn": "when_complete"}
    fourth = asyncio.Event()

    def count(at: AtTable, name: str) -> None:
        if name == "card-decide" and at.types().count("card.removed") == 3:
            fourth.set()

    async with presided(port, "punto-banca", "EUS96", settings, before=count) as (publisher, at):
        at.receive(*(CardDrawn(at=0.0, card=None, to="player", index=1) for _ in range(4)))
        await publisher.publish_state()
        await publisher.publish_events()
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await fourth.wait()
        assert at.shown["asks"] == []
    assert publisher.refused == []
    assert at.types().count("card.removed") == 4
