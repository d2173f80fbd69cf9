"""Punto y banca in one decree: the struct of its table in the rulebook."""

from __future__ import annotations

from typing import Literal

import msgspec

from common.contract.commands import Role, VoidReason
from common.contract.events import Announcement
from controller.rulebooks.cards import ShoeRules, ThirdCards
from controller.rulebooks.law import Law, LawDoubt

TableKind = Literal["full", "mini", "midi"]


class PuntoBanca(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The game, at the full table and at the reduced ones."""

    title: Announcement
    article: str
    shoe: ShoeRules
    third: ThirdCards
    seats: dict[TableKind, int]
    """Maximum number of seated players, if the decree gives one; the full table has one for each
    numbered department.
    """
    seat_13: bool
    """Whether the number 13 may be left out."""
    face_up: tuple[TableKind, ...]
    """Tables where the decree does not require the first four cards to be dealt face down."""
    commission: tuple[int, int]
    """Deduction from winning bets on the bank, as a fraction."""
    commission_six: tuple[int, int] | None = None
    """The other modality: deduction if the bank wins with 6, and no other deduction; None: the
    decree does not have it.
    """
    tie_pays: tuple[int, int]
    """Payout of a bet on the tie to 1. All other bets may then be withdrawn."""
    tie_limit: tuple[int, int] | None = None
    """The maximum bet on the tie as a fraction of the table's maximum; None: the decree does not
    say.
    """
    limits: tuple[int, ...]
    """The maximum bet as a multiple of the table's minimum."""
    limits_are: Literal["choices", "range"]
    """Whether ``limits`` are the allowed values, or the lowest and the highest."""
    last_rounds: int | None = None
    """Number of last rounds announced before closing; None: the decree does not say."""
    announcements: dict[str, Announcement]
    """Calls: ``bets_closed cards player_stands player_draws last_rounds``; ``...`` stands for the
    points.
    """
    void: dict[VoidReason, Law]
    """Reasons that may void a round, and their laws. No decree has a list for this game."""
    void_by: tuple[Role, ...]
    laws: dict[str, Law]
    """The law behind each irregularity that the game can report."""
    doubts: dict[str, LawDoubt] = {}
    """By the table setting that decides it."""
