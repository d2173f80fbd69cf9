"""State of a table of punto y banca. Everything is here, even face-down cards, so the state is
never shown.
"""

from __future__ import annotations

from typing import ClassVar

import msgspec

from common.contract.events import BaccaratOutcome
from common.readings import ShoeResult
from controller.games.baccarat import Side, Winner
from controller.games.coups.state import CARD_DECISIONS, CoupState, first_stop
from controller.games.dealt.state import DealtEntry, DealtRound, Stop

MAX_WAITING_CARDS = 12
"""Cards that may wait for a person: two coups. Later ones are counted but not followed."""


class PuntoBancaRound(DealtRound, frozen=True, kw_only=True, omit_defaults=True):
    """The round in progress."""

    told: tuple[Side, ...] = ()
    """Hands whose decision was announced."""
    before_gap: int = 0
    """Cards that had come before the gap: if these turn out to be all, nothing was hidden."""
    verdict: ShoeResult | None = None
    """The shoe's own verdict on the round."""
    last: bool = False
    """The cut card has come."""


class PuntoBancaBurn(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The burn before the first round."""

    drawn: int = 0
    shown: str | None = None
    """None before the first card, or while it is unread."""
    gap: bool = False

    @property
    def asks(self) -> bool:
        """Whether a person must read the first burn card, or end the burn."""
        return self.gap or (self.drawn > 0 and self.shown is None)


class PuntoBancaEntry(DealtEntry, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of one round. A result keeps its evidence, since the shoe's verdict may still
    differ.
    """

    winner: Winner | None = None
    compared: bool = False
    """The shoe's verdict on it has come."""

    @property
    def outcome(self) -> BaccaratOutcome:
        """The outcome of a round that has a result."""
        return BaccaratOutcome(winner=self.winner, hands=self.hands, marks=self.marks)


class PuntoBancaState(CoupState[PuntoBancaEntry], frozen=True, kw_only=True, omit_defaults=True):
    """A table of punto y banca between two inputs."""

    remembered_rounds: ClassVar[int] = 100
    """More than a shoe of six decks has."""

    burn: PuntoBancaBurn | None = None
    """While cards are burned."""
    current: PuntoBancaRound | None = None
    entries: tuple[PuntoBancaEntry, ...] = ()

    @property
    def stop(self) -> Stop | None:
        """The stop of every table of coups, or of the burn."""
        if self.burn is None or self.reset or self.held:
            return first_stop(self)
        return Stop("burn", CARD_DECISIONS) if self.burn.asks else None
