"""The bank lays its cards down before a hand has spoken: this is reported, and the players may
withdraw their bets, with or without a natural.
"""

from __future__ import annotations

import pytest

from common.contract.events import BetPlaced, Irregularity, RoundResult
from common.contract.refusals import RejectedError
from tests.support.for_each import for_each
from tests.support.games.chemin_play import DECREES, Play, at_table, rules
from tests.support.games.play import of_kind, only

BANKS = {"seven": "2h 3c 3d 4s", "baccarat": "2h Kc 3d Qs", "natural": "2h 4c 3d 4s"}
"""Totals of the bank; the hand has five."""


def staked(decree: str, game: str = "chemin-de-fer", bet: str = "player") -> Play:
    play = at_table(decree, game)
    play.send("bets.open", "croupier")
    play.send("bet.place", "croupier", who="seat:2", bet=bet, amount=1000)
    play.send("bets.close", "croupier")
    return play


@rules("EUS96-E12", "ARA02-E03", "BAL05-E03", "GAL07-115")
@pytest.mark.parametrize("bank", BANKS)
def test_players_may_withdraw_when_the_bank_lays_down_before_the_hand_has_spoken(
    decree: str, bank: str
) -> None:
    play = staked(decree)
    play.cards(BANKS[bank])
    with pytest.raises(RejectedError, match="no bet can be withdrawn now"):
        play.send("bet.withdraw", "croupier", who="seat:2", bet="player")
    event = only(play.turn("banker"), Irregularity)
    assert (event.what, event.law[:5]) == ("bank_before_hands", decree)
    assert "bet.withdraw" in play.game.view(play.state).takes
    back = only(play.send("bet.withdraw", "croupier", who="seat:2", bet="player"), BetPlaced)
    assert back.withdrawn
    with pytest.raises(RejectedError, match="no bets are open"):
        play.send("bet.place", "croupier", who="seat:2", bet="player", amount=1000)


@for_each("decree", DECREES)
def test_at_two_cloths_too_while_one_cloth_has_not_spoken(decree: str) -> None:
    play = staked(decree, "baccarat-two-cloths", "cloth:2")
    play.cards("2h 3h 3c 3d 2s 4s")
    play.stand("cloth:1")
    assert [event.what for event in of_kind(play.turn("bank"), Irregularity)] == [
        "bank_before_hands"
    ]
    assert only(
        play.send("bet.withdraw", "croupier", who="seat:2", bet="cloth:2"), BetPlaced
    ).withdrawn


@for_each("decree", DECREES)
def test_after_the_hand_has_spoken_the_bank_lays_down_in_its_time(decree: str) -> None:
    play = staked(decree)
    play.cards(BANKS["seven"])
    play.stand()
    assert of_kind(play.turn("banker"), Irregularity) == []
    with pytest.raises(RejectedError, match="no bet can be withdrawn now"):
        play.send("bet.withdraw", "croupier", who="seat:2", bet="player")


@for_each("decree", DECREES)
def test_a_bank_that_must_show_its_cards_for_a_fault_lays_nothing_down(decree: str) -> None:
    play = staked(decree)
    play.cards("2h 3c 2d 4s")
    for index in (1, 2):
        play.decide("exposed", who="player", index=index, fault="banker")
        play.turn("banker", index=index)
    assert "bank_before_hands" not in [event.what for event in of_kind(play.events, Irregularity)]


@rules("EUS96-E12", "ARA02-E03", "BAL05-E03", "GAL07-115")
def test_all_cards_turned_at_once_leave_the_players_time_to_withdraw(decree: str) -> None:
    play = staked(decree)
    play.cards(BANKS["natural"])
    event = only(play.turn(), Irregularity)
    assert (event.what, event.asks) == (
        "bank_before_hands",
        ("bet.withdraw", "round.confirm", "round.void"),
    )
    assert only(play.send("bet.withdraw", "croupier", who="seat:2", bet="player"), BetPlaced)
    assert only(play.send("round.confirm"), RoundResult).confirmed_by


@for_each("decree", DECREES)
def test_naturals_of_both_end_the_round_at_once(decree: str) -> None:
    play = staked(decree)
    play.cards("2h 4c 6d 4s")
    assert of_kind(play.turn(), Irregularity) == []
