"""Errors in the deal of house poker, a wrong deck, a shuffler that is not ready."""

from __future__ import annotations

import pytest

from common.contract.commands import VoidReason
from common.contract.events import (
    AlertCleared,
    AlertRaised,
    CardDealt,
    CardRemoved,
    DeckChecked,
    Irregularity,
    RoundVoid,
)
from common.contract.refusals import RejectedError
from tests.support.for_each import for_each
from tests.support.games.play import of_kind
from tests.support.games.poker_play import Play, singly, stopped, table

ONE, TWO, BANK = "As Ad Kc 2d 3h", "7c 8c 9c Tc Jd", "Ah Kd 5s 4s 9h"
HANDS = (ONE, TWO, BANK)


def ready(**settings: str) -> Play:
    """A table of BAL05 whose bets are closed, with two boxes."""
    play = table(**settings)
    play.bets(1, 2)
    return play


# Errors of the deal


@pytest.mark.rule("BAL05-131", "ARA02-136", "EUS96-160", "BAL09-051")
@pytest.mark.parametrize(
    ("game", "decree"),
    [
        ("poker-no-draw", "BAL05"),
        ("poker-no-draw", "ARA02"),
        ("poker-no-draw", "EUS96"),
        ("poker-draw-house", "EUS96"),
        ("three-card-poker", "EUS96"),
        ("three-card-poker", "BAL09"),
    ],
)
@for_each(
    ("error", "reason"),
    [
        ("too_many", "wrong_count"),
        ("too_few", "wrong_count"),
        ("missing_card", "wrong_count"),
        ("order", "wrong_order"),
        ("skipped", "wrong_order"),
        ("exposed", "card_exposed"),
        ("exposed_in_deck", "card_exposed"),
        ("foreign_card", "deck_defective"),
        ("premature", "misdeal"),
    ],
)
def test_any_error_of_the_deal_makes_the_whole_play_null(
    game: str, decree: str, error: str, reason: VoidReason
) -> None:
    play = table(game, decree)
    play.bets(1, 2)
    play.cards("As Ad")
    [void] = of_kind(play.send("deal.error", error=error), RoundVoid)
    assert (void.reason, void.by, void.law) == (reason, "M. Lasa", play.game.book.void[reason].rule)
    assert play.state.current is None
    play.bets(1)
    assert play.shown["phase"] == "dealing"


@pytest.mark.parametrize("role", ["croupier", "inspector"])
def test_only_who_may_declare_a_play_null_reports_an_error(role: str) -> None:
    play = ready()
    with pytest.raises(RejectedError, match=f"role {role} is not allowed to do this"):
        play.send("deal.error", role=role, error="order")


def test_an_error_that_the_decree_does_not_name() -> None:
    play = ready()
    with pytest.raises(
        RejectedError, match="the decree has no rule for deck_removed here; it has rules for:"
    ):
        play.send("deal.error", error="deck_removed")


@pytest.mark.rule("BAL09-006")
def test_three_card_poker_is_played_with_one_deck() -> None:
    play = table("three-card-poker", "BAL09")
    play.bets(1, 2)
    play.cards("As Ad As")
    stopped(play, "card_duplicate")


@pytest.mark.rule("ARA02-134", "EUS96-155")
@pytest.mark.parametrize("decree", ["ARA02", "EUS96"])
def test_a_card_that_is_there_twice_stops_the_deal(decree: str) -> None:
    play = table(decree=decree)
    play.bets(1, 2)
    play.cards("As Ad As")
    stopped(play, "card_duplicate")
    play.cards("Kc")
    with pytest.raises(
        RejectedError,
        match="this card is not of the deck or is already on the table; name the right",
    ):
        play.send("card.decide", action="accept")
    with pytest.raises(
        RejectedError,
        match="this card is not of the deck or is already on the table; name the right",
    ):
        play.send("card.decide", action="read", card="Ad")
    play.send("card.decide", action="read", card="2c")
    assert [event.to for event in of_kind(play.events, CardDealt)] == [
        "box:1",
        "box:2",
        "dealer",
        "box:1",
    ]
    assert play.sealed, "no card of the deal is published"


@pytest.mark.rule("BAL05-131")
def test_a_foreign_card_stops_the_deal() -> None:
    play = ready()
    play.cards("Xx")
    stopped(play, "card_foreign")
    [void] = of_kind(play.send("round.void", reason="deck_defective"), RoundVoid)
    assert void.reason == "deck_defective"


@pytest.mark.rule("BAL05-131")
def test_a_card_too_many_stops_the_round() -> None:
    play = ready()
    play.cards(singly(*HANDS))
    play.cards("6h")
    stopped(play, "card_extra")
    with pytest.raises(RejectedError, match="no card is due; remove this card or send round-void"):
        play.send("card.decide", action="accept")
    with pytest.raises(
        RejectedError, match="card_extra is not decided yet; the table is waiting for: card-decide,"
    ):
        play.act(1, "go")
    removed = of_kind(play.send("card.decide", action="remove"), CardRemoved)
    assert [(event.why, event.card) for event in removed] == [("card_extra", None)]
    play.act(1, "go")


def test_an_exposed_card_of_a_player_stops_the_deal() -> None:
    play = ready()
    play.cards("As", exposed=True)
    stopped(play, "card_exposed")
    assert play.sealed != []
    events = of_kind(play.send("card.decide", action="accept"), CardDealt)
    assert [(event.to, event.card) for event in events] == [("box:1", None)], (
        "no person saw it: the device was wrong"
    )


def test_an_exposed_card_of_the_bank_at_its_place_is_none() -> None:
    play = ready()
    play.cards(singly(ONE, TWO, BANK).rsplit(" ", 1)[0])
    assert [event.card for event in of_kind(play.cards("9h", exposed=True), CardDealt)] == ["9h"]


def test_a_card_that_a_reader_could_not_read_stops_the_deal_where_it_lies_face_up() -> None:
    play = ready()
    play.cards("- " * 14)
    assert play.shown["phase"] == "dealing"
    play.cards("-")
    stopped(play, "card_unread")
    with pytest.raises(RejectedError, match="the card is face up; name it with action read"):
        play.send("card.decide", action="accept")
    assert [
        event.card
        for event in of_kind(play.send("card.decide", action="read", card="9h"), CardDealt)
    ] == ["9h"]


def test_a_card_that_the_device_gives_to_another_hand_stops_the_deal() -> None:
    play = ready()
    play.cards("As", to="box:2")
    stopped(play, "card_order")
    assert [
        event.to for event in of_kind(play.send("card.decide", action="accept"), CardDealt)
    ] == ["box:1"]


def test_a_card_that_the_device_is_not_sure_of() -> None:
    play = ready()
    play.cards("As", unsure=True)
    stopped(play, "card_unsure")
    play.send("card.decide", action="remove")
    assert play.shown["expected"] == "box:1"


@pytest.mark.rule("BAL05-130", "EUS96-156", "EUS96-157")
@for_each(
    ("game", "decree", "size"),
    [
        ("poker-no-draw", "BAL05", 5),
        ("poker-no-draw", "EUS96", 5),
        ("three-card-poker", "EUS96", 3),
    ],
)
@for_each("wrong", [-1, 1])
def test_a_packet_of_a_wrong_size_stops_the_deal(
    game: str, decree: str, size: int, wrong: int
) -> None:
    play = table(game, decree, dealt="packets")
    play.bets(1, 2)
    play.packets(size, size + wrong)
    stopped(play, "packet_wrong")
    play.packets(size)
    events = of_kind(play.send("card.decide", action="accept"), CardDealt)
    assert [event.to for event in events] == ["box:2"] * size + ["dealer"] * size, (
        "counted again it was right, and what came next follows"
    )


def test_a_packet_too_many_stops_the_round() -> None:
    play = table(dealt="packets")
    play.bets(1)
    play.packets(5, 5, 5)
    stopped(play, "card_extra")
    removed = of_kind(play.send("card.decide", action="remove"), CardRemoved)
    assert [event.card for event in removed] == [None] * 5


def test_a_missing_packet_is_waited_for() -> None:
    play = table(dealt="packets")
    play.bets(1, 2)
    play.packets(5, 5)
    assert play.shown["expected"] == "dealer"
    with pytest.raises(RejectedError, match="not all cards are dealt"):
        play.act(1, "go")
    [void] = of_kind(play.send("deal.error", error="too_few", who="dealer"), RoundVoid)
    assert void.reason == "wrong_count"


def test_a_packet_for_another_hand_stops_the_deal() -> None:
    play = table(dealt="packets")
    play.bets(1, 2)
    play.packets(5, to="box:2")
    stopped(play, "card_order")
    play.send("card.decide", action="remove")
    assert of_kind(play.packets(5, to="1"), CardDealt) != [], (
        "the device's own name of it does not matter"
    )


@pytest.mark.rule("ARA02-135", "BAL09-035")
@pytest.mark.parametrize(
    ("game", "decree"), [("poker-no-draw", "ARA02"), ("three-card-poker", "BAL09")]
)
def test_a_packet_where_cards_are_dealt_one_by_one(game: str, decree: str) -> None:
    play = table(game, decree)
    play.bets(1)
    play.packets(5)
    stopped(play, "packet_wrong")


@pytest.mark.rule("BAL05-131", "EUS96-160")
@pytest.mark.parametrize("decree", ["BAL05", "EUS96"])
def test_a_devices_report_makes_the_play_null_where_the_site_says_so(decree: str) -> None:
    play = table(decree=decree, misdeal="void")
    play.bets(1, 2)
    events = play.cards("As Ad As")
    assert [event.what for event in of_kind(events, Irregularity)] == ["card_duplicate"]
    [void] = of_kind(events, RoundVoid)
    assert (void.reason, void.by) == ("deck_defective", None)


# The deck and the shuffler


def test_a_deck_is_counted() -> None:
    play = table()
    [checked] = of_kind(play.send("deck.check", cards=51), DeckChecked)
    assert (checked.right, checked.count, checked.count_right, checked.by) == (
        False,
        51,
        False,
        "M. Lasa",
    )
    assert [event.what for event in of_kind(play.events, Irregularity)] == ["deck_wrong"]
    play.send("bets.open")
    play.send("boxes.set", boxes=[1])
    assert play.shown["asks"] == ["deck.check"]
    with pytest.raises(
        RejectedError, match="the deck is not whole; replace it and send deck-check"
    ):
        play.send("bets.close")
    play.send("deck.check", cards=52)
    play.send("bets.close")
    assert [event.alert for event in of_kind(play.events, AlertCleared)] == ["deck_wrong"]


@for_each(
    ("verdict", "right"),
    [
        ({"count": 52, "set_right": True}, True),
        ({"count": 51}, False),
        ({"decks": 2, "count": 104}, True),
        ({"count": 52, "count_right": False}, False),
        ({"count_right": True, "set_right": False}, False),
        ({"count": 52, "extra": ["As"]}, False),
        ({}, True),
    ],
)
def test_the_shufflers_report_about_the_deck(verdict: dict[str, object], right: bool) -> None:
    play = table()
    [checked] = of_kind(play.verdict(**verdict), DeckChecked)
    assert (checked.right, checked.device) == (right, "shuffler")
    assert play.shown["deck"] is right
    assert ("deck_wrong" in play.state.alerts) is not right


def test_a_wrong_deck_stops_the_deal_and_names_no_card() -> None:
    play = ready()
    play.cards("As Ad")
    [checked] = of_kind(play.verdict(count=51, missing=("Kh",)), DeckChecked)
    assert not checked.right
    assert "Kh" not in str(checked)
    stopped(play, "deck_wrong")
    assert play.sealed, "the missing card may be one that lies face down"
    play.send("card.decide", action="accept")
    assert play.shown["expected"] == "dealer"


@for_each("state", ["door_open", "jam", "recovering", "count_wrong", "set_wrong", "needs_service"])
def test_a_shuffler_that_is_not_ready_stops_the_deal(state: str) -> None:
    play = table(dealt="packets")
    play.bets(1, 2)
    play.packets(5)
    play.shuffler(state)
    stopped(play, "shuffler_unready")
    assert [event.alert for event in of_kind(play.events, AlertRaised)] == [f"shuffler_{state}"]
    play.shuffler("ready")
    assert [event.alert for event in of_kind(play.events, AlertCleared)] == [f"shuffler_{state}"]
    play.packets(5)
    assert play.shown["phase"] == "decision", "a person lets it continue"
    play.send("card.decide", action="accept")
    assert play.shown["expected"] == "dealer"


def test_no_deal_begins_from_a_shuffler_that_is_not_ready() -> None:
    play = table(dealt="packets")
    play.shuffler("jam")
    play.send("bets.open")
    play.send("boxes.set", boxes=[1])
    with pytest.raises(
        RejectedError, match="the shuffler reports jam; clear it, or check the deck and send"
    ):
        play.send("bets.close")
    play.send("deck.check", cards=52)
    play.send("bets.close")
    assert "shuffler_jam" in play.state.alerts, "it is jammed still; the cards are dealt by hand"
    assert [event.alert for event in of_kind(play.shuffler("ready"), AlertCleared)] == [
        "shuffler_jam"
    ]


def test_a_shuffler_repeats_and_changes_its_state() -> None:
    play = table()
    play.shuffler("jam")
    assert play.shuffler("jam") == []
    events = play.shuffler("recovering")
    assert [event.alert for event in of_kind(events, AlertCleared)] == ["shuffler_jam"]
    assert [event.alert for event in of_kind(events, AlertRaised)] == ["shuffler_recovering"]
    assert play.shuffler("shuffling") != []
    assert play.shuffler("ready") == []
