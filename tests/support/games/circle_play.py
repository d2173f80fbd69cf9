"""A table of circle poker to play at in tests: inputs by short names, events out."""

from __future__ import annotations

import random
from typing import Any

from common.contract.events import AnyEvent, Irregularity, RoundVoid
from controller.games.circle.game import CircleGame
from controller.games.circle.state import CircleRound, CircleState
from controller.games.circle.streets import pack
from tests.support.games.play import AnyPlay, of_kind

PAIRS = (
    *(
        ("EUS96", game)
        for game in (
            "texas-holdem",
            "omaha",
            "omaha-five",
            "omaha-hi-lo",
            "holdem-double",
            "synthetic-poker",
        )
    ),
    *(("BAL09", game) for game in ("texas-holdem", "omaha", "synthetic-poker")),
    ("ARA02", "synthetic-poker"),
    ("BAL05", "synthetic-poker"),
)
SYNTHETIC = tuple(decree for decree, game in PAIRS if game == "synthetic-poker")
HOLES = "Ah Kh Qh Jh As Ks Qs Js"
"""Two cards for each of four players, in the order of the deal: the seat with the hand first."""


class Play(AnyPlay[CircleGame, CircleState]):
    """A table in play."""

    frame = "frame {card}"

    def __init__(self, decree: str = "EUS96", game: str = "texas-holdem", **settings: Any) -> None:
        super().__init__(CircleGame, game, decree, settings)

    # Short names

    def open(self, seats: tuple[int, ...] = (1, 2, 3, 4), button: int = 4) -> list[AnyEvent]:
        """A session with players, the hand and a pack that was looked at."""
        events = self.send("session.open", minimum=500, currency="EUR")
        events += self.send("boxes.set", boxes=seats)
        events += self.send("button.set", seat=button)
        return events + self.send("deck.check", cards=len(pack(self.game.book, len(seats))))

    def act(self, seat: int, action: str) -> list[AnyEvent]:
        return self.send("hand.act", role="croupier", who=f"seat:{seat}", action=action)

    def close(self, winner: int | None = None) -> list[AnyEvent]:
        return self.send(
            "betting.close", role="croupier", winner=None if winner is None else f"seat:{winner}"
        )

    def show(self, who: str | int, cards: str, **fields: Any) -> list[AnyEvent]:
        name = f"seat:{who}" if isinstance(who, int) else who
        return self.send("cards.show", role="croupier", who=name, cards=cards.split(), **fields)

    def turn(self, who: str | int | None = None) -> list[AnyEvent]:
        return self.send(
            "cards.turn", role="croupier", who=f"seat:{who}" if isinstance(who, int) else who
        )

    def error(self, error: str, who: str | int | None = None, **fields: Any) -> list[AnyEvent]:
        name = f"seat:{who}" if isinstance(who, int) else who
        return self.send("deal.error", role="croupier", error=error, who=name, **fields)

    def accept(self) -> list[AnyEvent]:
        return self.send("card.decide", action="accept")

    def seen(self, card: str) -> list[AnyEvent]:
        """A reader reports the card face up, which is not published; the person in charge has
        looked: it did.
        """
        [asked] = self.cards(card, exposed=True)[:1]
        assert isinstance(asked, Irregularity)
        assert (asked.what, asked.asks) == ("deal_exposed", ("card.decide", "round.void"))
        return self.send("card.decide", action="exposed")

    def street(self, cards: str) -> list[AnyEvent]:
        """The bets are equal, and these cards come."""
        return [*self.close(), *self.cards(cards)]

    @property
    def asks(self) -> tuple[str, ...]:
        return self.game.turn(self.state).asks()

    @property
    def current(self) -> CircleRound:
        assert self.state.current is not None
        return self.state.current


def table(
    decree: str = "EUS96",
    game: str = "texas-holdem",
    seats: tuple[int, ...] = (1, 2, 3, 4),
    **settings: Any,
) -> Play:
    """A table with an open session, four players, the hand at the last of them."""
    play = Play(decree, game, **settings)
    play.open(seats, button=seats[-1])
    return play


def shuffled(play: Play, seed: int) -> list[str]:
    """The game's pack in some order."""
    cards = list(pack(play.game.book, len(play.state.seated)))
    random.Random(seed).shuffle(cards)
    return cards


def holdem(decree: str = "EUS96", **settings: Any) -> Play:
    """Hold'em, dealt, the first interval open. Clockwise from the hand at 4: 4, 3, 2, 1; against
    the clock: 4, 1, 2, 3.
    """
    play = table(decree, **settings)
    play.bets()
    play.cards(HOLES)
    return play


def deal_out(play: Play, seed: int = 1) -> list[str]:
    """Deal cards as they are due, close bets at once, until the showdown. Return the place of each
    card of the pack.
    """
    went: list[str] = []
    cards = iter(shuffled(play, seed))
    while not play.current.showdown:
        if play.current.open:
            play.close()
            went.append("|")
        elif play.current.due[0].turn:
            play.turn("board")
            went.append("turn")
        else:
            went.append(play.current.due[0].to)
            play.cards(next(cards))
    return went


def half_dealt(decree: str, game: str = "texas-holdem", **settings: Any) -> Play:
    """The first five cards lie."""
    play = table(decree, game, **settings)
    play.bets()
    play.cards("Ah Kh Qh Jh As")
    return play


def laid(decree: str) -> Play:
    """Synthetic poker, the first common card open, in its first interval: Td, and 9d, 8d, Tc, 9c
    covered.
    """
    play = table(decree, "synthetic-poker")
    play.bets()
    play.cards(f"{HOLES} Td 9d 8d Tc 9c")
    return play


def whats(events: list[AnyEvent]) -> list[str]:
    return [event.what for event in of_kind(events, Irregularity)]


def void(events: list[AnyEvent]) -> RoundVoid:
    [event] = of_kind(events, RoundVoid)
    return event
