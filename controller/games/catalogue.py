"""The catalogue: the games of each decree with their numbers and names, and whether they can be
played.
"""

from __future__ import annotations

from functools import cache

import msgspec

from controller.games.games import GAMES
from controller.rulebooks import rows
from controller.rulebooks.chapters import decrees, games_of


class CatalogueEntry(msgspec.Struct, frozen=True):
    """One game under one decree: the decree's number and name for it, and this software's id."""

    decree: str
    number: str
    game: str
    name: str


@cache
def catalogue() -> tuple[CatalogueEntry, ...]:
    """Every pair of a decree and one of its games, in the decree's order."""
    return tuple(
        CatalogueEntry(**row) for row in rows("games.tsv", tuple(CatalogueEntry.__struct_fields__))
    )


def playable(pair: CatalogueEntry) -> bool:
    """Whether a table can be opened with it: the game exists and the decree's rulebook holds its
    rules.
    """
    return pair.game in GAMES and pair.decree in decrees() and pair.game in games_of(pair.decree)
