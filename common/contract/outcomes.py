"""The outcome of a round: ``outcome`` of ``round.result``, of ``result.corrected`` and of a line of
the history. Its ``family`` names its shape.

Games that have the same outcome are one family: all baccarat, all poker between players, all poker
against the house. Every field of a family is always there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from common.contract.card_events import Hand
from common.readings import Number, Whole

Colour = Literal["red", "black"]
Parity = Literal["even", "odd"]
Half = Literal["falta", "pasa"]


class Outcome(msgspec.Struct, frozen=True, kw_only=True, tag_field="family"):
    """The base of all outcomes."""

    # Fields that only some families have: those declare them; elsewhere they have these defaults.
    if TYPE_CHECKING:
        winner: str | None = None
        marks: tuple[str, ...] = ()
    else:
        winner, marks = None, ()


class RouletteOutcome(Outcome, frozen=True, tag="roulette"):
    """Where the ball definitively is. Zero has no colour, parity, half, dozen or column: they are
    null.
    """

    number: Whole
    """The number, 0 to 36."""
    colour: Colour | None
    """Its colour."""
    parity: Parity | None
    """Even or odd."""
    half: Half | None
    """1 to 18, or 19 to 36."""
    dozen: Whole | None
    """Its dozen, 1 to 3."""
    column: Whole | None
    """Its column, 1 to 3."""
    zeros: Whole
    """Consecutive zeros up to this one; 0 for any other number."""
    last_of_session: bool
    """It was the last spin of the session: zero is settled differently then."""


class BouleOutcome(Outcome, frozen=True, tag="boule"):
    """The number of the hole in which the ball is. The number in the middle has no colour, parity
    or half: they are null.
    """

    number: Whole
    """The number, 1 to 9."""
    colour: Colour | None
    """Its colour."""
    parity: Parity | None
    """Even or odd."""
    half: Half | None
    """Below the number in the middle, or above it."""
    last_of_session: bool
    """It was the last ball of the session."""


class FortuneOutcome(Outcome, frozen=True, tag="fortune-wheel"):
    """The symbol under the tongue of the wheel of fortune."""

    number: Number
    """The symbol: a number, or the name of a joker."""
    cell: Whole | None
    """Its cell, clockwise from 1; null if not reported."""
    last_of_session: bool
    """It was the last spin of the session."""


class CrapsOutcome(Outcome, frozen=True, tag="craps"):
    """One throw of the dice."""

    dice: tuple[Whole, Whole]
    """The numbers on the dice."""
    total: Whole
    """Their sum."""
    point: Whole | None
    """The point that the throw was played against; null at a come-out."""


class BaccaratOutcome(Outcome, frozen=True, tag="baccarat"):
    """One coup of punto y banca, chemin de fer or two-cloth baccarat."""

    winner: Literal["player", "banker", "tie"] | None
    """The hand that won, or ``tie``; null at two cloths, where ``hands`` has the result of each."""
    hands: tuple[Hand, ...]
    """The hands, the bank's last. Empty where a person gave the result; at two cloths the hands
    have no cards then.
    """
    marks: tuple[str, ...]
    """What else wins or loses bets, or is deducted: ``natural``, ``pair_player``, ``pair_banker``,
    ``banker_six``, ``tie``.
    """


class TrenteOutcome(Outcome, frozen=True, tag="trente-et-quarante"):
    """One coup of trente et quarante."""

    winner: Literal["black", "red", "tie", "refait"]
    """The row that won. ``tie``: the stakes go back. ``refait``: 31-31, the zero of this game; no
    stake goes back whole.
    """
    hands: tuple[Hand, ...]
    """Both rows, the black one first. Empty where a person gave the result."""
    marks: tuple[str, ...]
    """What else wins: ``colour`` or ``inverse``. Where no row won: ``tie`` or ``refait``."""
    refaits: Whole
    """Consecutive refaits up to this one, ties and void coups not counted; 0 for any other
    result.
    """
    choices: tuple[str, ...]
    """The choices of a player for a bet at a refait: ``half`` or ``prison``; at the last coup of
    the session ``refund``, or ``half`` alone, by the regime in force. Empty for any other result.
    """
    last_of_session: bool
    """It was the last coup of the session: a refait is settled differently then."""


class BlackjackOutcome(Outcome, frozen=True, tag="blackjack"):
    """One hand of the dealer against the boxes; each box plays for itself."""

    hands: tuple[Hand, ...]
    """The hands of the boxes in the order in which they are settled, then the dealer's."""
    marks: tuple[str, ...]
    """Special marks: docs/integrator/vocabulary/shown.md lists the marks of black jack."""


class CirclePokerOutcome(Outcome, frozen=True, tag="circle-poker"):
    """One hand of poker that players play against each other."""

    winner: str | None
    """The seat that won the pot, or ``tie`` if several share it; null if no seat won it."""
    hands: tuple[Hand, ...]
    """The hands that were shown, the best first, then the community cards."""
    marks: tuple[str, ...]
    """How the pot went: ``split``, ``low``, ``no_low``, ``all_in``, ``side_pot``, ``no_showdown``,
    ``pot_stays``, ``blank``, ``false_opening``.
    """


class HousePokerOutcome(Outcome, frozen=True, tag="house-poker"):
    """One round of poker, pai gow or trijoker against the house or the holder of the bank; each box
    plays for itself.
    """

    hands: tuple[Hand, ...]
    """The hands that were shown, and the settlement of the bets on them."""
    marks: tuple[str, ...]
    """Special marks: ``dealer_qualifies``, ``dealer_not_qualified``."""


AnyOutcome = (
    RouletteOutcome
    | BouleOutcome
    | FortuneOutcome
    | CrapsOutcome
    | BaccaratOutcome
    | TrenteOutcome
    | BlackjackOutcome
    | CirclePokerOutcome
    | HousePokerOutcome
)


def hands(outcome: AnyOutcome) -> tuple[Hand, ...]:
    """The hands of an outcome; none where no cards are played."""
    match outcome:
        case RouletteOutcome() | BouleOutcome() | FortuneOutcome() | CrapsOutcome():
            return ()
    return outcome.hands
