"""Cards that come while bets are open, and common cards too many in an interval."""

from __future__ import annotations

import pytest

from common.contract.events import (
    CardDealt,
    CardRemoved,
    CardTurned,
)
from common.contract.refusals import RejectedError
from tests.support.games.circle_play import HOLES, holdem, laid, shuffled, table, void, whats
from tests.support.games.decrees import by_decree
from tests.support.games.play import of_kind

rule = pytest.mark.rule


# Cards that come while bets are open


@rule("BAL09-032")
def test_a_card_before_the_bets_are_equal_is_held() -> None:
    play = holdem("BAL09")
    play.act(4, "bet")
    events = play.cards("2c")
    assert whats(events) == ["deal_premature"]
    assert not of_kind(events, CardDealt)
    assert play.asks == ("card.decide", "round.void")
    play.accept()
    play.close()
    assert [place.to for place in play.current.due] == [
        "board"
    ] * 3  # the held card was the one to burn
    assert play.current.used == 9


def test_a_card_that_came_too_early_may_leave_the_game() -> None:
    play = holdem("BAL09")
    play.cards("2c")
    play.send("card.decide", action="remove")
    play.close()
    assert [place.to for place in play.current.due] == ["burn", *["board"] * 3]
    with pytest.raises(RejectedError, match="nothing is waiting for a decision"):
        play.accept()
    with pytest.raises(RejectedError, match="the next card goes to burn; it is not a burn card"):
        play.send("cards.burn", count=2)


@pytest.mark.parametrize("decree", by_decree("BAL09-032", "EUS96-211", "ARA02-146", "BAL05-142"))
def test_a_common_card_turned_too_early_is_null_and_replaced(decree: str) -> None:
    play = laid(decree)
    play.act(2, "bet")
    [removed] = of_kind(play.error("premature", "board"), CardRemoved)
    assert (removed.why, removed.to, (removed.law or "")[:5]) == ("premature", "board", decree)
    play.close()
    assert [place.turn for place in play.current.due] == [False]
    [dealt] = of_kind(play.cards("9h"), CardDealt)
    assert (dealt.to, dealt.index, dealt.card) == ("board", 2, "9h")
    play.close()
    play.turn("board")
    assert [each.face for each in play.current.cards_of("board")] == ["Td", "8d", None, None, "9h"]


@pytest.mark.parametrize("decree", by_decree("BAL09-050", "EUS96-210", "ARA02-146", "BAL05-142"))
def test_of_two_common_cards_turned_at_once_the_first_counts(decree: str) -> None:
    play = laid(decree)
    play.close()
    events = play.show("board", "9d 8d")
    assert [event.card for event in of_kind(events, CardTurned)] == ["9d", "8d"]
    assert whats(events) == ["deal_extra_common"]
    [removed] = of_kind(events, CardRemoved)
    assert (removed.why, removed.card) == ("extra_common", "8d")
    play.close()
    [dealt] = of_kind(play.cards("9h"), CardDealt)
    assert (dealt.index, dealt.card) == (3, "9h")
    play.close()
    play.turn("board")
    play.close()
    play.turn("board")
    assert sorted(each.face or "" for each in play.current.cards_of("board")) == [
        "9c",
        "9d",
        "9h",
        "Tc",
        "Td",
    ]


@pytest.mark.parametrize("decree", by_decree("BAL09-050", "EUS96-210", "ARA02-146", "BAL05-142"))
def test_a_common_card_too_many_leaves_though_it_was_read_otherwise(decree: str) -> None:
    play = laid(decree)
    play.close()
    events = play.show("board", "9d 8h")
    assert whats(events) == ["shown_differs", "deal_extra_common"]
    [removed] = of_kind(events, CardRemoved)
    assert (removed.why, removed.card) == ("extra_common", "8h")
    assert [each.face for each in play.current.cards_of("board")] == ["Td", "9d", None, None]


@pytest.mark.parametrize("decree", by_decree("BAL09-050", "EUS96-210"))
def test_of_two_common_cards_drawn_in_an_interval_the_first_counts(decree: str) -> None:
    play = table(decree, "synthetic-poker", common="drawn")
    play.bets()
    play.cards(f"{HOLES} Td")
    events = play.cards("9d")
    assert whats(events) == ["deal_extra_common"]
    [removed] = of_kind(events, CardRemoved)
    assert (removed.why, removed.card) == ("extra_common", "9d")
    play.act(2, "check")
    [early] = of_kind(play.cards("8d"), CardRemoved)
    assert (early.why, early.card) == ("premature", "8d")
    play.close()
    assert [event.card for event in of_kind(play.cards("Tc"), CardDealt)] == ["Tc"]


@pytest.mark.parametrize("decree", by_decree("BAL09-050", "EUS96-210", "ARA02-146", "BAL05-142"))
def test_a_common_card_too_many_that_a_person_reports_is_null_without_a_question(
    decree: str,
) -> None:
    play = laid(decree)
    events = play.error("too_many", "board")
    assert whats(events) == ["deal_extra_common"]
    [removed] = of_kind(events, CardRemoved)
    assert removed.law is not None
    assert (removed.why, removed.card, removed.law[:5]) == (
        "extra_common",
        None,
        decree,
    )  # it lay covered: it is not published
    assert play.asks == ()
    play.close()
    assert [event.card for event in of_kind(play.cards("Jc"), CardDealt)] == ["Jc"]


@pytest.mark.parametrize("decree", by_decree("BAL09-050", "EUS96-210", "ARA02-146", "BAL05-142"))
def test_where_no_card_is_left_to_replace_it_the_round_is_null(decree: str) -> None:
    play = table(decree, "synthetic-poker", seats=tuple(range(1, 11)))
    play.bets()
    cards = shuffled(play, 7)
    play.cards(" ".join(cards[:25]))  # three cards are left
    for _ in range(4):
        play.error("premature", "board")
    for card in cards[25:]:
        play.close()
        play.cards(card)
    null = void(play.close())
    assert (null.reason, null.law[:5]) == ("cards_lacking", decree)
