"""The first reading of a table after a restore from backup or a hand-over from another daemon."""

from __future__ import annotations

import math

from common.chain.hand_over import HandOver
from common.contract.times import parse_utc
from common.readings import JournalRestore
from controller.journal.journal import Journal
from controller.journal.setup import RestoredBackup

MIN_SESSION_JUMP = 1000
"""Session numbers to skip even if the gap seems to have no length: a clock may have been wrong."""

UNRECORDED_SESSION_JUMP = 1_000_000
"""Session numbers to skip in addition if the other daemon's records are lost."""


def session_jump(since: float, now: float) -> int:
    """Return how many session numbers to skip for a gap from ``since`` to ``now`` (both in seconds
    since 1970): one for each second, in which no person opens two sessions. So a backup may be
    restored several times: what was opened after one restore is below the jump of the next.
    """
    return MIN_SESSION_JUMP + math.ceil(max(0.0, now - since))


def restore_reading(
    point: RestoredBackup | HandOver, table: str, at: float, now: float
) -> JournalRestore:
    """Return the reading of the restore or hand-over for a table. ``at``: time of the table's
    clock; ``now``: seconds since 1970; a time before the restore is corrected.
    """
    session = point.sessions.get(table, 0)
    jump = session_jump(parse_utc(point.since), max(now, parse_utc(point.at)))
    if isinstance(point, RestoredBackup):
        return JournalRestore(
            at=at,
            journal=point.journal,
            position=point.position,
            hash=point.hash,
            since=point.since,
            restored=point.at,
            session=session,
            jump=jump,
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
        jump=UNRECORDED_SESSION_JUMP + jump if point.forgotten else jump,
    )


def unreported(journal: Journal, table: str) -> tuple[RestoredBackup | HandOver, ...]:
    """Return what a table has not reported yet: the restore of a backup, then the hand-over from
    another daemon.
    """
    points = [point for point in (journal.restored, journal.hand_over) if point is not None]
    if not points:
        return ()
    saved = journal.ask(lambda reader: reader.saved_position(table))
    return tuple(point for point in points if saved <= point.through)
