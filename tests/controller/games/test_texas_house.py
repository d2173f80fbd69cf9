"""Texas against the house: the deal, going and giving up, the bank's pair of fours, the bonus, and
misdeals.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import comb

import pytest

from common.contract.events import (
    AwardQualified,
    CardDealt,
    CardTurned,
    HandDecided,
    RoundOpened,
)
from common.contract.refusals import RejectedError
from controller.games.cards import DECK
from controller.games.hands.evaluator import best, best_of, value
from controller.games.texas_house.turn import reaches
from controller.rulebooks.rulebook import rulebook
from tests.support.for_each import for_each
from tests.support.games.banked_play import Play, bets_of, irregularities, voids
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind

BANK_PAIR = "Ah 2c Ks As 7c Kd"
"""Boxes 1 and 2 and the bank: aces, nothing, kings."""
FLOP, LATER = "Tc 4d 9h", "4c 6s"


def table(*bonus: str, **settings: str) -> Play:
    play = Play("texas-house", **settings)
    play.open(1, 2)
    play.send("bets.open", "croupier")
    for who in bonus:
        play.send("bet.place", "croupier", who=who, bet="txb")
    play.send("bets.close", "croupier")
    return play


def played(deal: str, board: str, *bonus: str) -> Play:
    """A round in which both boxes go, to its end."""
    play = table(*bonus)
    play.cards(f"{deal} {' '.join(board.split()[:3])}")
    play.act("box:1", "go")
    play.act("box:2", "go")
    play.cards(" ".join(board.split()[3:]))
    play.turn("dealer", "box:1", "box:2")
    return play


@pytest.mark.rule("EUS96-159")
def test_two_cards_each_the_flop_then_turn_and_river() -> None:
    play = table()
    events = play.cards(f"{BANK_PAIR} {FLOP}")
    dealt = [(event.to, event.card) for event in of_kind(events, CardDealt)]
    assert [to for to, _ in dealt] == ["box:1", "box:2", "dealer"] * 2 + ["board"] * 3
    assert [card for _, card in dealt] == [None] * 6 + FLOP.split()
    assert irregularities(play.cards("Jc")) == [("card_extra", ("card.decide", "round.void"))]
    play.send("card.decide", action="remove")
    play.act("box:1", "go")
    play.act("box:2", "go")
    with pytest.raises(RejectedError, match="not all cards are dealt"):
        play.turn("dealer")
    events = play.cards(LATER)
    assert [(event.to, event.index, event.card) for event in of_kind(events, CardDealt)] == [
        ("board", 4, "4c"),
        ("board", 5, "6s"),
    ]
    assert play.shown["asks"] == ["cards.show"]
    play.turn("dealer", "box:1", "box:2")
    kinds = {hand.who: (hand.kind, hand.outcome) for hand in outcome_of(play.result()).hands}
    assert kinds == {
        "dealer": ("two_pair", None),
        "board": (None, None),
        "box:1": ("two_pair", "win"),
        "box:2": ("pair", "lose"),
    }


def test_a_player_may_give_up_once_the_flop_lies() -> None:
    play = table("box:2")
    play.cards(BANK_PAIR)
    with pytest.raises(RejectedError, match="not all cards are dealt"):
        play.act("box:1", "go")
    play.cards(FLOP)
    events = play.act("box:2", "pass")
    assert isinstance(events[0], HandDecided)
    assert events[0].announcement == {"eu": "Ez noa"}
    with pytest.raises(
        RejectedError, match="box:2 has already acted; to change it, send it first with valid false"
    ):
        play.act("box:2", "go")
    play.act("box:1", "pass")
    result = play.result()
    assert bets_of(result, "box:1") == {"ante": ("lose", None)}
    assert bets_of(result, "box:2") == {"ante": ("lose", None), "txb": ("lose", None)}
    assert [hand.cards for hand in outcome_of(result).hands] == [tuple(FLOP.split()), (), ()]


@pytest.mark.rule("EUS96-169")
@pytest.mark.parametrize(
    ("own", "plays"), [("4h 5s", True), ("3h 6s", False), ("Kd Qs", False), ("Ah 7s", True)]
)
def test_the_bank_plays_with_a_pair_of_fours(own: str, plays: bool) -> None:
    first, second = own.split()
    play = played(f"Jh 8c {first} Js 8d {second}", "Tc 4d 9h 2c Ac")
    result = play.result()
    assert outcome_of(result).marks == (
        ("dealer_qualifies",) if plays else ("dealer_not_qualified",)
    )
    assert bets_of(result, "box:1")["ante"] == (
        ("win", (1, 1)) if not plays or first != "Ah" else ("lose", None)
    )
    assert (bets_of(result, "box:1")["second"] == ("void", None)) is not plays


PAIRS_OF_SEVEN = 58627800
"""Of all 133 784 560 choices of seven cards, as published."""


@pytest.mark.rule("EUS96-169")
def test_how_often_the_bank_plays() -> None:
    """Every choice of seven cards with one pair and nothing higher: six ranks without a straight,
    suits without a flush.
    """
    book = rulebook("EUS96").texas_house
    assert book is not None
    suits = comb(4, 2) * (
        4**5 - 4 - 2 * 5 * 3
    )  # of five others all alike, or four of them like one of the pair
    plays: Counter[tuple[str, bool]] = Counter()
    for ranks in combinations("A23456789TJQK", 6):
        for pair in ranks:
            others = [
                rank + suit
                for rank, suit in zip(
                    (each for each in ranks if each != pair), "cdhsc", strict=True
                )
            ]
            made = best((f"{pair}h", f"{pair}s", *others), book.ranking)
            assert made is not None
            if made.category == "pair":
                plays[pair, reaches(made, book.qualifies, book.ranking)] += suits
    assert plays.total() == PAIRS_OF_SEVEN
    assert {pair for pair, qualified in plays if not qualified} == {"2", "3"}


def test_the_bank_qualifies_by_a_pair_that_lies_on_the_table() -> None:
    play = played("Jh 8c 2h Ks 7d 3s", "5c 5d 9h Tc Kc")
    assert outcome_of(play.result()).marks == ("dealer_qualifies",)


@pytest.mark.rule("EUS96-172")
@for_each(
    ("board", "pays"),
    [
        ("Qh Jh Th 4s 4d", (100, 1)),
        ("9s Ts Js Qs 4d", (20, 1)),
        ("Ad Ac 4s 4d 9h", (10, 1)),
        ("Ad 4c 4s 9d 9h", (3, 1)),
        ("2h 7h 9h 4s 4d", (2, 1)),
        ("Qd Jd Td 4s 4d", (1, 1)),
        ("2c 7d 9h 4s 4d", (1, 1)),
    ],
)
def test_the_ante_pays_by_the_players_hand(board: str, pays: tuple[int, int]) -> None:
    own = {"9s Ts Js Qs 4d": ("Ks", "8s")}.get(board, ("Ah", "Kh"))
    if board.startswith("Ad Ac"):
        own = ("Ah", "As")
    if board.startswith("Ad 4c"):
        own = ("Ah", "As")
    play = played(f"{own[0]} 3d 5s {own[1]} 6d 6s", board)
    assert bets_of(play.result(), "box:1") == {"ante": ("win", pays), "second": ("win", (1, 1))}


def test_the_same_hand_keeps_its_bets() -> None:
    play = played("Ah 2c Ad 7s 6c 7h", "Kc Kd Qh Js 9c")
    assert bets_of(play.result(), "box:1") == {"ante": ("tie", None), "second": ("tie", None)}
    assert bets_of(play.result(), "box:2") == {"ante": ("lose", None), "second": ("lose", None)}


@pytest.mark.rule("EUS96-172")
@for_each(
    ("own", "flop", "pays"),
    [
        ("Ah As", "Tc 4d 9h", (7, 1)),
        ("Kh Ks", "Tc 4d 9h", None),
        ("2h 2s", "2c 4d 9h", (7, 1)),
        ("7h 8s", "Tc 6d 9h", (7, 1)),
        ("2h 8h", "Th 6h 9h", (25, 1)),
        ("2h 2s", "2c 2d 9h", (25, 1)),
    ],
)
def test_the_bonus_is_won_by_two_cards_and_the_flop(
    own: str, flop: str, pays: tuple[int, int] | None
) -> None:
    first, second = own.split()
    play = played(f"{first} 3d 5s {second} 3c 5d", f"{flop} Jc Qc", "box:1")
    awards = [(award.box, award.pays) for award in of_kind(play.events, AwardQualified)]
    assert awards == ([("box:1", pays)] if pays else [])
    assert bets_of(play.result(), "box:1")["txb"] == (("win", pays) if pays else ("lose", None))


def test_the_bonus_is_shown_before_the_turn() -> None:
    play = table("box:1")
    play.cards(f"{BANK_PAIR} {FLOP}")
    play.act("box:1", "go")
    play.act("box:2", "pass")
    events = play.turn("box:1")
    assert [event.card for event in of_kind(events, CardTurned)] == ["Ah", "As"]
    [award] = of_kind(events, AwardQualified)
    assert (award.award, award.hand, award.pays) == ("txb", "pair", (7, 1))
    with pytest.raises(RejectedError, match="has no cards"):
        play.turn("box:2")


def test_the_bonus_is_a_bet_before_the_deal() -> None:
    play = Play("texas-house")
    play.open(1)
    play.send("bets.open")
    play.send("bet.place", who="box:1", bet="txb", amount=500)
    with pytest.raises(RejectedError, match="box:1 already has the bet txb"):
        play.send("bet.place", who="box:1", bet="txb")
    play.send("bet.withdraw", who="box:1", bet="txb")
    play.send("bets.close")
    with pytest.raises(RejectedError, match="no bets are open; return the chips"):
        play.send("bet.place", who="box:1", bet="txb")


# Misdeals


@pytest.mark.rule("EUS96-163")
@for_each(
    ("error", "who", "reason"),
    [
        ("order", None, "wrong_order"),
        ("wrong_hand", "box:1", "wrong_order"),
        ("too_many", "box:1", "wrong_count"),
        ("too_few", "box:1", "wrong_count"),
        ("exposed", "dealer", "card_exposed"),
        ("missing_card", None, "cards_lacking"),
        ("defective", None, "deck_defective"),
    ],
)
def test_cards_are_gathered_and_another_hand_begins(
    error: str, who: str | None, reason: str
) -> None:
    play = table()
    play.cards(BANK_PAIR)
    events = play.send("deal.error", error=error, who=who)
    assert voids(events) == [(reason, "EUS96-163")]
    assert [event.relaunch for event in of_kind(play.send("bets.open"), RoundOpened)] == [True]


@pytest.mark.rule("EUS96-163")
def test_a_card_of_the_bank_that_comes_face_up_is_a_misdeal() -> None:
    play = table(misdeal="void")
    play.cards("Ah 2c")
    assert voids(play.cards("Ks", exposed=True)) == [("card_exposed", "EUS96-163")]
    play = table()
    play.cards("Ah 2c")
    assert irregularities(play.cards("Ks", exposed=True)) == [
        ("card_exposed", ("card.decide", "round.void"))
    ]
    assert voids(play.send("card.decide", action="exposed")) == [("card_exposed", "EUS96-163")]


@pytest.mark.rule("EUS96-163")
def test_a_wrong_number_corrected_before_the_bets_begin_is_no_misdeal() -> None:
    play = table()
    play.cards(BANK_PAIR)
    events = play.send("deal.error", error="too_many", who="box:1", recoverable=True)
    assert (voids(events), irregularities(events)) == ([], [("deal_error", ())])
    play.cards(FLOP)
    play.act("box:1", "go")
    events = play.send("deal.error", error="too_many", who="box:2", recoverable=True)
    assert voids(events) == [("wrong_count", "EUS96-163")]


@pytest.mark.rule("EUS96-E07")
def test_a_players_card_seen_leaves_the_play_valid() -> None:
    play = table()
    play.cards(BANK_PAIR)
    events = play.send("deal.error", error="exposed", who="box:1", index=1)
    assert (voids(events), irregularities(events)) == ([], [("card_exposed", ())])
    assert [event.card for event in of_kind(events, CardTurned)] == ["Ah"]


@pytest.mark.rule("EUS96-E07")
def test_hands_that_touched_take_no_further_part() -> None:
    play = table()
    play.cards(f"{BANK_PAIR} {FLOP}")
    events = play.send("deal.error", error="touched", who="box:1", fault="player")
    assert irregularities(events) == [("hands_touched", ())]
    play.send("deal.error", error="touched", who="box:2", fault="player")
    result = play.result()
    assert [hand.settled for hand in outcome_of(result).hands] == [(), (), ()]


def test_a_common_card_seen_too_early_is_for_the_person_in_charge() -> None:
    play = table()
    play.cards(f"{BANK_PAIR} {FLOP}")
    events = play.send("deal.error", error="premature")
    assert irregularities(events) == [("deal_error", ("round.confirm", "round.void"))]
    with pytest.raises(RejectedError, match="the table is waiting for: round-confirm, round-void"):
        play.act("box:1", "go")
    play.send("round.confirm")
    play.act("box:1", "go")
    play.act("box:2", "pass")
    play.cards(LATER)
    play.turn("dealer", "box:1")
    assert play.result().confirmed_by == "M. Lasa (table_head)"


def test_a_common_card_that_was_not_read_is_reported() -> None:
    play = table()
    events = play.cards(f"{BANK_PAIR} Tc - 9h")
    assert irregularities(events) == [("card_unread", ("cards.show", "round.void"))]
    play.send("cards.show", who="board", index=2, cards=["4d"])
    assert play.shown["hands"]["board"] == ["Tc", "4d", "9h"]
    assert play.shown["phase"] == "players"


def test_the_best_hand_is_made_of_any_of_seven_cards() -> None:
    """Checked against a choice by hand: the best of the 21 ways to leave out two."""
    cards = DECK[5:40:5]
    made = best_of(cards[:2], cards[2:], "five-52")
    assert made is not None
    assert made.key == max(value(five, "five-52").key for five in combinations(cards, 5))
