"""A shuffler that needs a person, at the games that boxes play from one deck: no deal begins before
a person has dealt with it.
"""

from __future__ import annotations

import pytest

from common.contract.events import AlertCleared, BetsClosed
from common.contract.refusals import RejectedError
from common.readings import ShufflerState, ShufflerStateName
from tests.support.for_each import for_each
from tests.support.games.banked_play import PAIRS, Play
from tests.support.games.play import of_kind


def opened(game: str, decree: str, state: ShufflerStateName) -> Play:
    """Bets are open, and the shuffler reports that it needs a person."""
    play = Play(game, decree)
    play.open(1)
    play.take(ShufflerState(at=1.0, device="shuffler", state=state))
    play.send("bets.open", "croupier")
    with pytest.raises(
        RejectedError,
        match=f"the shuffler reports {state}; clear it, or check the deck and send",
    ):
        play.send("bets.close", "croupier")
    play.again()
    return play


@for_each(("game", "decree"), PAIRS)
@for_each("state", ["jam", "door_open", "count_wrong", "needs_service"])
def test_bets_close_when_it_is_ready(game: str, decree: str, state: ShufflerStateName) -> None:
    play = opened(game, decree, state)
    assert [
        event.alert
        for event in of_kind(
            play.take(ShufflerState(at=9.0, device="shuffler", state="ready")), AlertCleared
        )
    ]
    assert of_kind(play.send("bets.close", "croupier"), BetsClosed)


@pytest.mark.parametrize(("game", "decree"), PAIRS)
def test_bets_close_when_the_deck_was_found_right(game: str, decree: str) -> None:
    play = opened(game, decree, "jam")
    turn = play.game.turn(play.state)
    whole = turn.banked.counted(turn)
    play.send("deck.check", cards=whole - 1)
    with pytest.raises(RejectedError):
        play.send("bets.close", "croupier")
    play.send("deck.check", cards=whole)
    assert of_kind(play.send("bets.close", "croupier"), BetsClosed)
    assert "shuffler_jam" in play.state.alerts, "it is jammed still; the cards are dealt by hand"
