"""A copy of ``cards.turn`` that arrives late turns no card that came meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from common.contract.commands import CardsTurn
from common.contract.events import CardTurned, RoundResult
from common.contract.refusals import RejectedError
from controller.games.dealt.guards import cards_as_seen
from controller.games.games import make_game
from controller.games.guards import FieldCheck
from tests.support.games.decrees import PAIRS
from tests.support.games.play import of_kind, only
from tests.support.games.punto_banca_play import Play


def test_a_copy_turns_no_card_that_came_since() -> None:
    play = Play("ARA02")
    play.open()
    play.bets()
    play.cards("2h 3c 3s 4d")  # five and seven: a third card for the player
    assert len(of_kind(play.send("cards.turn", round=1, count=4), CardTurned)) == 4
    play.cards("9c")
    with pytest.raises(RejectedError, match="4 cards were turned, but 5 lie there now"):
        play.send("cards.turn", round=1, count=4)
    only(play.send("cards.turn", who="player", round=1, count=3), RoundResult)


def test_a_copy_turns_no_card_of_the_next_round() -> None:
    play = Play("ARA02")
    play.open()
    play.bets()
    play.cards("4h 3c 5s 4d")
    only(play.send("cards.turn", round=1, count=4), RoundResult)
    play.bets()
    play.cards("4c 3d 5h 4s")
    with pytest.raises(RejectedError, match="round 1 is not in progress"):
        play.send("cards.turn", round=1, count=4)


@pytest.mark.parametrize(("game", "decree"), PAIRS)
def test_each_game_that_turns_cards_looks_which(game: str, decree: str) -> None:
    made: Any = make_game(game, decree, {})
    row = made.inputs.commands.get(CardsTurn)
    if row is not None and row.apply is not None:
        assert FieldCheck(cards_as_seen) in row.guards
