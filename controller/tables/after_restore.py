"""What a table is told first when its journal goes on from a backup."""

from __future__ import annotations

import math

from controller.contract.times import moment
from controller.journal.setup import Restored
from devices.readings import JournalRestore

JUMP = 1000
"""Sessions that may have been opened in a gap of no length: a clock may have been wrong."""


def jump(since: float, now: float) -> int:
    """By how much the numbers of sessions go on beyond a backup of ``since``, at ``now``, both in
    seconds since 1970: a table opens no more than one session a minute.
    """
    return JUMP + math.ceil(max(0.0, now - since) / 60)


def told_first(point: Restored, table: str, at: float, now: float) -> JournalRestore:
    """The reading of the backup for that table. ``at``: by the table's clock; ``now``: seconds
    since 1970, which may be wrong, but not before the restore.
    """
    return JournalRestore(
        at=at,
        journal=point.journal,
        position=point.position,
        hash=point.hash,
        since=point.since,
        restored=point.at,
        session=point.sessions.get(table, 0),
        jump=jump(moment(point.since), max(now, moment(point.at))),
    )
