"""Checks whether a site is ready, from its broker, archive, web server and journals."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

from benchmarks.site_programs import JACKPOT
from benchmarks.subscriber import ROOT, STATES, Subscriber
from controller.journal.reader import JournalReader
from subscribers.surveillance.archive import Query
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.open_archive import open_archive

STATUSES = f"{ROOT}/node/+/status"
METER = f"{ROOT}/jackpot/{JACKPOT}/state"
TOPICS = [f"{ROOT}/+/event", STATES, STATUSES, METER]
"""Topics to subscribe to."""
PAGE = 5000
Key = tuple[str, str, int]
"""Key of an event: table, boot, seq."""

_BOOT = re.compile(rb'"boot":"([^"]+)"')


def boots(subscriber: Subscriber) -> set[bytes]:
    """Return the runs of the daemons that are online."""
    statuses = (
        body
        for topic, body in list(subscriber.latest.items())
        if topic.startswith(f"{ROOT}/node/pit-") and b'"online"' in body
    )
    return {found[1] for body in statuses if (found := _BOOT.search(body))}


def states_are_right(subscriber: Subscriber, tables: Iterable[str], before: set[bytes]) -> bool:
    """True if the state of every table comes from a running daemon that is not one of ``before``,
    and its device is up.
    """
    now = boots(subscriber) - before
    for table in tables:
        body = subscriber.latest.get(f"{ROOT}/{table}/state", b"")
        found = _BOOT.search(body)
        if found is None or found[1] not in now or b'"state":"up"' not in body:
            return False
    return True


def in_play(subscriber: Subscriber, linked: Sequence[str], before: bytes | None = None) -> bool:
    """True if the jackpot is in play at all its tables, by a controller other than ``before``."""
    state = subscriber.body(METER)
    if state is None or state["boot"].encode() == before or not state["in_play"]:
        return False
    return all(state["tables"].get(table, {}).get("in_play") for table in linked)


def meter_boot(subscriber: Subscriber) -> bytes | None:
    """Return the run of the jackpot's controller."""
    state = subscriber.body(METER)
    return None if state is None else str(state["boot"]).encode()


def screens_are_ready(port: int) -> bool:
    """True if the web server receives every table and jackpot."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=10) as answer:
            return bool(answer.status == 200)
    except OSError:  # also for an HTTP error
        return False


class JournalledEvents:
    """The events in the journals of all daemons, and the sum of their coins."""

    def __init__(self, journals: Sequence[Path]) -> None:
        self.events: set[Key] = set()
        self._read = dict.fromkeys(journals, 0)
        self._coins: dict[tuple[str, int, int, str], int] = {}

    def update(self) -> None:
        """Read the entries that were written since the last call."""
        for journal, position in self._read.items():
            with closing(JournalReader(journal)) as reader:
                while found := reader.events_after(position, PAGE):
                    position = found[-1].position
                    for entry in found:
                        self.events.add((entry.table, entry.boot, entry.seq))
                        if b'"bet.placed"' in entry.body:
                            self._bet(json.loads(entry.body))
            self._read[journal] = position

    def _bet(self, bet: dict[str, object]) -> None:
        """Record the total that a box has placed."""
        place = str(bet["table"]), int(str(bet["session"])), int(str(bet["round"]))
        self._coins[*place, str(bet["who"])] = int(str(bet["amount"]))

    @property
    def coins(self) -> int:
        """Sum of the coins in minor units."""
        return sum(self._coins.values())


class ArchivedEvents:
    """The events in an archive."""

    def __init__(self, place: str) -> None:
        self.events: set[Key] = set()
        self._place, self._number = place, 0

    def has(self, events: set[Key]) -> bool:
        """True if the archive has all of these events."""
        self._update()
        return events <= self.events

    def _update(self) -> None:
        try:
            with closing(open_archive(self._place, read_only=True)) as archive:
                query = Query(kinds=("event",), order="number", after=self._number)
                for row in archive.find(query):
                    record = row.record
                    self.events.add((record.table, record.boot, record.seq))
                    self._number = row.number
        except ArchiveError:  # its database is not there yet
            return
