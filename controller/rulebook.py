"""A rulebook: what one decree says of the games it has, as data. One TOML file per decree in ``controller/rulebooks/``."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any, Literal

import msgspec

from controller.commands import Role, VoidReason
from controller.events import Announcement
from controller.law import Doubt as Doubt
from controller.law import Law as Law
from controller.rulebook_blackjack import Blackjack
from controller.rulebook_chemin import Chemin
from controller.rulebook_punto_banca import PuntoBanca
from controller.rulebook_trente import Trente

Decree = Literal["BAL05", "BAL09", "ARA02", "EUS96", "GAL07"]


class Bet(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One kind of bet. ``pays`` to 1, as a fraction ``[numerator, denominator]``; ``limits``: the highest stake as a
    multiple of the table minimum, one value per band that the decree offers.
    """

    pays: tuple[int, int]
    limits: tuple[int, ...]
    name: Announcement


class Roulette(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Roulette, French or American, as one decree has it.

    Bets are named ``straight split street corner six_line column dozen double_column double_dozen simple``; the simple
    chances ``red black even odd pasa falta``. Numbers are integers: no decree here has a double zero.
    """

    title: Announcement
    article: str
    pockets: int
    extra_black: tuple[int, ...]
    """Black though the sum of the digits is odd. (Even digit sums are black, the rest red, zero neither.)"""
    extra_red: tuple[int, ...]
    """Red though the sum of the digits is even."""
    neighbours: dict[str, tuple[int, ...]]
    """Pockets whose two neighbours on each side the decree names, in no order: ``"0" = [3, 15, 26, 32]``."""
    zero: Literal["half_or_prison", "half"]
    """What happens to simple chances on zero: the player chooses half or prison, or loses half."""
    bets: dict[str, Bet]
    """By our name."""
    chances: dict[str, Announcement]
    """What the decree calls each simple chance, by our name."""
    zero_streets: tuple[tuple[int, ...], ...]
    """Bets that touch zero besides the splits: the trios 0-1-2 and 0-2-3, and 0-1-2-3 where the decree has it."""
    sectors: dict[str, tuple[int, ...]]
    """Announced sectors (``big_series third orphans``) and the numbers they cover. Empty where the decree has none."""
    settlement: tuple[str, ...]
    """The order in which winning bets are paid, losers having been collected before: every bet by our name, with the six
    simple chances in the place of ``simple``.
    """
    simple_minimum_factor: int | None = None
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
    doubts: dict[str, Doubt] = {}
    """By the name of the table setting that decides it."""


class Rulebook(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One decree.

    Where a decree says that one game follows another except for what it says itself, so does the file: ``follows =
    "roulette-french"`` takes over every key, and every entry of its tables, that the game does not state anew.
    """

    id: Decree
    title: str
    languages: tuple[str, ...]
    roulette_french: Roulette | None = msgspec.field(name="roulette-french", default=None)
    roulette_american: Roulette | None = msgspec.field(name="roulette-american", default=None)
    trente_et_quarante: Trente | None = msgspec.field(name="trente-et-quarante", default=None)
    punto_banca: PuntoBanca | None = msgspec.field(name="punto-banca", default=None)
    chemin_de_fer: Chemin | None = msgspec.field(name="chemin-de-fer", default=None)
    baccarat_two_cloths: Chemin | None = msgspec.field(name="baccarat-two-cloths", default=None)
    blackjack: Blackjack | None = None
    blackjack_triple: Blackjack | None = msgspec.field(name="blackjack-triple", default=None)


@cache
def rulebook(decree: str) -> Rulebook:
    """The rulebook of a decree. Raises ``KeyError`` that names the known ones, ``ValueError`` for a bad file."""
    shelf = files("controller.rulebooks")
    known = sorted(book.name.removesuffix(".toml") for book in shelf.iterdir() if book.name.endswith(".toml"))
    if decree not in known:
        raise KeyError(f"no decree {decree!r}; there are: {', '.join(known)}")
    try:
        return read_rulebook((shelf / f"{decree}.toml").read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{decree}.toml: {error}") from error


def read_rulebook(text: str) -> Rulebook:
    """A rulebook from the text of its file. Raises ``ValueError`` that says what is wrong and at which key."""
    book = msgspec.toml.decode(text)
    for game in [key for key, entry in book.items() if isinstance(entry, dict) and "follows" in entry]:
        own = book[game]
        followed = own.pop("follows")
        if not isinstance(book.get(followed), dict):
            raise ValueError(f"{game} follows {followed!r}, which is no game of this file")
        book[game] = _over(book[followed], own)
    return msgspec.convert(book, Rulebook)


def _over(followed: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """What is followed, with what is stated anew laid over it: tables entry by entry, all else whole."""
    return followed | {
        key: followed[key] | entry if isinstance(entry, dict) and isinstance(followed.get(key), dict) else entry
        for key, entry in own.items()
    }
