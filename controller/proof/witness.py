"""A subscriber's archive as a witness: events and checkpoints as JSON lines, in any order, with
duplicates.

A line is the body itself, or an object that has it under ``payload`` (an object or a string) beside
anything else, or under ``body`` beside its ``kind``, as an export has it. The reply to a recall
counts as the events in it. Everything else is ignored.
"""

from __future__ import annotations

import json
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from controller.contract.node import Checkpoint
from controller.journal.schema import Entry
from controller.proof.checkpoint import read_checkpoint
from controller.proof.segment import HOSTILE, LONGEST
from controller.proof.verdict import Verdict

NAMED = 5
"""Malformed lines whose numbers are reported."""

Name = tuple[str, str, int]
"""Table, boot and seq: one event of the whole site."""


class Witness:
    """The content of an archive. Raises ``OSError``. ``unreadable``: the numbers of the first lines
    that hold nothing of ours; ``malformed``: how many there are.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.checkpoints: dict[bytes, Checkpoint] = {}
        self.events: dict[Name, tuple[bytes, str]] = {}
        self.unreadable: list[int] = []
        self.malformed = 0
        self.conflicts: list[Name] = []
        with path.open("rb") as lines:
            for number, line in enumerate(iter(partial(lines.readline, LONGEST), b""), 1):
                if not self._line(line):
                    self.malformed += 1
                    if len(self.unreadable) < NAMED:
                        self.unreadable.append(number)
        self._seen: set[Name] = set()
        self._differ: list[tuple[int, Name]] = []
        self._only_here = 0
        self._oldest = ""

    def hear(self, entry: Entry) -> None:
        """Compare an entry of the journal with the archive."""
        self._oldest = self._oldest or entry.time
        if entry.kind != "event":
            return
        name = (entry.table, entry.boot, entry.seq)
        told = self.events.get(name)
        if told is None:
            self._only_here += 1
            return
        self._seen.add(name)
        try:
            same = _digest(json.loads(entry.body)) == told[0]
        except (AttributeError, *HOSTILE):  # no object, or no JSON at all
            same = False
        if not same:
            self._differ.append((entry.position, name))

    def testify(self, verdict: Verdict) -> None:
        """Add what the archive shows to the verdict, once all entries were heard."""
        if not verdict.entries:
            return  # there is nothing to hold against it
        source = str(self.path)
        for position, name in self._differ:
            verdict.wrong(
                source,
                position,
                f"{_spell(name)} was published otherwise than it stands in the journal",
            )
        gone = 0
        for name, (_, time) in self.events.items():
            if name in self._seen:
                continue
            if time < self._oldest:
                gone += 1
            else:
                verdict.wrong(
                    source,
                    None,
                    f"{_spell(name)} of {time[:40]} was published and is not in the journal",
                )
        for name in self.conflicts:
            verdict.wrong(
                source, None, f"{_spell(name)} stands twice in the archive, and not the same"
            )
        verdict.witnessed = len(self._seen)
        lines = ", ".join(map(str, self.unreadable)) + (
            ", ..." if self.malformed > len(self.unreadable) else ""
        )
        notes = (
            (gone, "events of the archive are older than what is kept of the journal"),
            (
                self._only_here,
                (
                    "events of the journal are not in the archive: it may have begun later, or not "
                    "heard them"
                ),
            ),
            (
                self.malformed,
                (
                    "lines of the archive are not messages of a daemon, and were passed over: line "
                    f"{lines}"
                ),
            ),
        )
        verdict.notes += [f"{count} {what}" for count, what in notes if count]

    def _line(self, line: bytes) -> bool:
        """Keep the content of a line. Returns whether a subscriber writes such lines."""
        if not line.strip():
            return True
        if len(line) == LONGEST:
            return False  # what follows is taken for a line of its own, and is none either
        try:
            body = json.loads(line)
            if isinstance(body, dict) and ("payload" in body or {"kind", "body"} <= body.keys()):
                told = body["payload"] if "payload" in body else body["body"]
                body = json.loads(told) if isinstance(told, str) and told else told
        except HOSTILE:
            return False
        if not isinstance(body, dict):
            return body in (None, "")  # a retained topic that was emptied
        recalled = body.get("events")
        if isinstance(recalled, list):
            kept = [isinstance(each, dict) and self._keep(each) for each in recalled]
            return all(kept)
        return self._keep(body)

    def _keep(self, body: dict[str, Any]) -> bool:
        if "position" in body and "hash" in body and "journal" in body:
            point = read_checkpoint(json.dumps(body).encode())
            if point is None:
                return False
            self.checkpoints[msgspec.json.encode(point)] = point
            return True
        table, boot, seq, kind = (body.get(key) for key in ("table", "boot", "seq", "type"))
        if not (
            isinstance(table, str)
            and isinstance(boot, str)
            and type(seq) is int
            and isinstance(kind, str)
        ):
            return True  # another topic
        told = _digest(body), str(body.get("time", ""))
        if self.events.setdefault((table, boot, seq), told)[0] != told[0]:
            self.conflicts.append((table, boot, seq))
        return True


def _digest(event: dict[str, Any]) -> bytes:
    """Equal for the same event, whenever it was published."""
    told = {key: value for key, value in event.items() if key != "historical"}
    return sha256(json.dumps(told, sort_keys=True).encode()).digest()


def _spell(name: Name) -> str:
    table, boot, seq = name
    return f"event {seq} of table {table[:80]}, boot {boot[:80]},"
