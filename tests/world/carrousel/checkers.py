"""What must hold of the jackpots and their ledger."""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from common.chain.schema import Entry
from common.contract.times import parse_utc
from subscribers.carrousel.verification import verify
from tests.support.chaos.linked_daemon import Play
from tests.support.chaos.linked_proof import (
    TableOfJournal,
    compare,
    note_event,
    payments,
)
from tests.world.broker.packets import Publish
from tests.world.carrousel.disk import LedgerDisk
from tests.world.carrousel.people import Payers
from tests.world.carrousel.table import Croupier
from tests.world.checkers import Final, Key, require
from tests.world.liveness import Calm

IN_PLAY_SECONDS = 150.0
"""After the end of all faults every jackpot is in play again within this time: clocks are set, and
a recall that was not answered is repeated at least once a minute.
"""


class Meter:
    """The value of each jackpot's meter after each entry of the ledger, read as its files grow:
    those of a pair hold the same entries.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths
        self.last = 0
        """Position of the last entry."""
        self._changes: dict[str, list[tuple[int, int]]] = defaultdict(lambda: [(0, 0)])
        """By jackpot: position, and the value from there on."""

    def read(self) -> list[dict[str, Any]]:
        """Read what is new; return the facts."""
        return [fact for path in self._paths for fact in self._read(path)]

    def _read(self, path: Path) -> list[dict[str, Any]]:
        if not path.exists():
            return []
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as file:
            if not file.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                return []
            facts = file.execute(
                "SELECT position, fact FROM entry WHERE position > ? ORDER BY position",
                (self.last,),
            ).fetchall()
            rises = file.execute(
                "SELECT jackpot, position, sum(amount) FROM posting WHERE position > ? "
                "AND account = 'meter' GROUP BY jackpot, position ORDER BY position",
                (self.last,),
            ).fetchall()
        for jackpot, position, rise in rises:
            changes = self._changes[jackpot]
            changes.append((position, changes[-1][1] + rise))
        if facts:
            self.last = facts[-1][0]
        return [json.loads(fact) for _, fact in facts]

    def at(self, jackpot: str, position: int) -> int:
        """Return the value after that entry."""
        changes = self._changes[jackpot]
        return changes[bisect_right(changes, position, key=lambda change: change[0]) - 1][1]


class Ledger(Final):
    """The ledger is to the cent what the decrees make of the tables' journals, a statement is never
    ahead of it, and each order has paid once. ``disks``: those of both machines of a pair.
    """

    def __init__(
        self,
        disks: Sequence[LedgerDisk],
        decrees: Mapping[str, Sequence[str]],
        play: Play,
        payers: Payers,
    ) -> None:
        self._disks = disks
        self._decrees, self._play, self._payers = decrees, play, payers
        self._boots: set[str] = set()
        """The runs of the controller before an old ledger was put in its place."""
        self._tables: dict[str, TableOfJournal] = defaultdict(TableOfJournal)
        self._stakes: dict[Key, tuple[str, int]] = {}
        """By event of a journal: box, and what it has staked in its round."""
        self.meter = Meter([disk.path for disk in disks])

    def on_stored(self, entries: list[Entry], owner: str) -> None:
        """See :class:`Checker`."""
        del owner
        for entry in entries:
            if entry.kind != "event" or not self._is_linked(entry.table):
                continue
            note_event(self._tables, entry.body)
            if b'"bet.placed"' in entry.body[:40]:
                body = json.loads(entry.body)
                amount = 0 if body.get("withdrawn") else body.get("amount", 0)
                self._stakes[entry.table, entry.boot, entry.seq] = body["who"], amount

    def _is_linked(self, table: str) -> bool:
        return any(table in tables for tables in self._decrees.values())

    def on_received(self, message: Publish) -> None:
        """See :class:`Checker`."""
        if "/jackpot/" not in message.topic or not message.topic.endswith("/state"):
            return
        state = json.loads(message.payload)
        if len(self._disks) > 1 or not self._disks[0].is_old:
            self._boots.add(state["boot"])
            self._read()
        elif state["boot"] not in self._boots:
            require(not state["in_play"], "in play with an old ledger", state)
        require(state["seq"] <= self.meter.last, "a statement is ahead of the ledger", state)
        wanted = self.meter.at(state["jackpot"], state["seq"])
        require(
            state["value"] == wanted,
            "a statement is not the ledger's",
            state,
            wanted,
            self.meter.last,
        )

    def _read(self) -> None:
        """Read what is new in the ledger: each stake is one of a table's journal."""
        for fact in self.meter.read():
            if fact["fact"] == "staked":
                cause = fact["cause"]
                event = self._stakes.get((cause["table"], cause["boot"], cause["seq"]))
                require(
                    event == (fact["box"], fact["amount"]), "a stake of no journal", fact, event
                )

    def on_end(self) -> None:
        """See :class:`Checker`."""
        self._read()
        for disk in self._disks:
            self._check_file(disk.path)

    def _check_file(self, path: Path) -> None:
        lines: list[str] = []
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as file:
            for decree, names in self._decrees.items():
                tables = {name: self._tables[name] for name in names}
                awards = self._payers.awards.get(decree.lower(), {})
                found = compare(file, decree, tables, self._play, awards, lines.append)
                require(found[2] == 0, "the ledger is not the decree's", lines)
            paid, orders = payments(file)
        require(paid == orders, "an order has paid twice", paid, orders)
        verdict = verify(path)
        require(not verdict.status, "the ledger does not verify", verdict)


class InPlay(Final):
    """In calm, every jackpot is in play at every table; in the end, nothing waits."""

    def __init__(
        self,
        payers: Payers,
        croupiers: Mapping[str, Croupier],
        calm: Calm,
        wall: Callable[[], float],
    ) -> None:
        self._payers, self._croupiers = payers, croupiers
        self._calm, self._wall = calm, wall

    def on_tick(self, now: float) -> None:
        """See :class:`Checker`."""
        if self._calm.seconds(now) > IN_PLAY_SECONDS:
            self._check()

    def on_end(self) -> None:
        """See :class:`Checker`."""
        self._check()
        require(self._payers.idle, "an award waits", self._payers.states)
        busy = [name for name, croupier in self._croupiers.items() if not croupier.idle]
        require(not busy, "a round has not ended", busy)

    def _check(self) -> None:
        require(self._payers.states, "no statement of any jackpot")
        for jackpot, state in self._payers.states.items():
            require(state["in_play"], "a jackpot is out of play", jackpot, state)
            require(parse_utc(state["until"]) > self._wall(), "a statement is old", state)
            for table, linked in state["tables"].items():
                require(linked["in_play"], "a table is out of play", table, linked)
