"""One table as drawn on the terminal: the picture that browsers draw, and what only the terminal
shows beside it.
"""

from __future__ import annotations

import msgspec

from subscribers.display.picture import Picture
from subscribers.feed.table_snapshot import TableSnapshot
from subscribers.terminal.event_log import TableNote


class TerminalTable(msgspec.Struct, frozen=True, kw_only=True):
    """``known``: the table's messages, for its devices and the details of its alerts. ``notes``:
    its irregularities and unusual rounds, oldest first; ``missed``: number of missing events.
    ``reason``: why the broker cannot be reached.
    """

    picture: Picture
    known: TableSnapshot
    notes: tuple[TableNote, ...] = ()
    missed: int = 0
    reason: str = ""
