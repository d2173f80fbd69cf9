"""Which records may be removed: those of a kind that were stored a number of recording days ago.

The age of a record does not depend on dates. The recorder counts the seconds it runs, on the
monotonic clock, and once a day marks the number of the newest record. A record with a number up to
a mark's is at least as old as the mark. While no recorder runs, nothing is counted.

A session is kept while one of its rounds waits for a person, and so are the records of removals. No
clock, no I/O.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from subscribers.surveillance.archive import (
    ArchiveRecord,
    ArchiveRow,
    Kind,
    Query,
    RecordArchive,
    Removal,
    RetainedRange,
)

DAY_SECONDS = 86_400
MIN_KEEP_DAYS = 30
"""Days for which everything is kept, regardless of the policy."""
STATE_NAME = "retention"
"""Name under which the archive stores the count."""

Policy = Mapping[Kind, int]
"""Days by kind; other kinds are kept for ever."""


class AgeMark(msgspec.Struct, frozen=True, array_like=True):
    """The newest record at a moment. ``counted``: recording time in seconds;
    ``time``: wall clock.
    """

    number: int
    counted: int
    time: str


class RecordingAge(msgspec.Struct, frozen=True):
    """Seconds for which the archive was recorded, and the marks, oldest first."""

    counted: int = 0
    marks: tuple[AgeMark, ...] = ()


class DueRemoval(msgspec.Struct, frozen=True):
    """A removal by the policy: ``count`` records of a kind that were stored up to ``mark``."""

    days: int
    mark: AgeMark
    removal: Removal
    count: int


class _AlertRounds(msgspec.Struct):
    alert: str = ""
    rounds: tuple[int, ...] = ()


def decode_age(stored: bytes | None) -> RecordingAge:
    """Decode the stored count. An unreadable one restarts at 0."""
    try:
        return RecordingAge() if stored is None else msgspec.json.decode(stored, type=RecordingAge)
    except msgspec.DecodeError:
        return RecordingAge()


def advance_age(age: RecordingAge, seconds: int, newest: int, time: str) -> RecordingAge:
    """Return the count after ``seconds`` more, with a new mark if the last one is a day old.
    ``newest``: the number of the newest record; ``time``: now.
    """
    now = age.counted + max(0, seconds)
    last = age.marks[-1].counted if age.marks else -DAY_SECONDS
    new = (AgeMark(newest, now, time),) if now - last >= DAY_SECONDS else ()
    return RecordingAge(now, age.marks + new)


def last_mark(age: RecordingAge, days: int) -> AgeMark | None:
    """Return the newest mark that is ``days`` old, and at least ``MIN_KEEP_DAYS``."""
    min_seconds = max(days, MIN_KEEP_DAYS) * DAY_SECONDS
    old = [mark for mark in age.marks if age.counted - mark.counted >= min_seconds]
    return old[-1] if old else None


def due_removals(archive: RecordArchive, policy: Policy, age: RecordingAge) -> list[DueRemoval]:
    """Return what the policy removes now. Raise :class:`ArchiveError`."""
    retained: tuple[RetainedRange, ...] | None = None
    removals = []
    for kind, days in policy.items():
        mark = last_mark(age, days)
        if mark is None or kind == "removal":
            continue
        if retained is None:
            retained = retained_ranges(archive)
        removal = Removal(kind, mark.number, retained)
        if removable := archive.count_removable(removal):
            removals.append(DueRemoval(days, mark, removal, removable))
    return removals


def retained_ranges(archive: RecordArchive) -> tuple[RetainedRange, ...]:
    """Return the record ranges of sessions with a round that waits for a person: an alert that
    names rounds was raised and not cleared. Raise :class:`ArchiveError`.
    """
    types = ("alert.raised", "alert.cleared")
    sessions = _waiting_sessions(archive.find(Query(kinds=("event",), types=types)))
    ranges = []
    for site, table, session in dict.fromkeys(sessions):
        query = Query(sites=(site,), tables=(table,), session=session, order="number")
        numbers = [row.number for row in archive.find(query)]
        ranges.append(RetainedRange(site, table, numbers[0], numbers[-1]))
    return tuple(ranges)


def removal_record(due: DueRemoval, site: str, node: str, time: str) -> ArchiveRecord:
    """Return the record of a removal, which is stored before the removal."""
    removal = due.removal
    body = {
        "removed": removal.kind,
        "records": due.count,
        "through": removal.through,
        "until": due.mark.time,
        "keep_days": due.days,
        "spared": removal.retained,
    }
    return ArchiveRecord(
        site=site,
        kind="removal",
        key=f"{removal.kind}:{removal.through}:{time}",
        time=time,
        received=time,
        body=msgspec.json.encode(body),
        node=node,
        type=removal.kind,
    )


def _waiting_sessions(rows: Iterable[ArchiveRow]) -> Iterable[tuple[str, str, int]]:
    """Return site, table and session of the alerts with rounds that are still raised."""
    raised: dict[tuple[str, str, str], int] = {}
    for row in rows:
        record = row.record
        try:
            alert = msgspec.json.decode(record.body, type=_AlertRounds)
        except msgspec.DecodeError:
            continue
        name = (record.site, record.table, alert.alert)
        if record.type == "alert.raised" and alert.rounds:
            raised[name] = record.session
        else:
            raised.pop(name, None)
    return ((site, table, session) for (site, table, _), session in raised.items())
