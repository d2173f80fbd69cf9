"""The cards of a round of poker on the table, and the order in which they are dealt."""

from __future__ import annotations

import random
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.contract.events import CardDealt, CardTurned
from controller.games.cards import DECK
from controller.games.dealt.cards import (
    Table,
    TableCard,
    drop,
    hand,
    is_known,
    is_up,
    known,
    laid_down,
    place_card,
    readings,
    show,
    show_one,
    trouble,
    turn,
    turned,
    up,
)
from controller.games.poker.deal import Dealt, deal, due, packet

OWN = ("As", "Kd", "7c", "4h", "2d")


def laid(*cards: str | None, to: str = "box:1") -> Table:
    table: Table = ()
    for card in cards:
        table = place_card(table, to, card)
    return table


# The order of the deal


def test_one_to_each_in_turn_or_hand_by_hand() -> None:
    assert deal(("a", "b"), 2) == ("a", "b", "a", "b")
    assert deal(("a", "b"), 2, "packets") == ("a", "a", "b", "b")
    assert packet(deal(("a", "b"), 3, "packets")) == 3
    assert packet(deal(("a", "b"), 3)) == 1


def test_cards_dealt_out_of_turn_are_counted() -> None:
    order = deal(("a", "b"), 2)
    assert due(order, laid(None, to="b")) == ("a", "a", "b")
    assert due(order, laid(None, None, to="a")) == ("b", "b")


@given(st.integers(1, 7), st.integers(1, 7), st.sampled_from(get_args(Dealt)), st.integers(0, 60))
def test_every_hand_gets_its_cards(hands: int, size: int, dealt: Dealt, count: int) -> None:
    names = tuple(f"box:{number}" for number in range(1, hands + 1))
    order = deal(names, size, dealt)
    table: Table = ()
    for who in order[:count]:
        assert due(order, table)[0] == who
        table = place_card(table, who)
    assert len(due(order, table)) == max(0, hands * size - count)


# Cards on the table


def test_unknown_stays_unknown() -> None:
    table = laid("As", None)
    assert (known(table, "box:1"), is_known(table, "box:1")) == (("As",), False)
    assert turn(table, "box:1")[1] == TableCard(to="box:1")
    assert up(turn(table, "box:1"), "box:1") == ("As",)
    assert not is_up(turn(table, "box:1"), "box:1")


def test_the_evidence_of_a_hidden_card_is_the_number_of_its_reading() -> None:
    table = place_card(
        place_card((), "dealer", "As", reading=7), "dealer", "Kd", up=True, reading=2
    )
    assert readings(table) == (2, 7), "oldest first"
    assert laid_down((), table) == [
        CardDealt(to="dealer", index=1, card=None),
        CardDealt(to="dealer", index=2, card="Kd"),
    ]
    assert turned(table, turn(table, "dealer")) == [CardTurned(to="dealer", index=1, card="As")]


def test_a_folded_hand_is_no_hand_but_its_cards_are_found_again() -> None:
    table = drop(laid(*OWN), "box:1")
    assert hand(table, "box:1") == ()
    assert trouble(table, ["As"], DECK) == "card_duplicate"
    assert trouble(table, ["As"], DECK, but="box:1") == "card_duplicate"


@pytest.mark.parametrize(
    ("cards", "why"),
    [
        (["As"], "card_duplicate"),
        (["X"], "card_foreign"),
        (["3c", "3c"], "card_duplicate"),
        (["3c"], None),
    ],
)
def test_cards_that_cannot_be_there_too(cards: list[str], why: str | None) -> None:
    assert trouble(laid(*OWN), cards, DECK) == why


# Shown cards


def test_a_hand_is_shown_in_any_order() -> None:
    table = show(laid(*OWN), "box:1", OWN[::-1])
    assert not isinstance(table, str)
    assert up(table, "box:1") == OWN


def test_shown_cards_fill_unknown_ones() -> None:
    table = show(laid("As", None, None, "4h", None), "box:1", OWN)
    assert not isinstance(table, str)
    assert set(up(table, "box:1")) == set(OWN)
    assert up(table, "box:1")[0] == "As"
    assert up(table, "box:1")[3] == "4h"


def test_shown_cards_that_were_read_otherwise_differ() -> None:
    read = laid("As", "Kd", "7c", "4h", "3d")
    assert show(read, "box:1", OWN) == "shown_differs"
    table = show(read, "box:1", OWN, trust=True)
    assert not isinstance(table, str)
    assert set(up(table, "box:1")) == set(OWN)


def test_a_hand_shown_with_a_wrong_number_of_cards() -> None:
    with pytest.raises(
        ValueError, match="box:1 has 5 cards, not 4; report a wrong number with deal-error"
    ):
        show(laid(*OWN), "box:1", OWN[:4])


def test_unseen_discards_are_those_that_are_not_shown() -> None:
    table = place_card(laid(*OWN), "box:1", "9s")
    shown = show(table, "box:1", ("As", "Kd", "7c", "2d", "9s"), dropped=1, first=5)
    assert not isinstance(shown, str)
    assert [each.card for each in shown if each.gone] == ["4h"]
    assert show(table, "box:1", OWN, dropped=1, first=5) == "shown_differs", (
        "the new card was not discarded"
    )


@given(st.integers(0, 10**6), st.integers(0, 2), st.sets(st.integers(0, 6)))
def test_a_hand_can_be_shown_whatever_is_known_of_it(
    seed: int, dropped: int, unread: set[int]
) -> None:
    """A hand of five, some of which were discarded and replaced; a reader has seen some of the
    cards.
    """
    chance = random.Random(seed)
    cards = chance.sample(DECK, 5 + dropped)
    gone = chance.sample(range(5), dropped)
    table = laid(*(None if place in unread else card for place, card in enumerate(cards)))
    final = [card for place, card in enumerate(cards) if place not in gone]
    chance.shuffle(final)
    shown = show(table, "box:1", final, dropped=dropped, first=5)
    assert not isinstance(shown, str)
    assert set(up(shown, "box:1")) == set(final)
    assert {each.card for each in shown if each.gone} <= {None, *(cards[place] for place in gone)}
    assert is_up(shown, "box:1")


def test_one_card_is_shown() -> None:
    table = show_one(laid(None, None, to="dealer"), "dealer", 2, "Kd")
    assert not isinstance(table, str)
    assert up(table, "dealer") == ("Kd",)
    assert show_one(table, "dealer", 2, "Qd") == "shown_differs"
    again = show_one(table, "dealer", 2, "Qd", trust=True)
    assert not isinstance(again, str)
    assert up(again, "dealer") == ("Qd",)
    assert turned(table, again) == [CardTurned(to="dealer", index=2, card="Qd")]
    with pytest.raises(ValueError, match="dealer has no card 3"):
        show_one(table, "dealer", 3, "Qd")
