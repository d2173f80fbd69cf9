"""The shooter, and the players' bets, as reported to a table of craps."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from common.contract.events import BetPlaced, Irregularity, RoundResult, ShooterChanged
from common.contract.refusals import RejectedError
from tests.support.for_each import for_each
from tests.support.games.craps_play import DECREES, Play, ruled, table
from tests.support.games.play import of_kind, only, whats

rule = pytest.mark.rule
every = pytest.mark.parametrize("decree", DECREES)


def without_shooter(decree: str = "ARA02", **settings: Any) -> Play:
    play = table(decree, **settings)
    play.send("session.close")
    play.send("session.open")
    play.send("dice.set", serials=[f"3{number}" for number in range(6)])
    play.send("dice.choose", serials=["30", "31"])
    return play


# The shooter


@ruled("BAL05-068", "ARA02-130", "EUS96-110", "GAL07-137 GAL07-146")
def test_the_dice_go_clockwise_from_the_left_of_the_croupiers(decree: str) -> None:
    play = without_shooter(decree)
    play.send("boxes.set", boxes=[5, 2, 3])
    first = only(play.send("shooter.set", seat=2), ShooterChanged)
    assert (first.seat, first.why) == (2, "first")
    refused = only(play.send("shooter.set", seat=3, why="refused"), ShooterChanged)
    assert (refused.seat, refused.why) == (3, "refused")
    seats = [only(play.totals(4, 7), ShooterChanged).seat for _ in range(3)]
    assert seats == [5, 2, 3]
    assert (
        only(play.send("shooter.set", seat=5, why="withdrawn"), ShooterChanged).why == "withdrawn"
    )


@ruled("BAL05-068", "ARA02-130", "EUS96-110", "GAL07-146")
def test_a_seat_that_is_left_out(decree: str) -> None:
    play = without_shooter(decree)
    play.send("boxes.set", boxes=[2, 3, 5])
    breach = only(play.send("shooter.set", seat=3), Irregularity)
    assert (breach.what, breach.detail) == ("shooter_order", "seat 3 before seat 2")
    assert play.state.shooter == 3
    assert breach.law.startswith(decree)


def test_the_dice_wait_where_the_seats_were_not_reported() -> None:
    play = Play(shooter="unwatched")
    play.send("session.open")
    play.send("dice.set", serials=[f"3{number}" for number in range(6)])
    play.send("dice.choose", serials=["30", "31"])
    play.send("shooter.set", seat=6)
    assert only(play.totals(4, 7), ShooterChanged).seat is None
    assert only(play.send("shooter.set", seat=3), ShooterChanged).why == "seven"


@ruled("BAL05-068", "ARA02-130", "EUS96-110", "GAL07-146")
def test_who_may_take_the_dice_from_a_player(decree: str) -> None:
    play = table(decree)
    with pytest.raises(
        RejectedError, match=f"role croupier may not take the dice from a player: {decree}-"
    ):
        play.send("shooter.set", role="croupier", seat=2, why="withdrawn")
    play.totals(8)
    with pytest.raises(RejectedError, match="refused only before the first throw"):
        play.send("shooter.set", seat=2, why="refused")
    assert only(play.send("shooter.set", seat=2, why="withdrawn"), ShooterChanged).seat == 2
    assert not of_kind(
        play.totals(5), Irregularity
    )  # he cannot bet on Win in the middle of a series
    assert only(play.totals(7), ShooterChanged).seat == 4
    play.send("bets.open")
    assert whats(play.send("bets.close")) == ["bets.closed", "shooter_no_bet"]


def test_when_the_dice_cannot_go_on() -> None:
    play = table()
    for fields, why in (
        ({"seat": 2}, "seat 1 has the dice; give why"),
        ({"seat": 3, "why": "refused"}, "nobody sits at seat:3; seated: seat:1, seat:2, seat:4"),
    ):
        with pytest.raises(RejectedError, match=why):
            play.send("shooter.set", **fields)
    play.bets()
    with pytest.raises(RejectedError, match="are thrown"):
        play.send("shooter.set", seat=2, why="refused")


@pytest.mark.parametrize("boxes", [[], [0], [1, 1], [-1]])
def test_invalid_seats_are_refused(boxes: list[int]) -> None:
    play = table()
    with pytest.raises(RejectedError, match="boxes must name the taken seats by number"):
        play.send("boxes.set", boxes=boxes)


@ruled("BAL05-067", "ARA02-125", "EUS96-107", "GAL07-143")
def test_the_shooter_must_have_a_bet(decree: str) -> None:
    play = table(decree)
    play.send("bets.open")
    play.bet("field")
    play.bet("win", "seat:2")
    events = play.send("bets.close")
    breach = only(events, Irregularity)
    assert (breach.what, breach.detail, breach.asks) == (
        "shooter_no_bet",
        "seat 1",
        ("round.confirm", "round.void"),
    )
    assert breach.law.startswith(decree)
    assert not of_kind(play.throw(1, 3), RoundResult)
    assert only(play.send("round.confirm"), RoundResult).confirmed_by == "M. Lasa (table_head)"


@ruled("BAL05-067", "ARA02-125", "EUS96-107", "GAL07-143")
def test_win_or_do_not_win_will_do(decree: str) -> None:
    for bet in ("win", "dont_win"):
        play = table(decree)
        play.send("bets.open")
        play.bet(bet)
        assert whats(play.send("bets.close")) == ["bets.closed"]
        assert only(play.throw(1, 3), RoundResult).confirmed_by is None


def test_a_person_allows_the_throw() -> None:
    play = table()
    play.send("bets.open")
    play.send("bets.close")
    assert play.shown["asks"] == ["round.confirm", "round.void"]
    assert play.send("round.confirm") == []
    assert only(play.throw(1, 3), RoundResult).confirmed_by == "M. Lasa (table_head)"


def test_no_shooter_at_all() -> None:
    play = without_shooter()
    play.send("bets.open")
    assert whats(play.send("bets.close")) == ["bets.closed", "shooter_missing"]


def test_where_the_shooter_is_not_reported() -> None:
    play = without_shooter(shooter="unwatched", rounds="dice")
    assert whats(play.throw(1, 3))[:2] == ["bets.closed", "round.result"]


# Bets


@ruled("BAL05-063", "ARA02-129", "EUS96-108", "GAL07-138")
def test_a_bet_on_win_is_not_withdrawn(decree: str) -> None:
    play = table(decree)
    play.bet("win", amount=1000)
    with pytest.raises(RejectedError, match=f"win may not be withdrawn: {decree}-"):
        play.send("bet.withdraw", who="seat:1", bet="win")


@ruled("BAL05-063", "ARA02-129", "EUS96-108", "GAL07-138")
def test_no_part_of_a_bet_on_win_is_withdrawn(decree: str) -> None:
    play = table(decree)
    play.bet("win", amount=1000)
    for amount in (999, None):
        with pytest.raises(
            RejectedError, match=f"win may not be lowered; 1000 is placed: {decree}-"
        ):
            play.bet("win", amount=amount)
    play.bet("win", amount=1500)
    play.bet("dont_win", "seat:2", amount=1000)
    play.bet("dont_win", "seat:2", amount=500)
    assert [(each.bet, each.amount) for each in play.state.bets] == [
        ("win", 1500),
        ("dont_win", 500),
    ]


@ruled("BAL05-055", "ARA02-124", "EUS96-106", "GAL07-131")
def test_no_bet_once_they_are_closed(decree: str) -> None:
    play = table(decree)
    play.bet("field", "seat:2")
    play.bets()
    for command in ("bet.place", "bet.withdraw"):
        with pytest.raises(RejectedError, match=f"bets are closed; .*: {decree}-"):
            play.send(command, who="seat:2", bet="field")


@ruled("", "ARA02-129", "EUS96-108 EUS96-111", "GAL07-138")
def test_when_a_bet_may_be_placed(decree: str) -> None:
    play = table(decree)
    for bet in ("come", "dont_come"):
        with pytest.raises(
            RejectedError, match=f"{bet} is placed after the first throw of a series: {decree}-"
        ):
            play.bet(bet)
    play.totals(8)
    for bet in ("win", "dont_win"):
        with pytest.raises(
            RejectedError, match=f"{bet} is placed before the first throw of a series: {decree}-"
        ):
            play.bet(bet, "seat:2")
    for bet in ("come", "dont_come", "field", "big_6", "right:8", "wrong:10", "horn"):
        placed = only(play.bet(bet, "seat:2", amount=500), BetPlaced)
        assert (placed.who, placed.bet, placed.withdrawn, placed.amount) == (
            "seat:2",
            bet,
            False,
            500,
        )


@every
def test_a_bet_on_come_travels(decree: str) -> None:
    play = table(decree)
    play.totals(8)
    play.bet("come", "seat:2", amount=500)
    play.bet("dont_come", "seat:4", amount=700)
    settled = only(play.totals(5), RoundResult).bets
    assert isinstance(settled, tuple)
    assert [(each.who, each.bet, each.outcome) for each in settled if each.who] == [
        ("seat:1", "win", "stays"),
        ("seat:2", "come", "stays"),
        ("seat:4", "dont_come", "stays"),
    ]
    assert [(each.bet, each.amount) for each in play.state.bets] == [
        ("win", None),
        ("come:5", 500),
        ("dont_come:5", 700),
    ]
    with pytest.raises(RejectedError, match="place it as come"):
        play.bet("come:6", "seat:2")
    play.totals(8)
    assert [each.bet for each in play.state.bets] == ["come:5", "dont_come:5"]
    assert [each.outcome for each in only(play.totals(7), RoundResult).bets or () if each.who] == [
        "lose",
        "win",
        "win",
    ]
    assert play.state.bets == ()


@ruled("BAL05-066", "", "EUS96-114", "GAL07-141")
def test_bets_that_need_another_bet(decree: str) -> None:
    play = table(decree)
    play.bet("dont_win", "seat:2", amount=1000)
    play.totals(4)
    with pytest.raises(RejectedError, match="win_odds goes beside win, which seat:4 does not have"):
        play.bet("win_odds", "seat:4", amount=500)
    with pytest.raises(RejectedError, match=f"dont_win_odds must be at most 2000: {decree}-"):
        play.bet("dont_win_odds", "seat:2", amount=2001)
    play.bet("dont_win_odds", "seat:2", amount=2000)
    play.bet("win_odds", "seat:1", amount=9000)  # the stake on Win was not reported
    gone = play.send("bet.withdraw", who="seat:2", bet="dont_win")
    assert [(event.bet, event.withdrawn) for event in of_kind(gone, BetPlaced)] == [
        ("dont_win", True),
        ("dont_win_odds", True),
    ]
    assert [each.bet for each in play.state.bets] == ["win", "win_odds"]


HIGHEST: dict[str, int | Fraction] = {
    "win": 100,
    "field": 100,
    "big_8": 100,
    **dict.fromkeys(("right:4", "right:5", "right:9", "right:10"), 100),
    **dict.fromkeys(("right:6", "right:8"), 120),
    **dict.fromkeys(("wrong:4", "wrong:10"), 220),
    **dict.fromkeys(("wrong:5", "wrong:9"), 160),
    **dict.fromkeys(("wrong:6", "wrong:8"), 125),
    "seven": 75,  # 4 to 1: three times the gain on a simple bet
    "any_craps": Fraction(300, 7),
    "craps_12": 10,
}
"""The maximum stake in per cent of that on a simple bet."""


@for_each("bet", HIGHEST)
@ruled("BAL05-066", "", "", "GAL07-141")
def test_no_bet_is_above_what_the_authorisation_has(decree: str, bet: str) -> None:
    play = table(decree, highest_simple=70_000)
    most = int(Fraction(HIGHEST[bet]) * 700)
    with pytest.raises(RejectedError, match=f"{bet} must be at most {most}: {decree}-.*IV.2"):
        play.bet(bet, amount=most + 1)
    assert only(play.bet(bet, amount=most), BetPlaced).amount == most


@pytest.mark.parametrize(
    ("decree", "low", "high"),
    [
        pytest.param("BAL05", 20, 1000, marks=rule("BAL05-066")),
        ("ARA02", 50, 200),
        ("EUS96", 20, 1000),
        pytest.param("GAL07", 100, 1000, marks=rule("GAL07-141")),
    ],
)
def test_no_bet_is_above_what_any_authorisation_may_have(decree: str, low: int, high: int) -> None:
    play = table(decree)
    with pytest.raises(RejectedError, match=f"field must be at most {500 * high}: {decree}-"):
        play.bet("field", amount=500 * high + 1)
    play.bet("field", amount=500 * high)
    for times in (low, high):
        assert Play(decree, highest_simple=500 * times).send("session.open", minimum=500)
    for highest in (500 * low - 1, 500 * high + 1):
        with pytest.raises(
            RejectedError,
            match=(
                f"the highest stake, {highest}, must be {low} to {high} times the minimum: "
                f"{decree}-"
            ),
        ):
            Play(decree, highest_simple=highest).send("session.open", minimum=500)


def test_without_a_minimum_or_an_amount_no_bet_is_too_high() -> None:
    play = Play()
    play.send("session.open")
    assert play.bet("field", "seat:1", amount=10**12)
    assert table(highest_simple=50_000).bet("field")


def test_odds_on_a_bet_that_travelled() -> None:
    play = table()
    play.totals(4)
    play.bet("come", "seat:2", amount=600)
    play.totals(9)
    with pytest.raises(RejectedError, match="come_odds:9 must be at most 600"):
        play.bet("come_odds:9", "seat:2", amount=601)
    play.bet("come_odds:9", "seat:2", amount=600)
    with pytest.raises(RejectedError, match="goes beside come:5"):
        play.bet("come_odds:5", "seat:2")


def test_invalid_bets_and_players_are_refused() -> None:
    play = table()
    for fields, why in (
        ({"who": "seat:1", "bet": "pass"}, "no bet pass here"),
        ({"who": "box:1", "bet": "field"}, "who must be a seat"),
        ({"who": "seat:0", "bet": "field"}, "who must be a seat"),
        ({"who": "seat:1", "bet": "field", "amount": 0}, "amount must be above 0"),
    ):
        with pytest.raises(RejectedError, match=why):
            play.send("bet.place", **fields)
    with pytest.raises(RejectedError, match="seat:1 has no bet field"):
        play.send("bet.withdraw", who="seat:1", bet="field")


def test_a_later_amount_replaces_the_bet() -> None:
    play = table()
    play.bet("field", "seat:2", amount=500)
    play.bet("field", "seat:2", amount=700)
    assert [(each.bet, each.amount) for each in play.state.bets] == [("field", 700)]


@for_each("who", ["seat:²", "seat:٣", "seat:01", "seat:" + "9" * 50, "seat:0", "seat", "box:1"])
def test_a_seat_has_one_name(who: str) -> None:
    play = table()
    play.send("bets.open")
    with pytest.raises(RejectedError, match="who must be a seat"):
        play.send("bet.place", who=who, bet="win")


@for_each("bet", ["right:06", "right:٦", "right:" + "6" * 50, "right:6:6", "right:", "right"])
def test_a_bet_has_one_name(bet: str) -> None:
    play = table()
    play.send("bets.open")
    with pytest.raises(RejectedError, match="no bet"):
        play.send("bet.place", who="seat:1", bet=bet)
