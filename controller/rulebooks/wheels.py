"""The games of a wheel as one decree has them, roulette, boule and the wheel of fortune: the
structs behind their tables.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from controller.contract.commands import Role, VoidReason
from controller.contract.events import Announcement
from controller.rulebooks.law import Doubt, Law


class WheelBook(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the decree says for the game of any wheel."""

    title: Announcement
    article: str
    limit_change: Literal["none", "upward", "any"]
    """Whether the minimum of an open table may change within a session."""
    last_rounds: int
    """How many last balls are announced before a limit change and before closing."""
    announcements: dict[str, Announcement]
    """Calls: ``bets_open last_call bets_closed void relaunch last_rounds``; one that the decree
    does not word is absent.
    """
    void: dict[VoidReason, Law]
    """What voids a spin, and by which law."""
    void_by: tuple[Role, ...]
    """Who may void a spin."""
    void_alone: tuple[Role, ...] = ()
    """Those of them who may do so only while none of the others is there."""
    laws: dict[str, Law]
    """The law behind each irregularity the game can report, by the irregularity's name."""
    doubts: dict[str, Doubt] = {}
    """By the name of the table setting that decides it."""


class Bet(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One kind of bet. ``pays`` to 1, as a fraction ``[numerator, denominator]``; ``limits``: the
    highest stake as a multiple of the table minimum, one value per band that the decree offers.
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
    """Pockets whose two neighbours on each side the decree names, in no order: ``"0" = [3, 15, 26,
    32]``.
    """
    zero: Literal["half_or_prison", "half"]
    """What happens to simple chances on zero: the player chooses half or prison, or loses half."""
    bets: dict[str, Bet]
    """By our name."""
    chances: dict[str, Announcement]
    """The decree's name of each simple chance, by ours."""
    zero_streets: tuple[tuple[int, ...], ...]
    """Bets that touch zero besides the splits: the trios 0-1-2 and 0-2-3, and 0-1-2-3 where the
    decree has it.
    """
    sectors: dict[str, tuple[int, ...]]
    """Announced sectors (``big_series third orphans``) and the numbers they cover. Empty where the
    decree has none.
    """
    settlement: tuple[str, ...]
    """The order in which winning bets are paid, losers having been collected before: every bet by
    our name, with the six simple chances in the place of ``simple``.
    """
    simple_minimum_factor: int | None = None
    """The minimum on simple chances may be up to this many times the one on a single number; None:
    the decree does not say.
    """


class BouleBet(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One kind of bet at boule. ``pays`` to 1. ``limits``: what the highest stake may be fixed at,
    from and to, as multiples of the authorised minimum; it holds for each player by himself.
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
    """The number of rows of holes."""
    numbers: int
    """The highest number; each from 1 to this one has equally many holes."""
    black: tuple[int, ...]
    red: tuple[int, ...]
    """The one number that is neither belongs to no simple chance: below it is falta,
    above it pasa.
    """
    minimum_factors: tuple[int, ...]
    """What the minimum of a cloth may be, as multiples of the authorised one."""
    bets: dict[str, BouleBet]
    chances: dict[str, Announcement]
    """The decree's name of each simple chance, by ours."""


class FortuneBet(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A bet on one symbol: how many ``cells`` bear it, and what it ``pays`` to 1, as a fraction."""

    cells: int
    pays: tuple[int, int]
    name: Announcement


class FortuneWheel(WheelBook, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The wheel of fortune. A symbol is a number, or ``joker``, ``joker_red``, ``joker_black``."""

    cells: int
    bets: dict[str, FortuneBet]
    """By symbol, as text."""
    apart: bool = False
    """Whether two cells of the same symbol may never be neighbours."""
    opposite: bool = False
    """Whether each cell has the same symbol as the opposite one."""
    sectors: int | None = None
    """The number of sectors of the wheel, where the decree counts the cells of each."""
    in_each_sector: dict[str, int] = {}
    """How many cells of a symbol each sector has."""
    alternate: tuple[str, ...] = ()
    """Symbols in every other sector."""
    highest: int | None = None
    """The highest bet as a multiple of the lowest, where the decree fixes it."""
