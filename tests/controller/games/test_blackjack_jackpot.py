"""The accumulated bet of black jack: three sevens of one suit take it, at the triple game with the
first of the dealer's hands.
"""

from __future__ import annotations

from typing import Any

import pytest

from common.contract.events import AwardQualified, JackpotStaked, RoundResult
from common.contract.refusals import RejectedError
from controller.games.games import make_game
from tests.support.for_each import for_each
from tests.support.games.blackjack_play import Play
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind, only

rule = pytest.mark.rule


def table(game: str = "blackjack", **settings: Any) -> Play:
    """A table with the accumulated bet; its bets are open."""
    play = Play("EUS96", game, accumulated_bets=True, **settings)
    play.open()
    play.send("bets.open", role="croupier")
    play.boxes(1, 2)
    return play


def bet(play: Play, who: str = "box:1", amount: int | None = 200) -> None:
    play.send("bet.place", role="croupier", who=who, bet="accumulated", amount=amount)


def sevens(play: Play, third: str = "7d") -> list[Any]:
    """Box 1 draws a third seven; box 2 stands."""
    events = play.cards("7d 9s Kd 7d 9c")
    events += play.key("draw", "box:1")
    events += play.cards(third)
    events += play.key("stand", "box:2")
    return [*events, *play.cards("8s")]


def to_the_end(play: Play) -> RoundResult:
    """Every hand stands when it may."""
    while True:
        to = play.state.expected
        events = play.key("stand") if to is None else play.cards("8s" if to == "dealer" else "Ts")
        if of_kind(events, RoundResult):
            return only(events, RoundResult)


@rule("EUS96-082", "EUS96-E11")
@pytest.mark.parametrize("game", ["blackjack", "blackjack-triple"])
@pytest.mark.parametrize(("third", "shares"), [("7d", [(1, 1)]), ("7c", [])])
def test_three_sevens_of_one_suit_have_a_right_to_all_that_was_accumulated(
    game: str, third: str, shares: list[Any]
) -> None:
    play = table(game)
    bet(play)
    events = sevens(play, third)
    found = [
        (each.award, each.box, each.hand, each.share, each.of)
        for each in of_kind(events, AwardQualified)
    ]
    assert found == [("jackpot", "box:1", "sevens_3_suited", share, "table") for share in shares]
    assert only(events, JackpotStaked).amount == 200
    told = [
        type(event)
        for event in events
        if isinstance(event, RoundResult | AwardQualified | JackpotStaked)
    ]
    assert told == [RoundResult, *[AwardQualified for _ in shares], JackpotStaked]


@rule("EUS96-E11")
def test_at_the_triple_game_it_is_settled_with_the_first_hand_of_the_dealer_alone() -> None:
    play = table("blackjack-triple")
    bet(play)
    play.cards("7d 9s Kd 7d 9c")
    play.key("stand", "box:1")
    play.key("stand", "box:2")
    assert of_kind(play.cards("8s"), JackpotStaked)
    later = [*play.cards("8h"), *play.cards("9h")]
    assert len(of_kind(later, RoundResult)) == 2
    assert of_kind(later, AwardQualified) == []
    assert of_kind(later, JackpotStaked) == []


def test_without_an_accumulated_bet_there_is_no_right_to_it() -> None:
    play = table()
    bet(play, "box:2")
    events = sevens(play)
    assert of_kind(events, AwardQualified) == []
    assert outcome_of(only(events, RoundResult)).marks == ("box:1 sevens_3_suited",)


def test_of_several_winners_the_decree_says_nothing() -> None:
    play = table(linked=True)
    bet(play, "box:1")
    bet(play, "box:2")
    play.cards("7d 7c Kd 7d 7c")
    play.key("draw", "box:1")
    play.cards("7d")
    play.key("draw", "box:2")
    events = [*play.cards("7c"), *play.cards("8s")]
    found = [(event.box, event.share, event.of) for event in of_kind(events, AwardQualified)]
    assert found == [("box:1", None, "all_tables"), ("box:2", None, "all_tables")]


def test_only_the_agreed_amount_may_be_bet() -> None:
    play = table(accumulated_stake=200)
    for amount in (None, 100, 201):
        with pytest.raises(RejectedError, match=r"takes no part in the jackpot; 200|it is 200"):
            bet(play, amount=amount)
    bet(play)
    free = table()
    bet(free, amount=1)
    with pytest.raises(RejectedError, match="the jackpot meter rises by it"):
        bet(free, amount=None)
    with pytest.raises(RejectedError, match="accumulated on box:1 must be at most 250"):
        bet(free, amount=251)


@rule("EUS96-082")
@for_each(
    ("split_sevens", "again", "mark"),
    [
        ("pair", "7d", "sevens_2_suited"),
        ("third", "7d", "sevens_3_suited"),
        ("pair", "7c", "sevens_2_suited"),
        ("third", "7c", "sevens_3"),
        ("third", "9h", "sevens_2_suited"),
    ],
)
@for_each("resplit", [False, True])
def test_a_pair_of_sevens_that_is_split_and_another_seven(
    split_sevens: str, again: str, mark: str, resplit: bool
) -> None:
    """«Lehenengo hiru kartak» (L524-526): whether the card after the split is the third of the box
    is a doubt.
    """
    play = table(split_sevens=split_sevens)
    bet(play)
    play.cards("7d 9s Kd 7d 9c")
    play.key("split", "box:1")
    play.cards(again)
    if resplit and again != "9h":
        play.key("split", "box:1")
    assert outcome_of(to_the_end(play)).marks == (f"box:1 {mark}",)
    assert bool(of_kind(play.events, AwardQualified)) == (mark == "sevens_3_suited")


def test_settings_of_a_bet_that_the_table_does_not_offer() -> None:
    for setting in ({"split_sevens": "third"}, {"linked": True}, {"accumulated_stake": 100}):
        with pytest.raises(ValueError, match="the table has no accumulated bet"):
            make_game("blackjack", "EUS96", setting)
