"""What a table of circle poker remembers. Everything is here; the game itself remembers nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from controller.contract.events import Frame
from controller.games.poker.state import PokerState
from devices.readings import CardDrawn, ShufflerPacket

SeatStatus = Literal["in", "all_in", "side", "folded", "mucked", "annulled", "away"]
LIVE = ("in", "all_in", "side")
"""Statuses of a player who still plays for the pot."""
Came = CardDrawn | ShufflerPacket
"""Cards that a device reported."""
QUEUE = 53
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


class CircleCard(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A card on the table.

    Unlike ``dealt.cards.Card``, a card may be face up and unread, the ``index`` of a removed card
    is given to its replacement, and a card may turn out to be with another hand than it was dealt
    to.
    """

    to: str
    index: int
    up: bool = False
    card: str | None = None
    """None while it is unknown."""
    frame: Frame | None = None

    @property
    def told(self) -> str | None:
        """The card if it is face up."""
        return self.card if self.up else None


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


class CircleTrouble(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What waits for a person's decision, and the commands that may settle it."""

    what: str
    asks: tuple[str, ...]
    who: str | None = None


class CircleRound(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The round in progress."""

    round: int
    seats: tuple[CircleSeat, ...]
    """In the order of the deal, from the button."""
    closed: bool = False
    """The antes are in."""
    street: int = -1
    """The street that is dealt or bet on, -1 before the first."""
    due: tuple[CirclePlace, ...] = ()
    """Where the cards of the street still have to go."""
    cards: tuple[CircleCard, ...] = ()
    """All that were dealt, in order."""
    gone: tuple[str, ...] = ()
    """The known ones of the cards that left the table."""
    used: int | None = 0
    """How many left the deck; None once a silence may have hidden one."""
    held: tuple[CircleCard, ...] = ()
    """Cards that came while betting was open."""
    waiting: tuple[Came, ...] = ()
    """A card that a reader reported face up and all that came later, until a person has looked."""
    interval: int = 0
    """The betting interval that is open, or was last."""
    open: bool = False
    spoken: bool = False
    """Somebody has acted in it."""
    bet: bool = False
    """Somebody has bet in it."""
    bettor: int | None = None
    """Who bet last in it."""
    begun: bool = False
    """Betting has begun in this round."""
    showdown: bool = False
    doubted: bool = False
    """A card of this street may have gone unseen."""
    blind: bool = False
    """What a reader says of the street's cards is not believed any more."""
    confirmed_by: str | None = None
    """Who decided last."""
    players: int = 0
    """How many were seated."""
    opener: int | None = None
    """Who opened the pot."""
    straight_to_showdown: bool = False
    """No betting interval follows."""
    asked: bool = False
    """The opener was asked to prove the hand."""

    def of(self, who: str) -> tuple[CircleCard, ...]:
        """The cards of a hand, or of a board."""
        return tuple(each for each in self.cards if each.to == who)

    def seat(self, who: str | None) -> CircleSeat | None:
        """A player of this round."""
        return next((seat for seat in self.seats if seat.who == who), None)

    @property
    def live(self) -> tuple[CircleSeat, ...]:
        """Who still plays for the pot, in the order of the deal."""
        return tuple(seat for seat in self.seats if seat.status in LIVE)

    @property
    def live_names(self) -> tuple[str, ...]:
        """``seat:N`` of each of them."""
        return tuple(seat.who for seat in self.live)

    @property
    def boards(self) -> tuple[str, ...]:
        """The rows of common cards on the table."""
        return tuple(sorted({each.to for each in self.cards if each.to.startswith("board")}))

    @property
    def unread(self) -> tuple[CircleCard, ...]:
        """The face-up cards that count and are unknown."""
        count = {*self.boards, *(seat.who for seat in self.live)}
        return tuple(
            each for each in self.cards if each.up and each.card is None and each.to in count
        )

    @property
    def board_open(self) -> bool:
        """Whether all common cards are face up, and are known."""
        return all(each.told for each in self.cards if each.to.startswith("board"))

    @property
    def open_whole(self) -> bool:
        """Whether everything that decides is face up."""
        return self.board_open and all(seat.shown for seat in self.live)

    @property
    def known(self) -> tuple[str, ...]:
        """Every card known to have left the deck in this round."""
        return (
            *self.gone,
            *(each.card for each in (*self.cards, *self.held) if each.card is not None),
        )


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
    current: CircleRound | None = None  # type: ignore[assignment] # its round is not the model's yet
    played: tuple[CircleRound, ...] = ()
    troubles: tuple[CircleTrouble, ...] = ()
    raised: int | None = None
    """The minimum from the next round on."""
    blanks: int = 0
    """Blank hands in a row."""

    @property
    def asks(self) -> tuple[str, ...]:
        """The commands one of which the table waits for."""
        found = [command for trouble in self.troubles for command in trouble.asks]
        hand = self.current
        if hand is not None and hand.waiting:
            return ("card.decide", "round.void")
        if not found and hand is not None:
            if hand.unread:
                found.append("cards.show")
            if hand.due and hand.due[0].turn:
                found += (
                    ["hand.act"]
                    if hand.due[0].to.startswith("seat:")
                    else ["cards.turn", "cards.show"]
                )
            if hand.showdown:
                found += ["cards.show", "cards.turn", "hand.act", "round.confirm"]
        return tuple(dict.fromkeys(found))
