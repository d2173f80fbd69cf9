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
    """Where a card has to go: ``up`` if it is face up there; ``turn``: no card comes, one that lies
    there is turned; at a seat: the player discards, or gets one that lies elsewhere.
    """

    to: str
    up: bool = False
    turn: bool = False


class CircleCard(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A card on the table. ``card`` is None where nobody has said what it is; ``up``: it is face
    up, ``told`` then.

    No ``poker.cards.Lying``: here a card may be face up that nobody has read, its ``index`` stays
    when one before it is null and is given again to what takes that one's place, and it may be
    found to lie with another than it was dealt to.
    """

    to: str
    index: int
    up: bool = False
    card: str | None = None
    frame: Frame | None = None

    @property
    def told(self) -> str | None:
        """The card if it is face up."""
        return self.card if self.up else None


class CircleSeat(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A player in a round. ``side``: bets no more and has no part in what the others bet from now
    on. ``shown``: the whole hand is face up; ``raises``: in the interval. ``shown_by_player``: the
    next card comes face up. ``discards``: so many of the first cards were discarded, nobody has
    seen which; ``returned``: they went back into the pack; ``drawn``: who shows has drawn, and
    which of the cards he kept is not known.
    """

    number: int
    status: SeatStatus = "in"
    shown: bool = False
    raises: int = 0
    shown_by_player: bool = False
    discards: int = 0
    returned: bool = False
    drawn: bool = False

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
    """The round in progress. ``seats``: in the order of the deal, the hand first.

    ``street``: the street that is dealt or bet on, -1 before the first; ``due``: where its cards
    still have to go. ``cards``: all that were dealt, in their order, and ``gone``, what is known of
    cards that left; ``used``: how many left the pack, None once a silence may have hidden one.
    ``held``: cards that came while bets were open. ``waiting``: a card that came face up, as a
    reader says, and all that came after it, until a person has looked. ``interval``: the betting
    interval that is or was open last; ``bet``: somebody bet in it, ``bettor``: who did so last.
    ``begun``: bets have begun in this round. ``doubted``: a card of this street may have gone
    unseen; ``blind``: what a reader says of its cards is not believed any more. ``confirmed_by``:
    who decided last. ``players``: so many were seated. ``opener``: who opened the pot.
    ``straight_to_showdown``: there is no interval any more. ``asked``: the opener was asked to
    prove his hand.
    """

    round: int
    seats: tuple[CircleSeat, ...]
    closed: bool = False
    street: int = -1
    due: tuple[CirclePlace, ...] = ()
    cards: tuple[CircleCard, ...] = ()
    gone: tuple[str, ...] = ()
    used: int | None = 0
    held: tuple[CircleCard, ...] = ()
    waiting: tuple[Came, ...] = ()
    interval: int = 0
    open: bool = False
    spoken: bool = False
    bet: bool = False
    bettor: int | None = None
    begun: bool = False
    showdown: bool = False
    doubted: bool = False
    blind: bool = False
    confirmed_by: str | None = None
    players: int = 0
    opener: int | None = None
    straight_to_showdown: bool = False
    asked: bool = False

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
        """The rows of common cards that lie on the table."""
        return tuple(sorted({each.to for each in self.cards if each.to.startswith("board")}))

    @property
    def unread(self) -> tuple[CircleCard, ...]:
        """The cards that are face up and count, and of which nobody has said what they are."""
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
        """Every card of which it is known that it left the pack in this round."""
        return (
            *self.gone,
            *(each.card for each in (*self.cards, *self.held) if each.card is not None),
        )


class CircleState(PokerState, frozen=True, kw_only=True, omit_defaults=True):
    """A table of circle poker between two inputs.

    ``seated``: the places that are taken; ``resting``: who sits out, and for how many rounds;
    ``rested``: how many rounds each has sat out in this match. ``button``: who has the hand;
    ``fresh``: it was given since the last round. ``deck``: whether the pack was found right when it
    was looked at last, ``unchecked``: rounds since then. ``anew``: the round before was null and is
    dealt again. ``raised``: the next minimum. ``blanks``: blank hands running.
    """

    seated: tuple[int, ...] = ()
    resting: Mapping[str, int] = {}
    rested: Mapping[str, int] = {}
    button: int | None = None
    fresh: bool = False
    deck: bool | None = None
    unchecked: int | None = None
    anew: bool = False
    current: CircleRound | None = None
    played: tuple[CircleRound, ...] = ()
    troubles: tuple[CircleTrouble, ...] = ()
    raised: int | None = None
    blanks: int = 0

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
