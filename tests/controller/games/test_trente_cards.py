"""A card of trente et quarante that stops the table, and a person's decisions about it."""

from __future__ import annotations

import pytest

from common.contract.events import (
    CardDealt,
    CardRemoved,
    Irregularity,
    RoundResult,
)
from common.contract.refusals import RejectedError
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind
from tests.support.games.trente_play import BLACK_WINS, RED_WINS, table


def test_an_unread_card_stops_the_table_until_a_person_has_read_it() -> None:
    play = table()
    first, *rest = BLACK_WINS.split()
    play.bets()
    events = play.cards(f"- {' '.join(rest)}")
    assert [(event.to, event.index, event.card) for event in of_kind(events, CardDealt)] == [
        ("black", 1, None)
    ]
    assert [(event.what, event.asks) for event in of_kind(events, Irregularity)] == [
        ("card_unread", ("card.decide", "round.void"))
    ]
    assert play.sealed == rest
    events = play.send("card.decide", action="read", card=first)
    assert [event.card for event in of_kind(events, CardDealt)] == BLACK_WINS.split()
    [result] = of_kind(events, RoundResult)
    assert (outcome_of(result).winner, outcome_of(result).marks, result.confirmed_by) == (
        "black",
        ("colour",),
        "M. Lasa (table_head)",
    )


def test_an_unread_card_may_leave_the_game() -> None:
    play = table()
    play.bets()
    play.cards(f"Ts - {' '.join(BLACK_WINS.split()[1:])}")
    events = play.send("card.decide", action="remove")
    assert [(event.why, event.card) for event in of_kind(events, CardRemoved)] == [
        ("card_unread", None)
    ]
    [result] = of_kind(events, RoundResult)
    assert outcome_of(result).hands is not None
    assert [hand.cards for hand in outcome_of(result).hands] == [
        ("Ts", "Jd", "Qc", "2s"),
        ("Kd", "Th", "9d", "8c"),
    ]


def test_two_cards_unread_are_asked_for_one_after_the_other() -> None:
    play = table()
    play.bets()
    play.cards("Ts - - 2s Kd Th 9d 8c")
    assert of_kind(play.send("card.decide", action="read", card="Jd"), RoundResult) == []
    assert play.state.asks == ("card.decide", "round.void")
    [result] = of_kind(play.send("card.decide", action="read", card="Qc"), RoundResult)
    assert outcome_of(result).winner == "black"


def test_a_card_before_bets_close_waits_and_may_be_the_first_of_the_round() -> None:
    play = table()
    play.send("bets.open")
    [irregular] = of_kind(play.cards("Ts"), Irregularity)
    assert (irregular.what, irregular.asks) == ("card_before_close", ("card.decide", "round.void"))
    play.send("card.decide", action="accept")
    events = play.send("bets.close")
    assert [event.card for event in of_kind(events, CardDealt)] == ["Ts"]
    [result] = of_kind(play.cards(BLACK_WINS[3:]), RoundResult)
    assert outcome_of(result).winner == "black"


def test_a_card_out_of_its_time_may_leave_the_game() -> None:
    play = table()
    play.coup(BLACK_WINS)
    [irregular] = of_kind(play.cards("7h"), Irregularity)
    assert (irregular.what, irregular.asks) == ("card_out_of_round", ("card.decide",))
    with pytest.raises(RejectedError, match="a card needs a decision"):
        play.send("bets.open")
    [removed] = of_kind(play.send("card.decide", action="remove"), CardRemoved)
    assert removed.card == "7h"
    assert of_kind(play.coup(RED_WINS), RoundResult) != []


@pytest.mark.parametrize("rounds", ["keys", "shoe"])
def test_a_card_may_be_kept_for_the_next_round(rounds: str) -> None:
    play = table(rounds=rounds)
    cards = RED_WINS.split()
    if rounds == "keys":
        play.bets()
    play.cards(" ".join(BLACK_WINS.split()[:7]))
    play.cards(cards[0], unsure=True)
    play.send("card.decide", action="next_round")
    [result] = of_kind(play.cards(BLACK_WINS.split()[7]), RoundResult)
    assert (result.round, outcome_of(result).winner) == (1, "black")
    events = play.bets() if rounds == "keys" else []
    [result] = of_kind([*events, *play.cards(" ".join(cards[1:]))], RoundResult)
    assert (result.round, outcome_of(result).winner, outcome_of(result).marks) == (
        2,
        "red",
        ("inverse",),
    )


def test_an_accepted_card_that_completes_the_coup_leaves_the_next_one_over() -> None:
    play = table()
    play.bets()
    play.cards(" ".join(BLACK_WINS.split()[:7]))
    play.cards("8c", unsure=True)
    play.cards("7h")
    events = play.send("card.decide", action="accept")
    [result] = of_kind(events, RoundResult)
    assert outcome_of(result).winner == "black"
    assert [event.what for event in of_kind(events, Irregularity)] == ["card_out_of_round"]
    assert play.state.asks == ("card.decide",)


def test_a_persons_reading_counts_in_place_of_the_shoes() -> None:
    play = table()
    play.bets()
    play.cards("9s", unsure=True)
    play.cards(BLACK_WINS[3:])
    assert play.sealed == ["9s", *BLACK_WINS.split()[1:]]
    events = play.send("card.decide", action="read", card="Ts")
    [result] = of_kind(events, RoundResult)
    assert (outcome_of(result).winner, len(play.evidence(result))) == ("black", 8)


@pytest.mark.parametrize("card", ["Xx", "joker"])
def test_a_card_of_another_game_is_read_or_removed(card: str) -> None:
    play = table()
    play.bets()
    [irregular] = of_kind(play.cards(card), Irregularity)
    assert irregular.what == "card_foreign"
    with pytest.raises(RejectedError, match="not a card of this game"):
        play.send("card.decide", action="accept")
    [dealt] = of_kind(play.send("card.decide", action="read", card="Ts"), CardDealt)
    assert dealt.card == "Ts"


def test_a_card_once_too_often_stops_the_table() -> None:
    play = table()
    play.bets()
    events = play.cards("7h 7h 7h 7h 7h 7h 7h")
    assert [event.what for event in of_kind(events, Irregularity)] == ["card_too_many"]
    assert len(of_kind(events, CardDealt)) == 6


def test_a_person_does_not_choose_the_row_of_a_card() -> None:
    play = table()
    play.bets()
    play.cards("7h", unsure=True)
    with pytest.raises(RejectedError, match="which row a card goes to"):
        play.send("card.decide", action="for", who="red")
