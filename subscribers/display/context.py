"""Input for building the body of a picture."""

from __future__ import annotations

import msgspec

from common.contract.retained import State
from subscribers.display.rounds import PlayedRound
from subscribers.feed.table_snapshot import TableSnapshot


class PictureContext(msgspec.Struct, frozen=True):
    """A table with a known state, for one language."""

    known: TableSnapshot
    state: State
    rounds: tuple[PlayedRound, ...]
    """The latest rounds, oldest first."""
    language: str
