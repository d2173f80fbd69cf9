"""State of a table of black jack. Everything is here; the game itself remembers nothing."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec
from msgspec.structs import replace

from common.contract.shown import LinkedJackpot
from controller.games.dealt.cards import known
from controller.games.dealt.state import DealtEntry, DealtRound, DealtState
from controller.games.shoe import Past, Shoe

DEALER, TABLE, BURN = "dealer", "table", "burn"
Doubt = Literal["silence", "shoe_reset", "hands_too_few"]


class BlackjackSeat(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One hand of one box. ``cards``: those that lie there; they are stored with the round.
    ``split``: the pair it was part of. ``asked``: it asked for its next card. ``even_money``: a
    black jack that has taken even money in this play of the dealer.
    """

    who: str
    cards: tuple[str, ...] = ()
    split: Literal["aces", "others"] | None = None
    doubled: bool = False
    stood: bool = False
    surrendered: bool = False
    even_money: bool = False
    asked: bool = False


class BlackjackDeal(DealtRound, frozen=True, kw_only=True, omit_defaults=True):
    """The round in progress.

    ``hands``: in the order in which they play; none until the boxes are set. ``play``: which of the
    dealer's hands this is, where he has several. ``insurance``: whether it may be taken now.
    ``latest``: who got the latest card. ``last``: the cut card has come. ``marked``: whose
    accumulated bet was taken while the jackpot was not in play.
    """

    hands: tuple[BlackjackSeat, ...] = ()
    play: int = 1
    insurance: bool | None = None
    latest: str | None = None
    last: bool = False
    marked: tuple[str, ...] = ()

    @property
    def seats(self) -> tuple[BlackjackSeat, ...]:
        """The hands of the round, with their cards."""
        lying: dict[str, list[str]] = {hand.who: [] for hand in self.hands}
        for card in self.cards:
            if card.to in lying and card.card is not None:
                lying[card.to].append(card.card)
        return tuple(replace(hand, cards=tuple(lying[hand.who])) for hand in self.hands)

    @property
    def dealer(self) -> tuple[str, ...]:
        """The dealer's cards."""
        return known(self.cards, DEALER)

    @property
    def unplaced(self) -> tuple[str, ...]:
        """Cards that are not assigned to a hand."""
        return known(self.cards, TABLE)

    @property
    def begun(self) -> bool:
        """Whether a card of the round was dealt."""
        return not all(card.gone for card in self.cards)

    @property
    def first_deal(self) -> bool:
        """Whether every hand has its first two cards and the dealer his one, and no card has come
        since.
        """
        seats = self.seats
        whole = all(
            len(seat.cards) == 2 and not seat.split and not seat.doubled and not seat.asked
            for seat in seats
        )
        return bool(seats) and whole and len(self.dealer) == 1 and not self.unplaced

    def seat(self, who: str) -> BlackjackSeat | None:
        """The hand of this name."""
        return next((seat for seat in self.seats if seat.who == who), None)

    def with_seat(self, seat: BlackjackSeat) -> BlackjackDeal:
        """The round with this hand in place of the one of the same name."""
        bare = replace(seat, cards=())
        return replace(
            self, hands=tuple(bare if hand.who == seat.who else hand for hand in self.hands)
        )


class BlackjackLimit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An announced minimum: ``left`` rounds, or with None the rest of the shoe, are still played at
    the old one.
    """

    minimum: int
    left: int | None = None


class BlackjackState(DealtState[DealtEntry], frozen=True, kw_only=True, omit_defaults=True):
    """A table of black jack between two inputs.

    ``past``: the shoes of the last sessions. ``burn``: cards still to be burned, unseen. ``doubt``:
    why a person must decide before the game continues. ``asked``: what was last asked. ``jackpot``:
    the jackpot that the table is linked with. ``last_shoe``: 1 once the last shoe is announced, 0
    once it is over.
    """

    remembered_rounds: ClassVar[int] = 20

    limit: BlackjackLimit | None = None
    past: Past = ()
    shoe: Shoe | None = None
    burn: int = 0
    current: BlackjackDeal | None = None
    doubt: Doubt | None = None
    asked: str | None = None
    jackpot: LinkedJackpot | None = None
    last_shoe: int | None = None
    entries: tuple[DealtEntry, ...] = ()
