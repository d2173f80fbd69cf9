"""What may leave the archive: records of a kind that were kept so many days of recording ago.

The age of a record does not depend on dates. The recorder counts the seconds for which it runs, by
the clock that nobody can set, and once a day marks the number of the newest record. What has a
number up to that of a mark is at least as old as the mark. While no recorder runs, nothing is
counted.

Nothing of a session goes while one of its rounds waits for a person, and no record of what went.
Without clock or I/O.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from subscribers.surveillance.archive import Archive, Kind, Query, Record, Removal, Row, Spared

DAY = 86_400
LEAST = 30
"""Days for which everything stays, whatever the policy."""
STATE = "retention"
"""The name under which the archive remembers the count."""

Policy = Mapping[Kind, int]
"""Days for which a kind is kept; of another everything is."""


class Mark(msgspec.Struct, frozen=True, array_like=True):
    """The newest record at a moment: ``counted``, seconds; ``time``, as the wall clock said."""

    number: int
    counted: int
    time: str


class Count(msgspec.Struct, frozen=True):
    """Seconds for which the archive was recorded, and the marks, oldest first."""

    counted: int = 0
    marks: tuple[Mark, ...] = ()


class Due(msgspec.Struct, frozen=True):
    """What the policy removes of a kind: ``count`` records that were kept up to ``mark``."""

    days: int
    mark: Mark
    removal: Removal
    count: int


class _Alert(msgspec.Struct):
    alert: str = ""
    rounds: tuple[int, ...] = ()


def read(kept: bytes | None) -> Count:
    """The count that was remembered. What cannot be read counts from now on."""
    try:
        return Count() if kept is None else msgspec.json.decode(kept, type=Count)
    except msgspec.DecodeError:
        return Count()


def counted(count: Count, seconds: int, newest: int, time: str) -> Count:
    """The same, so many seconds later; with a mark where the last one is a day old. ``newest``: the
    number of the newest record; ``time``: now.
    """
    now = count.counted + max(0, seconds)
    last = count.marks[-1].counted if count.marks else -DAY
    new = (Mark(newest, now, time),) if now - last >= DAY else ()
    return Count(now, count.marks + new)


def last_mark(count: Count, days: int) -> Mark | None:
    """The newest mark that is so many days old, and at least ``LEAST``."""
    age = max(days, LEAST) * DAY
    old = [mark for mark in count.marks if count.counted - mark.counted >= age]
    return old[-1] if old else None


def due(archive: Archive, policy: Policy, count: Count) -> list[Due]:
    """What the policy removes now. Raises :class:`ArchiveError`."""
    spared: tuple[Spared, ...] | None = None
    found = []
    for kind, days in policy.items():
        mark = last_mark(count, days)
        if mark is None or kind == "removal":
            continue
        if spared is None:
            spared = waiting(archive)
        removal = Removal(kind, mark.number, spared)
        if doomed := archive.doomed(removal):
            found.append(Due(days, mark, removal, doomed))
    return found


def waiting(archive: Archive) -> tuple[Spared, ...]:
    """The sessions of which a round waits for a person: an alert that names rounds was raised, and
    not cleared. Raises :class:`ArchiveError`.
    """
    types = ("alert.raised", "alert.cleared")
    open_ = _open(archive.find(Query(kinds=("event",), types=types)))
    found = []
    for site, table, session in dict.fromkeys(open_):
        of = Query(sites=(site,), tables=(table,), session=session, order="number")
        numbers = [row.number for row in archive.find(of)]
        found.append(Spared(site, table, numbers[0], numbers[-1]))
    return tuple(found)


def removed(what: Due, site: str, node: str, time: str) -> Record:
    """The record of a removal, which is kept before it."""
    removal = what.removal
    body = {
        "removed": removal.kind,
        "records": what.count,
        "through": removal.through,
        "until": what.mark.time,
        "keep_days": what.days,
        "spared": removal.spared,
    }
    return Record(
        site=site,
        kind="removal",
        key=f"{removal.kind}:{removal.through}:{time}",
        time=time,
        heard=time,
        body=msgspec.json.encode(body),
        node=node,
        type=removal.kind,
    )


def _open(rows: Iterable[Row]) -> Iterable[tuple[str, str, int]]:
    """Site, table and session of the alerts with rounds that stand at the end."""
    standing: dict[tuple[str, str, str], int] = {}
    for row in rows:
        record = row.record
        try:
            alert = msgspec.json.decode(record.body, type=_Alert)
        except msgspec.DecodeError:
            continue
        name = (record.site, record.table, alert.alert)
        if record.type == "alert.raised" and alert.rounds:
            standing[name] = record.session
        else:
            standing.pop(name, None)
    return ((site, table, session) for (site, table, _), session in standing.items())
