"""Creates a journal as a daemon writes it over a long time: the clock is simulated; the wheels'
bytes, the codec, the game and the journal are real.
"""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import msgspec

from benchmarks.wheel_lines import PERIOD, whole_round
from common.chain.schema import Record, new_boot
from common.contract.commands import SessionOpen
from controller.games.games import make_game
from controller.journal.journal import Journal
from controller.tables.byte_trace import FLUSH_INTERVAL_SECONDS
from controller.tables.runner import TableRunner
from controller.tables.table import Table
from devices.calls import BytesReceived, LinkOpened, apply_call
from devices.drivers import driver
from devices.watch import Watch

SITE, GAME, DECREE, DRIVER = "bench", "roulette-french", "ARA02", "cammegh-ss2"
ROUNDS_PLAYED = 20
"""Rounds played by each table."""
RECORDS_PER_TRANSACTION = 500
"""Records copied in one transaction."""
ROUNDS_PER_YEAR = 525_600
"""Rounds of one table in a year at 60 an hour."""


class Filled(NamedTuple):
    """Size of a filled journal."""

    rounds: int
    entries: int
    events: int
    megabytes: float


class PlayedTable:
    """One table and its wheel. Its session is opened at the first round, and stays open."""

    def __init__(self, number: int, journal: Journal, boot: str) -> None:
        self.id = name = f"table-{number}"
        game, found = make_game(GAME, DECREE, {}), driver(DRIVER)
        self._now = 0.0
        self._flushed = 0.0
        self._rounds = 0
        self._watch = Watch(found.make("wheel", found.options()), "wheel", 600.0)
        self._runner = TableRunner(
            lambda: Table(
                SITE,
                name,
                GAME,
                DECREE,
                game,
                boot,
                True,
                journal.saved_state(name),
            ),
            journal,
            lambda: self._now,
            lambda: None,
        )
        self._runner.on_bytes("wheel", LinkOpened(0.0))
        self._runner.on_readings(apply_call(self._watch, LinkOpened(0.0)))

    @property
    def seq(self) -> int:
        """Number of its last event."""
        return self._runner.table.seq

    async def play(self) -> None:
        """Play one round of ordinary length."""
        self._rounds += 1
        for line in whole_round(self._rounds):
            self._now += PERIOD
            call = BytesReceived(self._now, line)
            self._runner.on_bytes("wheel", call)
            self._runner.on_readings(apply_call(self._watch, call))
            if self._now - self._flushed > FLUSH_INTERVAL_SECONDS:
                self._runner.flush()
                self._flushed = self._now
        if self._rounds == 1:
            await self._runner.execute(SessionOpen(at=self._now, by="benchmark", role="table_head"))

    async def stored(self) -> None:
        """Wait until everything is stored."""
        await self._runner.drain()


class CopiedJournal(Journal):
    """A journal that remembers what it stores, in order to copy it."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.records: list[Record] = []

    def append(self, *records: Record) -> asyncio.Future[int]:
        """Store records, and remember them."""
        self.records += records
        return super().append(*records)

    async def append_again(self, records: list[Record], seqs: dict[str, int]) -> None:
        """Store these records again, their numbers increased by ``seqs`` of their table."""
        for first in range(0, len(records), RECORDS_PER_TRANSACTION):
            repeated = (
                msgspec.structs.replace(record, seq=record.seq + seqs[record.table])
                for record in records[first : first + RECORDS_PER_TRANSACTION]
            )
            await super().append(*repeated)


def fill(path: Path, tables: int, entries: int, *, published: bool) -> Filled:
    """Write a journal with at least this many entries of this many tables. ``published``: the
    broker already has them.

    The first rounds are played. Their records are then copied repeatedly with higher numbers, which
    is faster; the chain of the journal is valid, but an audit would fail.
    """
    rounds = asyncio.run(_fill(path, tables, entries, published))
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT count(*), sum(kind = 'event') FROM entry"
        written, events = connection.execute(query).fetchone()
    return Filled(rounds, written, events, path.stat().st_size / 1e6)


async def _fill(path: Path, tables: int, entries: int, published: bool) -> int:
    boot = new_boot()
    with closing(CopiedJournal(path)) as journal:
        played = [PlayedTable(number, journal, boot) for number in range(1, tables + 1)]
        for table in played:
            await table.play()
        journal.records.clear()
        before = {table.id: table.seq for table in played}
        for _ in range(ROUNDS_PLAYED):
            for table in played:
                await table.play()
            await asyncio.sleep(0)
        for table in played:
            await table.stored()
        rounds, records = (1 + ROUNDS_PLAYED) * tables, journal.records.copy()
        copies = 0
        while journal.head() < entries:
            copies += 1
            seqs = {table.id: copies * (table.seq - before[table.id]) for table in played}
            await journal.append_again(records, seqs)
            rounds += ROUNDS_PLAYED * tables
        if published:
            journal.move_cursor(journal.head())
    return rounds
