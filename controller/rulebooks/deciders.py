"""The roles that decrees name for decisions: ``deciders.tsv`` has a line for each decree, game and
command, with the lines of the gazette and their text.

A game that follows another inherits its cells, except for its own. Without a cell, a default of the
program applies.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import msgspec

from common.contract.commands import Role
from controller.rulebooks import rows
from controller.rulebooks.chapters import followed


class Decider(msgspec.Struct, frozen=True):
    """The roles that a decree names for a command, or for one kind of it."""

    decree: str
    game: str
    command: str
    """The command's name, such as ``limit.announce``."""
    of: str
    """The reason or kind of decision; empty: the whole command."""
    roles: tuple[Role, ...]
    """Roles that may give it. A director's delegate is enrolled with the role ``director``."""
    lines: str
    """Line numbers in our copy of the decree."""
    words: str
    """The words that name the person."""


@cache
def deciders() -> tuple[Decider, ...]:
    """Return all cells in the order of the file. Raises ``ValueError`` for an invalid line."""
    return tuple(
        msgspec.convert({**row, "roles": row["roles"].split(", ")}, Decider)
        for row in rows("deciders.tsv", Decider.__struct_fields__)
    )


@cache
def deciders_of(decree: str, game: str) -> Mapping[str, Decider]:
    """Return the cells of one game, by command and kind: ``round.void inspector``."""
    followed_game = followed(decree, game)
    cells = dict(deciders_of(decree, followed_game)) if followed_game else {}
    for cell in deciders():
        if (cell.decree, cell.game) == (decree, game):
            cells[f"{cell.command} {cell.of}".strip()] = cell
    return cells
