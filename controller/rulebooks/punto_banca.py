"""Punto y banca, as one decree has it: the struct behind its table in the rulebook."""

from __future__ import annotations

from typing import Literal

import msgspec

from controller.contract.commands import Role, VoidReason
from controller.contract.events import Announcement
from controller.rulebooks.cards import ShoeRules, ThirdCards
from controller.rulebooks.law import Doubt, Law

TableKind = Literal["full", "mini", "midi"]


class PuntoBanca(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The game, at the full table and at the reduced ones."""

    title: Announcement
    article: str
    shoe: ShoeRules
    third: ThirdCards
    seats: dict[TableKind, int]
    """The most seated players, where the decree gives a number; the full table has one for each
    numbered department.
    """
    seat_13: bool
    """Whether the numbering may leave out 13."""
    face_up: tuple[TableKind, ...]
    """Tables for which the decree does not say that the first four cards are dealt face down."""
    commission: tuple[int, int]
    """What is deducted from winning bets on the bank, as a fraction."""
    commission_six: tuple[int, int] | None = None
    """The other modality: deducted where the bank wins with 6, and nothing else; None: the decree
    does not have it.
    """
    tie_pays: tuple[int, int]
    """What a bet on the tie wins, to one. All other bets may then be withdrawn."""
    tie_limit: tuple[int, int] | None = None
    """The highest bet on the tie as a fraction of the table's maximum; None: the decree does not
    say.
    """
    limits: tuple[int, ...]
    """The highest bet as a multiple of the table's minimum."""
    limits_are: Literal["choices", "range"]
    """Whether ``limits`` are the values there are, or the lowest and the highest."""
    last_rounds: int | None = None
    """How many last rounds are announced before closing; None: the decree does not say."""
    announcements: dict[str, Announcement]
    """Calls: ``bets_closed cards player_stands player_draws last_rounds``; ``...`` stands for the
    points.
    """
    void: dict[VoidReason, Law]
    """Reasons that may void a round, and their laws. No decree has a list for this game."""
    void_by: tuple[Role, ...]
    laws: dict[str, Law]
    """The law behind each irregularity that the game can report."""
    doubts: dict[str, Doubt] = {}
    """By the name of the table setting that decides it."""
