"""Which events to recall from a table, and how to evaluate its reply. Pure: the caller owns clock
and connection.

Recalled are the gaps of the archive and everything after its last event, until nothing more is
returned. The last event itself is recalled too: a journal that does not know an event it published
was replaced, restored or cut.
"""

from __future__ import annotations

from typing import Any

import msgspec

from common.contract.node import Checkpoint
from common.contract.times import parse_utc
from subscribers.surveillance.archive import ArchiveRecord, Gap
from subscribers.surveillance.findings import RecorderFinding, body_text

RESTORED_EVENT = "journal.restored"
"""First event of a table whose journal continues from a backup."""
DAEMON_RETENTION_SECONDS = 6 * 86_400.0
"""Time for which a daemon certainly keeps its events: it removes days after a week."""


class WantedEvents(msgspec.Struct, frozen=True, kw_only=True):
    """Events to recall: ``first`` to ``last`` of a boot, or without ``last`` everything from
    ``first`` on. ``archived``: the first of them, which is in the archive. ``compare``: all are
    archived, and are recalled for comparison.
    """

    table: str
    boot: str
    first: int
    last: int | None = None
    archived: ArchiveRecord | None = None
    compare: bool = False

    def body_fields(self) -> dict[str, Any]:
        """Return the fields of the recall command."""
        start: dict[str, Any] = {"boot": self.boot, "from": self.first}
        return {**start, "onward": True} if self.last is None else {**start, "to": self.last}


class RecallQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a recall to a table."""

    want: WantedEvents | None = None
    """None if it was asked for the hashes of the chain."""
    node: str = ""
    marks: tuple[Checkpoint, ...] = ()
    """The checkpoints at whose positions it was asked for hashes."""


class TablePosition(msgspec.Struct, frozen=True):
    """The fields of a table's retained state that are used here."""

    boot: str
    seq: int
    time: str


class RecallOutcome(msgspec.Struct, frozen=True):
    """The result of a reply: what to recall next, and findings."""

    wants: tuple[WantedEvents, ...] = ()
    findings: tuple[RecorderFinding, ...] = ()


def wanted_events(
    table: str, gaps: list[Gap], last: ArchiveRecord | None, state: TablePosition | None
) -> list[WantedEvents]:
    """Return everything to recall from a table."""
    wanted = [
        WantedEvents(table=table, boot=gap.boot, first=gap.first, last=gap.last) for gap in gaps
    ]
    if last is not None:
        wanted.append(WantedEvents(table=table, boot=last.boot, first=last.seq, archived=last))
    elif state is not None:
        wanted.append(WantedEvents(table=table, boot=state.boot, first=1))
    return wanted


def recompare(table: str, events: list[ArchiveRecord], page: int) -> list[WantedEvents]:
    """Return requests that recall these events again for comparison, at most ``page``
    events each.
    """
    numbers: dict[str, list[int]] = {}
    for event in events:
        numbers.setdefault(event.boot, []).append(event.seq)
    return [
        WantedEvents(
            table=table, boot=boot, first=first, last=min(first + page - 1, max(seqs)), compare=True
        )
        for boot, seqs in numbers.items()
        for first in range(min(seqs), max(seqs) + 1, page)
    ]


def evaluate_reply(
    want: WantedEvents, events: list[ArchiveRecord], state: TablePosition | None, now: str
) -> RecallOutcome:
    """Evaluate the events that a table returned for ``want``. ``now``: UTC."""
    if want.last is not None:
        return _evaluate_gap(want, want.last, events, now)
    findings: list[RecorderFinding] = []
    first = events[0] if events else None
    archived = want.archived
    if archived is not None and (
        first is None or (first.boot, first.seq) != (archived.boot, archived.seq)
    ):
        if any(map(is_handover, events)):
            pass  # the other daemon of the pair published it; that daemon's journal has it
        elif first is not None and first.type == RESTORED_EVENT:
            findings.append(restored_finding(first))
        elif parse_utc(now) - parse_utc(archived.time) < DAEMON_RETENTION_SECONDS:
            findings.append(_unknown(archived, first))
        if first is None and state is not None and state.boot != archived.boot:
            return RecallOutcome(
                (WantedEvents(table=want.table, boot=state.boot, first=1),), tuple(findings)
            )
    if first is None or (archived is not None and events[-1].key == archived.key):
        return RecallOutcome((), tuple(findings))
    following = WantedEvents(table=want.table, boot=events[-1].boot, first=events[-1].seq + 1)
    return RecallOutcome((following,), tuple(findings))


def _evaluate_gap(
    want: WantedEvents, last: int, events: list[ArchiveRecord], now: str
) -> RecallOutcome:
    inside = [event for event in events if event.boot == want.boot and event.seq <= last]
    if not inside:
        return RecallOutcome((), (_missing(want, want.first, last, now),))
    findings, expected = [], want.first
    for event in inside:
        if event.seq > expected:
            findings.append(_missing(want, expected, event.seq - 1, now))
        expected = event.seq + 1
    rest = (
        () if expected > last or want.compare else (msgspec.structs.replace(want, first=expected),)
    )
    return RecallOutcome(rest, tuple(findings))


def missing_finding_key(gap: Gap) -> str:
    """Return the key of the finding that a gap cannot be filled."""
    return f"events_missing:{gap.table}:{gap.boot}:{gap.first}-{gap.last}"


class _JournalRestored(msgspec.Struct, frozen=True):
    """The fields of the event that are used here."""

    source: str = "backup"
    journal: str = ""
    position: int = 0
    since: str = ""
    restored: str = ""


def is_handover(record: ArchiveRecord) -> bool:
    """Return True if the event starts a table that the other daemon of a pair had before. This is
    no finding: the new daemon cannot know the events of the other one. Raise ``ValueError`` if the
    event is malformed.
    """
    if record.type != RESTORED_EVENT:
        return False
    return msgspec.json.decode(record.body, type=_JournalRestored).source == "other_daemon"


def restored_finding(record: ArchiveRecord) -> RecorderFinding:
    """Return the finding that a daemon continues from a backup: one for all its tables. Raise
    ``ValueError`` if the event is malformed.
    """
    event = msgspec.json.decode(record.body, type=_JournalRestored)
    return RecorderFinding(
        what="journal_restored",
        detail=(
            f"a daemon continues from a backup of {event.since}, restored at {event.restored}, as "
            "it reports itself. Events after the backup are in this archive but no longer in its "
            f"journal; {record.table} was the first table to report it"
        ),
        name=f"{event.journal}:{event.position}:{event.restored}",
        evidence={"said": body_text(record.body)},
        boot=record.boot,
    )


def _missing(want: WantedEvents, first: int, last: int, now: str) -> RecorderFinding:
    label = f"event {first}" if first == last else f"events {first} to {last}"
    return RecorderFinding(
        what="event_unknown" if want.compare else "events_missing",
        detail=(
            f"{want.table}: {label} of run {want.boot} was received once, and the daemon no longer "
            "knows it. Its journal was replaced, restored or cut: keep it, and run `novamas "
            "verify` on it"
            if want.compare
            else f"{want.table}: {label} of run {want.boot} was never received, and the daemon no "
            "longer returns it; its journal and its sealed days may have it"
        ),
        name=f"{want.table}:{want.boot}:{first}-{last}",
        evidence={"boot": want.boot, "first": first, "last": last, "asked": now},
        table=want.table,
        boot=want.boot,
        seq=first,
    )


def _unknown(archived: ArchiveRecord, first: ArchiveRecord | None) -> RecorderFinding:
    instead = "nothing" if first is None else f"run {first.boot}, event {first.seq}"
    return RecorderFinding(
        what="event_unknown",
        detail=(
            f"{archived.table}: the daemon published event {archived.seq} of run "
            f"{archived.boot} at {archived.time} and no longer knows it; a recall returns "
            f"{instead}. Its journal was replaced, restored or cut: keep it, and run "
            "`novamas verify` on it"
        ),
        name=archived.key,
        evidence={
            "archived": body_text(archived.body),
            "answered": None if first is None else body_text(first.body),
        },
        table=archived.table,
        boot=archived.boot,
        seq=archived.seq,
    )
