"""Whether a site stands, as its broker, its archive, its web server and its journals say."""

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
"""What is to be subscribed to."""
PAGE = 5000
Key = tuple[str, str, int]
"""An event: table, boot, seq."""

_BOOT = re.compile(rb'"boot":"([^"]+)"')


def boots(told: Subscriber) -> set[bytes]:
    """The runs of the daemons that are online."""
    said = (
        body
        for topic, body in list(told.latest.items())
        if topic.startswith(f"{ROOT}/node/pit-") and b'"online"' in body
    )
    return {found[1] for body in said if (found := _BOOT.search(body))}


def right(told: Subscriber, tables: Iterable[str], before: set[bytes]) -> bool:
    """Whether the state of every table is that of a daemon that runs, and not of one ``before``,
    with its device up.
    """
    now = boots(told) - before
    for table in tables:
        body = told.latest.get(f"{ROOT}/{table}/state", b"")
        found = _BOOT.search(body)
        if found is None or found[1] not in now or b'"state":"up"' not in body:
            return False
    return True


def in_play(told: Subscriber, linked: Sequence[str], before: bytes | None = None) -> bool:
    """Whether the jackpot is in play at all its tables, as a controller says that is not the one
    ``before``.
    """
    said = told.body(METER)
    if said is None or said["boot"].encode() == before or not said["in_play"]:
        return False
    return all(said["tables"].get(table, {}).get("in_play") for table in linked)


def meter_boot(told: Subscriber) -> bytes | None:
    """The run of the controller of the jackpot."""
    said = told.body(METER)
    return None if said is None else str(said["boot"]).encode()


def screens(port: int) -> bool:
    """Whether the web server hears every table and jackpot."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=10) as answer:
            return bool(answer.status == 200)
    except OSError:  # also where it says no
        return False


class JournalledEvents:
    """The events of the journals of all daemons, and the sum of the coins in them."""

    def __init__(self, journals: Sequence[Path]) -> None:
        self.events: set[Key] = set()
        self._read = dict.fromkeys(journals, 0)
        self._coins: dict[tuple[str, int, int, str], int] = {}

    def look(self) -> None:
        """Read on."""
        for journal, position in self._read.items():
            with closing(JournalReader(journal)) as reader:
                while found := reader.events_after(position, PAGE):
                    position = found[-1].position
                    for entry in found:
                        self.events.add((entry.table, entry.boot, entry.seq))
                        if b'"bet.placed"' in entry.body:
                            self._bet(json.loads(entry.body))
            self._read[journal] = position

    def _bet(self, said: dict[str, object]) -> None:
        """What a box has placed by now."""
        place = str(said["table"]), int(str(said["session"])), int(str(said["round"]))
        self._coins[*place, str(said["who"])] = int(str(said["amount"]))

    @property
    def coins(self) -> int:
        """Their worth in minor units."""
        return sum(self._coins.values())


class ArchivedEvents:
    """The events of the archive at that place."""

    def __init__(self, place: str) -> None:
        self.events: set[Key] = set()
        self._place, self._number = place, 0

    def has(self, events: set[Key]) -> bool:
        """Whether all of these are in it by now."""
        self._look()
        return events <= self.events

    def _look(self) -> None:
        try:
            with closing(open_archive(self._place, read_only=True)) as archive:
                asked = Query(kinds=("event",), order="number", after=self._number)
                for row in archive.find(asked):
                    said = row.record
                    self.events.add((said.table, said.boot, said.seq))
                    self._number = row.number
        except ArchiveError:  # its database is not there yet
            return
