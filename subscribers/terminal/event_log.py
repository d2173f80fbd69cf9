"""The events of one table, each once: what no retained topic has. Without clock or I/O.

The retained topics have the present state; only the events have what happened in between, in the
words of the decree, and show whether any are missing.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict, deque
from typing import Literal

import msgspec

NoteKind = Literal["irregularity", "void", "unresolved", "corrected"]
NOTE_KINDS: dict[str, NoteKind] = {
    "irregularity": "irregularity",
    "round.void": "void",
    "round.unresolved": "unresolved",
    "result.corrected": "corrected",
}
MAX_MISSING_EVENTS = 1000
"""Maximum number of missing events that are still accepted after later ones."""
MAX_NOTES = 12
"""Maximum number of notes kept."""


class TableNote(msgspec.Struct, frozen=True, kw_only=True):
    """An irregularity, or an unusual round, with the article of the decree.

    ``what``: the word on the wire, by ``kind``: an irregularity, the reason for a void round, why a
    round is unresolved, the corrected result. ``was`` and ``by``: for a correction.
    """

    round: int
    what: str
    kind: NoteKind = "irregularity"
    was: str = ""
    by: str = ""
    law: str = ""
    article: str = ""


class _Outcome(msgspec.Struct, frozen=True):
    number: int | str | None = None
    winner: str | None = None


class _Envelope(msgspec.Struct, frozen=True):
    type: str
    boot: str
    seq: int


class _NotedEvent(msgspec.Struct, frozen=True):
    """The fields of an event that a note is made of."""

    round: int | None = None
    what: str = ""
    reason: str = ""
    why: str = ""
    was: int | str | None = None
    by: str | None = None
    law: str | None = None
    article: str | None = None
    outcome: _Outcome | None = None


_envelope = msgspec.json.Decoder(_Envelope)
_noted = msgspec.json.Decoder(_NotedEvent)


class EventLog:
    """``results``: number of ``round.result`` events; ``missed``: of missing events; ``notes``: the
    latest of the session, oldest first.
    """

    def __init__(self) -> None:
        self.results = 0
        self.missed = 0
        self.notes: deque[TableNote] = deque(maxlen=MAX_NOTES)
        self._last: dict[str, int] = {}
        """The highest number of each boot."""
        self._missing: OrderedDict[tuple[str, int], None] = OrderedDict()
        """Missing events before the last one, by boot and number."""

    def add(self, body: bytes) -> bool:
        """Add an event. Return False if it is a repetition, or unreadable."""
        try:
            event = _envelope.decode(body)
        except (ValueError, RecursionError):
            return False
        if not self._is_new(event.boot, event.seq):
            return False
        self.results += event.type == "round.result"
        if event.type == "session.opened":
            self.notes.clear()
        kind = NOTE_KINDS.get(event.type)
        if kind is not None:
            with contextlib.suppress(ValueError):  # of a newer release
                self.notes.append(_note(_noted.decode(body), kind))
        return True

    def _is_new(self, boot: str, seq: int) -> bool:
        last = self._last.get(boot)
        if last is not None and seq <= last:
            if (boot, seq) not in self._missing:
                return False
            del self._missing[boot, seq]
            self.missed -= 1
            return True
        if last is not None:
            self.missed += seq - last - 1
            for number in range(max(last + 1, seq - MAX_MISSING_EVENTS), seq):
                self._missing[boot, number] = None
            while len(self._missing) > MAX_MISSING_EVENTS:
                self._missing.popitem(last=False)
        self._last[boot] = seq
        return True


def _note(event: _NotedEvent, kind: NoteKind) -> TableNote:
    outcome = event.outcome or _Outcome()
    right = outcome.winner if outcome.number is None else outcome.number
    what = {
        "irregularity": event.what,
        "void": event.reason,
        "unresolved": event.why,
        "corrected": "" if right is None else str(right),
    }
    return TableNote(
        round=event.round or 0,
        kind=kind,
        what=what[kind],
        was="" if kind != "corrected" or event.was is None else str(event.was),
        by=event.by or "",
        law=event.law or "",
        article=event.article or "",
    )
