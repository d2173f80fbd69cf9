"""A rulebook: what one decree says about its games, as data.

A folder per decree in ``controller/rulebooks/``, and in it one TOML file per game beside
``decree.toml``.
"""

from __future__ import annotations

import difflib
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from controller.rulebooks import FOLDER
from controller.rulebooks.blackjack import Blackjack
from controller.rulebooks.chemin import Chemin
from controller.rulebooks.circle import Circle
from controller.rulebooks.common_poker import TexasHouse, Trijoker
from controller.rulebooks.craps import Craps
from controller.rulebooks.house_poker import HousePoker
from controller.rulebooks.law import Doubt as Doubt
from controller.rulebooks.law import Law as Law
from controller.rulebooks.pai_gow import PaiGow
from controller.rulebooks.punto_banca import PuntoBanca
from controller.rulebooks.trente import Trente
from controller.rulebooks.wheels import Bet as Bet
from controller.rulebooks.wheels import Boule, FortuneWheel
from controller.rulebooks.wheels import Roulette as Roulette

Decree = Literal["BAL05", "BAL09", "ARA02", "EUS96", "GAL07"]


class Rulebook(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One decree. Where a decree says that one game follows another except for what it says itself,
    its file does the same: ``follows = "roulette-french"`` takes over every key, and every table
    entry, that the game does not state itself.

    Where a decree says that one game follows another except for what it says itself, so does its
    file: ``follows = "roulette-french"`` takes over every key, and every entry of its tables, that
    the game does not state anew.
    """

    id: Decree
    title: str
    languages: tuple[str, ...]
    roulette_french: Roulette | None = msgspec.field(name="roulette-french", default=None)
    roulette_american: Roulette | None = msgspec.field(name="roulette-american", default=None)
    boule: Boule | None = None
    fortune_wheel: FortuneWheel | None = msgspec.field(name="fortune-wheel", default=None)
    trente_et_quarante: Trente | None = msgspec.field(name="trente-et-quarante", default=None)
    punto_banca: PuntoBanca | None = msgspec.field(name="punto-banca", default=None)
    chemin_de_fer: Chemin | None = msgspec.field(name="chemin-de-fer", default=None)
    baccarat_two_cloths: Chemin | None = msgspec.field(name="baccarat-two-cloths", default=None)
    blackjack: Blackjack | None = None
    blackjack_triple: Blackjack | None = msgspec.field(name="blackjack-triple", default=None)
    texas_holdem: Circle | None = msgspec.field(name="texas-holdem", default=None)
    omaha: Circle | None = None
    omaha_five: Circle | None = msgspec.field(name="omaha-five", default=None)
    omaha_hi_lo: Circle | None = msgspec.field(name="omaha-hi-lo", default=None)
    holdem_double: Circle | None = msgspec.field(name="holdem-double", default=None)
    synthetic_poker: Circle | None = msgspec.field(name="synthetic-poker", default=None)
    five_card_stud: Circle | None = msgspec.field(name="five-card-stud", default=None)
    seven_card_stud: Circle | None = msgspec.field(name="seven-card-stud", default=None)
    circle_draw: Circle | None = msgspec.field(name="circle-draw", default=None)
    craps: Craps | None = None
    poker_no_draw: HousePoker | None = msgspec.field(name="poker-no-draw", default=None)
    poker_draw_house: HousePoker | None = msgspec.field(name="poker-draw-house", default=None)
    three_card_poker: HousePoker | None = msgspec.field(name="three-card-poker", default=None)
    trijoker: Trijoker | None = None
    texas_house: TexasHouse | None = msgspec.field(name="texas-house", default=None)
    pai_gow: PaiGow | None = msgspec.field(name="pai-gow", default=None)


class Head(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What ``decree.toml`` says of a decree as a whole."""

    id: Decree
    title: str
    languages: tuple[str, ...]


@cache
def decrees() -> tuple[str, ...]:
    """The decrees that have a rulebook."""
    return tuple(sorted(page.parent.name for page in FOLDER.glob("*/decree.toml")))


@cache
def games_of(decree: str) -> frozenset[str]:
    """The games that have a file in the rulebook of a decree. Raises ``KeyError`` that names the
    known decrees.
    """
    return frozenset(page.stem for page in _folder(decree).glob("*.toml")) - {"decree"}


@cache
def head(decree: str) -> Head:
    """Title and languages of a decree. Raises ``KeyError`` that names the known decrees."""
    return msgspec.convert(_page(decree, "decree"), Head)


@cache
def chapter(decree: str, game: str) -> Any | None:
    """What the rulebook of a decree says about one game, of the type of its field in
    :class:`Rulebook`; None if the decree does not have the game. Raises ``KeyError`` that names the
    known decrees, ``ValueError`` for a bad file.

    Only the files of this game are read: those of a whole decree take twenty times as long.
    """
    if game not in games_of(decree):
        return None
    page = _page(decree, game)
    if "follows" in page:
        page = _over(_page(decree, page["follows"]), page)
    [kind] = [
        get_args(field.type)[0]
        for field in msgspec.structs.fields(Rulebook)
        if field.encode_name == game
    ]
    try:
        return msgspec.convert(page, kind)
    except ValueError as error:
        raise ValueError(f"{decree}: {game}.toml: {error}") from error


@cache
def rulebook(decree: str) -> Rulebook:
    """The whole rulebook of a decree. Raises ``KeyError`` that names the known ones, ``ValueError``
    for a bad file.
    """
    texts = {f"{game}.toml": _text(decree, game) for game in ("decree", *games_of(decree))}
    try:
        return read_rulebook(texts)
    except ValueError as error:
        raise ValueError(f"{decree}: {error}") from error


def read_rulebook(texts: dict[str, str]) -> Rulebook:
    """A rulebook from the texts of its files, by file name. Raises ``ValueError`` that names file
    and key.
    """
    pages = {name.removesuffix(".toml"): _decoded(name, text) for name, text in texts.items()}
    head = pages.pop("decree", {})
    for game, page in pages.items():
        if "follows" in page and page["follows"] not in pages:
            raise ValueError(
                f"{game}.toml: follows = {page['follows']!r} is not a game of this decree"
            )
    games = {
        game: _over(pages[page["follows"]], page) if "follows" in page else page
        for game, page in pages.items()
    }
    return msgspec.convert(head | games, Rulebook)


def _folder(decree: str) -> Path:
    known = decrees()
    if decree not in known:
        near = difflib.get_close_matches(decree.upper(), known, n=2, cutoff=0.65)
        what = f"did you mean {' or '.join(near)}?" if near else f"there are: {', '.join(known)}"
        raise KeyError(f"no decree {decree!r}; {what}")
    return FOLDER / decree


def _text(decree: str, page: str) -> str:
    return (_folder(decree) / f"{page}.toml").read_text(encoding="utf-8")


def _page(decree: str, page: str) -> dict[str, Any]:
    try:
        return _decoded(f"{page}.toml", _text(decree, page))
    except ValueError as error:
        raise ValueError(f"{decree}: {error}") from error


def _decoded(name: str, text: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = msgspec.toml.decode(text)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    return found


def _over(followed: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """The followed game's file, overridden by what this one states: tables entry by entry, all else
    whole.
    """
    return followed | {
        key: followed[key] | entry
        if isinstance(entry, dict) and isinstance(followed.get(key), dict)
        else entry
        for key, entry in own.items()
        if key != "follows"
    }
