"""A table of black jack without keys: the shoe is counted, and of the round only certain facts are
published.
"""

from __future__ import annotations

from typing import Any

import pytest

from common.contract.events import (
    CardDealt,
    Irregularity,
    RoundResult,
    RoundUnresolved,
    ShoeCut,
    ShoeEnded,
)
from common.contract.refusals import RejectedError
from tests.support.games.blackjack_play import Play, outcomes
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind, only, whats


def unkeyed(decree: str = "EUS96", **settings: Any) -> Play:
    play = Play(decree, keys=False, **settings)
    play.open()
    return play


def test_without_keys_cards_after_the_deal_lie_on_the_table() -> None:
    play = unkeyed()
    events = play.deal((1, 3), "Th 9s Kd Ad 9c 5c 7h")
    assert [(event.to, event.index) for event in of_kind(events, CardDealt)][5:] == [
        ("table", 1),
        ("table", 2),
    ]
    with pytest.raises(RejectedError, match="no decision keys"):
        play.key("stand")


def test_without_keys_the_dealers_hand_is_published_where_one_is_left() -> None:
    play = unkeyed()
    play.deal((1, 3), "Th 9s Kd Ad 9c 7h")
    result = only(play.boxes(1), RoundResult)
    assert outcomes(result) == {"dealer": (17, None, None)}
    assert outcome_of(result).marks == ("hands_unknown",)


@pytest.mark.parametrize("cards", ["Th 9s Kd Ad 9c 5c 7h", "Th 9s Kd 8d 9c 7h", "Th 9s Kd Ad 9c"])
def test_without_keys_the_round_is_unresolved_where_several_are_left_or_none(cards: str) -> None:
    play = unkeyed()
    play.deal((1, 3), cards)
    events = play.send("round.confirm")
    assert only(events, RoundUnresolved).why == "undecided"


def test_without_keys_and_boxes_the_shoe_is_counted_and_the_cut_card_published() -> None:
    play = unkeyed()
    play.cards("Th 9s")
    assert only(play.cut(), ShoeCut).rounds_left == 1
    assert [(event.to, event.index) for event in of_kind(play.cards("Kd"), CardDealt)] == [
        ("table", 8)
    ]
    assert play.state.shoe is not None
    assert play.state.shoe.drawn == 8
    assert only(play.send("shoe.end", left=304), ShoeEnded).left == 304


def test_without_keys_the_last_round_is_ended_by_a_person() -> None:
    play = unkeyed()
    play.send("bets.close")
    play.cards("Th 9s")
    assert only(play.cut(), ShoeCut).rounds_left == 1
    with pytest.raises(RejectedError, match=r"send round-confirm"):
        play.send("bets.close")
    events = play.send("round.confirm")
    assert [type(event) for event in events[:2]] == [RoundUnresolved, ShoeEnded]
    assert only(play.card("Kd"), Irregularity).what == "shoe_over"


def test_without_keys_bets_close_begins_the_next_round() -> None:
    play = unkeyed()
    play.send("bets.close")
    play.cards("Th 9s")
    events = play.send("bets.close")
    assert whats(events) == ["round.unresolved", "round.opened", "bets.closed"]
