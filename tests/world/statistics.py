"""The part ``statistics``: the watch over wheels beside the recorder, in its program.

Whatever comes late, again or after a restart, it counts each result of the journals once.
"""

from __future__ import annotations

import json
from collections import Counter
from math import inf
from typing import TYPE_CHECKING, Any
from unittest import mock

from common.chain.schema import Entry
from subscribers.statistics import watch as room
from subscribers.statistics.reading import StatisticsReader
from subscribers.surveillance.archive import RecordArchive
from tests.world import recorder
from tests.world.broker.packets import Publish
from tests.world.checkers import Final, Key, key_of, require
from tests.world.recorder import ArchiveDisk

if TYPE_CHECKING:
    from tests.world.world import World

FAMILIES = "roulette", "boule"
"""Outcomes with pockets that should come equally often."""
CORRECTED = "result.corrected"
RESULTS = b'{"type":"round.result"', b'{"type":"result.corrected"'
SEEN_SECONDS = room.READ_INTERVAL_SECONDS + 5.0
"""Within this time after its publication a result is counted: it is archived, and the watch waits
between two readings.
"""


class CountsEqualJournals(Final):
    """The running watch, and one that reads the archive from its beginning, have counted what the
    journals have of all events that were published. ``readers``: those of the watch, in order.
    """

    def __init__(self, world: World, disk: ArchiveDisk, readers: list[StatisticsReader]) -> None:
        self._world, self._disk, self._readers = world, disk, readers
        self._stored: dict[Key, dict[str, Any]] = {}
        self._published: dict[Key, float] = {}

    def on_stored(self, entries: list[Entry], owner: str) -> None:
        """See :class:`Checker`."""
        del owner
        for entry in entries:
            if entry.kind == "event" and entry.body.startswith(RESULTS):
                body = json.loads(entry.body)
                self._stored[key_of(body)] = body

    def on_published(self, message: Publish) -> None:
        """See :class:`Checker`."""
        if message.topic.endswith("/event"):
            self._published.setdefault(key_of(json.loads(message.payload)), self._world.loop.now)

    def on_end(self) -> None:
        """See :class:`Checker`."""
        fresh = StatisticsReader(self._disk.open_beside())
        fresh.read()
        self._check("a new count", fresh, 0.0)
        self._check("the watch", self._readers[-1], SEEN_SECONDS)

    def _check(self, name: str, reader: StatisticsReader, seconds: float) -> None:
        """Require that a reader has counted all results but those of the last ``seconds``."""
        counts, until = counted(reader), self._world.loop.now - seconds
        for table, wanted in self._count(self._world.loop.now).items():
            found, due = counts.pop(table, Counter()), self._count(until).get(table, Counter())
            right = due <= found <= wanted
            require(right, f"{name} differs from the journal", table, found, wanted)
        require(not counts, f"{name} has counted what no journal has", counts)
        require(not reader.statistics.unread, f"{name} could not read an event")

    def _count(self, until: float) -> dict[str, Counter[Any]]:
        """Count the numbers of the results that were published by then, as they were last
        corrected.
        """
        numbers: dict[Key, Any] = {}
        for key in sorted(self._stored):
            body = self._stored[key]
            if self._published.get(key, inf) > until:
                continue
            if body["type"] == CORRECTED:
                replaced = body["table"], body["replaces_boot"], body["replaces"]
                numbers.pop(replaced, None)
            if body["outcome"]["family"] in FAMILIES:
                numbers[key] = body["outcome"]["number"]
        counts: dict[str, Counter[Any]] = {}
        for (table, _, _), number in numbers.items():
            counts.setdefault(table, Counter())[number] += 1
        return counts


def counted(reader: StatisticsReader) -> dict[str, Counter[Any]]:
    """Return how often each number of a table came, as a reader has counted."""
    counts: dict[str, Counter[Any]] = {}
    for wheel in reader.statistics.wheels():
        pockets = {pocket.number: pocket.count for pocket in wheel.pockets if pocket.count}
        counts.setdefault(wheel.table, Counter()).update(pockets)
        require(sum(pockets.values()) == wheel.spins, "pockets and spins differ", wheel)
    return counts


def join(world: World) -> None:
    """Let the watch run beside a recorder, which joins too if it has not."""
    own = recorder.join(world)
    readers: list[StatisticsReader] = []

    def reading(archive: RecordArchive) -> StatisticsReader:
        readers.append(StatisticsReader(archive))
        return readers[-1]

    def open_beside(_path: str) -> RecordArchive:
        return own.disk.open_beside()

    world.stack.enter_context(mock.patch.object(room, "StatisticsReader", reading))
    world.stack.enter_context(mock.patch.object(room, "open_archive", new=open_beside))
    own.side_tasks["statistics"] = room.watch(str(own.disk.path))
    world.checkers.append(CountsEqualJournals(world, own.disk, readers))
