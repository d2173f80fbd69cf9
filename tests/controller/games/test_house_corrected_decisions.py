"""A decision that was reported for the wrong hand, with an immediate result because no hand seemed
to go: corrected afterwards.
"""

from __future__ import annotations

from typing import Any

import pytest

from common.contract.events import ResultCorrected
from common.contract.refusals import RejectedError
from tests.controller.games.test_house_taken_back import BANK, LOW, ONE, TWO, back, texas, trijoker
from tests.support.for_each import for_each
from tests.support.games import circle_play, poker_play
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind
from tests.support.games.poker_play import dealt, result, table


def over(*decisions: str, **settings: str) -> poker_play.Play:
    """A round with these decisions reported for boxes 1 and 2, at its end."""
    play = table(**settings)
    dealt(play, ONE, TWO, BANK)
    for number, decision in enumerate(decisions, 1):
        play.act(number, decision)
    return play


def correct(play: Any, decisions: dict[str, str], **hands: str) -> ResultCorrected:
    """Correct decisions: ``box1`` for ``box:1``."""
    lie = {name.replace("box", "box:"): cards.split() for name, cards in hands.items()}
    events = play.send(
        "result.correct", round=play.state.round, decisions=decisions, hands=lie or None
    )
    [corrected] = of_kind(events, ResultCorrected)
    return corrected


def bets_of(corrected: ResultCorrected, who: str) -> dict[str, tuple[str, tuple[int, int] | None]]:
    [hand] = [hand for hand in outcome_of(corrected).hands if hand.who == who]
    return {bet.bet: (bet.outcome, bet.pays) for bet in hand.settled}


def test_a_hand_that_went_was_reported_as_giving_up_last() -> None:
    play = over("pass", "pass")
    assert bets_of_result(play, "box:2") == {"ante": ("lose", None)}
    with pytest.raises(RejectedError, match="no round in progress; send bets-open"):
        back(play, 2, "pass")
    events = correct(play, {"box:2": "go"}, dealer=BANK, box2=TWO)
    assert bets_of(events, "box:1") == {"ante": ("lose", None)}
    assert bets_of(events, "box:2") == {"ante": ("win", (1, 1)), "second": ("win", (1, 1))}
    assert outcome_of(events).marks == ("dealer_qualifies",)
    again = correct(play, {"box:1": "go"}, box1=ONE)
    assert bets_of(again, "box:1")["second"] == ("win", (3, 1)), (
        "the corrected round is the one that is corrected again"
    )


def test_where_the_bank_does_not_play_no_hand_is_shown() -> None:
    play = over("pass", "pass")
    events = correct(play, {"box:2": "go"}, dealer="Ah Qd 5s 4s 9h")
    assert bets_of(events, "box:2") == {"ante": ("win", (1, 1)), "second": ("void", None)}
    assert outcome_of(events).marks == ("dealer_not_qualified",)


def test_a_hand_that_gave_up_was_reported_as_going() -> None:
    play = table()
    dealt(play, ONE, TWO, "Ah Qd 5s 4s 9h")
    play.act(1, "go")
    play.act(2, "go")
    play.turn("dealer")
    assert bets_of_result(play, "box:2")["ante"] == ("win", (1, 1))
    assert bets_of(correct(play, {"box:2": "pass"}), "box:2") == {"ante": ("lose", None)}
    assert bets_of(correct(play, {"box:1": "pass"}), "box:1") == {"ante": ("lose", None)}


@for_each(
    ("decisions", "hands", "why"),
    [
        ({"box:2": "go"}, {}, "name the cards of these hands too; they were face up: dealer"),
        ({"box:2": "go"}, {"dealer": "Ah Kd 5s 4s"}, "dealer has 5 cards, not 4; name as many"),
        (
            {"box:2": "go"},
            {"dealer": BANK, "box2": "As Ac 5d"},
            "box:2 has 5 cards, not 3; name as many",
        ),
        (
            {"box:2": "go"},
            {"dealer": BANK, "box1": ONE},
            "box:1 was not face up in round 1; face up were: dealer",
        ),
        (
            {"box:2": "go"},
            {"dealer": BANK, "box2": "Ah Ac 5d 8c Jh"},
            "a card would be in the round twice; name each once",
        ),
        (
            {"box:2": "pass"},
            {"dealer": BANK},
            "box:2 has no decision in round 1 to correct to pass",
        ),
        ({"box:3": "go"}, {"dealer": BANK}, "box:3 has no decision in round 1 to correct to go"),
    ],
)
def test_an_impossible_decision_is_refused(
    decisions: dict[str, str], hands: dict[str, str], why: str
) -> None:
    play = over("pass", "pass")
    before = play.state
    with pytest.raises(RejectedError, match=why):
        correct(play, decisions, **hands)
    assert play.state == before


def test_a_hand_that_lay_open_had_not_given_up() -> None:
    play = over("go", "pass")
    play.turn("dealer")
    play.turn("box:1")
    with pytest.raises(RejectedError, match="box:1 was face up, so it had not passed"):
        correct(play, {"box:1": "pass"})


def test_a_jackpot_needs_the_number_of_discards() -> None:
    play = table("poker-draw-house", "EUS96")
    dealt(play, ONE, LOW, bets=[(1, "jackpot")])
    play.act(1, "pass")
    with pytest.raises(
        RejectedError, match="nobody reported how many cards box:1 discarded, and it has the bet"
    ):
        correct(play, {"box:1": "go"}, dealer=BANK)


def test_what_was_settled_at_the_table_has_no_decisions() -> None:
    play = over("go")
    play.send("session.close")
    play.send("round.confirm", round=1)
    with pytest.raises(
        RejectedError, match="the decisions of round 1 cannot be corrected; it was settled at the"
    ):
        correct(play, {"box:1": "pass"})


def test_a_player_of_texas_who_went_was_reported_as_giving_up_last() -> None:
    play = texas()
    play.act("box:1", "pass")
    play.act("box:2", "pass")
    with pytest.raises(
        RejectedError, match="name the cards of these hands too; they were face up: dealer, box:1,"
    ):
        correct(play, {"box:1": "go"})
    events = correct(play, {"box:1": "go"}, dealer="Ks Kd", box1="Ah As", board="Tc 4d 9h 4c 6s")
    assert bets_of(events, "box:1") == {"ante": ("win", (1, 1)), "second": ("win", (1, 1))}
    assert bets_of(events, "box:2") == {"ante": ("lose", None)}
    assert [hand.who for hand in outcome_of(events).hands] == [
        "dealer",
        "board",
        "box:1",
        "box:2",
    ]
    again = correct(play, {"box:2": "go"}, box2="2c 7c")
    assert bets_of(again, "box:2") == {"ante": ("lose", None), "second": ("lose", None)}
    with pytest.raises(RejectedError, match="box:1 has no decision in round 1 to correct to pass"):
        correct(play, {"box:1": "pass"})


@pytest.mark.parametrize("play", [trijoker(), circle_play.table()])
def test_other_games_have_no_such_decisions(play: Any) -> None:
    with pytest.raises(
        RejectedError, match="decisions cannot be corrected in this game; leave out decisions"
    ):
        play.send("result.correct", round=1, decisions={"box:1": "go"})


def bets_of_result(
    play: poker_play.Play, who: str
) -> dict[str, tuple[str, tuple[int, int] | None]]:
    [hand] = [hand for hand in outcome_of(result(play.events)).hands if hand.who == who]
    return {bet.bet: (bet.outcome, bet.pays) for bet in hand.settled}
