"""What a table remembers of its second witnesses, as a part of its saved state."""

from __future__ import annotations

import msgspec

from common.contract.event_fields import WitnessStatement
from common.readings import Number

WITNESS_DISAGREES, WITNESS_SILENT = "witness.disagrees", "witness.silent"
"""What is wrong, in the alerts about a second witness."""
Place = Number | tuple[int, ...]
"""A number, or dice in ascending order: their order says nothing."""


class WitnessMemory(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is remembered between two inputs. ``live``: the round whose bets are closed and that has
    no outcome; ``ended``: the last one that has one, at ``ended_at``, and ``published`` its result;
    ``previous_at``: when the one before ended, or when the table resumed. ``unplayed_at``: when the
    table's own device last reported while no round was live. ``reports``: by round of the
    ``session``. ``own_rounds``: by witness, its own numbers of the latest rounds, and the round of
    each. ``silent``: by witness, the consecutive results without a report. ``lost``: the witnesses
    whose link was closed since the last round ended.
    """

    live: int = 0
    ended: int = 0
    ended_at: float | None = None
    previous_at: float | None = None
    unplayed_at: float | None = None
    published: Place | None = None
    reports: dict[int, tuple[WitnessStatement, ...]] = {}
    own_rounds: dict[str, dict[int, int]] = {}
    session: int = 0
    silent: dict[str, int] = {}
    lost: tuple[str, ...] = ()

    @property
    def reportable(self) -> int:
        """The round in play once its bets are closed, or else the last that ended; 0: none."""
        return self.live or self.ended
