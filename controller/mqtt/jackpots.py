"""Whether the jackpots that our tables are linked with are in play, as their controllers say.

A statement holds until the time that it names, and no longer than it was said for. Where it ends,
or does not count for a table, the jackpot is not in play there. Each change is a reading of the
table, which its journal keeps.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Iterable

import msgspec

from controller.contract.jackpot import JackpotState, OutOfPlay
from controller.contract.times import moment
from controller.contract.topics import Topics
from controller.tables.runner import TableRunner
from devices.log import structlog
from devices.readings import JackpotStanding

LONGEST = 600.0
"""Seconds for which a statement holds at most, whatever it says."""
PAUSE = 0.1
"""Seconds between two looks at what is said of one jackpot: of a flood, only the latest counts."""


class Standing(msgspec.Struct, frozen=True):
    """What a statement says for one table. ``why``: why the jackpot is not in play, None if it is;
    ``seconds``: for how long that holds from when it was heard.
    """

    why: OutOfPlay | None
    seconds: float = 0.0


UNHEARD, UNREADABLE = Standing("unheard"), Standing("unreadable")


class Link(msgspec.Struct, frozen=True):
    """A table, and the jackpot that it is linked with."""

    site: str
    jackpot: str
    table: str
    decree: str
    simulated: bool


def standing(link: Link, body: bytes, now: float, *, held: bool) -> Standing:
    """What a message on the topic of the jackpot says for a table. ``now``: seconds since 1970 when
    it was heard; ``held``: the broker had kept it.
    """
    if not body:  # somebody cleared it
        return UNHEARD
    try:
        said = msgspec.json.decode(body, type=JackpotState)
        said_at, until = moment(said.time), moment(said.until)
    except (ValueError, RecursionError):
        return UNREADABLE
    of = (said.site, said.jackpot, said.simulated)
    if of != (link.site, link.jackpot, link.simulated) or said_at >= until:
        return UNREADABLE
    if now >= until:  # what was said just now ends later, unless the clocks differ
        return UNHEARD if held else Standing("clock")
    if said.decree != link.decree:
        return Standing("foreign")
    if not said.in_play:  # while it checks itself it names no table
        return Standing(said.why or "unheard")
    table = said.tables.get(link.table)
    if table is None:
        return Standing("not_authorised")
    if not table.in_play:
        return Standing(table.why or "unheard")
    return Standing(None, min(until - now, until - said_at, LONGEST))


class LinkedTable:
    """A table of ours that is linked with a jackpot: it is told each change, and the end of what
    was said last.
    """

    def __init__(self, link: Link, runner: TableRunner) -> None:
        self._link = link
        self._runner = runner
        self._why: OutOfPlay | None = "unheard"
        self._ends = self._ends_utc = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._told: tuple[object, OutOfPlay | None] = (runner.table, "unheard")
        """What was last told, and to which table: one that had to be rebuilt has heard nothing."""
        runner.before_input = self.end
        self._log = structlog.get_logger().bind(table=link.table, jackpot=link.jackpot)

    def hear(self, body: bytes, heard: float, heard_utc: float, *, held: bool) -> None:
        """Take a message that was heard at these times: on the monotonic clock, and since 1970."""
        found = standing(self._link, body, heard_utc, held=held)
        self._why = found.why
        self._ends, self._ends_utc = heard + found.seconds, heard_utc + found.seconds
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if found.why is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._ends - time.monotonic(), self.end)
            self.end()  # it may have waited for its turn
        self._tell()

    def end(self) -> None:
        """What was said last holds no more, if its time is over by either clock."""
        if self._why is None and (time.monotonic() >= self._ends or time.time() >= self._ends_utc):
            self._why = "unheard"
            self._tell()

    def _tell(self) -> None:
        why, runner = self._why, self._runner
        if self._told == (runner.table, why):
            return
        self._told = (runner.table, why)
        self._log.info("jackpot in play" if why is None else "jackpot not in play", why=why)
        runner.on_readings(
            [
                JackpotStanding(
                    at=runner.clock(), jackpot=self._link.jackpot, in_play=why is None, why=why
                )
            ]
        )
        self._told = (runner.table, why)

    def leave(self) -> None:
        """Tell the table nothing more."""
        if self._timer is not None:
            self._timer.cancel()
        self._runner.before_input = lambda: None

    @property
    def table(self) -> str:
        """The id of the table."""
        return self._link.table


class Jackpots:
    """All jackpots that our tables are linked with, by the topics of their statements."""

    def __init__(self, tables: Iterable[tuple[Topics, TableRunner]]) -> None:
        self._tables: dict[str, list[LinkedTable]] = {}
        for topics, runner in tables:
            self.add(topics, runner)
        self._latest: dict[str, tuple[bytes, float, float, bool]] = {}
        """By topic, what was said and not looked at yet, when, and whether the broker held it."""
        self._looked: dict[str, float] = {}

    def add(self, topics: Topics, runner: TableRunner) -> None:
        """A table that may be linked with one."""
        table = runner.table
        if table.linked is None:
            return
        link = Link(table.site, table.linked, table.id, table.decree, table.simulated)
        topic = topics.jackpot(table.linked, "state")
        self._tables.setdefault(topic, []).append(LinkedTable(link, runner))

    def remove(self, table: str) -> None:
        """Tell a table nothing more."""
        for linked in (each for tables in self._tables.values() for each in tables):
            if linked.table == table:
                linked.leave()
        kept = {
            topic: [each for each in tables if each.table != table]
            for topic, tables in self._tables.items()
        }
        self._tables = {topic: tables for topic, tables in kept.items() if tables}

    def topics(self, tables: Collection[str] | None = None) -> list[str]:
        """The topics to listen to, by default for all tables."""
        return [
            topic
            for topic, linked in self._tables.items()
            if tables is None or any(each.table in tables for each in linked)
        ]

    def heard(self, topic: str, body: bytes, *, held: bool) -> bool:
        """Take a message, if it is on one of these topics."""
        if topic not in self._tables:
            return False
        now, waits = time.monotonic(), topic in self._latest
        self._latest[topic] = (body, now, time.time(), held)
        if not waits:
            wait = self._looked.get(topic, -PAUSE) + PAUSE - now
            if wait <= 0:
                self._look(topic)
            else:
                asyncio.get_running_loop().call_later(wait, self._look, topic)
        return True

    def _look(self, topic: str) -> None:
        self._looked[topic] = time.monotonic()
        body, heard, heard_utc, held = self._latest.pop(topic)
        for table in self._tables.get(topic, ()):
            table.hear(body, heard, heard_utc, held=held)
