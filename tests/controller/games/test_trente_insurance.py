"""Insurance at trente et quarante: a hundredth of a bet that its player has placed."""

from __future__ import annotations

from typing import Any

import pytest

from common.contract.events import BetPlaced
from common.contract.refusals import RejectedError
from tests.support.games.play import AnyPlay, of_kind
from tests.support.games.trente_play import Play


def bet(play: AnyPlay[Any, Any], kind: str, amount: int | None, who: str = "seat:1") -> list[Any]:
    return play.send("bet.place", "croupier", who=who, bet=kind, amount=amount)


@pytest.mark.parametrize(
    "decree",
    [
        pytest.param(rule[:5], marks=pytest.mark.rule(rule), id=rule[:5])
        for rule in ("BAL05-094", "ARA02-047", "EUS96-098", "GAL07-E01")
    ],
)
def test_insurance_is_a_hundredth_of_a_bet_that_is_placed(decree: str) -> None:
    play = Play(decree)
    play.open()
    play.send("bets.open", "croupier")
    with pytest.raises(RejectedError, match=r"seat:1 has no bet for this insurance; .* 1/100"):
        bet(play, "insurance", 10)
    bet(play, "red", 20_000)
    bet(play, "colour", 5_050)
    for wrong in (1, 199, 201, 252, 400, 20_000):
        with pytest.raises(RejectedError, match="no bet for this insurance"):
            bet(play, "insurance", wrong)
    for right in (200, 50, 51, 250, 251):  # of the one, of the other to the cent, of both
        bet(play, "insurance", right)
    with pytest.raises(RejectedError, match="seat:2 has no bet"):
        bet(play, "insurance", 200, "seat:2")
    events = of_kind(play.send("bet.withdraw", "croupier", who="seat:1", bet="colour"), BetPlaced)
    assert [(each.bet, each.withdrawn) for each in events] == [
        ("colour", True),
        ("insurance", True),
    ]
    bet(play, "insurance", 200)
    bet(play, "colour", 5_000)  # another bet leaves the insurance of the first as it is
    assert {each["bet"] for each in play.shown["bets"]} == {"red", "colour", "insurance"}
