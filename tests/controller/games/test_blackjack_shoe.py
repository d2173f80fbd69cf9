"""The shoe of a table of black jack: burn, cut card, wrong cards, silences, people's decisions."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from common.contract.events import (
    AlertCleared,
    CardDealt,
    CardExpected,
    CardsBurned,
    Irregularity,
    LimitChanged,
    RoundResult,
    RoundUnresolved,
    RoundVoid,
    ShoeCut,
    ShoeEnded,
    ShoeStarted,
)
from common.contract.notation import write
from common.contract.refusals import RejectedError
from common.readings import CardDrawn
from tests.support.games.blackjack_play import DECREES, PAIRS, Play, dealing, outcomes
from tests.support.games.play import confidential, of_kind, only, whats

rule = pytest.mark.rule


@pytest.fixture(params=PAIRS, ids="-".join)
def play(request: pytest.FixtureRequest) -> Play:
    game, decree = request.param
    return Play(decree, game)


# A talla begins


@rule("BAL05-070", "ARA02-052", "EUS96-060", "GAL07-050")
def test_five_cards_are_burned_and_not_published(play: Play) -> None:
    said = play.open()
    assert only(said, CardsBurned).count == 5
    assert [event.to for event in of_kind(said, CardExpected)] == ["burn", None]
    public = b"".join(map(write, said))
    assert not any(card.encode() in public for card in ("2c", "3c", "4c", "5c", "6c"))
    play.deal((1, 3), "8h 9s Kd 4d 9c")
    assert [event.card for event in of_kind(play.events, CardDealt)] == [
        "8h",
        "9s",
        "Kd",
        "4d",
        "9c",
    ]


@rule("BAL05-070", "ARA02-052", "EUS96-060", "GAL07-050")
def test_burned_cards_are_confidential(play: Play) -> None:
    play.open(burned=False)
    for card in ("2c", None, "4c", "4c", "4c"):
        reading = _drawn(card)
        assert confidential(play.game, play.state, reading) == (card is not None)
        play.take(reading)
    play.boxes(1, 3)
    assert not confidential(play.game, play.state, _drawn("8h"))
    assert not of_kind(play.events, Irregularity), "the unread card is not noticed"


@rule("GAL07-079")
def test_without_a_shoe_cards_are_ignored(play: Play) -> None:
    play.send("session.open")
    with pytest.raises(RejectedError, match="no shoe is at the table"):
        play.boxes(1, 2)
    events = play.card("8h")
    assert whats(events) == ["shoe_missing", "shoe_missing"]
    assert b"8h" not in b"".join(map(write, events))
    assert play.card("9h") == []
    assert only(play.send("shoe.start", shoe="7"), AlertCleared)


@rule("ARA02-048", "ARA02-049")
def test_the_cards_of_a_shoe_are_checked_against_the_decree() -> None:
    play = Play("ARA02", models=("A", "B"))
    play.send("session.open")
    with pytest.raises(RejectedError, match="without a number"):
        play.send("shoe.start", shoe=" ")
    events = play.send("shoe.start", shoe="7", model="C", cards=311, backs=(2, 4), cut=51)
    assert [event.what for event in of_kind(events, Irregularity)] == [
        "shoe_model",
        "shoe_count",
        "cards_backs",
        "cut_card",
    ]
    assert [event.law for event in of_kind(events, Irregularity)] == [
        "ARA02-049",
        "ARA02-048",
        "ARA02-048",
        "ARA02-051",
    ]
    assert (only(events, ShoeStarted).cards, only(events, ShoeStarted).cut) == (312, 51)


@rule("ARA02-050")
def test_the_same_shoe_session_after_session_is_a_warning() -> None:
    play = Play("ARA02")
    for session in range(1, 5):
        play.send("session.open")
        events = play.send("shoe.start", shoe="7")
        assert bool(of_kind(events, Irregularity)) == (session >= 3)
        assert not of_kind(play.send("shoe.start", shoe="7"), Irregularity)
        play.send("session.close")


@rule("EUS96-061")
def test_a_continuous_shoe_has_no_cut_card_and_burns_as_the_site_says() -> None:
    for setting, expected in (("no", None), ("yes", "burn")):
        play = Play("EUS96", continuous=True, burn_continuous=setting)
        events = play.open(burned=False)
        assert only(events, ShoeStarted).cut == 0
        assert play.state.expected == expected
        if expected is None:
            assert not play.cut()
            for _ in range(40):
                play.deal((1,), "Th Kd 8d")
                play.key("stand")
                only(play.cards("7h"), RoundResult)


# The cut card


@rule("BAL05-075", "ARA02-065", "ARA02-066", "EUS96-078", "GAL07-048")
def test_the_cut_card_lets_the_round_end_and_no_other_begin(play: Play) -> None:
    dealing(play)
    event = only(play.cut(), ShoeCut)
    assert (event.rounds_left, event.drawn, event.left, event.round) == (1, 10, 302, 1)
    assert event.announcement == play.game.book.announcements["last_round"]
    assert not play.cut()
    assert play.shown["last_round"]
    play.key("stand")
    play.key("stand")
    said_last = play.cards("7c")
    assert outcomes(only(said_last, RoundResult))["dealer"] == (17, None, None)
    assert only(said_last, ShoeEnded).why == "cut"
    with pytest.raises(RejectedError, match="the shoe is over"):
        play.boxes(1, 3)
    if play.game.book.plays == 1:
        assert only(play.card("2h"), Irregularity).what == "shoe_over"
    play.send("shoe.end")
    play.send("shoe.start", shoe="8")
    play.boxes(1, 3)


@rule("BAL05-069", "ARA02-051", "EUS96-059", "GAL07-047")
def test_a_cut_card_with_less_than_a_deck_behind_it_is_irregular(play: Play) -> None:
    play.open()
    for _ in range(51):
        play.deal((1, 2), "Th 9s Kd 8d 9c")
        play.key("stand")
        play.key("stand")
        play.cards("7h")
        _forget_cards(play)
    assert play.state.shoe is not None
    assert play.state.shoe.drawn == 311
    events = play.cut()
    assert "cut_card" in whats(events)
    assert "shoe.cut" in whats(events)


def test_a_cut_card_between_rounds_makes_the_previous_round_the_last(play: Play) -> None:
    play.open()
    events = play.cut()
    assert (only(events, ShoeCut).rounds_left, only(events, ShoeEnded).why) == (0, "cut")


def test_a_cut_card_before_the_first_card_allows_the_round_or_not_as_the_site_says() -> None:
    played = Play("GAL07")
    played.open()
    played.boxes(1, 2)
    assert only(played.cut(), ShoeCut).rounds_left == 1
    played.cards("8h 9s Kd 4d 9c")
    over = Play("GAL07", cut_first="end")
    over.open()
    over.boxes(1, 2)
    events = over.cut()
    assert (only(events, ShoeCut).rounds_left, only(events, Irregularity).asks) == (
        0,
        ("card.decide", "round.void"),
    )
    assert not of_kind(over.card("8h"), CardDealt)
    only(over.send("round.void", reason="inspector"), RoundVoid)


ANOTHER_SHOE: tuple[dict[str, str], ...] = (
    {"command": "shoe.end"},
    {"command": "shoe.start", "shoe": "8"},
)


@pytest.mark.parametrize("change", ANOTHER_SHOE)
def test_the_shoe_is_not_changed_once_bets_are_closed(play: Play, change: dict[str, str]) -> None:
    play.open()
    play.boxes(1, 2)
    play.send("bets.close")
    with pytest.raises(RejectedError, match="round 1 is in progress"):
        play.send(**change)
    only(play.send("round.void", reason="inspector"), RoundVoid)
    play.send(**change)


@pytest.mark.parametrize("change", ANOTHER_SHOE)
def test_without_keys_a_round_whose_shoe_is_changed_before_its_first_card_is_unresolved(
    change: dict[str, str],
) -> None:
    play = Play("ARA02", keys=False)
    play.open()
    play.send("bets.close")
    assert only(play.send(**change), RoundUnresolved).why == "undecided"
    assert play.state.current is None


def test_a_round_whose_table_is_closed_before_its_first_card_is_unresolved(play: Play) -> None:
    play.open()
    play.boxes(1, 2)
    play.send("bets.close")
    assert only(play.send("session.close"), RoundUnresolved).why == "undecided"


# Ends


def test_cards_counted_at_the_end_are_checked_against_the_count(play: Play) -> None:
    play.open()
    events = play.send("shoe.end", left=306)
    assert [event.what for event in of_kind(events, Irregularity)] == ["shoe_count"]
    assert (only(events, ShoeEnded).why, only(events, ShoeEnded).left) == ("person", 306)


def test_closing_in_the_middle_leaves_the_round_unresolved(play: Play) -> None:
    dealing(play)
    with pytest.raises(RejectedError, match="round 1 is in progress"):
        play.send("shoe.end")
    events = play.send("session.close")
    assert whats(events)[:2] == ["round.unresolved", "shoe.ended"]
    assert only(events, RoundUnresolved).why == "undecided"
    assert play.shown["phase"] == "closed"


@rule("EUS96-088")
def test_in_euskadi_a_new_minimum_applies_after_the_last_shoe() -> None:
    play = Play("EUS96")
    dealing(play)
    play.send("limit.announce", "director", minimum=1000)
    assert (play.state.minimum, play.shown["next_minimum"]) == (500, 1000)
    play.send("round.void", reason="inspector")
    events = play.send("shoe.end")
    assert (only(events, LimitChanged).minimum, play.state.minimum) == (1000, 1000)


@pytest.mark.parametrize("decree", DECREES)
def test_announced_rounds_are_counted(decree: str) -> None:
    play = Play(decree, continuous=decree == "EUS96")  # else its last shoe is announced
    play.open()
    play.send("last_rounds.announce")
    if decree == "GAL07":
        with pytest.raises(RejectedError, match="may not change"):
            play.send("limit.announce", minimum=1000)
    else:
        play.send("limit.announce", "director", minimum=1000)
        rounds = None if decree == "EUS96" else 3
        assert (play.shown["next_minimum"], play.shown["rounds_at_this_minimum"]) == (1000, rounds)
    for _ in range(3):
        play.deal((1, 2), "Th 9s Kd 8d 9c")
        play.key("stand")
        play.key("stand")
        play.cards("7h")
        _forget_cards(play)
    assert play.state.last == 0
    assert play.state.minimum == (500 if decree in ("GAL07", "EUS96") else 1000)


def _drawn(card: str | None) -> CardDrawn:
    return CardDrawn(at=0.0, device="shoe", frame=f"f {card}", card=card)


def _forget_cards(play: Play) -> None:
    """Replace the cards of events, so that the same few return: only their number counts."""
    assert play.state.shoe is not None
    play.state = replace(play.state, shoe=replace(play.state.shoe, seen={}))
