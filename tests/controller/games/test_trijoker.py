"""Trijoker: the deal, the two decisions, the pay table, and cards that are seen too early."""

from __future__ import annotations

from collections import Counter
from itertools import combinations_with_replacement
from math import comb, prod

import pytest

from common.contract.events import (
    BetPlaced,
    CardDealt,
    CardExpected,
    CardRemoved,
    CardTurned,
    LastRounds,
    RoundOpened,
)
from common.contract.refusals import RejectedError
from common.readings import ShufflerState
from controller.games.cards import RANKS
from controller.games.games import make_game
from controller.games.hands.evaluator import value
from controller.games.trijoker.turn import pays
from controller.rulebooks.rulebook import rulebook
from tests.support.for_each import for_each
from tests.support.games.banked_play import Play, bets_of, irregularities, voids
from tests.support.games.decrees import by_decree
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind

DECREES = ("BAL05", "EUS96")
every = pytest.mark.parametrize("decree", DECREES)
JACKS = "Jh 2c 5d Js 9c 8h 7s Qd"
"""Boxes 1 and 3, left 5d, right 8h: box 1 has a pair of jacks, box 3 nothing."""


def table(decree: str = "BAL05", **settings: int | str) -> Play:
    play = Play("trijoker", decree, **settings)
    play.open(1, 3)
    play.bets()
    return play


@pytest.mark.parametrize("decree", by_decree("BAL05-144"))
def test_cards_and_decisions_alternate(decree: str) -> None:
    play = table(decree)
    events = play.cards(JACKS)
    dealt = of_kind(events, CardDealt)
    assert [event.to for event in dealt] == [
        "box:1",
        "box:3",
        "common:1",
        "box:1",
        "box:3",
        "common:2",
        "box:1",
        "box:3",
    ]
    assert {event.card for event in dealt} == {None}
    assert len(dealt) == 3 * 2 + 2
    assert of_kind(events, CardExpected)[-1].to is None


@pytest.mark.parametrize("decree", by_decree("BAL05-145"))
def test_two_of_three_bets_may_be_withdrawn_each_before_its_card(decree: str) -> None:
    play = table(decree)
    play.cards(JACKS)
    assert play.shown["phase"] == "first_bet"
    with pytest.raises(RejectedError, match="common:1 is turned first"):
        play.turn("common:2")
    events = play.act("box:3", "withdraw")
    assert [(bet.bet, bet.withdrawn) for bet in of_kind(events, BetPlaced)] == [("bet_1", True)]
    with pytest.raises(
        RejectedError, match="box:3 has already acted; to change it, send it first with valid false"
    ):
        play.act("box:3", "go")
    play.turn("common:1")
    assert play.shown["phase"] == "second_bet"
    play.act("box:1", "withdraw")
    play.act("box:3", "withdraw")
    play.turn("common:2")
    with pytest.raises(RejectedError, match="no bet can be withdrawn now"):
        play.act("box:1", "withdraw")
    assert play.shown["asks"] == ["cards.show"]
    play.turn("box:1", "box:3")
    result = play.result()
    assert bets_of(result, "box:1") == {
        "bet_1": ("win", (1, 1)),
        "bet_2": ("void", None),
        "bet_3": ("win", (1, 1)),
    }
    assert bets_of(result, "box:3") == {
        "bet_1": ("void", None),
        "bet_2": ("void", None),
        "bet_3": ("lose", None),
    }


def test_no_bet_is_withdrawn_before_the_cards_lie() -> None:
    play = table()
    play.cards("Jh 2c 5d")
    with pytest.raises(RejectedError, match="no bet can be withdrawn now"):
        play.act("box:1", "withdraw")


@every
def test_without_a_reader_hands_are_reported_when_they_lie_open(decree: str) -> None:
    play = table(decree)
    for who in ("box:1", "box:3", "common:1", "box:1", "box:3", "common:2", "box:1", "box:3"):
        play.send("cards.deal", "croupier", who=who)
    with pytest.raises(RejectedError, match="not every card of common:1 is known; send cards-show"):
        play.turn("common:1")
    play.send("cards.show", who="common:1", cards=["5d"])
    play.send("cards.show", who="common:2", cards=["8h"])
    with pytest.raises(
        RejectedError, match="box:1 has 3 cards, not 2; report a wrong number with deal-error"
    ):
        play.send("cards.show", who="box:1", cards=["Jh", "Js"])
    play.send("cards.show", who="box:1", cards=["Jh", "Js", "7s"])
    play.send("cards.show", who="box:3", cards=["2c", "9c", "Qd"])
    assert [hand.outcome for hand in outcome_of(play.result()).hands] == ["win", "lose", None]


# A card seen too early


@pytest.mark.parametrize("decree", by_decree("BAL05-146", "EUS96-161"))
def test_a_players_card_seen_the_round_goes_on(decree: str) -> None:
    play = table(decree)
    events = play.cards("Kh", exposed=True)
    assert irregularities(events) == [("card_exposed", ("card.decide", "round.void"))]
    assert of_kind(events, CardDealt) == [], "a reader's report does not publish it"
    events = play.send("card.decide", action="exposed")
    assert irregularities(events) == [("card_exposed", ())]
    assert [event.card for event in of_kind(events, CardDealt)] == ["Kh"]
    play.cards("2c 5d Js 9c 8h 7s Qd")
    events = play.send("deal.error", error="exposed", who="box:3", index=1)
    assert irregularities(events) == [("card_exposed", ())]
    assert [event.card for event in of_kind(events, CardTurned)] == ["2c"]
    play.turn("common:1", "common:2", "box:1", "box:3")
    assert play.result().round == 1


@for_each("decree", by_decree("BAL05-146", "EUS96-161"))
@for_each("card", ["Js", "Qd", "Kc", "Ah"])
def test_a_common_card_from_the_jack_on_makes_the_round_null(decree: str, card: str) -> None:
    play = table(decree)
    play.cards("2c 3c")
    assert irregularities(play.cards(card, exposed=True)) == [
        ("card_exposed", ("card.decide", "round.void"))
    ]
    events = play.send("card.decide", action="exposed")
    assert voids(events) == [("card_exposed", f"{decree}-{'146' if decree == 'BAL05' else '161'}")]
    assert play.shown["phase"] == "waiting"


@every
def test_a_person_is_asked_where_only_a_device_has_seen_it(decree: str) -> None:
    play = table(decree)
    play.cards("2c 3c")
    assert irregularities(play.cards("Js", exposed=True)) == [
        ("card_exposed", ("card.decide", "round.void"))
    ]
    events = play.send("card.decide", action="exposed")
    assert [event.card for event in of_kind(events, CardDealt)] == ["Js"]
    assert [reason for reason, _ in voids(events)] == ["card_exposed"]
    play.bets()
    play.cards("2c 3c Js")
    assert voids(play.send("deal.error", error="exposed", who="common:1")), "a person's word holds"


@pytest.mark.parametrize("decree", by_decree("BAL05-146", "EUS96-161"))
def test_a_lower_common_card_does_not_make_the_round_null_and_is_turned_later(decree: str) -> None:
    play = table(decree)
    play.cards("2c 3c")
    assert irregularities(play.cards("Th", exposed=True)) == [
        ("card_exposed", ("card.decide", "round.void"))
    ]
    events = play.send("card.decide", action="exposed")
    assert irregularities(events) == [("common_exposed", ())]
    assert [event.card for event in of_kind(events, CardDealt)] == ["Th"]
    play.cards("5d Js 9c 8h 7s")
    assert play.shown["phase"] == "first_bet"
    play.act("box:1", "withdraw")
    play.turn("common:1")
    assert play.shown["phase"] == "second_bet"


@every
@pytest.mark.parametrize(("card", "null"), [("Th", False), ("Jh", True)])
def test_an_unread_common_card_is_reported_first(decree: str, card: str, null: bool) -> None:
    play = table(decree)
    play.cards("- - -")
    events = play.send("deal.error", error="exposed", who="common:1")
    assert irregularities(events) == [("common_exposed", ("cards.show", "round.void"))]
    with pytest.raises(RejectedError, match="the table is waiting for the cards of common:1"):
        play.send("cards.show", who="box:1", cards=["2c"])
    events = play.send("cards.show", who="common:1", cards=[card])
    assert [event.card for event in of_kind(events, CardTurned)] == [card]
    assert bool(voids(events)) is null


@for_each("decree", by_decree("BAL05-146", "EUS96-162"))
@for_each(
    ("error", "reason"),
    [
        ("too_many", "wrong_count"),
        ("too_few", "wrong_count"),
        ("order", "wrong_order"),
        ("exposed_in_deck", "card_exposed"),
    ],
)
def test_any_other_error_of_dealing_makes_the_round_null(
    decree: str, error: str, reason: str
) -> None:
    play = table(decree)
    play.cards("2c 3c")
    events = play.send("deal.error", error=error)
    assert voids(events) == [(reason, f"{decree}-{'146' if decree == 'BAL05' else '162'}")]
    assert [event.relaunch for event in of_kind(play.send("bets.open"), RoundOpened)] == [True]


def test_a_shuffler_that_needs_a_person_while_it_deals_stops_the_deal() -> None:
    play = table()
    play.packet(1)
    said = play.take(ShufflerState(at=9.0, device="shuffler", state="jam"))
    assert irregularities(said) == [("shuffler_unready", ("round.confirm", "round.void"))]
    play.take(ShufflerState(at=10.0, device="shuffler", state="dealing"))
    play.send("round.confirm")
    play.packet(1)
    assert len(of_kind(play.events, CardDealt)) == 2


def test_a_packet_for_another_hand_than_the_next_is_asked_about() -> None:
    play = table()
    play.packet(1, to="box:1")
    said = play.packet(1, to="common:1")
    assert irregularities(said) == [("packet_wrong", ("round.confirm", "round.void"))]
    play.send("round.confirm")
    play.packet(1)
    assert [event.to for event in of_kind(play.events, CardDealt)] == ["box:1", "box:3"]


def test_a_card_too_many_waits() -> None:
    play = table()
    play.cards(JACKS)
    events = play.cards("Ac")
    assert irregularities(events) == [("card_extra", ("card.decide", "round.void"))]
    with pytest.raises(RejectedError, match="no card is due"):
        play.send("card.decide", action="accept")
    play.send("card.decide", action="remove")
    assert play.shown["phase"] == "first_bet"


def test_cards_outside_a_round_leave_together() -> None:
    play = Play("trijoker", "BAL05")
    play.open(1)
    events = play.cards(JACKS)
    assert irregularities(events) == [("card_out_of_round", ("card.decide",))]
    with pytest.raises(RejectedError, match="the table is waiting for: card-decide"):
        play.send("bets.open")
    removed = of_kind(play.send("card.decide", action="remove"), CardRemoved)
    assert [event.card for event in removed] == [None] * 8
    assert play.shown["phase"] == "waiting"


# The deck


@pytest.mark.parametrize("decree", by_decree("BAL05-148"))
def test_up_to_three_decks_one_after_the_other(decree: str) -> None:
    assert rulebook(decree).trijoker is not None
    play = table(decree, decks=3)
    decks = []
    for _ in range(4):
        decks.append(play.shown["deck"])
        play.cards("2c 3c")
        play.send("deal.error", error="order")
        play.send("deck.check", "croupier", cards=52)
        play.bets()
    assert decks == [1, 2, 3, 1]
    with pytest.raises(ValueError, match="decks = 4: must be 1 to 3"):
        make_game("trijoker", decree, {"decks": 4})


@every
@pytest.mark.rule("BAL05-148")
def test_cards_are_checked_after_each_round(decree: str) -> None:
    play = table(decree)
    play.cards(JACKS)
    play.turn("common:1", "common:2", "box:1", "box:3")
    events = play.send("bets.open")
    assert irregularities(events) == [("deck_unchecked", ())]
    play.send("bets.close")
    play.cards(JACKS)
    play.turn("common:1", "common:2", "box:1", "box:3")
    events = play.send("deck.check", "croupier", cards=51)
    assert irregularities(events) == [("deck_wrong", ())]
    with pytest.raises(RejectedError, match="the deck is not whole"):
        play.send("bets.open")
    play.send("deck.check", "croupier", cards=52)
    assert irregularities(play.send("bets.open")) == []


@pytest.mark.rule("EUS96-182")
def test_the_last_three_rounds_are_announced_in_the_basque_country() -> None:
    play = table("EUS96")
    play.send("last_rounds.announce", "croupier")
    for left in (2, 1, 0):
        play.cards(JACKS)
        play.turn("common:1", "common:2", "box:1", "box:3")
        if left:
            play.bets()
    assert [event.left for event in of_kind(play.events, LastRounds)] == [3, 2, 1, 0]
    with pytest.raises(RejectedError, match="no announcement"):
        table("BAL05").send("last_rounds.announce")


def test_by_the_other_interpretation_the_first_cards_lie_face_up() -> None:
    play = table("EUS96", face_up="yes")
    events = play.cards(JACKS)
    assert [event.card for event in of_kind(events, CardDealt)] == [
        "Jh",
        "2c",
        "5d",
        None,
        None,
        None,
        None,
        None,
    ]
    assert irregularities(events) == []
    play = table("EUS96", face_up="yes")
    assert irregularities(play.cards("Jh 2c -")) == [("card_unread", ("cards.show", "round.void"))]
    play.send("cards.show", who="common:1", cards=["5d"])
    play.cards("Js 9c 8h 7s Qd")
    assert play.shown["phase"] == "first_bet"
    play.turn("common:1")
    assert play.shown["phase"] == "second_bet"


# The pay table


COUNTS = {
    "royal_flush": 4,
    "straight_flush": 36,
    "four": 624,
    "full_house": 3744,
    "flush": 5108,
    "straight": 10200,
    "trips": 54912,
    "two_pair": 123552,
    "pair": 337920,
}
"""Hands of five cards that are paid, as published for games with three cards and two common ones:
pairs from jacks on.
"""


@every
@pytest.mark.rule("BAL05-147")
def test_paid_hands_are_as_frequent_as_published(decree: str) -> None:
    book = rulebook(decree).trijoker
    assert book is not None
    found: Counter[str] = Counter()
    for ranks in combinations_with_replacement(RANKS, 5):
        often = Counter(ranks)
        if max(often.values()) > 4:
            continue
        suits = prod(comb(4, times) for times in often.values())
        flushes = 4 if len(often) == 5 else 0
        for cards, times in (
            (_unsuited(ranks), suits - flushes),
            ([rank + "s" for rank in ranks], flushes),
        ):
            if times and pays(book, made := value(cards, book.ranking)):
                found[made.category] += times
    assert found == COUNTS


def _unsuited(ranks: tuple[str, ...]) -> list[str]:
    """Cards of these ranks that are not all of one suit."""
    cards: list[str] = []
    for rank in ranks:
        suit = next(suit for suit in ("cdhs" if cards else "dchs") if rank + suit not in cards)
        cards.append(rank + suit)
    return cards


@pytest.mark.parametrize("decree", by_decree("BAL05-147", "EUS96-172"))
def test_pay_table(decree: str) -> None:
    book = rulebook(decree).trijoker
    assert book is not None
    low_to_high = (
        "pair",
        "two_pair",
        "trips",
        "straight",
        "flush",
        "full_house",
        "four",
        "straight_flush",
        "royal_flush",
    )
    assert [book.pays[kind] for kind in low_to_high] == [
        (n, 1) for n in (1, 2, 3, 5, 8, 11, 50, 200, 500)
    ]
    assert book.pair_from == "J"
    assert Play("trijoker", decree).shown["pays"]["full_house"] == [11, 1]
