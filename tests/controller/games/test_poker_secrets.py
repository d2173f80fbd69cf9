"""Unseen cards that a person reports at a table of poker are confidential, whatever the field."""

from __future__ import annotations

import pytest

from common.contract.commands import CardsShow
from common.contract.notation import Input
from controller.games.games import make_game
from tests.support.games.play import confidential


def shown(*cards: str, low: tuple[str, ...] = ()) -> Input:
    return CardsShow(at=1.0, by="M. Lasa", role="croupier", who="box:1", cards=cards, low=low)


@pytest.mark.parametrize("game", ["poker-no-draw", "three-card-poker", "texas-holdem", "pai-gow"])
def test_cards_of_a_low_hand_are_as_confidential_as_the_others(game: str) -> None:
    table = make_game(game, "EUS96", {})
    assert not confidential(table, table.begin(), shown())
    assert confidential(table, table.begin(), shown("As"))
    assert confidential(table, table.begin(), shown(low=("As",)))
