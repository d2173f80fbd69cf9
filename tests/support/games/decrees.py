"""The decrees and their games: every pair, its book, and cases of a test by the rules that they
prove.
"""

from __future__ import annotations

from typing import Any, TypeVar

import pytest

from controller.games.catalogue import catalogue, playable
from controller.rulebooks.rulebook import rulebook

B = TypeVar("B")
PAIRS = tuple((pair.game, pair.decree) for pair in catalogue() if playable(pair))
"""Every game under every decree that has it."""


def book_of(kind: type[B], game: str, decree: str) -> B:
    """A decree's book of a game, of this type."""
    book = getattr(rulebook(decree), game.replace("-", "_"))
    assert isinstance(book, kind)
    return book


def by_decree(*rules: str) -> list[Any]:
    """One case per decree, each with its rule; several rules of one decree are separated by a
    space.
    """
    return [
        pytest.param(ids.split("-")[0], marks=pytest.mark.rule(*ids.split()), id=ids)
        for ids in rules
    ]
