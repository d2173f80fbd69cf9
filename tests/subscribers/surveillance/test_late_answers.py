"""Daemons that answer late, since they have many tables: the recorder gets what it asks for, and
does not ask so often that it gets it later still. The clock is the test's.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from common import clock
from common.contract.times import format_utc
from subscribers.feed.connection import ServiceConnection
from subscribers.feed.tables import BrokerLogin
from subscribers.surveillance.archive import Query
from subscribers.surveillance.archive_sqlite import SQLiteArchive
from subscribers.surveillance.service import TICK_SECONDS
from subscribers.surveillance.settings import SiteSettings
from subscribers.surveillance.site import RecordedSite
from subscribers.surveillance.site_recalls import SWEEP_TABLES

BOOT = "boot-1"
ROOT = "novamas/v1/palma"
BEGUN = 1_790_000_000
TABLES = [f"r{number}" for number in range(60)]
EVENTS = 5


def event(table: str, seq: int, boot: str = BOOT) -> dict[str, Any]:
    return {
        "type": "round.opened",
        "site": "palma",
        "table": table,
        "boot": boot,
        "seq": seq,
        "time": format_utc(BEGUN + seq),
    }


class Floor:
    """A recorder's site, and a daemon that answers ``pace`` recalls a second, each in its turn."""

    def __init__(
        self, archive: SQLiteArchive, pace: float, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.archive, self.pace, self.now = archive, pace, 100.0
        self.journal = {
            (t, BOOT, seq): event(t, seq) for t in TABLES for seq in range(1, EVENTS + 1)
        }
        self.queue: deque[tuple[str, dict[str, Any]]] = deque()
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.answered = 0.0
        monkeypatch.setattr(clock, "monotonic", lambda: self.now)
        monkeypatch.setattr(clock, "wall", lambda: BEGUN + self.now)
        monkeypatch.setattr(ServiceConnection, "up", property(lambda _: True))
        settings = SiteSettings(id="palma", broker=BrokerLogin(url="mqtt://127.0.0.1:1"))
        self.site = RecordedSite(settings, "surveillance", "b", lambda: None, None, None)
        monkeypatch.setattr(self.site.connection, "send", self._take)

    def _take(self, topic: str, body: bytes) -> None:
        table, asked = topic.split("/")[3], json.loads(body)
        self.asked.append((table, asked))
        self.queue.append((table, asked))

    def say(self, topic: str, said: dict[str, Any]) -> None:
        self.site.on_message(f"{ROOT}/{topic}", json.dumps(said).encode(), False)

    def say_event(self, table: str, seq: int, boot: str = BOOT) -> None:
        self.say(f"{table}/event", event(table, seq, boot))

    def say_state(self, table: str, boot: str = BOOT) -> None:
        self.say(
            f"{table}/state", {"boot": boot, "seq": EVENTS, "time": format_utc(BEGUN + EVENTS)}
        )

    def say_all(self) -> None:
        """The events of each table, without a gap."""
        for table in TABLES:
            self.say_state(table)
            for seq in range(1, EVENTS + 1):
                self.say_event(table, seq)

    def _answer(self) -> None:
        table, asked = self.queue.popleft()
        boot, first, last = asked["boot"], asked["from"], asked.get("to")
        told = [(run, seq, said) for (of, run, seq), said in self.journal.items() if of == table]
        if last is None:  # whatever follows, also of later runs
            before = [at for at, (run, seq, _) in enumerate(told, 1) if run == boot and seq < first]
            found = told[max(before, default=0) :]
        else:
            found = [each for each in told if each[0] == boot and first <= each[1] <= last]
        reply = {"id": asked["id"], "ok": True, "events": [said for _, _, said in found]}
        self.say(f"{table}/reply/{asked['client']}", reply)

    def _keep(self) -> None:
        """As the service does."""
        batch = list(self.site.pending)
        self.site.pending.clear()
        self.archive.store([record for each in batch for record in each.records])
        for each in batch:
            if each.on_stored is not None:
                each.on_stored()

    def go_on(self, seconds: float) -> Iterator[float]:
        """Tick by tick."""
        for _ in range(round(seconds / TICK_SECONDS)):
            self.now += TICK_SECONDS
            self.answered += TICK_SECONDS * self.pace
            while self.answered >= 1.0:
                self.answered -= 1.0
                if self.queue:
                    self._answer()
            self._keep()
            self.site.recalls.query_missing(self.archive, self.now)
            self.site.send_due(self.now)
            yield self.now

    def kept(self) -> set[tuple[str, str, int]]:
        rows = self.archive.find(Query(kinds=("event",)))
        return {(row.record.table, row.record.boot, row.record.seq) for row in rows}

    def findings(self) -> list[str]:
        return [row.record.type for row in self.archive.find(Query(kinds=("finding",)))]


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[SQLiteArchive]:
    with closing(SQLiteArchive(tmp_path / "archive.sqlite3")) as opened:
        yield opened


@pytest.mark.parametrize("pace", [10.0, 4.0, 2.0])
def test_what_is_missing_at_many_tables_comes(
    archive: SQLiteArchive, pace: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To ask each table once takes 6, 15 and 30 seconds."""
    floor = Floor(archive, pace, monkeypatch)
    for table in TABLES:
        floor.say_state(table)
        floor.say_event(table, EVENTS)
    for _ in floor.go_on(600.0):
        if not floor.queue and floor.kept() == floor.journal.keys():
            break
    assert floor.kept() == floor.journal.keys()
    assert floor.findings() == []
    once = Counter((table, asked["boot"], asked["from"]) for table, asked in floor.asked)
    assert max(once.values()) <= 6  # 3, 6, 12, 24 and 48 seconds after the first time
    for _ in floor.go_on(600.0):
        pass
    assert not floor.queue
    asked = len(floor.asked)
    for _ in floor.go_on(120.0):
        pass
    assert len(floor.asked) == asked  # all is answered


def test_a_table_is_recalled_alone(archive: SQLiteArchive, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gap at one table does not cause recalls at the others."""
    floor = Floor(archive, 100.0, monkeypatch)
    floor.say_all()
    list(floor.go_on(5.0))
    floor.asked.clear()
    floor.journal |= {("r7", BOOT, seq): event("r7", seq) for seq in (6, 7)}
    floor.say_event("r7", 7)
    list(floor.go_on(5.0))
    assert {table for table, _ in floor.asked} == {"r7"}
    assert floor.kept() == floor.journal.keys()


def test_a_page_of_some_tables_is_compared_after_each_checkpoint(
    archive: SQLiteArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In turn, so that a daemon of many tables has time for something else."""
    floor = Floor(archive, 100.0, monkeypatch)
    floor.say_all()
    list(floor.go_on(5.0))
    compared: Counter[str] = Counter()
    for _ in range(2 * len(TABLES)):
        floor.asked.clear()
        floor.site.recalls.sweep(BOOT)
        list(floor.go_on(2.0))
        assert len(floor.asked) == SWEEP_TABLES
        compared.update(table for table, _ in floor.asked)
    assert compared.keys() == set(TABLES)
    assert max(compared.values()) - min(compared.values()) <= 1
    assert floor.findings() == []


def test_a_run_of_another_daemon_is_not_compared_with_it(
    archive: SQLiteArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page was asked of a daemon that ended; the other one of the pair would not know it."""
    floor = Floor(archive, 0.0, monkeypatch)
    floor.say_state("r0")
    for seq in range(1, EVENTS + 1):
        floor.say_event("r0", seq)
    list(floor.go_on(5.0))
    floor.queue.clear()
    floor.site.recalls.tables["r0"].wants.clear()
    floor.site.recalls.tables["r0"].question = None
    floor.site.recalls.sweep(BOOT)
    list(floor.go_on(1.0))
    [(_, asked)] = floor.queue
    assert (asked["from"], asked["to"]) == (1, EVENTS)

    other = {**event("r0", 1, "boot-2"), "type": "journal.restored", "source": "other_daemon"}
    floor.journal = {("r0", "boot-2", 1): other}
    floor.say("r0/event", other)
    floor.say_state("r0", "boot-2")
    floor.pace = 10.0
    list(floor.go_on(30.0))
    assert floor.findings() == []
