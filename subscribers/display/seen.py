"""What the body of a picture is made of."""

from __future__ import annotations

import msgspec

from controller.contract.retained import State
from subscribers.display.rounds import Round
from subscribers.table_snapshot import TableSnapshot


class Seen(msgspec.Struct, frozen=True):
    """One table whose state is known, for one language."""

    known: TableSnapshot
    state: State
    rounds: tuple[Round, ...]
    """The latest rounds, oldest first."""
    language: str
