"""A rulebook: what one decree says of the games it has, as data. One TOML file per decree in ``controller/rulebooks/``."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec

from controller.commands import Role, VoidReason
from controller.events import Announcement

Decree = Literal["BAL05", "BAL09", "ARA02", "EUS96", "GAL07"]


class Law(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a rule stands: its number in ``rules.tsv`` and the place in the decree, as an inspector would cite it."""

    rule: str
    article: str


class Doubt(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where the law is silent or ambiguous: the question, the choices, what we do by default and why."""

    question: str
    choices: tuple[str, ...]
    default: str
    why: str
    lines: str
    """Where the digest shows it, e.g. ``L298-303``."""


class Bet(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One kind of bet. ``pays`` to 1, as a fraction ``[numerator, denominator]``; ``limits``: the highest stake as a
    multiple of the table minimum, one value per band that the decree offers.
    """

    pays: tuple[int, int]
    limits: tuple[int, ...]
    name: Announcement


class Roulette(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Roulette, French or American, as one decree has it."""

    title: Announcement
    article: str
    pockets: int
    extra_black: tuple[int, ...]
    """Black though the sum of the digits is odd. (Even digit sums are black, the rest red, zero neither.)"""
    extra_red: tuple[int, ...]
    """Red though the sum of the digits is even."""
    neighbours: dict[str, tuple[int, ...]]
    """Pockets whose two neighbours on each side the decree names: ``"0" = [3, 26, 15, 32]``. Empty where it names none."""
    zero: Literal["half_or_prison", "half"]
    """What happens to simple chances on zero: the player chooses half or prison, or loses half."""
    bets: dict[str, Bet]
    """By our name: straight split street corner six_line column dozen double_column double_dozen simple."""
    zero_streets: tuple[tuple[int, ...], ...]
    """Bets that touch zero besides the splits: the trios 0-1-2 and 0-2-3, and 0-1-2-3 where the decree has it."""
    sectors: dict[str, tuple[int, ...]]
    """Announced sectors (``big_series third orphans``) and the numbers they cover. Empty where the decree has none."""
    settlement: tuple[str, ...]
    """The order in which winning bets are paid, losers having been collected before."""
    simple_minimum_factor: int | None
    """The minimum on simple chances may be up to this many times the one on a single number; None: not said."""
    limit_change: Literal["none", "upward", "any"]
    """Whether the minimum of an open table may change within a session."""
    last_rounds: int
    """How many last balls are announced before a limit change and before closing."""
    announcements: dict[str, Announcement]
    """What is called: ``bets_open bets_closed void relaunch last_rounds``; a call that the decree does not word is absent."""
    void: dict[VoidReason, Law]
    """What makes a spin null, and where that stands."""
    void_by: tuple[Role, ...]
    """Who may declare a spin null."""
    laws: dict[str, Law]
    """The law behind each irregularity the game can report, by the irregularity's name."""
    doubts: dict[str, Doubt]
    """By the name of the table setting that decides it."""


class Rulebook(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One decree."""

    id: Decree
    title: str
    languages: tuple[str, ...]
    roulette_french: Roulette | None = msgspec.field(name="roulette-french", default=None)
    roulette_american: Roulette | None = msgspec.field(name="roulette-american", default=None)


@cache
def rulebook(decree: str) -> Rulebook:
    """The rulebook of a decree. Raises ``KeyError`` that names the known ones, ``ValueError`` for a bad file."""
    shelf = files("controller.rulebooks")
    book = shelf / f"{decree}.toml"
    if not book.is_file():
        known = sorted(f.name.removesuffix(".toml") for f in shelf.iterdir() if f.name.endswith(".toml"))
        raise KeyError(f"no decree {decree!r}; there are: {', '.join(known)}")
    try:
        return msgspec.toml.decode(book.read_bytes(), type=Rulebook)
    except msgspec.DecodeError as error:
        raise ValueError(f"{book.name}: {error}") from error
