"""State of a table of trente et quarante. All its cards are face up except the last five, which are
only counted.
"""

from __future__ import annotations

from controller.games.coups.state import CoupState
from controller.games.dealt.state import DealtEntry, DealtRound
from controller.games.trente.rows import Winner

MAX_WAITING_CARDS = 24
"""Cards that may wait for a person: two long coups. Later ones are counted but not followed."""


class TrenteEntry(DealtEntry, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of one round."""

    winner: Winner | None = None
    last: bool = False
    """It was the last hand of the session."""


class TrenteState(CoupState[TrenteEntry], frozen=True, kw_only=True, omit_defaults=True):
    """A table of trente et quarante between two inputs."""

    current: DealtRound | None = None
    tail: int = 0
    """Cards that came after the cut card."""
    entries: tuple[TrenteEntry, ...] = ()

    def is_last(self, number: int) -> bool:
        """Whether this round, whose result is not published yet, is the announced last one of the
        session.
        """
        return self.last in (0, 1) and number == self.round >= self.last_since
