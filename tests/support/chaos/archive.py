"""A recording subscriber: it keeps every message, asks for what it missed, and can say whether it
holds everything.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import msgspec

from common.contract.topics import level
from controller.journal.reader import JournalReader
from tests.support.brokers.mosquitto import Subscriber
from tests.support.waiting import TIMEOUT_SECONDS, until

ANSWER = 3.0
"""Seconds after which a question that may be asked twice is asked again."""

Key = tuple[str, str, int]
"""Table, boot, seq: what a consumer drops doubles by."""
Body = dict[str, Any]


class Tally(msgspec.Struct):
    """Counts of received messages. ``filled``: came later than its successors, marked historical;
    ``misordered``: the same, not marked.
    """

    events: int = 0
    doubled: int = 0
    filled: int = 0
    recalled: int = 0
    misordered: list[Key] = []


class Verdict(msgspec.Struct, frozen=True):
    """The archive against the journal. All four are empty where nothing went wrong."""

    lost: tuple[Key, ...]
    unstored: tuple[Key, ...]
    altered: tuple[Key, ...]
    misordered: tuple[Key, ...]

    @property
    def flawless(self) -> bool:
        return not (self.lost or self.unstored or self.altered or self.misordered)


class Holding:
    """The received events without duplicates, and whether they arrived in order."""

    def __init__(self) -> None:
        self.held: dict[Key, Body] = {}
        self.tally = Tally()
        self._boots: set[tuple[str, str]] = set()
        self._newest: dict[str, tuple[str, int]] = {}

    def take(self, body: Body) -> None:
        """An event as it arrived."""
        key = key_of(body)
        self.tally.events += 1
        if key in self.held:
            self.tally.doubled += 1
            return
        self.held[key] = body
        table, boot, seq = key
        newest = self._newest.get(table)
        if (table, boot) not in self._boots or (newest and newest[0] == boot and newest[1] < seq):
            self._boots.add((table, boot))
            self._newest[table] = (boot, seq)
        elif body.get("historical"):
            self.tally.filled += 1
        else:
            self.tally.misordered.append(key)


class Archive:
    """A client that keeps every message, and holds the events of all tables below ``root``.
    ``topics``: what it listens to.
    """

    def __init__(
        self, port: int, root: str, topics: Sequence[str] = ("#",), **credentials: Any
    ) -> None:
        self.root = root
        self._topics = topics
        self._holding = Holding()
        self.held, self.tally = self._holding.held, self._holding.tally
        self._port, self._credentials = port, credentials
        self._known: dict[str, tuple[str, int]] = {}
        self._asked = 0
        self._taken = 0
        self.connect()

    def connect(self) -> None:
        """Listen, as a client that the broker does not know yet."""
        self._taken = 0
        self.line = Subscriber(self._port, *self._topics, **self._credentials)

    def close(self) -> None:
        self.take()
        self.line.close()

    def take(self) -> int:
        """Take what has arrived; gives how many events are held."""
        arrived = self.line.messages[self._taken :]
        self._taken += len(arrived)
        for message in arrived:
            if message.topic.startswith(f"{self.root}/") and message.topic.endswith("/event"):
                self._holding.take(json.loads(message.payload))
        return len(self.held)

    def write(self, path: Path) -> None:
        """Every event and checkpoint that it has, as JSON lines."""
        self.take()
        checkpoints = [
            message.body
            for message in self.line.on("/checkpoint")
            if message.topic.startswith(f"{self.root}/")
        ]
        path.write_text(
            "".join(json.dumps(body) + "\n" for body in (*self.held.values(), *checkpoints))
        )

    def latest(self, topic: str) -> Any:
        """The last body of a topic below the root; None if there is no message."""
        return self.line.latest(f"{self.root}/{topic}")

    def command(self, table: str, name: str, **fields: Any) -> Body:
        """Say a command and give the reply. A command that must not be followed twice is sent only
        once.
        """
        return self._ask(
            table, name, {"by": "M. Lasa", "role": "table_head", **fields}, again=False
        )

    def catch_up(self, table: str) -> None:
        """Ask for what came after the last event that is known to have no gap before it, until
        nothing more comes.
        """
        self.take()
        boot, after = self._known.get(table) or next(
            ((k[1], 0) for k in self.held if k[0] == table), ("", 0)
        )
        while True:
            reply = self.recall(table, boot, after)
            assert reply["ok"], reply
            events = reply.get("events") or []
            for body in events:
                assert body["historical"], body
                if key_of(body) not in self.held:
                    self.held[key_of(body)] = body
                    self.tally.recalled += 1
            if not events:
                return
            boot, after = events[-1]["boot"], events[-1]["seq"]
            self._known[table] = (boot, after)

    def recall(self, table: str, boot: str, after: int) -> Body:
        """Ask for the events after one of them, and give the reply."""
        return self._ask(
            table, "recall", {"boot": boot, "from": after + 1, "onward": True}, again=True
        )

    def _ask(self, table: str, name: str, fields: Body, *, again: bool) -> Body:
        """``again``: ask once more where no reply comes; the daemon was on its way back, or a
        broker took the reply with it.
        """
        self._asked += 1
        asked = self._asked
        topic, body = (
            f"{self.root}/{table}/command/{level(name)}",
            {**fields, "client": "archive", "id": asked},
        )

        def reply() -> Body | None:
            return next(
                (
                    h.body
                    for h in self.line.on(f"{self.root}/{table}/reply/archive")
                    if h.body["id"] == asked
                ),
                None,
            )

        def answered() -> Body | None:
            due = time.monotonic() + (ANSWER if again else TIMEOUT_SECONDS)
            with suppress(RuntimeError):  # not connected: it was not sent
                self.line.publish(topic, body)
            while (found := reply()) is None and time.monotonic() < due:
                time.sleep(0.01)
            return found

        found: Body = until(f"a reply to {name}", answered)
        return found

    def verdict(self, *journals: Path) -> Verdict:
        """Compare with what the journal stores: its oldest file first."""
        self.take()
        held = dict(self.held)  # before the journal is read: what is published is stored already
        stored = {key_of(body): body for path in journals for body in events_of(path)}
        common = stored.keys() & held.keys()
        plain = {
            key: {name: value for name, value in held[key].items() if name != "historical"}
            for key in common
        }
        return Verdict(
            lost=tuple(key for key in stored if key not in held),
            unstored=tuple(key for key in held if key not in stored),
            altered=tuple(key for key in stored if key in common and plain[key] != stored[key]),
            misordered=tuple(self.tally.misordered),
        )


def events_of(path: Path) -> list[Body]:
    """The events in a journal, in its order."""
    return [json.loads(entry.body) for entry in entries_of(path) if entry.kind == "event"]


def entries_of(path: Path) -> list[Any]:
    """All entries of a journal."""
    with closing(JournalReader(path)) as journal:
        return list(journal.entries())


def key_of(body: Body) -> Key:
    return body["table"], body["boot"], body["seq"]
