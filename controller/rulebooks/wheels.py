"""The wheel games in one decree (roulette, boule and the wheel of fortune): the structs of their
tables in the rulebook.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from common.contract.commands import Role, VoidReason
from common.contract.events import Announcement
from controller.rulebooks.law import Law, LawDoubt


class WheelBook(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The decree's rules for the game of any wheel."""

    title: Announcement
    article: str
    limit_change: Literal["none", "upward", "any"]
    """Whether the minimum of an open table may change within a session."""
    last_rounds: int
    """Number of last balls announced before a limit change and before closing."""
    announcements: dict[str, Announcement]
    """Calls: ``bets_open last_call bets_closed void relaunch last_rounds``; one that the decree
    does not word is absent.
    """
    void: dict[VoidReason, Law]
    """Reasons that void a spin, and their laws."""
    void_by: tuple[Role, ...]
    """Who may void a spin."""
    void_alone: tuple[Role, ...] = ()
    """Roles that may do so only while no other of them is present."""
    laws: dict[str, Law]
    """The law behind each irregularity the game can report, by the irregularity's name."""
    doubts: dict[str, LawDoubt] = {}
    """By the table setting that decides it."""


class RouletteBet(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One kind of bet. ``pays``: payout to 1, as ``[numerator, denominator]``; ``limits``: the
    maximum stake as a multiple of the table minimum, one value per band that the decree offers.
    """

    pays: tuple[int, int]
    limits: tuple[int, ...]
    name: Announcement


class Roulette(WheelBook, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Roulette, French or American.

    Bets are named ``straight split street corner six_line column dozen double_column double_dozen
    simple``; the simple chances ``red black even odd pasa falta``. Numbers are integers: no decree
    here has a double zero.
    """

    limits_raised: bool = False
    """Whether the casino may raise the highest stakes above the bands of the bets."""
    pockets: int
    extra_black: tuple[int, ...]
    """Black though the sum of the digits is odd. (Even digit sums are black, the rest red, zero
    neither.)
    """
    extra_red: tuple[int, ...]
    """Red though the sum of the digits is even."""
    neighbours: dict[str, tuple[int, ...]]
    """Pockets whose two neighbours on each side are named by the decree, in any order: ``"0" = [3,
    15, 26, 32]``.
    """
    zero: Literal["half_or_prison", "half"]
    """What happens to simple chances on zero: the player chooses half or prison, or loses half."""
    bets: dict[str, RouletteBet]
    """By the name used here."""
    chances: dict[str, Announcement]
    """The decree's name of each simple chance, by the name used here."""
    zero_streets: tuple[tuple[int, ...], ...]
    """Bets that touch zero besides the splits: the trios 0-1-2 and 0-2-3, and 0-1-2-3 where the
    decree has it.
    """
    sectors: dict[str, tuple[int, ...]]
    """Announced sectors (``big_series third orphans``) and the numbers they cover; empty: the
    decree has no sectors.
    """
    settlement: tuple[str, ...]
    """The order in which winning bets are paid, after losing bets are collected: every bet by the
    name used here, with ``simple`` for the six simple chances.
    """
    simple_minimum_factor: int | None = None
    """Maximum ratio of the minimum on simple chances to the one on a single number; None: the
    decree does not say.
    """


class BouleBet(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One kind of bet at boule. ``pays``: payout to 1. ``limits``: range of the maximum stake, as
    multiples of the authorised minimum, for each player.
    """

    pays: tuple[int, int]
    limits: tuple[int, int]
    name: Announcement


class Boule(WheelBook, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Boule. Its bets are ``number`` and ``simple``; the simple chances are named as at
    roulette.
    """

    holes: int
    rows: int
    """Number of rows of holes."""
    numbers: int
    """The highest number; each from 1 to this one has equally many holes."""
    black: tuple[int, ...]
    red: tuple[int, ...]
    """The number that is neither black nor red belongs to no simple chance: lower numbers are
    falta, higher ones pasa.
    """
    minimum_factors: tuple[int, ...]
    """Allowed minimums of a cloth, as multiples of the authorised minimum."""
    bets: dict[str, BouleBet]
    chances: dict[str, Announcement]
    """The decree's name of each simple chance, by the name used here."""


class FortuneBet(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A bet on one symbol: ``cells`` with the symbol, and payout to 1, as a fraction."""

    cells: int
    pays: tuple[int, int]
    name: Announcement


class FortuneWheelBook(WheelBook, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The wheel of fortune. A symbol is a number, or ``joker``, ``joker_red``, ``joker_black``."""

    cells: int
    bets: dict[str, FortuneBet]
    """By symbol, as text."""
    apart: bool = False
    """Whether two cells of the same symbol may never be neighbours."""
    opposite: bool = False
    """Whether each cell has the same symbol as the opposite one."""
    sectors: int | None = None
    """Number of sectors of the wheel, if the decree counts the cells of each."""
    in_each_sector: dict[str, int] = {}
    """Number of cells with a symbol in each sector."""
    alternate: tuple[str, ...] = ()
    """Symbols in every other sector."""
    highest: int | None = None
    """The maximum bet as a multiple of the minimum, if the decree fixes it."""
