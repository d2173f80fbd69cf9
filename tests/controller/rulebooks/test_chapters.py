"""A page of a rulebook that is read alone is the same as in the whole rulebook."""

from __future__ import annotations

from importlib import import_module

import msgspec
import pytest

from controller.games.games import GAMES
from controller.rulebooks.chapters import RULE_TYPES, DecreeHead, chapter, decrees, games_of, head
from controller.rulebooks.rulebook import Rulebook, rulebook


@pytest.mark.parametrize("decree", decrees())
def test_each_page_is_that_of_the_whole_rulebook(decree: str) -> None:
    whole = rulebook(decree)
    assert head(decree) == DecreeHead(whole.id, whole.title, whole.languages)
    pages = {game: getattr(whole, game.replace("-", "_")) for game in GAMES}
    assert {game: chapter(decree, game) for game in GAMES} == pages
    assert games_of(decree) == {game for game, page in pages.items() if page is not None}


def test_a_page_has_the_type_of_its_field_in_the_whole_rulebook() -> None:
    fields = {field.encode_name: field.type for field in msgspec.structs.fields(Rulebook)}
    for field in msgspec.structs.fields(DecreeHead):
        assert fields.pop(field.encode_name) == field.type
    assert fields.keys() == RULE_TYPES.keys() == GAMES.keys()
    for game, place in RULE_TYPES.items():
        module, name = place.split(":")
        kind = getattr(import_module(f"controller.rulebooks.{module}"), name)
        assert fields[game] == kind | None


def test_an_unknown_decree_is_refused() -> None:
    for ask in (head, games_of, lambda decree: chapter(decree, "boule")):
        with pytest.raises(KeyError, match="did you mean BAL09"):
            ask("BAL99")
    assert chapter("ARA02", "decree") is None
