"""What a table of punto y banca remembers. Everything is here, even face-down cards, so the state
is never shown.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec
from msgspec.structs import replace

from controller.contract.events import BaccaratOutcome, Frame, Hand
from controller.games.baccarat import ORDER, SIDES, Side, Winner
from controller.games.punto_banca.coups import Coup, CoupEntry, CoupState, Waiting
from controller.games.shoe import Past, Shoe
from controller.games.stakes import Stake
from devices.readings import ShoeResult

QUEUE = 12
"""Cards that may wait for a person: two coups. Later ones are counted but not followed."""
SHOWN = 20
"""Rounds in the retained history."""


class PuntoBancaCard(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A card on the table. ``card`` is None if it was not read and nobody has named it."""

    card: str | None = None
    up: bool = False
    frame: Frame | None = None

    @property
    def known(self) -> bool:
        """Whether everybody at the table knows it."""
        return self.up and self.card is not None


class PuntoBancaCoup(Coup, frozen=True, kw_only=True, omit_defaults=True):
    """The round in progress. ``told``: hands whose decision was announced. ``gap``: since its bets
    closed a silence may have hidden a card. ``before_gap``: cards that had come before it; if these
    turn out to be all, nothing was hidden. ``verdict``: the shoe's. ``confirmed_by``: who decided
    about one of its cards. ``last``: the cut card has come. ``bets``: those reported.
    """

    round: int
    closed: bool = False
    player: tuple[PuntoBancaCard, ...] = ()
    banker: tuple[PuntoBancaCard, ...] = ()
    told: tuple[Side, ...] = ()
    gap: bool = False
    before_gap: int = 0
    verdict: ShoeResult | None = None
    confirmed_by: str | None = None
    last: bool = False
    bets: tuple[Stake, ...] = ()

    @property
    def begun(self) -> bool:
        """Whether its bets are closed, or a card of it came."""
        return self.closed or bool(self.player or self.banker)

    def cards(self, side: Side) -> tuple[PuntoBancaCard, ...]:
        """The cards of one hand."""
        return self.player if side == "player" else self.banker

    def with_cards(self, side: Side, cards: tuple[PuntoBancaCard, ...]) -> PuntoBancaCoup:
        """With these cards as one hand."""
        return replace(self, player=cards) if side == "player" else replace(self, banker=cards)

    @property
    def dealt(self) -> tuple[tuple[Side, PuntoBancaCard], ...]:
        """All cards of the round, in the order in which they came."""
        first = [
            (side, self.cards(side)[index])
            for index, side in ((n // 2, side) for n, side in enumerate(ORDER))
            if len(self.cards(side)) > index
        ]
        third = [(side, self.cards(side)[2]) for side in SIDES if len(self.cards(side)) > 2]
        return (*first, *third)


class PuntoBancaBurn(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The burn before the first round. ``shown`` is None before the first card, or while nobody has
    read it.
    """

    drawn: int = 0
    shown: str | None = None
    gap: bool = False


class PuntoBancaEntry(CoupEntry, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of one round. ``cards``: of an unresolved one, all that were seen, in order; a
    person may confirm it.
    """

    round: int
    kind: Literal["result", "void", "unresolved"]
    winner: Winner | None = None
    hands: tuple[Hand, ...] = ()
    marks: tuple[str, ...] = ()
    cards: tuple[PuntoBancaCard, ...] = ()
    frames: tuple[Frame, ...] = ()
    compared: bool = False
    corrected: bool = False
    reason: str | None = None
    article: str | None = None

    @property
    def outcome(self) -> BaccaratOutcome:
        """What a round that has a result came to."""
        return BaccaratOutcome(winner=self.winner, hands=self.hands, marks=self.marks)


class PuntoBancaState(CoupState[PuntoBancaEntry], frozen=True, kw_only=True, omit_defaults=True):
    """A table of punto y banca between two inputs. ``past``: the shoes of the last sessions.
    ``burn``: while cards are burned. ``queue``: cards that need a decision. ``carried``: cards
    decided to be the first of the next round. ``queue_overflowed``: more came than can wait.
    ``silent``: the device is silent now. ``out_of_sync``: cards go to no round until a person opens
    one, or the shoe reports where it is. ``unseen``: a round may have begun in a silence, at a
    table without keys. ``reset``: the shoe restarted, and nobody has said what is in it.
    ``expected``: where the next card was last announced to go. ``last``: announced last rounds
    still to play, from round ``last_since`` on.
    """

    kept: ClassVar[int] = 100
    """More than a shoe of six decks has."""

    past: Past = ()
    shoe: Shoe | None = None
    burn: PuntoBancaBurn | None = None
    current: PuntoBancaCoup | None = None
    queue: tuple[Waiting, ...] = ()
    carried: tuple[Waiting, ...] = ()
    queue_overflowed: bool = False
    silent: bool = False
    out_of_sync: bool = False
    unseen: bool = False
    reset: bool = False
    expected: str | None = None
    last: int | None = None
    last_since: int = 0
    entries: tuple[PuntoBancaEntry, ...] = ()

    @property
    def asks(self) -> tuple[str, ...]:
        """Commands that would answer the table's question."""
        unread = self.current is not None and any(
            card.card is None for card in (*self.current.player, *self.current.banker)
        )
        if self.reset:
            return ("shoe.start", "card.decide")
        if self.queue or unread:
            return ("card.decide", "round.void") if self.current else ("card.decide",)
        if self.burn is not None and (
            self.burn.gap or (self.burn.drawn and self.burn.shown is None)
        ):
            return ("card.decide",)
        return ()
