"""Phases of a dealt table: one enumeration, and one table of what each phase does with a card.

A phase is never stored. ``DealtTurn.stage`` derives it from what the table remembers, and
``DealtTurn.phase`` is ``decision`` instead while something stops the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class Phase(StrEnum):
    """The retained state's ``phase``."""

    CLOSED = "closed"
    NO_SHOE = "no_shoe"
    BURNING = "burning"
    WAITING = "waiting"
    """For bets."""
    SHOE_OVER = "shoe_over"
    BETS_OPEN = "bets_open"
    ANTES = "antes"
    """The players put in the antes."""
    DEALING = "dealing"
    FIRST_BET = "first_bet"
    """A player may withdraw the first bet; then the second."""
    SECOND_BET = "second_bet"
    WORDS = "words"
    """Each hand decides whether it draws; then the requested cards are dealt."""
    SHOWING = "showing"
    """All cards must be turned."""
    PLAYERS = "players"
    """Each player decides for the hand."""
    DICE = "dice"
    """Dice decide where the deal begins."""
    SETTING = "setting"
    """Each player sets the hand."""
    DECISIONS = "decisions"
    """Each player goes or passes."""
    DISCARDS = "discards"
    DRAWING = "drawing"
    """The requested cards are dealt."""
    DEALER = "dealer"
    """The bank's hand is shown."""
    BETTING = "betting"
    """The players bet against each other."""
    SHOWDOWN = "showdown"
    """The hands are shown."""
    DECISION = "decision"
    """A person must decide."""


class PhaseInputs(NamedTuple):
    """A phase's treatment of a card, and its requests. Guards decide about commands
    (``dealt.guards``).
    """

    card: str | None = None
    """Why a card that comes now stops the table; None: it may go where the next one belongs."""
    lacks: tuple[str, ...] = ()
    """A request without a stop: an input that the phase cannot end without."""


DECK = ("deck.check",)
"""The deal cannot begin before the deck is right and the shuffler ready."""
UNREAD = ("cards.show",)
"""A face-up card was not read."""
FACE_UP = ("hand.act", "cards.turn", "cards.show")
"""Circle poker: the next hand stays or folds, or shows its cards."""
HANDS = ("cards.show", "round.confirm", "round.void")
"""Hands of unknown cards are on the table."""

PHASES: Mapping[Phase, PhaseInputs] = {
    Phase.CLOSED: PhaseInputs(
        "card_while_closed",
        ("card.decide",),  # circle poker: the deck is shuffled again before the table opens
    ),
    Phase.NO_SHOE: PhaseInputs("shoe_missing"),
    Phase.WAITING: PhaseInputs("card_out_of_round", DECK),
    Phase.SHOE_OVER: PhaseInputs("shoe_over"),
    Phase.BETS_OPEN: PhaseInputs("card_before_close", DECK),
    Phase.ANTES: PhaseInputs(None, UNREAD),
    Phase.BETTING: PhaseInputs("deal_premature", UNREAD),
    Phase.DEALING: PhaseInputs(None, FACE_UP),
    **dict.fromkeys(
        (Phase.BURNING, Phase.DRAWING, Phase.WORDS, Phase.SHOWING, Phase.DECISION), PhaseInputs()
    ),
    **dict.fromkeys(
        (
            *(Phase.FIRST_BET, Phase.SECOND_BET, Phase.PLAYERS),
            *(Phase.DICE, Phase.SETTING, Phase.DECISIONS, Phase.DISCARDS),
        ),
        PhaseInputs("card_extra"),
    ),
    Phase.DEALER: PhaseInputs("card_extra", HANDS),
    Phase.SHOWDOWN: PhaseInputs("card_extra", (*HANDS, *FACE_UP)),
}
"""The treatment of a card in each phase. ``decision`` overlays the others."""
