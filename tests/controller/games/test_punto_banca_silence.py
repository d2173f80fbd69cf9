"""A silence of the shoe: nothing is invented, complete coups stay, and a person decides
the rest.
"""

from __future__ import annotations

from typing import Any

import pytest

from common.contract.events import (
    CardDealt,
    Irregularity,
    RoundOpened,
    RoundResult,
    RoundUnresolved,
)
from common.contract.notation import write
from common.contract.refusals import RejectedError
from common.readings import LinkGap, LinkLate, LinkLost, LinkStale, LinkUp
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind, only
from tests.support.games.punto_banca_play import DECREES, Play

every = pytest.mark.parametrize("decree", DECREES)


def table(decree: str = "ARA02", **settings: Any) -> Play:
    play = Play(decree, **settings)
    play.open()
    return play


@every
def test_a_silence_while_cards_come_leaves_the_round_unresolved(decree: str) -> None:
    play = table(decree)
    play.bets()
    play.cards("Kc Qd")
    silence = only(play.gap(), Irregularity)
    assert (silence.what, silence.asks) == ("silence", ("round.confirm", "round.void"))
    assert play.gap() == []  # reported once
    assert play.shown["asks"] == ["round.confirm", "round.void"]
    events = play.cards("7h")
    unresolved = only(events, RoundUnresolved)
    assert (unresolved.why, unresolved.candidate) == ("silence", None)
    assert play.evidence(unresolved) == ["frame 7", "frame 8"]
    assert play.cards("6s") == []  # it belongs to no round
    assert play.shown["asks"] == ["bets.open"]
    with pytest.raises(RejectedError, match="not all cards of round 1 are known; give the winner"):
        play.send("round.confirm")
    with pytest.raises(RejectedError, match="winner must be one of: player, banker, tie"):
        play.send("round.confirm", winner="bank")
    result = only(play.send("round.confirm", winner="player"), RoundResult)
    assert (outcome_of(result).winner, outcome_of(result).hands, result.confirmed_by) == (
        "player",
        (),
        "M. Lasa (table_head)",
    )
    play.coup("Kc Qd 7h 6s")
    assert play.state.entries[-1].winner == "player"


def test_a_person_may_decide_at_once() -> None:
    play = table()
    play.bets()
    play.cards("Kc Qd")
    with pytest.raises(RejectedError, match="round 1 is not waiting for a confirmation"):
        play.send("round.confirm", winner="player")
    play.gap()
    result = only(play.send("round.confirm", winner="tie"), RoundResult)
    assert (outcome_of(result).winner, outcome_of(result).marks) == ("tie", ("tie",))


@pytest.mark.parametrize("rounds", ["keys", "shoe"])
def test_a_table_that_asks_reports_that_a_decision_is_due(rounds: str) -> None:
    play = table(rounds=rounds)
    if rounds == "keys":
        play.bets()
    play.cards("Kc Qd")
    play.gap()
    assert (play.shown["phase"], play.shown["asks"]) == (
        "decision",
        ["round.confirm", "round.void"],
    )
    play.cards("7h")
    assert (play.shown["phase"], play.shown["asks"]) == ("decision", ["bets.open"])


@every
def test_where_the_shoe_counts_the_places_nothing_can_be_missing(decree: str) -> None:
    play = table(decree)
    play.bets()
    play.cards("Kc Qd")
    play.gap()
    [dealt] = of_kind(play.cards("7h", to="player", index=2), CardDealt)
    assert (dealt.to, dealt.index) == ("player", 2)
    play.cards("6s")
    assert outcome_of(only(play.send("cards.turn"), RoundResult)).winner == "player"
    play.bets()
    play.cards("Kc")
    play.gap()
    assert only(play.cards("6h", to="player", index=2), RoundUnresolved).why == "silence"


@pytest.mark.parametrize("cards", ["Kc Qd 7h 6s", "Kc Qd 8h 6s"])
def test_a_round_whose_cards_had_all_come_stays(cards: str) -> None:
    play = table()
    play.bets()
    play.cards(cards)
    play.gap()
    assert outcome_of(only(play.send("cards.turn"), RoundResult)).winner == "player"


def test_a_third_card_may_have_come_in_the_silence() -> None:
    play = table()
    play.bets()
    play.cards("Kc Qd 4h 6s")
    play.gap()
    play.send("cards.turn")
    assert only(play.cards("5h"), RoundUnresolved).why == "silence"


def test_a_silence_before_the_bets_close_hides_nothing() -> None:
    play = table()
    play.send("bets.open")
    play.gap()
    play.send("bets.close")
    play.cards("Kc Qd 7h 6s")
    assert outcome_of(only(play.send("cards.turn"), RoundResult)).winner == "player"
    play.send("bets.open")
    play.take(LinkLost(at=1.0, device="shoe", reason="unplugged"))
    play.send("bets.close")  # it has not sent anything yet
    play.take(LinkUp(at=1.0, device="shoe"))
    assert only(play.cards("Kc"), RoundUnresolved).why == "silence"


def test_a_published_result_is_not_touched() -> None:
    play = table()
    play.coup("Kc Qd 7h 6s")
    assert play.gap() == []
    assert play.shown["unresolved"] == []
    assert play.shown["shoe"]["left"] is None
    play.coup("Kc Qd 7h 6s")


@pytest.mark.parametrize(
    "silence",
    [LinkStale(at=1.0, age=5.0), LinkGap(at=1.0, lost=1), LinkLate(at=1.0, frames=1, silence=3.0)],
)
def test_other_silences(silence: Any) -> None:
    play = table()
    play.bets()
    play.cards("Kc")
    play.take(silence)
    assert only(play.cards("Qd"), RoundUnresolved).why == "silence"


# Cards known only afterwards


@every
def test_late_cards_are_candidates_for_a_person(decree: str) -> None:
    play = table(decree)
    play.bets()
    play.cards("Kc Qd")
    play.sealed.clear()
    events = [*play.cards("4h 6s", late=True), *play.cards("5h", late=True)]
    assert only(events, RoundUnresolved).candidate is None
    assert not any(card.encode() in b"".join(map(write, events)) for card in ("4h", "6s", "5h"))
    assert play.sealed == ["4h", "6s", "5h"]
    result = only(play.send("round.confirm"), RoundResult)
    assert [hand.cards for hand in outcome_of(result).hands] == [("Kc", "4h", "5h"), ("Qd", "6s")]
    assert (outcome_of(result).winner, len(play.evidence(result))) == ("player", 5)


def test_a_person_may_know_better() -> None:
    play = table()
    play.bets()
    play.cards("Kc Qd 7h 6s", late=True)
    result = only(play.send("round.confirm", winner="banker"), RoundResult)
    assert (outcome_of(result).winner, outcome_of(result).hands, outcome_of(result).marks) == (
        "banker",
        (),
        (),
    )


def test_late_cards_of_a_round_that_was_not_opened() -> None:
    play = table()
    events = play.cards("Kc Qd", late=True)
    assert [event.what for event in of_kind(events, Irregularity)] == ["card_out_of_round"]
    play = table(rounds="shoe", turn="when_complete")
    events = play.cards("Kc Qd 7h 6s", late=True)
    assert only(events, RoundUnresolved).round == 1
    assert outcome_of(only(play.send("round.confirm"), RoundResult)).winner == "player"


def test_late_cards_in_the_burn() -> None:
    play = Play()
    play.send("session.open")
    play.send("shoe.start", shoe="S1")
    play.cards("3c")
    play.cards("4c", late=True)
    assert play.shown["asks"] == ["card.decide"]


# A table without keys finds its place again


def test_without_keys_the_next_round_must_be_found() -> None:
    play = table(rounds="shoe", turn="when_complete")
    play.cards("Kc Qd 7h 6s")
    play.gap()
    assert (
        only(play.cards("2c 3c"), RoundUnresolved).round == 2
    )  # of a round that began in the silence
    assert play.shown["asks"] == ["bets.open"]
    assert only(play.cards("Kc", to="player", index=1), RoundOpened).round == 3
    play.cards("Qd 7h 6s")
    play.gap()
    assert (
        only(play.verdict("player"), RoundUnresolved).round == 4
    )  # the shoe has ended a round that was not seen
    assert only(play.cards("Kc"), RoundOpened).round == 5
    play.cards("Qd 7h 6s")
    play.gap()
    play.send("bets.open")
    assert only(play.cards("Kc Qd 7h 6s"), RoundResult).round == 6


def test_a_silence_between_rounds_that_hid_nothing() -> None:
    play = table(rounds="shoe", turn="when_complete")
    play.cards("Kc Qd 7h 6s")
    play.gap()
    events = play.cards("Kc", to="player", index=1)
    assert (only(events, RoundOpened).round, of_kind(events, RoundUnresolved)) == (2, [])


def test_several_unresolved_rounds_must_be_named() -> None:
    play = table()
    for _ in range(2):
        play.bets()
        play.cards("Kc")
        play.gap()
        play.cards("Qd")
    with pytest.raises(RejectedError, match="name one in round: 1, 2"):
        play.send("round.confirm", winner="tie")
    assert only(play.send("round.confirm", winner="tie", round=1), RoundResult).round == 1
    with pytest.raises(RejectedError, match="round 9 is not among the remembered rounds"):
        play.send("round.confirm", winner="tie", round=9)


@every
def test_no_round_is_requested_where_none_may_begin(decree: str) -> None:
    play = table(decree)
    play.bets()
    play.cards("Kc Qd")
    play.gap()
    play.send("round.confirm", winner="player")
    assert play.shown["asks"] == ["bets.open"]
    play.cut()
    with pytest.raises(RejectedError, match="the cut card has come"):
        play.send("bets.open")
    assert (play.shown["phase"], play.shown["asks"]) == ("shoe_over", [])
