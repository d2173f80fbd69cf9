"""Compares a journal with a subscriber's archive, the witness: events and checkpoints as JSON
lines, in any order, with duplicates.

A line is the body itself, or an object with other fields that has it under ``payload`` (an object
or a string), or under ``body`` beside its ``kind``, as in an export. The reply to a recall counts
as the events in it. Everything else is ignored.
"""

from __future__ import annotations

import json
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from common.chain.checkpoint import read_checkpoint
from common.chain.schema import Entry
from common.contract.node import Checkpoint
from common.readings import MAX_EXACT_INTEGER
from controller.proof.segment import DECODE_ERRORS, MAX_LINE_BYTES
from controller.proof.verdict import Verdict

MAX_LISTED_LINES = 5
"""Maximum malformed lines whose numbers are reported."""

EventId = tuple[str, str, int]
"""Table, boot and seq: one event of the whole site."""


class _EventDigests(NamedTuple):
    """The digests of an archived event: with exact numbers, and with numbers as doubles, which lose
    digits of integers beyond 2^53.
    """

    exact: bytes
    rounded: bytes
    time: str


class Witness:
    """The content of an archive. Raises ``OSError``. ``malformed``: the number of lines that no
    subscriber writes; ``unreadable``: the numbers of the first of them.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.checkpoints: dict[bytes, Checkpoint] = {}
        self.events: dict[EventId, _EventDigests] = {}
        self.unreadable: list[int] = []
        self.malformed = 0
        self.conflicts: list[EventId] = []
        self._rounded: set[EventId] = set()
        with path.open("rb") as lines:
            for number, line in enumerate(iter(partial(lines.readline, MAX_LINE_BYTES), b""), 1):
                if not self._line(line):
                    self.malformed += 1
                    if len(self.unreadable) < MAX_LISTED_LINES:
                        self.unreadable.append(number)
        self._seen: set[EventId] = set()
        self._differ: list[tuple[int, EventId]] = []
        self._only_here = 0
        self._oldest = ""

    def on_entry(self, entry: Entry) -> None:
        """Compare an entry of the journal with the archive."""
        self._oldest = self._oldest or entry.time
        if entry.kind != "event":
            return
        name = (entry.table, entry.boot, entry.seq)
        archived = self.events.get(name)
        if archived is None:
            self._only_here += 1
            return
        self._seen.add(name)
        try:
            stored = _copy(json.loads(entry.body))
        except (AttributeError, *DECODE_ERRORS):  # no object, or no JSON at all
            stored = None
        if stored is None or stored.rounded != archived.rounded:
            self._differ.append((entry.position, name))
        elif stored.exact != archived.exact:
            self._rounded.add(name)

    def add_evidence(self, verdict: Verdict) -> None:
        """Add the archive's evidence to the verdict, once all entries were received."""
        if not verdict.entries:
            return  # there is nothing to compare
        source = str(self.path)
        for position, name in self._differ:
            verdict.wrong(
                source,
                position,
                f"{_spell(name)} was published with other content than the journal has",
            )
        older = 0
        for name, archived in self.events.items():
            if name in self._seen:
                continue
            time = archived.time
            if time < self._oldest:
                older += 1
            else:
                verdict.wrong(
                    source,
                    None,
                    f"{_spell(name)} of {time[:40]} was published and is not in the journal",
                )
        for name in self.conflicts:
            verdict.wrong(
                source, None, f"{_spell(name)} is in the archive twice, with different content"
            )
        if self._rounded:
            verdict.unread.append(
                f"{source}: {len(self._rounded)} events cannot be judged: the program that wrote "
                "the archive rounded their integers beyond 2^53, as JavaScript does; all else in "
                f"them is as in the journal; first: {_spell(min(self._rounded))} let a program "
                "write the archive that keeps exact integers, or the text as received"
            )
        verdict.witnessed = len(self._seen - self._rounded)
        lines = ", ".join(map(str, self.unreadable)) + (
            ", ..." if self.malformed > len(self.unreadable) else ""
        )
        notes = (
            (older, "events of the archive are older than the stored part of the journal"),
            (
                self._only_here,
                (
                    "events of the journal are not in the archive: it may have begun later, or "
                    "missed them"
                ),
            ),
            (
                self.malformed,
                (
                    "lines of the archive are not messages of a daemon, and were ignored: line "
                    f"{lines}"
                ),
            ),
        )
        verdict.notes += [f"{count} {what}" for count, what in notes if count]

    def _line(self, line: bytes) -> bool:
        """Add the content of a line. Return False if no subscriber writes such a line."""
        if not line.strip():
            return True
        if len(line) == MAX_LINE_BYTES:
            return False  # the rest counts as another line, which is malformed too
        try:
            body = json.loads(line)
            if isinstance(body, dict) and ("payload" in body or {"kind", "body"} <= body.keys()):
                content = body["payload"] if "payload" in body else body["body"]
                body = json.loads(content) if isinstance(content, str) and content else content
        except DECODE_ERRORS:
            return False
        if not isinstance(body, dict):
            return body in (None, "")  # a retained topic that was emptied
        recalled = body.get("events")
        if isinstance(recalled, list):
            known = [isinstance(each, dict) and self._add_body(each) for each in recalled]
            return all(known)
        return self._add_body(body)

    def _add_body(self, body: dict[str, Any]) -> bool:
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
        try:
            name, copy = (table, boot, seq), _copy(body)
        except RecursionError:
            return False
        first = self.events.setdefault(name, copy)
        if first.rounded != copy.rounded:
            self.conflicts.append(name)
        elif first.exact != copy.exact:
            self._rounded.add(name)
        return True


def _copy(event: dict[str, Any]) -> _EventDigests:
    """Return digests that are equal for the same event, also if it was published again later."""
    fields = {key: value for key, value in event.items() if key != "historical"}
    exact = _digest(_numbers(fields, MAX_EXACT_INTEGER))
    rounded = _digest(_numbers(fields, None)) if _is_beyond(fields) else exact
    return _EventDigests(exact, rounded, str(event.get("time", "")))


def _digest(event: Any) -> bytes:
    return sha256(json.dumps(event, sort_keys=True).encode()).digest()


def _numbers(value: Any, limit: int | None) -> Any:
    """Convert integers up to ``limit`` to doubles: 2 and 2.0 are the same number in JSON, and some
    programs write one for the other.
    """
    if isinstance(value, dict):
        return {key: _numbers(each, limit) for key, each in value.items()}
    if isinstance(value, list):
        return [_numbers(each, limit) for each in value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if isinstance(value, int) and limit is not None and abs(value) > limit:
        return value
    try:
        return float(value) + 0.0  # not -0.0
    except OverflowError:
        return value


def _is_beyond(value: Any) -> bool:
    """Return True if there is a number that loses digits as a double."""
    if isinstance(value, dict):
        return any(map(_is_beyond, value.values()))
    if isinstance(value, list):
        return any(map(_is_beyond, value))
    return isinstance(value, int | float) and abs(value) > MAX_EXACT_INTEGER


def _spell(name: EventId) -> str:
    table, boot, seq = name
    return f"event {seq} of table {table[:80]}, boot {boot[:80]},"
