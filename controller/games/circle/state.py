"""State of a table of circle poker. Everything is here; the game itself remembers nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, count, islice
from typing import Literal

import msgspec

from controller.games.dealt.cards import Table, TableCard, dealt, hand
from controller.games.dealt.state import DealtRound, Stop
from controller.games.poker.state import PokerState

SeatStatus = Literal["in", "all_in", "side", "folded", "mucked", "annulled", "away"]
DECISIONS = ("card.decide", "round.void")
LIVE_STATUSES = ("in", "all_in", "side")
"""Statuses of a player who still plays for the pot."""
OUT_PLACE = "out"
"""Where cards lie that left the table."""
EARLY_PLACE = "early"
"""Where cards lie that came while betting was open."""
ROW_CARDS = 5
"""Common cards of a row, where each has its place."""
MAX_WAITING_CARDS = 53
"""The most that may wait behind a card: no deck has more."""


class CirclePlace(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where a card has to go."""

    to: str
    """A seat, a board, ``burn`` or ``dead``."""
    up: bool = False
    """The card is dealt face up."""
    turn: bool = False
    """No card comes: one already there is turned; at a seat the player discards, or gets a card
    from elsewhere.
    """


class CircleSeat(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A player in a round."""

    number: int
    status: SeatStatus = "in"
    """``side``: bets no more, and has no share of what the others bet from now on."""
    shown: bool = False
    """The whole hand is face up."""
    raises: int = 0
    """In this betting interval."""
    shown_by_player: bool = False
    """The player showed cards: the next one is dealt face up."""
    discards: int = 0
    """How many of the first cards were discarded; which ones is unknown."""
    returned: bool = False
    """The discards went back into the deck."""
    drawn: bool = False
    """The player has drawn and shown; which of the cards were kept is unknown."""

    @property
    def who(self) -> str:
        """The name in events and commands."""
        return f"seat:{self.number}"


class CircleDoubt(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What waits for a person's decision, and the commands that may settle it."""

    what: str
    asks: tuple[str, ...]
    who: str | None = None


class CircleRound(DealtRound, frozen=True, kw_only=True, omit_defaults=True):
    """The round in progress. ``closed``: the antes are in; ``gap``: a silence may have hidden a
    card of this street.
    """

    seats: tuple[CircleSeat, ...]
    """In the order of the deal, from the button."""
    street: int = -1
    """The street that is dealt or bet on, -1 before the first."""
    due: tuple[CirclePlace, ...] = ()
    """Where the cards of the street still have to go."""
    used: int | None = 0
    """How many left the deck; None once a silence may have hidden one."""
    interval: int = 0
    """The betting interval that is open, or was last."""
    open: bool = False
    spoken: bool = False
    """A player has acted in it."""
    bet: bool = False
    """A player has bet in it."""
    bettor: int | None = None
    """Who bet last in it."""
    bets_begun: bool = False
    """Betting has begun in this round."""
    showdown: bool = False
    blind: bool = False
    """Reports of a reader about the street's cards are ignored."""
    players: int = 0
    """How many were seated."""
    opener: int | None = None
    """Who opened the pot."""
    straight_to_showdown: bool = False
    """No betting interval follows."""
    asked: bool = False
    """The opener was asked to prove the hand."""

    def cards_of(self, who: str) -> Table:
        """The cards of a hand, or of a board."""
        return hand(self.cards, who)

    def positions(self, who: str) -> dict[int, int]:
        """The indexes in ``cards`` of the cards of a hand or a board. A common card that replaces
        one has its index.
        """
        every = [place for place, card in enumerate(self.cards) if card.to == who]
        indexes = _indexes(who, dealt(self.cards, who))
        return {
            index: place
            for index, place in zip(indexes, every, strict=False)
            if not self.cards[place].gone
        }

    def by_index(self, who: str) -> dict[int, TableCard]:
        """The cards of a hand, or of a board, by their index."""
        return {index: self.cards[place] for index, place in self.positions(who).items()}

    def next_index(self, who: str) -> int:
        """The index of the next card there: that of a common card that left, else one after the
        last.
        """
        lying = dealt(self.cards, who)
        return next(islice(_indexes(who, lying), len(lying), None))

    @property
    def lying(self) -> Table:
        """The cards that lie with a hand, a board or the dead ones, in their order."""
        return tuple(card for card in self.cards if not card.gone and card.to != EARLY_PLACE)

    @property
    def early(self) -> Table:
        """Cards that came while betting was open."""
        return dealt(self.cards, EARLY_PLACE)

    def seat(self, who: str | None) -> CircleSeat | None:
        """A player of this round."""
        return next((seat for seat in self.seats if seat.who == who), None)

    @property
    def live(self) -> tuple[CircleSeat, ...]:
        """Who still plays for the pot, in the order of the deal."""
        return tuple(seat for seat in self.seats if seat.status in LIVE_STATUSES)

    @property
    def live_names(self) -> tuple[str, ...]:
        """``seat:N`` of each of them."""
        return tuple(seat.who for seat in self.live)

    @property
    def boards(self) -> tuple[str, ...]:
        """The rows of common cards on the table."""
        return tuple(sorted({card.to for card in self.lying if card.to.startswith("board")}))

    @property
    def unread_up(self) -> Table:
        """The face-up cards that count and are unknown."""
        count = {*self.boards, *(seat.who for seat in self.live)}
        return tuple(
            card for card in self.lying if card.up and card.card is None and card.to in count
        )

    @property
    def board_open(self) -> bool:
        """Whether all common cards are face up, and are known."""
        return all(card.face for card in self.lying if card.to.startswith("board"))

    @property
    def open_whole(self) -> bool:
        """Whether everything that decides is face up."""
        return self.board_open and all(seat.shown for seat in self.live)


def _indexes(who: str, every: Table) -> Iterator[int]:
    """The indexes of the cards that were dealt to a place, and of those still to come."""
    left = (index for index, card in enumerate(every[:ROW_CARDS], 1) if card.gone)
    row = chain(range(1, ROW_CARDS + 1), left, count(ROW_CARDS + 1))
    return row if who.startswith("board") else count(1)


class CircleState(PokerState, frozen=True, kw_only=True, omit_defaults=True):
    """A table of circle poker between two inputs."""

    seated: tuple[int, ...] = ()
    """The taken seats."""
    resting: Mapping[str, int] = {}
    """Who sits out, and for how many rounds."""
    rested: Mapping[str, int] = {}
    """How many rounds each has sat out in this match."""
    button: int | None = None
    """The seat that has it."""
    fresh: bool = False
    """The button was placed since the last round."""
    deck: bool | None = None
    """Whether the deck was right when it was last checked."""
    unchecked: int | None = None
    """Rounds since then."""
    anew: bool = False
    """The round before was void and is dealt again."""
    current: CircleRound | None = None
    played: tuple[CircleRound, ...] = ()
    doubts: tuple[CircleDoubt, ...] = ()
    """What stops the table beside a card that waits."""
    raised: int | None = None
    """The minimum from the next round on."""
    blanks: int = 0
    """Blank hands in a row."""

    @property
    def playing(self) -> tuple[int, ...]:
        """The taken seats that do not sit out."""
        return tuple(number for number in self.seated if str(number) not in self.resting)

    @property
    def stop(self) -> Stop | None:
        """A card that a reader reported face up, then all that is in doubt."""
        if self.held:
            return Stop("deal_exposed", DECISIONS)
        if not self.doubts:
            return None
        asks = dict.fromkeys(command for doubt in self.doubts for command in doubt.asks)
        return Stop(self.doubts[0].what, tuple(asks), "decide_first")
