"""Cards that are bought or discarded at house poker, and hands that are shown wrongly."""

from __future__ import annotations

import pytest

from common.contract.events import (
    CardDealt,
    CardRemoved,
    CardTurned,
    HandDecided,
    Irregularity,
    RoundResult,
    RoundVoid,
)
from common.contract.refusals import RejectedError
from controller.games.decks import DECKS
from controller.games.house_poker.discards import bank_discards
from tests.support.for_each import for_each
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind
from tests.support.games.poker_play import Play, bets, box, dealt, result, stopped, table

LOW = "7c 5d 4h 3s 2c"
"""A hand without value: the bank does not play with it."""
ACE_KING = "Ah Kd 5s 4s 9h"


# A bought card


@pytest.mark.rule("EUS96-174")
def test_a_bought_card_lies_face_up_and_costs_the_side_bets() -> None:
    play = table(decree="EUS96")
    dealt(
        play, "Ts Td Tc 6c 7s", "Ks Kc 5c 3h 2s", ACE_KING, bets=[(1, "insurance"), (1, "jackpot")]
    )
    play.act(1, "buy")
    assert play.shown["expected"] == "box:1"
    with pytest.raises(RejectedError, match="box:1 has not received all cards yet"):
        play.act(1, "go")
    [came] = of_kind(play.cards("Th"), CardDealt)
    assert (came.to, came.index, came.card) == ("box:1", 6, "Th")
    assert play.shown["hands"]["box:1"]["cards"] == [None, None, None, None, "Th"]
    with pytest.raises(RejectedError, match="box:1 has already bought a card"):
        play.act(1, "buy")
    play.act(1, "go")
    play.act(2, "pass")
    play.turn("dealer")
    assert play.shown["asks"][0] == "cards.show", "the card given for it was not seen"
    told = play.show("box:1", "Ts Td Tc Th 6c")
    assert bets(box(told)) == {
        "ante": ("win", (1, 1)),
        "second": ("win", (20, 1)),
        "insurance": ("lose", None),
        "jackpot": ("lose", None),
    }
    assert "7s" not in {
        event.card
        for event in play.events
        if isinstance(event, CardDealt | CardTurned | CardRemoved)
    }


def test_a_bought_card_that_must_be_among_those_shown() -> None:
    play = table(decree="EUS96")
    dealt(play, "Ts Td Tc 6c 7s", ACE_KING)
    play.act(1, "buy")
    play.cards("Th")
    play.act(1, "go")
    play.turn("dealer")
    events = play.show("box:1", "Ts Td Tc 6c 7s")
    assert [event.what for event in of_kind(events, Irregularity)] == ["shown_differs"]


def test_where_the_decree_does_not_say_a_bought_card_lies_face_down() -> None:
    play = table(bought_bets="play")
    dealt(play, "Ts Td Tc 6c 7s", ACE_KING, bets=[(1, "insurance")])
    play.act(1, "buy")
    assert [event.card for event in of_kind(play.cards("Th"), CardDealt)] == [None]
    play.act(1, "go")
    play.turn("dealer")
    assert bets(box(play.show("box:1", "Ts Td Tc Th 7s")))["insurance"] == ("win", (300, 1))


def test_no_card_is_sold_in_aragon() -> None:
    play = table(decree="ARA02")
    dealt(play, "Ts Td Tc 6c 7s", ACE_KING)
    with pytest.raises(RejectedError, match="no purchase"):
        play.act(1, "buy")


# Discards


def draw(*hands: str, **settings: str) -> Play:
    """A table with discards, all of whose hands go."""
    play = table("poker-draw-house", "EUS96", **settings)
    dealt(play, *hands)
    for number in range(1, len(hands)):
        play.act(number, "go")
    return play


@pytest.mark.rule("EUS96-167")
def test_a_player_discards_two_cards_at_most() -> None:
    play = draw("Ts Td 4c 6c 7s", LOW)
    for count in (3, -1, None):
        with pytest.raises(RejectedError, match="count must be from 0 to 2"):
            play.act(1, "discard", count=count)
    [decided] = of_kind(play.act(1, "discard", count=2), HandDecided)
    assert (decided.decision, decided.count) == ("discard", 2)
    assert [(event.to, event.card) for event in of_kind(play.cards("Th 9s"), CardDealt)] == [
        ("box:1", None)
    ] * 2
    with pytest.raises(RejectedError, match="box:1 has already discarded"):
        play.act(1, "discard", count=1)


def test_new_cards_go_box_by_box() -> None:
    play = draw("Ts Td 4c 6c 7s", "Ks Kd 4d 6d 7d", LOW)
    play.act(2, "discard", count=1)
    play.act(1, "discard", count=2)
    assert [event.to for event in of_kind(play.cards("9c 9d 9s"), CardDealt)] == [
        "box:1",
        "box:1",
        "box:2",
    ]


@pytest.mark.rule("EUS96-165", "EUS96-166")
def test_the_bank_discards_by_its_rule_and_then_plays_with_a_pair_of_eights() -> None:
    play = draw("Ts Td 4c 6c 7s", "8s 8d Ac 3h 2s")
    play.act(1, "discard", count=0)
    events = play.turn("dealer")
    assert [(event.who, event.count) for event in of_kind(events, HandDecided)] == [("dealer", 2)]
    assert [(event.card, event.to) for event in of_kind(events, CardRemoved)] == [
        ("2s", "dealer"),
        ("3h", "dealer"),
    ]
    with pytest.raises(RejectedError, match="no choice"):
        play.send("hand.act", who="dealer", action="discard", count=1)
    assert [event.card for event in of_kind(play.cards("9c 9h"), CardDealt)] == ["9c", "9h"]
    events = play.turn()
    assert outcome_of(result(events)).marks == ("dealer_qualifies",)
    assert outcome_of(result(events)).hands[-1].kind == "two_pair"
    assert box(events).outcome == "lose"


@pytest.mark.rule("EUS96-165")
@pytest.mark.parametrize(
    ("bank", "new", "plays"),
    [
        ("7s 7d Ac 3h 2s", "9c 5h", False),
        ("7s 7d Ac 3h 2s", "9c 9h", True),
        ("8s 8d Ac 3h 2s", "9c 5h", True),
    ],
)
def test_the_bank_plays_by_its_hand_after_discards(bank: str, new: str, plays: bool) -> None:
    play = draw("Ts Td 4c 6c 7h", bank)
    play.act(1, "discard", count=0)
    play.turn("dealer")
    play.cards(new)
    if plays:
        play.turn("box:1")
    [event] = of_kind(play.events, RoundResult)
    assert outcome_of(event).marks == ("dealer_qualifies" if plays else "dealer_not_qualified",)


@pytest.mark.rule("EUS96-166")
@for_each(
    ("cards", "gone"),
    [
        ("Ts 9d 8c 7h 6s", ""),
        ("Ks Js 8s 6s 2s", ""),
        ("Ts Td Tc 6c 7s", "6c 7s"),
        ("Ts Td 7c 7s 2h", "2h"),
        ("Ts Td Ac 3h 2s", "2s 3h"),
        ("As Js 8s 6s 2d", "2d"),
        ("9s 8s 7s 6s 2d", "2d"),
        ("9s 8s 7s 2s 6d", "6d"),  # four of a suit go before four in a row
        ("9s 8d 7c 6h 2d", "2d"),
        ("Ks 9d 8c 7h 6d", "Ks"),
        ("As Kd Qc Jh 2d", "2d"),
        ("As 2d 3c 4h 9d", "2d 3c"),  # the ace is not below the two
        ("Ks 5d 4c 3h 2d", "Ks"),
        ("As Qd Tc 8h 6d", "6d 8h"),
    ],
)
def test_the_banks_discards(cards: str, gone: str) -> None:
    assert sorted(bank_discards(cards.split(), "five-52")) == sorted(gone.split())


def test_the_bank_never_discards_more_than_two() -> None:
    pack = DECKS["deck_52"]
    for start in range(47):
        for stride in (1, 3, 5, 7, 11, 17, 23):
            cards = [pack[(start + place * stride) % 52] for place in range(5)]
            gone = bank_discards(cards, "five-52")
            assert len(gone) <= 2
            assert set(gone) <= set(cards)


def bank_shown(cards: str) -> Play:
    """A person has reported the bank's first cards, and it has discarded by its rule."""
    play = draw("Ts Td 4c 6c 7s", "- - - - -")
    play.act(1, "discard", count=0)
    play.show("dealer", cards)
    return play


@pytest.mark.rule("EUS96-166")
@pytest.mark.parametrize(
    ("first", "then", "gone"),
    [
        ("8s 8d Ac 3h 2s", "8s 8d Ac 3h 3d", ["Ac"]),
        ("8s 8d Ac 3h 2s", "8s 8d Ac 5h 2s", ["2s", "5h"]),
        ("9s 8d Jc Th Qs", "9s 8d Jc Th Ks", ["Ks"]),
        ("8s 8d Ac 3h 3d", "9s 8d Jc Th Qs", []),
    ],
)
def test_the_bank_discards_again_when_its_first_cards_are_corrected(
    first: str, then: str, gone: list[str]
) -> None:
    play = bank_shown(first)
    told = play.show("dealer", then)
    assert [(event.who, event.valid) for event in of_kind(told, HandDecided)] == [("dealer", False)]
    stopped(play, "shown_differs")
    play.again()
    told = play.send("card.decide", action="accept")
    assert [(event.decision, event.count, event.valid) for event in of_kind(told, HandDecided)] == [
        ("discard", len(gone), True)
    ]
    assert [event.card for event in of_kind(told, CardRemoved)] == gone
    assert play.shown["expected"] == ("dealer" if gone else None)
    play.cards(" ".join(["Qc", "Qd"][: len(gone)]))
    play.turn("box:1")
    [found] = of_kind(play.events, RoundResult)
    assert (set(outcome_of(found).hands[-1].cards) | set(gone)) >= set(then.split())


def test_one_of_the_banks_first_cards_is_corrected() -> None:
    play = bank_shown("8s 8d Ac 3h 2s")
    events = play.show("dealer", "8h", index=5)
    assert [event.card for event in of_kind(events, CardTurned)] == ["3h", "2s"], (
        "those that it had discarded lie there again"
    )
    events = play.send("card.decide", action="accept")
    assert [event.card for event in of_kind(events, CardRemoved)] == ["3h", "Ac"]


def test_the_same_cards_again_lead_to_the_same_discards() -> None:
    play = bank_shown("8s 8d Ac 3h 2s")
    play.show("dealer", "8s 8d Ac 3h 3d")
    events = play.show("dealer", "8s 8d Ac 3h 2s")
    assert [event.card for event in of_kind(events, CardRemoved)] == ["2s", "3h"]
    with pytest.raises(RejectedError, match="the cards of dealer are already face up"):
        play.show("dealer", "8s 8d Ac 3h 2s")
    assert play.shown["expected"] == "dealer"


def test_the_banks_first_cards_are_final_once_a_card_has_come_for_its_discards() -> None:
    play = bank_shown("8s 8d Ac 3h 2s")
    play.cards("Qc")
    with pytest.raises(
        RejectedError, match="dealer is not shown now; if its cards were seen, send deal-error"
    ):
        play.show("dealer", "8s 8d Ac 3h 3d")
    play.cards("Qd")
    with pytest.raises(RejectedError, match="dealer has no card 5"):
        play.show("dealer", "8h", index=5)


def test_a_wrong_discard_of_the_bank_makes_the_play_null() -> None:
    play = draw("Ts Td 4c 6c 7s", "8s 8d Ac 3h 2s")
    play.act(1, "discard", count=0)
    play.turn("dealer")
    [void] = of_kind(play.send("deal.error", error="wrong_discard", who="dealer"), RoundVoid)
    assert void.reason == "misdeal"


def test_a_hand_with_unseen_discards_is_shown() -> None:
    play = draw("Ts Td 4c 6c 7s", "8s 8d Ac 3h 2s")
    play.act(1, "discard", count=2)
    play.cards("Th 9s")
    play.turn("dealer")
    play.cards("9c 5h")
    with pytest.raises(RejectedError, match="cannot be turned"):
        play.turn("box:1")
    told = play.show("box:1", "Ts Td 7s Th 9s")
    assert (box(told).kind, box(told).outcome) == ("trips", "win")
    assert {"4c", "6c"} & {
        event.card for event in play.events if isinstance(event, CardTurned)
    } == set()


def test_packets_of_new_cards() -> None:
    play = table("poker-draw-house", "EUS96", dealt="packets")
    play.bets(1)
    play.packets(5, 5)
    play.act(1, "go")
    play.act(1, "discard", count=2)
    assert [event.to for event in of_kind(play.packets(1, 1), CardDealt)] == ["box:1", "box:1"]


# Hands shown wrongly


def test_a_card_shown_that_was_read_otherwise_stops_the_round() -> None:
    play = table()
    dealt(play, "Ts Td Tc 6c 7s", ACE_KING)
    play.act(1, "go")
    play.turn("dealer")
    [irregular] = of_kind(play.show("box:1", "Ts Td Tc 6c 7h"), Irregularity)
    assert (irregular.what, irregular.asks) == (
        "shown_differs",
        ("cards.show", "card.decide", "round.void"),
    )
    with pytest.raises(
        RejectedError,
        match="these cards cannot be accepted; send the right ones or void the round:",
    ):
        play.send("card.decide", action="remove")
    events = play.show("box:1", "7s 6c Ts Tc Td")
    assert box(events).kind == "trips"


def test_a_person_may_be_right_against_the_reader() -> None:
    play = table()
    dealt(play, "Ts Td Tc 6c 7s", ACE_KING)
    play.act(1, "go")
    play.turn("dealer")
    play.show("box:1", "Ts Td Tc 6c Th")
    events = play.send("card.decide", action="accept")
    assert (box(events).kind, result(events).confirmed_by) == ("four", "M. Lasa (table_head)")
    assert len(play.evidence(result(events))) == 10, "also the reader's report of the tenth card"


@pytest.mark.parametrize(
    ("cards", "what"), [("Ts Td Tc 6c Kd", "card_duplicate"), ("Ts Td Tc 6c X", "card_foreign")]
)
def test_an_impossible_shown_card_is_refused(cards: str, what: str) -> None:
    play = table()
    dealt(play, "- - - - -", ACE_KING)
    play.act(1, "go")
    play.turn("dealer")
    assert [event.what for event in of_kind(play.show("box:1", cards), Irregularity)] == [what]
    with pytest.raises(
        RejectedError,
        match="these cards cannot be accepted; send the right ones or void the round:",
    ):
        play.send("card.decide", action="accept")
    assert box(play.show("box:1", "Ts Td Tc 6c 7s")).kind == "trips"


def test_a_hand_shown_with_too_few_cards() -> None:
    play = table()
    dealt(play, "Ts Td Tc 6c 7s", ACE_KING)
    play.act(1, "go")
    with pytest.raises(
        RejectedError, match="box:1 has 5 cards, not 4; report a wrong number with deal-error"
    ):
        play.show("box:1", "Ts Td Tc 6c")


def test_the_exposed_card_is_corrected() -> None:
    play = table(dealt="packets")
    play.bets(1)
    play.packets(5, 5)
    play.show("dealer", "9h", index=5)
    assert [event.what for event in of_kind(play.show("dealer", "9d", index=5), Irregularity)] == [
        "shown_differs"
    ]
    assert [
        event.card for event in of_kind(play.send("card.decide", action="accept"), CardTurned)
    ] == ["9d"]
