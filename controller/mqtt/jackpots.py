"""Determines whether the jackpots linked with this daemon's tables are in play, from the state that
their controllers publish.

A state is valid until the time that it names, and no longer than the period that it names. When it
expires, or does not apply to a table, the jackpot is not in play there. Each change is a reading of
the table, which is stored in the journal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable

import msgspec

from common import clock
from common.contract.jackpot import JackpotState, OutOfPlay
from common.contract.times import parse_utc
from common.contract.topics import Topics
from common.log import structlog
from common.readings import JackpotStanding
from controller.tables.runner import TableRunner

MAX_VALIDITY_SECONDS = 600.0
"""Maximum validity of a state."""
MIN_INTERVAL_SECONDS = 0.1
"""Minimum time between two evaluations of one jackpot: in a flood, only the latest state counts."""


class JackpotValidity(msgspec.Struct, frozen=True):
    """The result of a state for one table. ``why``: why the jackpot is not in play, or None if it
    is; ``seconds``: the validity from its reception.
    """

    why: OutOfPlay | None
    seconds: float = 0.0


NO_STATEMENT, UNREADABLE = JackpotValidity("unheard"), JackpotValidity("unreadable")


class JackpotLink(msgspec.Struct, frozen=True):
    """A table and its linked jackpot."""

    site: str
    jackpot: str
    table: str
    decree: str
    simulated: bool


def read_validity(link: JackpotLink, body: bytes, now: float, *, held: bool) -> JackpotValidity:
    """Evaluate a message on the topic of the jackpot for a table. ``now``: the time of its
    reception, in seconds since 1970; ``held``: it was retained by the broker.
    """
    if not body:  # another client cleared it
        return NO_STATEMENT
    try:
        state = msgspec.json.decode(body, type=JackpotState)
        published, until = parse_utc(state.time), parse_utc(state.until)
    except (ValueError, RecursionError):
        return UNREADABLE
    identity = (state.site, state.jackpot, state.simulated)
    if identity != (link.site, link.jackpot, link.simulated) or published >= until:
        return UNREADABLE
    if now >= until:  # a new state cannot have expired, unless the clocks differ
        return NO_STATEMENT if held else JackpotValidity("clock")
    if state.decree != link.decree:
        return JackpotValidity("foreign")
    if not state.in_play:  # while it checks itself it names no table
        return JackpotValidity(state.why or "unheard")
    table = state.tables.get(link.table)
    if table is None:
        return JackpotValidity("not_authorised")
    if not table.in_play:
        return JackpotValidity(table.why or "unheard")
    return JackpotValidity(None, min(until - now, until - published, MAX_VALIDITY_SECONDS))


class LinkedTableFeed:
    """A linked table of this daemon: passes each change, and the expiry of the last state, to the
    table.
    """

    def __init__(self, link: JackpotLink, runner: TableRunner) -> None:
        self._link = link
        self._runner = runner
        self._why: OutOfPlay | None = "unheard"
        self._ends = self._ends_utc = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._reported: tuple[object, OutOfPlay | None] = (runner.table, "unheard")
        """The last reported value, and the table: a rebuilt table has no report yet."""
        runner.before_input = self.expire
        self._log = structlog.get_logger().bind(table=link.table, jackpot=link.jackpot)

    def on_statement(
        self, body: bytes, received: float, received_utc: float, *, held: bool
    ) -> None:
        """Handle a message received at these times: monotonic, and in seconds since 1970."""
        validity = read_validity(self._link, body, received_utc, held=held)
        self._why = validity.why
        self._ends, self._ends_utc = received + validity.seconds, received_utc + validity.seconds
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if validity.why is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._ends - clock.monotonic(), self.expire)
            self.expire()  # it may have expired while it waited to be evaluated
        self._report()

    def expire(self) -> None:
        """Expire the last state if its time is over by either clock."""
        if self._why is None and (
            clock.monotonic() >= self._ends or clock.wall() >= self._ends_utc
        ):
            self._why = "unheard"
            self._report()

    def _report(self) -> None:
        why, runner = self._why, self._runner
        if self._reported == (runner.table, why):
            return
        self._reported = (runner.table, why)
        self._log.info("jackpot in play" if why is None else "jackpot not in play", why=why)
        runner.on_readings(
            [
                JackpotStanding(
                    at=runner.clock(), jackpot=self._link.jackpot, in_play=why is None, why=why
                )
            ]
        )
        self._reported = (runner.table, why)

    def close(self) -> None:
        """Stop reporting to the table."""
        if self._timer is not None:
            self._timer.cancel()
        self._runner.before_input = lambda: None

    @property
    def table(self) -> str:
        """The id of the table."""
        return self._link.table


class JackpotFeeds:
    """All jackpots linked with this daemon's tables, by topic."""

    def __init__(self, tables: Iterable[tuple[Topics, TableRunner]]) -> None:
        self._tables: dict[str, list[LinkedTableFeed]] = {}
        for topics, runner in tables:
            self.add(topics, runner)
        self._latest: dict[str, tuple[bytes, float, float, bool]] = {}
        """By topic, the state that is not evaluated yet, its times, and whether it was retained."""
        self._last_evaluated: dict[str, float] = {}

    def add(self, topics: Topics, runner: TableRunner) -> None:
        """Add a table, if it is linked with a jackpot."""
        table = runner.table
        if table.linked is None:
            return
        link = JackpotLink(table.site, table.linked, table.id, table.decree, table.simulated)
        topic = topics.jackpot(table.linked, "state")
        self._tables.setdefault(topic, []).append(LinkedTableFeed(link, runner))

    def remove(self, table: str) -> None:
        """Stop reporting to a table."""
        for linked in (each for tables in self._tables.values() for each in tables):
            if linked.table == table:
                linked.close()
        remaining = {
            topic: [each for each in tables if each.table != table]
            for topic, tables in self._tables.items()
        }
        self._tables = {topic: tables for topic, tables in remaining.items() if tables}

    def topics(self, tables: Collection[str] | None = None) -> list[str]:
        """Return the topics to subscribe to, by default for all tables."""
        return [
            topic
            for topic, linked in self._tables.items()
            if tables is None or any(each.table in tables for each in linked)
        ]

    def on_message(self, topic: str, body: bytes, *, held: bool) -> bool:
        """Handle a message on one of these topics; return False for any other."""
        if topic not in self._tables:
            return False
        now, waits = clock.monotonic(), topic in self._latest
        self._latest[topic] = (body, now, clock.wall(), held)
        if not waits:
            wait = (
                self._last_evaluated.get(topic, -MIN_INTERVAL_SECONDS) + MIN_INTERVAL_SECONDS - now
            )
            if wait <= 0:
                self._evaluate(topic)
            else:
                asyncio.get_running_loop().call_later(wait, self._evaluate, topic)
        return True

    def _evaluate(self, topic: str) -> None:
        self._last_evaluated[topic] = clock.monotonic()
        body, received, received_utc, held = self._latest.pop(topic)
        for table in self._tables.get(topic, ()):
            table.on_statement(body, received, received_utc, held=held)
