"""A silence of the shoe at trente et quarante, and cards that could not be followed."""

from __future__ import annotations

import pytest

from common.contract.events import (
    CardDealt,
    Irregularity,
    RoundResult,
    RoundUnresolved,
)
from common.contract.refusals import RejectedError
from controller.games.trente.state import MAX_WAITING_CARDS
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind
from tests.support.games.trente_play import BLACK_WINS, RED_WINS, shuffled, table


def test_a_silence_in_a_round_leaves_it_to_a_person() -> None:
    play = table()
    play.bets()
    play.cards("Ts Jd")
    [irregular] = of_kind(play.gap(), Irregularity)
    assert (irregular.what, irregular.asks) == ("silence", ("round.confirm", "round.void"))
    assert of_kind(play.gap(), Irregularity) == []
    [unresolved] = of_kind(play.cards("Qc"), RoundUnresolved)
    assert (unresolved.why, unresolved.candidate) == ("silence", None)
    assert play.cards("2s Kd") == []
    assert play.shown["asks"] == ["bets.open"]
    with pytest.raises(RejectedError, match="are known; give the winner"):
        play.send("round.confirm")
    [result] = of_kind(play.send("round.confirm", winner="red"), RoundResult)
    assert (outcome_of(result).winner, outcome_of(result).hands, outcome_of(result).marks) == (
        "red",
        (),
        (),
    )
    assert of_kind(play.coup(RED_WINS), RoundResult) != []


def test_cards_known_only_later_are_stored_for_the_decision() -> None:
    play = table()
    play.bets()
    cards = BLACK_WINS.split()
    play.cards(" ".join(cards[:6]))
    play.gap()
    events = play.cards(" ".join(cards[6:]), late=True)
    assert [event.candidate for event in of_kind(events, RoundUnresolved)] == [None]
    assert play.sealed == cards[6:]
    [result] = of_kind(play.send("round.confirm"), RoundResult)
    assert (outcome_of(result).winner, result.confirmed_by) == ("black", "M. Lasa (table_head)")


def test_a_decision_about_a_card_does_not_end_what_a_silence_may_have_hidden() -> None:
    play = table()
    play.bets()
    play.cards("Ts Jd")
    play.cards("Qc", unsure=True)
    play.gap()
    events = play.send("card.decide", action="accept")
    [unresolved] = of_kind(events, RoundUnresolved)
    assert unresolved.candidate is None
    assert of_kind(events, CardDealt) == []


def test_a_round_confirmed_in_its_silence_leaves_what_may_still_come() -> None:
    play = table()
    play.bets()
    play.cards("Ts Jd")
    play.gap()
    [result] = of_kind(play.send("round.confirm", winner="red"), RoundResult)
    assert outcome_of(result).winner == "red"
    assert play.cards("Qc 2s") == []
    assert of_kind(play.coup(RED_WINS), RoundResult) != []


def test_more_cards_than_can_wait_are_counted_and_leave_the_round_to_a_person() -> None:
    play = table()
    play.bets()
    play.cards("-")
    play.cards(" ".join(shuffled(3)[:40]))
    assert play.state.shoe is not None
    assert (play.state.shoe.drawn, len(play.state.held)) == (41, MAX_WAITING_CARDS)
    play.send("card.decide", action="read", card="5c")
    while "card.decide" in play.state.asks:
        play.send("card.decide", action="remove")
    assert not play.state.overflowed
    assert play.state.current is None
    assert play.state.asks == ()


def test_at_a_table_without_keys_cards_that_could_not_wait_are_a_gap() -> None:
    play = table(rounds="shoe")
    play.cards("-")
    play.cards(" ".join(shuffled(3)[:40]))
    events = play.send("card.decide", action="read", card="5c")
    assert of_kind(events, RoundResult) != []
    assert play.state.current is not None
    assert [event.what for event in of_kind(events, Irregularity)] == ["silence"]
    assert play.state.asks == ("round.confirm", "round.void")


def test_at_a_table_without_keys_cards_that_could_not_wait_belong_to_no_round() -> None:
    play = table(rounds="shoe")
    play.cards("-")
    play.cards(" ".join(shuffled(3)[:40]))
    play.send("round.void", reason="inspector")
    assert play.shown["asks"] == ["bets.open"]
    assert play.cards("Qc 2s") == []


def test_at_a_table_without_keys_a_round_that_began_in_a_silence_is_counted() -> None:
    play = table(rounds="shoe")
    play.cards(BLACK_WINS)
    play.gap()
    events = play.cards("Ts Jd")
    assert [(event.round, event.why) for event in of_kind(events, RoundUnresolved)] == [
        (2, "silence")
    ]
    play.send("round.confirm", round=2, winner="black")
    play.send("bets.open")
    [result] = of_kind(play.cards(RED_WINS), RoundResult)
    assert result.round == 3


def test_at_a_table_without_keys_bets_opened_before_a_silence_do_not_close_it() -> None:
    play = table(rounds="shoe")
    play.send("bets.open")
    play.gap()
    events = play.cards("Ts")
    assert [event.round for event in of_kind(events, RoundUnresolved)] == [1]


def test_a_silence_between_rounds_hides_nothing_where_bets_have_keys() -> None:
    play = table()
    play.coup(BLACK_WINS)
    play.gap()
    [result] = of_kind(play.coup(RED_WINS), RoundResult)
    assert (result.round, result.confirmed_by) == (2, None)


def test_no_round_is_requested_where_none_may_begin() -> None:
    play = table()
    play.bets()
    play.cards("Ts Jd")
    play.gap()
    play.send("round.confirm", winner="red")
    assert play.shown["asks"] == ["bets.open"]
    play.cut()
    with pytest.raises(RejectedError, match="the cut card has come"):
        play.send("bets.open")
    assert (play.shown["phase"], play.shown["asks"]) == ("shoe_over", [])
