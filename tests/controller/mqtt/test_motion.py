"""The topic ``motion``: what is published of a wheel, and that nothing waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any, cast

import msgspec
import pytest

from common.contract.motion import Motion
from common.contract.topics import Topics
from common.readings import AnyReading, LinkStale, WheelNumber, WheelPhase
from controller.mqtt.motion import INTERVAL_SECONDS, MotionPublisher, follow
from controller.mqtt.outgoing import Acknowledged, OutgoingMessage, publish_packet
from controller.mqtt.posting import MessagePoster
from controller.mqtt.tables_api import TablesApi
from tests.support.waiting import until_async


def phase(name: Any, rpm: float | None = 28.4, *, late: bool = False) -> WheelPhase:
    return WheelPhase(
        at=0.0, device="wheel", phase=name, rpm=rpm, direction="clockwise", late=late, spin=7
    )


def test_a_launch_is_dated_until_the_ball_rests() -> None:
    found, motion = [], None
    for now, name in enumerate(
        ("bets_open", "ball_in_rim", "no_more_bets", "settled", "ball_in_rim"), 1
    ):
        motion = follow(motion, phase(name), float(now))
        assert motion is not None
        found.append((motion.since, motion.launched))
    assert found == [(1.0, None), (2.0, 2.0), (3.0, 2.0), (4.0, None), (5.0, 5.0)]


def test_a_new_speed_does_not_begin_a_phase() -> None:
    first = follow(None, phase("bets_open"), 1.0)
    again = follow(first, phase("bets_open", 12.0), 2.0)
    assert again is not None
    assert (again.since, again.reading.rpm) == (1.0, 12.0)


@pytest.mark.parametrize(
    ("name", "rpm", "moves"),
    [
        ("bets_open", 28.4, True),
        ("bets_open", 0.0, False),
        ("bets_open", None, False),
        ("no_more_bets", None, True),
        ("launched", None, True),
        ("settled", None, False),
    ],
)
def test_what_moves(name: str, rpm: float | None, moves: bool) -> None:
    motion = follow(None, phase(name, rpm), 1.0)
    assert motion is not None
    assert motion.moves == moves


def test_nothing_is_known_of_a_wheel_that_is_late_or_silent() -> None:
    motion = follow(None, phase("bets_open"), 1.0)
    assert follow(motion, phase("bets_open", late=True), 2.0) is None
    assert follow(motion, LinkStale(at=2.0, device="wheel", age=5.0), 2.0) is None
    assert follow(motion, LinkStale(at=2.0, device="shoe", age=5.0), 2.0) is motion
    assert follow(motion, WheelNumber(at=2.0, device="wheel", number=17), 2.0) is motion


class Connection:
    """Replaces a connection. ``acknowledges``: what it answers to a message with QoS 1; nothing if
    it is None.
    """

    def __init__(self, *acknowledges: str | None) -> None:
        self.pending = 0
        self.first: list[Motion] = []
        self.others: list[Motion] = []
        self.batches: list[list[str]] = []
        self._acknowledges = acknowledges

    def post(self, message: OutgoingMessage, acknowledged: Acknowledged) -> None:
        assert not message.retain
        self.first.append(msgspec.json.decode(message.payload, type=Motion))
        for answer in self._acknowledges:
            acknowledged(answer)

    def flush(self) -> None:
        pass

    def send_unacknowledged(self, messages: Sequence[OutgoingMessage]) -> None:
        sent = [msgspec.json.decode(message.payload, type=Motion) for message in messages]
        tables = [motion.table for motion in sent]
        topics = [f"novamas/v1/palma/{table}/motion" for table in tables]
        assert [message.topic for message in messages] == topics
        self.batches.append(tables)
        self.others += sent


class Claims:
    held = True

    def has(self, _: str) -> bool:
        return self.held


class Served:
    topics = Topics("palma")


class Api:
    """Replaces the tables."""

    def __init__(self, *tables: str) -> None:
        self.claims = Claims()
        self._tables = tables

    def served(self, table: str) -> Served | None:
        return Served() if table in self._tables else None


class Poster:
    def __init__(self, connection: Connection | None) -> None:
        self.connection = connection


def publisher(connection: Connection | None, *tables: str) -> tuple[MotionPublisher, Poster, Api]:
    poster, api = Poster(connection), Api(*tables or ("r1",))
    motion = MotionPublisher(
        api=cast("TablesApi", api), poster=cast("MessagePoster", poster), url="mqtt://broker"
    )
    return motion, poster, api


READINGS: list[AnyReading] = [phase("ball_in_rim"), WheelNumber(at=0.0, device="wheel", number=17)]


async def test_it_is_published_while_something_moves() -> None:
    connection = Connection(None)
    motion, _, _ = publisher(connection)
    motion.on_readings("r1", READINGS)
    assert (connection.first, connection.others) == ([], [])  # the events go first
    await until_async(lambda: len(connection.others) > 1)
    [first] = connection.first
    assert (first.phase, first.rpm, first.direction) == ("ball_in_rim", 28.4, "clockwise")
    assert first.launched_at == first.since <= first.time <= connection.others[0].time
    motion.on_readings("r1", [phase("settled", 0.0)])
    await until_async(lambda: connection.others[-1].phase == "settled")
    count = len(connection.others)
    await asyncio.sleep(2 * INTERVAL_SECONDS)
    assert len(connection.others) == count


async def test_the_tables_of_a_slot_are_sent_together_and_each_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connection = Connection(None)
    motion, _, _ = publisher(connection, "r1", "r2", "r3", "r4")
    motion.on_readings("r1", READINGS)
    await until_async(lambda: connection.first)
    loop = asyncio.get_running_loop()
    with monkeypatch.context() as patch:
        patch.setattr(loop, "time", partial(float, loop.time()))
        for name in ("r2", "r3", "r4", "r2"):
            motion.on_readings(name, READINGS)
    await until_async(lambda: len(connection.others) >= 3)
    together = next(batch for batch in connection.batches if "r2" in batch)
    assert [name for name in together if name != "r1"] == ["r2", "r3", "r4"]


async def test_it_is_dropped_while_an_event_waits_and_by_who_has_not_the_table() -> None:
    connection = Connection(None)
    motion, _, api = publisher(connection)
    connection.pending, other = 1, "r2"
    motion.on_readings("r1", READINGS)
    motion.on_readings(other, READINGS)
    await asyncio.sleep(2 * INTERVAL_SECONDS)
    api.claims.held = False
    connection.pending = 0
    await asyncio.sleep(2 * INTERVAL_SECONDS)
    assert (connection.first, connection.others) == ([], [])
    api.claims.held = True
    await until_async(lambda: connection.others)


async def test_a_broker_that_does_not_permit_it_is_left_alone() -> None:
    """It refuses the first message, or ends the connection at it."""
    connection = Connection("Not authorized")
    motion, _, _ = publisher(connection)
    motion.on_readings("r1", READINGS)
    await until_async(lambda: connection.first)
    await asyncio.sleep(2 * INTERVAL_SECONDS)
    assert (len(connection.first), connection.others) == (1, [])

    ended = [Connection() for _ in range(5)]
    motion, poster, _ = publisher(ended[0])
    motion.on_readings("r1", READINGS)
    for each in ended[:3]:
        poster.connection = each
        await until_async(partial(getattr, each, "first"))
    for each in ended[3:]:
        poster.connection = each
        await asyncio.sleep(2 * INTERVAL_SECONDS)
    assert [len(each.first) for each in ended] == [1, 1, 1, 0, 0]


def test_a_message_that_may_be_lost_has_no_identifier() -> None:
    message = OutgoingMessage("a/b", b"{}")
    assert publish_packet(message, None, v5=False) == b"\x30\x07\x00\x03a/b{}"
    assert publish_packet(message, 0x8000, v5=False) == b"\x32\x09\x00\x03a/b\x80\x00{}"
