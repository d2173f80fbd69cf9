"""A talla of trente et quarante: the shoe, the cut card, the last five, whole shoes to
their end.
"""

from __future__ import annotations

import pytest

from common.contract.events import (
    AlertCleared,
    AlertRaised,
    CardDealt,
    CardRemoved,
    Irregularity,
    LastRounds,
    RoundOpened,
    RoundResult,
    RoundUnresolved,
    RoundVoid,
    SessionClosed,
    ShoeCut,
    ShoeEnded,
)
from common.contract.refusals import RejectedError
from common.readings import ShoeFault
from tests.support.for_each import for_each
from tests.support.games.decrees import by_decree
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind
from tests.support.games.trente_play import BLACK_WINS, DECREES, RED_WINS, Play, shuffled

every = pytest.mark.parametrize("decree", DECREES)


def whats(play: Play) -> list[str]:
    return [event.what for event in of_kind(play.events, Irregularity)]


# Cards in the shoe


@pytest.mark.parametrize(
    "decree",
    by_decree("BAL05-007 BAL05-008 BAL05-009", "ARA02-035", "EUS96-089 EUS96-054", "GAL07-040"),
)
def test_a_fault_of_the_cards_is_reported(decree: str) -> None:
    play = Play(decree)
    play.open(cards=311, backs=[3, 3], index=True, cut=7)
    assert whats(play) == ["shoe_count", "cards_backs", "cards_index", "cut_card"]
    play = Play(decree)
    play.open(cards=312, backs=[6], index=False, cut=5)
    assert whats(play) == []


@every
def test_cards_without_a_shoe(decree: str) -> None:
    play = Play(decree)
    play.send("session.open")
    play.cards("Ts Jd")
    assert whats(play) == ["shoe_missing"]
    assert [event.alert for event in of_kind(play.events, AlertRaised)] == ["shoe_missing"]
    said = play.send("shoe.start", shoe="S1")
    assert [event.alert for event in of_kind(said, AlertCleared)] == ["shoe_missing"]


def test_cards_at_a_closed_table_are_out_of_round() -> None:
    play = Play()
    play.cards("Ts Jd")
    assert whats(play) == ["card_out_of_round"]
    assert [event.alert for event in of_kind(play.events, AlertRaised)] == ["card_while_closed"]
    assert [event.alert for event in of_kind(play.open(), AlertCleared)] == ["card_while_closed"]


# The cut card


@pytest.mark.parametrize(
    "decree", by_decree("BAL05-092", "ARA02-043 ARA02-044", "EUS96-095 EUS96-096", "GAL07-049")
)
def test_the_cut_card_makes_the_round_null_and_the_last_five_are_counted(decree: str) -> None:
    play, cards = Play(decree), shuffled(5)
    play.open()
    for card in cards[:307]:
        if play.state.current is None:
            play.bets()
        play.cards(card)
    if play.state.current is None:
        play.bets()
    events = play.cut()
    [cut], [void] = of_kind(events, ShoeCut), of_kind(events, RoundVoid)
    assert (cut.drawn, cut.left, cut.rounds_left) == (307, 5, 0)
    assert (void.reason, void.law, void.by) == (
        "cut_card",
        play.game.book.void["cut_card"].rule,
        None,
    )
    assert void.round == play.state.round
    assert play.state.asks == ()
    play.sealed = []
    events = play.cards(" ".join(cards[307:]))
    assert [(event.why, event.card) for event in of_kind(events, CardRemoved)] == [
        ("last_cards", None)
    ] * 5
    assert play.sealed == cards[307:]
    with pytest.raises(RejectedError, match="no further round"):
        play.send("bets.open")
    [ended] = of_kind(play.send("shoe.end"), ShoeEnded)
    assert (ended.why, ended.drawn, ended.left, ended.missing, ended.extra) == (
        "cut",
        312,
        0,
        (),
        (),
    )
    assert whats(play) == []


@every
def test_the_cut_card_before_the_first_card_makes_the_round_null_too(decree: str) -> None:
    play = Play(decree)
    play.open()
    play.send("bets.open")
    assert [void.round for void in of_kind(play.cut(), RoundVoid)] == [1]
    assert whats(play) == ["cut_card"]


def test_the_cut_card_between_rounds_makes_nothing_null() -> None:
    play = Play()
    play.open()
    play.coup(BLACK_WINS)
    assert of_kind(play.cut(), RoundVoid) == []
    assert play.cut() == []
    assert play.shown["phase"] == "shoe_over"


def test_a_person_reports_the_cut_card_where_the_shoe_does_not_see_it() -> None:
    play = Play()
    play.open()
    play.bets()
    play.cards("Ts Jd")
    events = play.send("round.void", reason="cut_card")
    [void] = of_kind(events, RoundVoid)
    assert (void.reason, void.by) == ("cut_card", "M. Lasa")
    assert of_kind(events, ShoeCut) != []
    assert [event.why for event in of_kind(play.cards("7h"), CardRemoved)] == ["last_cards"]
    assert play.cut() == []


def test_the_cut_card_takes_the_cards_that_wait_with_it() -> None:
    play = Play()
    play.open()
    play.bets()
    play.cards("Ts - 9c")
    play.cut()
    assert play.state.asks == ()
    with pytest.raises(RejectedError, match="no card needs a decision"):
        play.send("card.decide", action="remove")
    play.send("shoe.start", shoe="S2")
    assert of_kind(play.coup(RED_WINS), RoundResult) != []


@pytest.mark.parametrize("decree", by_decree("BAL05-092", "ARA02-044", "EUS96-096", "GAL07-049"))
@for_each(
    ("tail", "left", "says"),
    [(5, None, 0), (4, None, 1), (4, 1, 0), (0, 5, 0), (0, 4, 1), (6, None, 2)],
)
def test_five_cards_are_counted(decree: str, tail: int, left: int | None, says: int) -> None:
    play = Play(decree)
    play.open()
    play.coup(BLACK_WINS)
    play.cut()
    play.cards(" ".join(["7h"] * tail))
    play.send("shoe.end", left=left)
    assert whats(play).count("last_five") == says


# Other reports of the shoe


def test_a_shoe_that_restarts_asks_for_its_cards() -> None:
    play = Play()
    play.open()
    play.bets()
    play.cards("Ts Jd")
    events = play.reset()
    assert [event.round for event in of_kind(events, RoundUnresolved)] == [1]
    assert play.state.asks == ("shoe.start", "card.decide")
    assert play.cards("7h") == []
    for command in ({"action": "remove"}, {"action": "read", "card": "7h"}):
        with pytest.raises(RejectedError, match="the shoe restarted"):
            play.send("card.decide", **command)
    play.send("card.decide", action="accept")
    play.send("round.void", round=1, reason="device_fault")
    assert of_kind(play.coup(BLACK_WINS), RoundResult) != []


def test_a_complaint_of_the_shoe_is_an_alert_without_its_card() -> None:
    play = Play()
    play.open()
    events = play.take(ShoeFault(at=9.0, device="shoe", fault="overdraw", active=True, detail="7h"))
    assert [event.what for event in of_kind(events, Irregularity)] == ["overdraw"]
    assert [event.detail for event in of_kind(events, AlertRaised)] == [None]
    events = play.take(ShoeFault(at=9.0, device="shoe", fault="overdraw", active=False))
    assert [event.alert for event in of_kind(events, AlertCleared)] == ["shoe_overdraw"]


# Sessions


def test_the_last_hands_are_counted_in_the_basque_country() -> None:
    play = Play("EUS96")
    play.open()
    [told] = of_kind(play.send("last_rounds.announce"), LastRounds)
    assert (told.left, told.announcement) == (3, {"eu": "azken hiru eskuak"})
    with pytest.raises(RejectedError, match="already announced"):
        play.send("last_rounds.announce")
    left = [
        event.left
        for _ in range(3)
        for event in of_kind(play.coup(BLACK_WINS if _ else RED_WINS), LastRounds)
    ]
    assert left == [2, 1, 0]


def test_closing_leaves_a_round_in_hand_unresolved() -> None:
    play = Play()
    play.open()
    play.bets()
    play.cards("Ts")
    events = play.send("session.close")
    assert [event.why for event in of_kind(events, RoundUnresolved)] == ["undecided"]
    assert (len(of_kind(events, ShoeEnded)), len(of_kind(events, SessionClosed))) == (1, 1)


# Whole shoes


@every
@for_each("rounds", ["keys", "shoe"])
def test_a_whole_shoe_to_its_end_with_restarts(decree: str, rounds: str) -> None:
    play, cards = Play(decree, rounds=rounds), shuffled(7)
    play.open(cards=312)
    for number, card in enumerate(cards):
        if number == 307:
            play.cut()
        elif number < 307 and rounds == "keys" and play.state.current is None:
            play.bets()
        if number % 37 == 0:
            play.again()
        play.cards(card)
        play.again()
    play.send("shoe.end")
    results, [void] = of_kind(play.events, RoundResult), of_kind(play.events, RoundVoid)
    assert whats(play) == []
    assert void.reason == "cut_card"
    dealt = [event.card for event in of_kind(play.events, CardDealt)]
    assert dealt == cards[:307]
    told = [card for result in results for hand in outcome_of(result).hands for card in hand.cards]
    assert told == cards[: len(told)]
    assert play.sealed == cards[307:]
    opened = [event.round for event in of_kind(play.events, RoundOpened)]
    assert opened == list(range(1, len(results) + 2))
    [ended] = of_kind(play.events, ShoeEnded)
    assert (ended.drawn, ended.left, ended.missing, ended.extra) == (312, 0, (), ())
