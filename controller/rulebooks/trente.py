"""Trente et quarante in one decree: the struct of its table in the rulebook."""

from __future__ import annotations

import msgspec

from common.contract.commands import Role, VoidReason
from common.contract.events import Announcement
from controller.rulebooks.cards import ShoeRules
from controller.rulebooks.law import Law, LawDoubt


class Trente(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The game. Its chances are named ``red black colour inverse``; all of them pay even."""

    title: Announcement
    article: str
    shoe: ShoeRules
    chances: dict[str, Announcement]
    """The decree's name of each chance, by the name used here."""
    settlement: tuple[str, ...]
    """The order in which chances are paid, after losing bets are collected."""
    insurance: tuple[int, int]
    """Price of insuring a bet against 31-31, as a fraction of the bet."""
    insurance_law: Law
    """The law of the insurance."""
    limits: tuple[int, ...]
    """The maximum bet as a multiple of the table's minimum, one for each choice that the decree
    offers.
    """
    last_rounds: int | None = None
    """Number of last rounds announced before closing; None: the decree does not say."""
    announcements: dict[str, Announcement]
    """Calls: ``colour_wins colour_loses last_rounds``; one that the decree does not word is
    absent.
    """
    void: dict[VoidReason, Law]
    """Reasons that void a round, and their laws."""
    void_by: tuple[Role, ...]
    laws: dict[str, Law]
    """The law behind each irregularity that the game can report."""
    doubts: dict[str, LawDoubt] = {}
    """By the table setting that decides it."""
