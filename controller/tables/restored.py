"""The event of a restore from backup, or of a hand-over from another daemon."""

from __future__ import annotations

from typing import Any

from common.contract.events import JournalRestored
from common.contract.shown import AnyShown
from common.readings import JournalRestore

MAX_READINGS_PER_SESSION = 1000
"""Upper bound for the readings numbered in one session, for skipping numbers after a restore."""


def readings_after(restore: JournalRestore, readings: int) -> int:
    """Return the number of readings to count from: it skips all that may have been used."""
    return max(readings, restore.read) + MAX_READINGS_PER_SESSION * restore.jump


def restored_event(
    restore: JournalRestore, game_state: Any, shown: AnyShown, *, is_open: bool, last: int
) -> JournalRestored:
    """Return the event. ``last``: the highest session number that may have been used."""
    return JournalRestored(
        journal=restore.journal,
        position=restore.position,
        hash=restore.hash,
        since=restore.since,
        restored=restore.restored,
        source=restore.source,
        instance=restore.instance,
        term=restore.term,
        next_session=last + 1,
        was_open=shown.session if is_open else None,
        in_progress=None if game_state.current is None else shown.round,
        unresolved=shown.unresolved,
    )
