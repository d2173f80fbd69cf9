"""Who acts first in a betting interval, by the names in the rulebook's ``first_to_act``. All
pure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from controller.games.circle.showdown import cards_of
from controller.games.circle.state import CircleRound
from controller.games.circle.streets import ranking
from controller.games.hands.evaluator import RANKINGS, best, showing
from controller.rulebooks.circle import Circle


def _left_of_button(hand: CircleRound, _book: Circle) -> str | None:
    """First live seat from the button that can still bet."""
    return next((seat.who for seat in hand.live if seat.status == "in"), None)


def _bettor(hand: CircleRound, book: Circle) -> str | None:
    """Who made the last bet; without a bet, the first live seat from the button."""
    return next(
        (seat.who for seat in hand.live if seat.number == hand.bettor and seat.status == "in"), None
    ) or _left_of_button(hand, book)


def _opener(hand: CircleRound, _book: Circle) -> str | None:
    """Who opened the pot, or the next live seat if the opener folded."""
    numbers = [seat.number for seat in hand.seats]
    start = numbers.index(hand.opener) if hand.opener in numbers else 0
    return next(
        (seat.who for seat in (*hand.seats[start:], *hand.seats[:start]) if seat.status == "in"),
        None,
    )


def _after_blinds(hand: CircleRound, _book: Circle) -> str | None:
    """Blinds posted; the third seat acts first."""
    return hand.live[2 % len(hand.live)].who if hand.live else None


def _lowest_up(hand: CircleRound, book: Circle) -> str | None:
    """Lowest face-up cards; of equals, the first in the order of the deal."""
    shown = _shown(hand, book)
    return min(shown, key=lambda who: shown[who]) if shown else None


def _best_up(hand: CircleRound, book: Circle) -> str | None:
    """Best face-up cards; of equals, the first in the order of the deal."""
    shown = _shown(hand, book)
    return max(shown, key=lambda who: shown[who]) if shown else None


def _shown(hand: CircleRound, book: Circle) -> dict[str, tuple[int, ...]]:
    """The value of each hand's face-up cards; empty while a hand has no known one."""
    found = {seat.who: cards_of(hand, seat.who) for seat in hand.live if seat.status == "in"}
    if not all(found.values()):
        return {}
    name = ranking(book, hand.players)
    size = RANKINGS[name].size
    worth = {
        who: showing(cards, name) if len(cards) <= size else best(cards, name)
        for who, cards in found.items()
    }
    return {who: value.key for who, value in worth.items() if value is not None}


FIRST_TO_ACT: Mapping[str, Callable[[CircleRound, Circle], str | None]] = {
    "left_of_button": _left_of_button,
    "bettor": _bettor,
    "opener": _opener,
    "after_blinds": _after_blinds,
    "lowest_up": _lowest_up,
    "best_up": _best_up,
}
"""By the rulebook's name. A variant adds its own rules."""


def showers(hand: CircleRound) -> tuple[str, ...]:
    """Who shows, in order: the last bettor first, then round the table; without a bet, from the
    button.
    """
    live = [seat for seat in hand.live if not seat.shown]
    numbers = [seat.number for seat in hand.seats]
    start = numbers.index(hand.bettor) if hand.bettor in numbers else 0
    return tuple(
        seat.who
        for seat in sorted(
            live, key=lambda seat: (numbers.index(seat.number) - start) % len(numbers)
        )
    )
