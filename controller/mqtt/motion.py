"""Publishes how fast wheels turn and whether the ball runs, on the topic ``motion``.

It is decoration, and must cost a result nothing: it is not stored, each message waits until the
events have gone, and is dropped if anything is unacknowledged. Nothing runs for a table at which
nothing moves.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec

from common import clock
from common.contract.motion import Motion
from common.contract.times import format_utc
from common.contract.topics import Topics
from common.log import structlog
from common.readings import (
    AnyReading,
    LinkLost,
    LinkStale,
    LinkUnintelligible,
    Phase,
    WheelPhase,
)
from controller.mqtt.connection import PublisherConnection
from controller.mqtt.outgoing import OutgoingMessage
from controller.mqtt.posting import MessagePoster
from controller.mqtt.tables_api import TablesApi

SLOT_SECONDS = 0.02
"""Messages are sent at multiples of this time, so that one wake-up and one system call serve all
tables that are due: each would cost more than its message.
"""
INTERVAL_SECONDS = 1.0
"""Seconds between two messages of a table at which nothing changes. Displays come to rest when the
next one is a second overdue.
"""
MIN_INTERVAL_SECONDS = 0.25
"""Minimum seconds between two messages of a table when something changes."""
RESULT_FIRST_SECONDS = 0.05
"""Seconds left to the events of a reading, before the motion follows them."""
RUNNING: frozenset[Phase] = frozenset({"ball_in_rim", "no_more_bets", "launched", "settling"})
"""The phases in which the ball runs, or the wheel turns that was launched."""
MAX_CONNECTIONS_ENDED = 3
"""Connections in a row that end at the first message of a broker that does not permit it."""
LAUNCHES: frozenset[Phase] = frozenset({"ball_in_rim", "launched"})


class WheelMotion(msgspec.Struct, frozen=True, gc=False):
    """How a wheel moves, as last reported. ``since`` and ``launched``: seconds since 1970."""

    reading: WheelPhase
    since: float
    launched: float | None = None

    @property
    def moves(self) -> bool:
        """Whether anything moves, so that it is published."""
        return self.reading.phase in RUNNING or bool(self.reading.rpm)


def follow(before: WheelMotion | None, reading: AnyReading, now: float) -> WheelMotion | None:
    """Return the motion after a reading that came at ``now``, in seconds since 1970; None where
    nothing is known of it.
    """
    if isinstance(reading, WheelPhase):
        if reading.late:
            return None
        if before is None or before.reading.phase != reading.phase:
            launched = None if before is None else before.launched
            if reading.phase not in RUNNING:
                launched = None
            elif reading.phase in LAUNCHES:
                launched = now
            return WheelMotion(reading, now, launched)
        return msgspec.structs.replace(before, reading=reading)
    if (
        isinstance(reading, LinkLost | LinkStale | LinkUnintelligible)
        and before is not None
        and before.reading.device == reading.device
    ):
        return None
    return before


class MotionPublisher:
    """Publishes the motion of the tables on the connection of ``poster``.

    RabbitMQ and HiveMQ disconnect a client that publishes what they do not permit. So the first
    message on each connection has QoS 1, and the next one waits for its acknowledgement. Once it is
    refused, or several connections in a row have ended before, this daemon publishes no motion.
    """

    def __init__(self, *, api: TablesApi, poster: MessagePoster, url: str) -> None:
        self._api = api
        self._poster = poster
        self._motions: dict[str, WheelMotion] = {}
        self._due: dict[str, int] = {}
        """By table, the slot of its next message."""
        self._slots: dict[int, dict[str, None]] = {}
        """By slot with a timer, the tables that were scheduled for it, in order."""
        self._sent: dict[str, float] = {}
        """By table, the monotonic time of its last message."""
        self._tried: PublisherConnection | None = None
        """The connection on which the first message was sent."""
        self._permitted = False
        """The broker has acknowledged it."""
        self._ended = 0
        """Connections in a row that ended before that."""
        self._forbidden = False
        self._log = structlog.get_logger().bind(broker=url)

    def on_readings(self, table: str, readings: Sequence[AnyReading]) -> None:
        """Note the readings of one of a table's devices, and publish soon if anything moves."""
        before = motion = self._motions.get(table)
        for reading in readings:
            motion = follow(motion, reading, clock.wall())
        if motion is before:
            return
        if motion is None:
            del self._motions[table]
        else:
            self._motions[table] = motion
            elapsed = clock.monotonic() - self._sent.get(table, 0.0)
            self._schedule(table, max(RESULT_FIRST_SECONDS, MIN_INTERVAL_SECONDS - elapsed))

    def _schedule(self, table: str, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        slot = round((loop.time() + seconds) / SLOT_SECONDS)
        self._due[table] = slot
        tables = self._slots.get(slot)
        if tables is None:
            tables = self._slots[slot] = {}
            loop.call_at(slot * SLOT_SECONDS, self._publish, slot)
        tables[table] = None

    def _publish(self, slot: int) -> None:
        """Publish the motion of the tables that are due in this slot."""
        connection, messages = self._poster.connection, list[OutgoingMessage]()
        for table in self._slots.pop(slot):
            if self._due.get(table) != slot:  # it was scheduled again, or served already
                continue
            del self._due[table]
            motion = self._motions.get(table)
            served = self._api.served(table)
            if motion is None or served is None or self._forbidden:
                self._motions.pop(table, None)
                continue
            if connection is not None and not connection.pending and self._api.claims.has(table):
                message = _message(table, served.topics, motion)
                self._sent[table] = clock.monotonic()
                if connection is self._tried:
                    messages.append(message)
                else:
                    self._send_first(connection, message)
            if motion.moves:
                self._schedule(table, INTERVAL_SECONDS)
        if connection is not None and messages:
            connection.send_unacknowledged(messages)

    def _send_first(self, connection: PublisherConnection, message: OutgoingMessage) -> None:
        if self._tried is not None and not self._permitted:
            self._ended += 1
        if self._ended >= MAX_CONNECTIONS_ENDED:
            self._forbid("the connection ends at each message")
            return
        self._tried, self._permitted = connection, False
        connection.post(message, self._on_first)
        connection.flush()

    def _on_first(self, refusal: str | None) -> None:
        if refusal is not None:
            self._forbid(refusal)
        self._permitted, self._ended = True, 0

    def _forbid(self, reason: str) -> None:
        self._forbidden = True
        self._log.warning(
            "displays do not move",
            reason=f"the broker does not permit the topic motion: {reason}",
            advice="give it the rules of novamas acl, then restart the daemon",
        )


def _message(table: str, topics: Topics, motion: WheelMotion) -> OutgoingMessage:
    reading, launched = motion.reading, motion.launched
    body = Motion(
        site=topics.site,
        table=table,
        time=format_utc(clock.wall()),
        phase=reading.phase,
        since=format_utc(motion.since),
        rpm=reading.rpm,
        direction=reading.direction,
        launched_at=None if launched is None else format_utc(launched),
        simulated=topics.simulated,
    )
    return OutgoingMessage(topics.table(table, "motion"), msgspec.json.encode(body))
