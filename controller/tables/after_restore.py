"""What a table is told first when its journal goes on from a backup, or for another daemon."""

from __future__ import annotations

import math

from controller.contract.times import moment
from controller.journal.setup import HandOver, Restored
from devices.readings import JournalRestore

JUMP = 1000
"""Sessions that may have been opened in a gap of no length: a clock may have been wrong."""

FORGOTTEN = 1_000_000
"""The same where nobody knows what another daemon did, or for how long."""


def jump(since: float, now: float) -> int:
    """By how much the numbers of sessions go on beyond a backup of ``since``, at ``now``, both in
    seconds since 1970: a table opens no more than one session a minute.
    """
    return JUMP + math.ceil(max(0.0, now - since) / 60)


def told_first(point: Restored | HandOver, table: str, at: float, now: float) -> JournalRestore:
    """The reading of the backup, or of the hand-over, for that table. ``at``: by the table's clock;
    ``now``: seconds since 1970, which may be wrong, but not before the restore.
    """
    session = point.sessions.get(table, 0)
    by = jump(moment(point.since), max(now, moment(point.at)))
    if isinstance(point, Restored):
        return JournalRestore(
            at=at,
            journal=point.journal,
            position=point.position,
            hash=point.hash,
            since=point.since,
            restored=point.at,
            session=session,
            jump=by,
        )
    end = point.checkpoint
    return JournalRestore(
        at=at,
        source="other_daemon",
        instance=point.instance,
        term=point.term,
        journal=point.journal,
        position=0 if end is None else end.position,
        hash="" if end is None else end.hash,
        since=point.since,
        restored=point.at,
        session=session,
        read=point.readings.get(table, 0),
        jump=FORGOTTEN + by if point.forgotten else by,
    )
