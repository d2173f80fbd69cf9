"""Who may decide, where a decree says so: ``deciders.tsv`` has a line for each decree, game and
command, with the lines of the gazette and the words that print it.

A game that follows another follows it here too, but for a cell of its own. What has no cell is our
default.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import msgspec

from controller.contract.commands import Role
from controller.rulebooks import rows
from controller.rulebooks.chapters import followed


class Decider(msgspec.Struct, frozen=True):
    """The roles that a decree names for a command, or for one kind of it."""

    decree: str
    game: str
    command: str
    """The command's name, such as ``limit.announce``."""
    of: str
    """The reason or the kind of decision that is meant; empty: the whole command."""
    roles: tuple[Role, ...]
    """Who may give it. A director's delegate is enrolled with the role ``director``."""
    lines: str
    """Its line numbers in the copy of the decree that we read."""
    words: str
    """The words that name the person."""


@cache
def deciders() -> tuple[Decider, ...]:
    """All cells, in the order of the file. Raises ``ValueError`` for a bad line."""
    return tuple(
        msgspec.convert({**row, "roles": row["roles"].split(", ")}, Decider)
        for row in rows("deciders.tsv", Decider.__struct_fields__)
    )


@cache
def deciders_of(decree: str, game: str) -> Mapping[str, Decider]:
    """The cells of one game, by command and kind: ``round.void inspector``."""
    other = followed(decree, game)
    found = dict(deciders_of(decree, other)) if other else {}
    for cell in deciders():
        if (cell.decree, cell.game) == (decree, game):
            found[f"{cell.command} {cell.of}".strip()] = cell
    return found
