"""Players' words that the croupier reported wrongly: in a circle none is withdrawn, the right one
is reported.
"""

from __future__ import annotations

from typing import Any

import pytest

from common.contract.refusals import RejectedError
from tests.support.for_each import for_each
from tests.support.games.circle_play import Play, table


def dealt(game: str) -> Play:
    play = table("BAL09", game)
    play.send("bets.open")
    play.send("bets.close")
    play.send("cards.deal", count=len(play.current.due))
    return play


@for_each(
    ("game", "word"),
    [
        ("texas-holdem", {"action": "bet"}),
        ("circle-draw", {"action": "open"}),
        ("circle-draw", {"action": "discard", "count": 1}),
        ("circle-draw", {"action": "check"}),
        ("seven-card-stud", {"action": "go"}),
        ("seven-card-stud", {"action": "pass"}),
    ],
)
def test_withdrawing_a_word_does_not_repeat_it(game: str, word: dict[str, Any]) -> None:
    play = dealt(game)
    before = play.state
    with pytest.raises(
        RejectedError, match="an action cannot be withdrawn here; to bring back a folded hand"
    ):
        play.send("hand.act", who="seat:4", valid=False, **word)
    assert play.state == before
