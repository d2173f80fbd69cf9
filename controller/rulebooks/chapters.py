"""The rules of one game in one decree. Only the files of that game are read, and only its type is
imported: loading a whole decree takes many times as long (controller/rulebooks/rulebook.py).
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import msgspec

from controller.rulebooks import FOLDER

Decree = Literal["BAL05", "BAL09", "ARA02", "EUS96", "GAL07"]

RULE_TYPES: Mapping[str, str] = {
    "roulette-french": "wheels:Roulette",
    "roulette-american": "wheels:Roulette",
    "boule": "wheels:Boule",
    "fortune-wheel": "wheels:FortuneWheelBook",
    "trente-et-quarante": "trente:Trente",
    "punto-banca": "punto_banca:PuntoBanca",
    "chemin-de-fer": "chemin:Chemin",
    "baccarat-two-cloths": "chemin:Chemin",
    "blackjack": "blackjack:Blackjack",
    "blackjack-triple": "blackjack:Blackjack",
    "texas-holdem": "circle:Circle",
    "omaha": "circle:Circle",
    "omaha-five": "circle:Circle",
    "omaha-hi-lo": "circle:Circle",
    "holdem-double": "circle:Circle",
    "synthetic-poker": "circle:Circle",
    "five-card-stud": "circle:Circle",
    "seven-card-stud": "circle:Circle",
    "circle-draw": "circle:Circle",
    "craps": "craps:Craps",
    "poker-no-draw": "house_poker:HousePoker",
    "poker-draw-house": "house_poker:HousePoker",
    "three-card-poker": "house_poker:HousePoker",
    "trijoker": "common_poker:Trijoker",
    "texas-house": "common_poker:TexasHouse",
    "pai-gow": "pai_gow:PaiGow",
}
"""Game -> the type of its page, as ``"module:name"`` in this package."""


class DecreeHead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of ``decree.toml``, about the decree as a whole."""

    id: Decree
    title: str
    languages: tuple[str, ...]


@cache
def decrees() -> tuple[str, ...]:
    """Return the decrees that have a rulebook."""
    return tuple(sorted(page.parent.name for page in FOLDER.glob("*/decree.toml")))


@cache
def games_of(decree: str) -> frozenset[str]:
    """Return the games with a file in the rulebook of a decree. Raises ``KeyError`` with the known
    decrees.
    """
    return frozenset(page.stem for page in _folder(decree).glob("*.toml")) - {"decree"}


@cache
def head(decree: str) -> DecreeHead:
    """Return title and languages of a decree. Raises ``KeyError`` with the known decrees."""
    return msgspec.convert(_page(decree, "decree"), DecreeHead)


@cache
def chapter(decree: str, game: str) -> Any | None:
    """Return the rules of one game in a decree, of its type in :data:`RULE_TYPES`; None if the
    decree does not have the game. Raises ``KeyError`` with the known decrees, and ``ValueError``
    for an invalid file.
    """
    if game not in games_of(decree):
        return None
    page = _page(decree, game)
    if "follows" in page:
        page = over(_page(decree, page["follows"]), page)
    module, name = RULE_TYPES[game].split(":")
    kind: type[msgspec.Struct] = getattr(import_module(f"controller.rulebooks.{module}"), name)
    try:
        return msgspec.convert(page, kind)
    except ValueError as error:
        raise ValueError(f"{decree}: {game}.toml: {error}") from error


@cache
def followed(decree: str, game: str) -> str | None:
    """Return the game that a game follows, except for its own rules; None if it follows none."""
    return _page(decree, game).get("follows")


def _folder(decree: str) -> Path:
    known_decrees = decrees()
    if decree not in known_decrees:
        near = difflib.get_close_matches(decree.upper(), known_decrees, n=2, cutoff=0.65)
        hint = (
            f"did you mean {' or '.join(near)}?"
            if near
            else f"there are: {', '.join(known_decrees)}"
        )
        raise KeyError(f"no decree {decree!r}; {hint}")
    return FOLDER / decree


def text_of(decree: str, page: str) -> str:
    """Return the text of one file of a rulebook. Raises ``KeyError`` with the known decrees."""
    return (_folder(decree) / f"{page}.toml").read_text(encoding="utf-8")


def _page(decree: str, page: str) -> dict[str, Any]:
    try:
        return decoded(f"{page}.toml", text_of(decree, page))
    except ValueError as error:
        raise ValueError(f"{decree}: {error}") from error


def decoded(name: str, text: str) -> dict[str, Any]:
    """Parse a file. Raises ``ValueError`` with its name."""
    try:
        content: dict[str, Any] = msgspec.toml.decode(text)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    return content


def over(followed: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Return the followed game's file with the game's own entries: tables are merged by entry, all
    other values are replaced.
    """
    return followed | {
        key: followed[key] | entry
        if isinstance(entry, dict) and isinstance(followed.get(key), dict)
        else entry
        for key, entry in own.items()
        if key != "follows"
    }
