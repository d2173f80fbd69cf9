"""The settings of one table of punto y banca, and the irregularities that the game names."""

from __future__ import annotations

from typing import Literal

import msgspec

from controller.games import shoe
from controller.games.coups.settings import CoupSettings
from controller.games.stakes import Highest
from controller.rulebooks.punto_banca import TableKind


class PuntoBancaSettings(CoupSettings, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table's settings. A rulebook's ``doubts`` may state another default for any of them; a site
    has the last word.
    """

    table: TableKind = "full"
    """The full table, or one of the reduced ones."""
    dealt: Literal["face_down", "face_up"] = "face_down"
    """Whether the first four cards are dealt face up or face down."""
    turn: Literal["command", "when_complete"] = "command"
    """When they are turned face up: when a person sends ``cards.turn``, or as soon as the fourth
    has come. Only the first never publishes a card before the table has seen it.
    """
    third_card: Literal["face_down", "face_up"] = "face_down"
    """Whether a third card is dealt face up or face down."""
    burn_card: Literal["apart", "within"] = "apart"
    """Whether the card that says how many to burn is one of them."""
    cut_first: Literal["play", "end"] = "play"
    """The cut card is the first to come after the bets close: the round is played, or the shoe is
    over before it.
    """
    witness: Literal["compared", "awaited"] = "compared"
    """The shoe's own verdict: compared when it comes, or awaited before the result."""
    modality: Literal["commission", "half_on_six"] = "commission"
    """The deduction if the bank wins: the commission, or one half if it wins with 6."""
    highest: Highest = msgspec.field(default_factory=dict)
    """The highest stakes that the authorisation fixes: ``hands tie``."""


LAWS = (
    *shoe.LAWS,
    "shoe_unnumbered",
    "shoe_missing",
    "shoe_over",
    "shoe_reset",
    "burn",
    "card_before_close",
    "card_before_turn",
    "card_after_end",
    "card_out_of_round",
    "card_misplaced",
    "card_unsure",
    "card_exposed",
    "overdraw",
    "witnesses_disagree",
    "silence",
    "bet_after_close",
    "bet_limit",
    "bet_minimum",
)
"""The laws that the game cites: a rulebook has each of them."""
