"""Reports of a reader at a table of circle poker that cannot be believed."""

from __future__ import annotations

import pytest

from common.contract.events import (
    BettingOpened,
    CardTurned,
    HandDecided,
    Irregularity,
    RoundResult,
)
from common.contract.refusals import RejectedError
from tests.support.games.circle_play import (
    SYNTHETIC,
    half_dealt,
    holdem,
    laid,
    table,
    void,
    whats,
)
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind

GENERAL = ("BAL09", "EUS96")


# Reports of a reader


def test_a_covered_card_that_is_there_already_is_not_believed() -> None:
    play = half_dealt("EUS96")
    events = play.cards("Ah")
    assert whats(events) == ["card_duplicate"]
    assert "Ah" not in str(events)
    play.accept()
    assert {each.card for each in play.current.cards} == {
        None
    }  # covered cards are known when they are shown
    play.cards("Qs Js")
    assert {each.card for each in play.current.cards} == {None}


def test_a_covered_card_of_another_pack_is_not_believed() -> None:
    play = half_dealt("BAL09", "synthetic-poker")
    assert whats(play.cards("7s")) == ["card_foreign"]
    assert void(play.send("round.void", reason="deck_defective")).reason == "deck_defective"


def test_shown_cards_override_those_that_were_read() -> None:
    play = holdem()
    for cards in ("2c 3c 4c 9d", "2d Td", "2h 7d"):
        play.street(cards)
    play.close()
    events = play.show(4, "Ah Ac")
    assert whats(events) == ["shown_differs"]
    assert [event.card for event in of_kind(events, CardTurned)] == ["Ah", "Ac"]
    assert play.asks == ("card.decide", "round.void")
    play.accept()
    with pytest.raises(RejectedError, match="not every card of seat:3 is known; send cards-show"):
        play.turn(3)
    for seat, cards in ((3, "Kh Ks"), (2, "Qh Qs")):
        play.show(seat, cards)
    [result] = of_kind(play.show(1, "Jh Js"), RoundResult)
    assert (outcome_of(result).winner, result.confirmed_by) == ("seat:4", "M. Lasa (table_head)")
    assert {*play.evidence(result)} == {
        f"frame {card}" for card in ("3c", "4c", "9d", "Td", "7d", "Ah", "As")
    }


def test_impossible_shown_cards_are_refused() -> None:
    play = holdem()
    with pytest.raises(
        RejectedError, match="Zz is not a card; write rank and suit, such as 7h or Ts"
    ):
        play.show(4, "Ah Zz")
    with pytest.raises(RejectedError, match="seat:4 has 2 cards, not 1"):
        play.show(4, "Ah")
    assert "card_duplicate" in whats(play.show(4, "Ah Kh"))
    play.accept()
    play.accept()
    assert whats(play.show(3, "2c 2c")) == ["card_duplicate"]
    play.accept()
    assert not of_kind(play.events, CardTurned)


def test_a_common_card_that_was_reported_wrongly() -> None:
    play = holdem()
    play.street("2c 3c 4c 9d")
    with pytest.raises(RejectedError, match="card 2 of board is already 4c"):
        play.show("board", "4c", index=2)
    with pytest.raises(RejectedError, match="board has no card 4 face up"):
        play.show("board", "4d", index=4)
    events = play.show("board", "4d", index=2)
    assert whats(events) == ["shown_differs"]
    assert [(event.index, event.card) for event in of_kind(events, CardTurned)] == [(2, "4d")]
    with pytest.raises(
        RejectedError, match="shown_differs is not decided yet; the table is waiting for:"
    ):
        play.close()
    play.accept()
    assert play.shown["boards"] == {"board": ["3c", "4d", "9d"]}
    assert whats(play.show("board", "9d", index=1)) == ["shown_differs", "card_duplicate"]


def test_an_open_hand_that_was_reported_wrongly() -> None:
    play = table()
    play.bets()
    play.send("cards.deal", count=8)
    play.show(4, "Ah As")
    assert whats(play.show(4, "Ah Ac")) == ["shown_differs"]
    assert play.shown["hands"]["seat:4"] == ["Ah", "Ac"]


def test_a_player_who_shows_his_cards_plays_on() -> None:
    """Only he may see them before the showdown (EUS96 L2609, L2621), and the play stays valid
    (L2658), whether the cards are named or turned.
    """
    play = holdem()
    events = play.show(3, "Kh Ks")
    assert whats(events) == ["deal_shown_by_player"]
    assert play.shown["hands"]["seat:3"] == ["Kh", "Ks"]
    play.act(3, "bet")


def test_a_silence_while_cards_are_dealt() -> None:
    play = half_dealt("EUS96")
    events = play.gap()
    assert whats(events) == ["silence"]
    play.accept()
    play.send("cards.deal", count=1)  # unseen cards, as the croupier counts them
    play.cards("Qs Js")
    assert play.current.open
    assert {each.card for each in play.current.cards} == {None}
    assert play.current.used is None


def test_a_silence_while_bets_are_open_loses_nothing() -> None:
    play = holdem()
    assert whats(play.gap()) == []
    assert play.current.cards_of("seat:4")[0].card == "Ah"


def test_a_card_that_is_known_only_after_a_silence() -> None:
    play = half_dealt("EUS96")
    assert whats(play.cards("Ks", late=True)) == ["silence"]
    assert len(play.current.cards) == 5


def test_an_uncertain_reading_is_no_card_before_a_person_confirms_it() -> None:
    play = half_dealt("EUS96")
    events = play.cards("Ks", unsure=True)
    assert [(event.what, event.detail) for event in of_kind(events, Irregularity)] == [
        ("silence", "a reading that is not sure")
    ]
    assert len(play.current.cards) == 5
    play.send("cards.deal")
    play.accept()
    assert len(play.current.cards) == 6


@pytest.mark.parametrize("decree", SYNTHETIC)
def test_a_covered_common_card_that_differs_from_the_reading(decree: str) -> None:
    play = laid(decree)
    play.close()
    assert whats(play.show("board", "9h")) == ["shown_differs"]
    play.accept()
    assert play.current.open
    assert [event.interval for event in of_kind(play.events, BettingOpened)] == [1, 2]


@pytest.mark.parametrize("decree", GENERAL)
def test_errors_are_reported_before_any_card_of_a_round(decree: str) -> None:
    play = table(decree)
    with pytest.raises(RejectedError, match="no card of this round is dealt"):
        play.error("order")
    assert not of_kind(play.events, HandDecided)
