"""The deal of house poker: the order of cards, and the bank's exposed card."""

from __future__ import annotations

import pytest

from common.contract.events import (
    AlertCleared,
    AlertRaised,
    BetsClosed,
    CardDealt,
    Irregularity,
)
from common.contract.refusals import RejectedError
from tests.support.games.play import of_kind
from tests.support.games.poker_play import Play, dealt, go, stopped, table

ONE, TWO, BANK = "As Ad Kc 2d 3h", "7c 8c 9c Tc Jd", "Ah Kd 5s 4s 9h"
HANDS = (ONE, TWO, BANK)


def ready(**settings: str) -> Play:
    """A table of BAL05 whose bets are closed, with two boxes."""
    play = table(**settings)
    play.bets(1, 2)
    return play


# The order


@pytest.mark.parametrize(
    "decree",
    [
        pytest.param("BAL05", marks=pytest.mark.rule("BAL05-129")),
        pytest.param("ARA02", marks=pytest.mark.rule("ARA02-135")),
        pytest.param("EUS96", marks=pytest.mark.rule("EUS96-156")),
    ],
)
def test_one_card_each_from_the_left_the_banks_last_one_exposed(decree: str) -> None:
    play = table(decree=decree)
    events = of_kind(dealt(play, *HANDS), CardDealt)
    assert [event.to for event in events] == ["box:1", "box:2", "dealer"] * 5
    assert [event.index for event in events] == [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5]
    assert [event.card for event in events if event.card] == ["9h"]
    assert events[-1].card == "9h"
    assert play.shown["phase"] == "decisions"


@pytest.mark.rule("BAL05-129")
def test_the_banks_first_card_may_be_the_exposed_one() -> None:
    events = of_kind(dealt(table(exposed="first"), *HANDS), CardDealt)
    assert [(event.to, event.index, event.card) for event in events if event.card] == [
        ("dealer", 1, "Ah")
    ]


@pytest.mark.parametrize(
    ("decree", "game", "size"),
    [
        pytest.param("BAL05", "poker-no-draw", 5, marks=pytest.mark.rule("BAL05-130")),
        pytest.param("EUS96", "poker-no-draw", 5, marks=pytest.mark.rule("EUS96-156")),
        pytest.param("EUS96", "poker-draw-house", 5, marks=pytest.mark.rule("EUS96-158")),
        pytest.param("EUS96", "three-card-poker", 3, marks=pytest.mark.rule("EUS96-157")),
    ],
)
def test_packets_go_hand_by_hand_the_banks_last(decree: str, game: str, size: int) -> None:
    play = table(game, decree, dealt="packets")
    play.bets(2, 5)
    events = of_kind(play.packets(size, size, size), CardDealt)
    assert [event.to for event in events] == ["box:2"] * size + ["box:5"] * size + ["dealer"] * size
    assert {event.card for event in events} == {None}
    assert play.shown["phase"] == "decisions"


def test_packets_are_of_unknown_cards_until_they_are_shown() -> None:
    play = table(dealt="packets")
    play.bets(1)
    play.packets(5, 5)
    play.show("dealer", "9h", index=5)
    assert play.shown["dealer"] == [None] * 4 + ["9h"]
    play.act(1, "go")
    assert play.shown["asks"] == ["cards.show", "round.confirm", "round.void"]
    with pytest.raises(RejectedError, match="its cards are not known"):
        play.turn("dealer")
    play.show("dealer", BANK)
    assert play.shown["asks"][0] == "cards.show"
    play.show("box:1", ONE)
    assert play.state.entries[-1].marks == ("dealer_qualifies",)


@pytest.mark.rule("BAL05-130")
def test_a_reader_at_an_automatic_shoe_reads_hand_by_hand() -> None:
    play = table(dealt="packets", exposed="first")
    play.bets(1, 2)
    events = of_kind(play.cards(" ".join(HANDS)), CardDealt)
    assert [event.to for event in events] == ["box:1"] * 5 + ["box:2"] * 5 + ["dealer"] * 5
    assert events[-1].card == "9h", "out of an automatic shoe the last is exposed"


@pytest.mark.rule("BAL09-035")
def test_three_passes_of_three_cards() -> None:
    play = table("three-card-poker", "BAL09")
    play.bets(1, 3)
    events = of_kind(play.cards("2c 3c 4c 5c 6c 7c 8c 9c Tc"), CardDealt)
    assert [event.to for event in events] == ["box:1", "box:3", "dealer"] * 3
    assert {event.card for event in events} == {None}


def test_people_report_the_deal() -> None:
    play = ready()
    play.send("cards.deal", count=14)
    play.send("cards.deal", count=1, cards=["9h"])
    assert play.shown["dealer"] == [None] * 4 + ["9h"]
    assert play.shown["phase"] == "decisions"


def test_people_report_the_deal_hand_by_hand() -> None:
    play = ready()
    for who in ("dealer", "box:2", "box:1"):
        play.send("cards.deal", who=who, count=5)
    assert play.shown["phase"] == "decisions"
    with pytest.raises(
        RejectedError, match="0 cards are due, not 1; report a wrong number with deal-error"
    ):
        play.send("cards.deal")


def test_more_cards_face_up_than_may_be() -> None:
    play = ready()
    with pytest.raises(RejectedError, match="0 of these cards are dealt face up, not 1"):
        play.send("cards.deal", count=1, cards=["9h"])


# Bets come before the deal


def test_the_first_card_before_bets_are_closed_waits_for_it() -> None:
    play = table()
    play.send("bets.open")
    play.send("boxes.set", boxes=[1, 2])
    play.cards("As")
    stopped(play, "card_before_close")
    play.cards("Ad")
    assert of_kind(play.send("bets.close"), BetsClosed) != []
    assert [event.to for event in of_kind(play.events, CardDealt)] == ["box:1", "box:2"]


def test_nothing_is_dealt_without_a_box() -> None:
    play = table()
    play.send("bets.open")
    with pytest.raises(RejectedError, match="no box is in play; send boxes-set"):
        play.send("bets.close")


@pytest.mark.rule("BAL09-013")
@pytest.mark.parametrize(
    ("game", "decree", "most"),
    [
        ("three-card-poker", "BAL09", 7),
        ("poker-draw-house", "EUS96", 6),
        ("poker-no-draw", "ARA02", 7),
    ],
)
def test_boxes_are_limited_to_those_of_the_decree(game: str, decree: str, most: int) -> None:
    play = table(game, decree)
    play.send("bets.open")
    play.send("boxes.set", boxes=list(range(1, most + 1)))
    with pytest.raises(
        RejectedError, match=f"boxes must name at least one box from 1 to {most}, each once"
    ):
        play.send("boxes.set", boxes=[1, most + 1])


def test_a_card_outside_a_round_is_reported_once() -> None:
    play = table()
    assert [event.what for event in of_kind(play.cards("As"), Irregularity)] == [
        "card_out_of_round"
    ]
    assert [event.alert for event in of_kind(play.events, AlertRaised)] == ["card_out_of_round"]
    assert play.cards("Ad") == []
    assert [event.alert for event in of_kind(play.send("bets.open"), AlertCleared)] == [
        "card_out_of_round"
    ]


def test_the_result_comes_last() -> None:
    play = table()
    go(play, *HANDS)
    assert play.state.entries[-1].kind == "result"
    assert play.state.current is None
