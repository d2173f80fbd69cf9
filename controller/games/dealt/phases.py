"""Phases of a dealt table: one enumeration, and one table of the inputs that each phase accepts.

A phase is never stored. ``DealtTurn.stage`` derives it from what the table remembers, and
``DealtTurn.phase`` is ``decision`` instead while something stops the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from controller.contract.commands import (
    BetPlace,
    BetsClose,
    BetsOpen,
    BetWithdraw,
    CardsTurn,
    Command,
    LastRoundsAnnounce,
    SessionClose,
    SessionOpen,
    ShoeEnd,
    ShoeStart,
)


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


Refuses = Mapping[type[Command], str]
"""Commands that are refused, and the refusal's key."""


class PhaseInputs(NamedTuple):
    """A phase's treatment of inputs. The game itself decides about all others."""

    card: str | None = None
    """Why a card that comes now stops the table; None: it may go where the next one belongs."""
    refuses: Refuses = MappingProxyType({})
    lacks: tuple[str, ...] = ()
    """A request without a stop: an input that the phase cannot end without."""


BETWEEN: Refuses = {SessionOpen: "session_already_open", BetsClose: "bets_not_open"}
IN_ROUND: Refuses = {
    SessionOpen: "session_already_open",
    ShoeStart: "round_in_progress",
    ShoeEnd: "round_in_progress",
    BetsOpen: "round_in_progress",
}

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
        dict.fromkeys(
            (
                *(SessionClose, ShoeStart, ShoeEnd, BetsOpen, BetsClose, BetPlace, BetWithdraw),
                *(CardsTurn, LastRoundsAnnounce),
            ),
            "no_session",
        ),
        ("card.decide",),  # circle poker: the deck is shuffled again before the table opens
    ),
    Phase.NO_SHOE: PhaseInputs(
        "shoe_missing", {**BETWEEN, ShoeEnd: "no_shoe", BetsOpen: "no_shoe"}
    ),
    Phase.BURNING: PhaseInputs(None, {**BETWEEN, BetsOpen: "cards_not_burned"}),
    Phase.WAITING: PhaseInputs("card_out_of_round", BETWEEN, DECK),
    Phase.SHOE_OVER: PhaseInputs("shoe_over", {**BETWEEN, BetsOpen: "cut_card_came"}),
    Phase.BETS_OPEN: PhaseInputs("card_before_close", IN_ROUND, DECK),
    Phase.ANTES: PhaseInputs(None, IN_ROUND, UNREAD),
    Phase.BETTING: PhaseInputs("deal_premature", {**IN_ROUND, BetsClose: "bets_not_open"}, UNREAD),
    Phase.DEALING: PhaseInputs(None, {**IN_ROUND, BetsClose: "bets_not_open"}, FACE_UP),
    **dict.fromkeys(
        (Phase.DRAWING, Phase.WORDS, Phase.SHOWING),
        PhaseInputs(None, {**IN_ROUND, BetsClose: "bets_not_open"}),
    ),
    **dict.fromkeys(
        (
            *(Phase.FIRST_BET, Phase.SECOND_BET, Phase.PLAYERS),
            *(Phase.DICE, Phase.SETTING, Phase.DECISIONS, Phase.DISCARDS),
        ),
        PhaseInputs("card_extra", {**IN_ROUND, BetsClose: "bets_not_open"}),
    ),
    Phase.DEALER: PhaseInputs("card_extra", {**IN_ROUND, BetsClose: "bets_not_open"}, HANDS),
    Phase.SHOWDOWN: PhaseInputs(
        "card_extra", {**IN_ROUND, BetsClose: "bets_not_open"}, (*HANDS, *FACE_UP)
    ),
    Phase.DECISION: PhaseInputs(None, {BetsOpen: "table_waits_for"}),
}
"""The inputs of each phase. ``decision`` overlays the others: it refuses commands that the stop
does not ask for, with the stop's own key.
"""
