"""Bets beside the ante at house poker: stakes, insurance, the bet on a pair. For the jackpot see
its own tests.
"""

from __future__ import annotations

from typing import Any

import pytest

from common.contract.events import BetPlaced, Irregularity, LastRounds, RoundResult
from common.contract.refusals import RejectedError
from tests.controller.rulebooks.test_rulebook_house_poker import book_of
from tests.support.for_each import for_each
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind, only
from tests.support.games.poker_play import bets, box, dealt, go, opened, table

ROYAL, FLUSH, FOUR = "As Ks Qs Js Ts", "9s 8s 7s 6s 5s", "2c 2d 2h 2s Kd"
BANK = "Ah Kh 3c 4h 9h"


# Stakes


@pytest.mark.rule("BAL05-136", "EUS96-198", "BAL09-076")
@pytest.mark.parametrize(
    ("game", "decree", "bet", "allowed", "refused"),
    [
        ("poker-no-draw", "BAL05", "insurance", (1, 250), (0, 251)),
        ("poker-no-draw", "EUS96", "insurance", (1, 250), (251,)),
        ("three-card-poker", "BAL09", "pair_plus", (250, 5000), (249, 5001)),
        ("three-card-poker", "EUS96", "pair_plus", (1, 99999), (0,)),
    ],
)
def test_the_stake_of_a_side_bet(
    game: str, decree: str, bet: str, allowed: tuple[int, ...], refused: tuple[int, ...]
) -> None:
    play = opened(game, decree)
    for amount in allowed:
        [placed] = of_kind(play.send("bet.place", who="box:1", bet=bet, amount=amount), BetPlaced)
        assert (placed.bet, placed.amount, placed.withdrawn) == (bet, amount, False)
    for amount in refused:
        with pytest.raises(
            RejectedError,
            match=f"{bet} must be at (least|most) |amount must be above 0, not 0",
        ):
            play.send("bet.place", who="box:1", bet=bet, amount=amount)


@pytest.mark.rule("BAL05-E04")
def test_standing_players_bet_on_a_hand_only_where_the_casino_says_so() -> None:
    """«Els Casinos que ho indiquin expressament» (L2286)."""
    play = opened("poker-no-draw", "BAL05")
    with pytest.raises(RejectedError, match="at most 1 may bet on a box: BAL05-E04"):
        play.send("bet.place", who="box:1/2", bet="ante", amount=500)
    play = opened("poker-no-draw", "BAL05", others_bet=True)
    for place in (2, 3, 4):
        only(play.send("bet.place", who=f"box:1/{place}", bet="ante", amount=500), BetPlaced)
    with pytest.raises(RejectedError, match="at most 4 may bet on a box"):
        play.send("bet.place", who="box:1/5", bet="ante", amount=500)


@pytest.mark.rule("BAL05-138", "ARA02-139", "BAL09-075")
@pytest.mark.parametrize(
    ("game", "decree", "settings", "most"),
    [
        ("poker-no-draw", "BAL05", {}, 12500),
        ("poker-no-draw", "BAL05", {"limit": 10}, 5000),
        ("poker-no-draw", "ARA02", {}, 12500),
        ("three-card-poker", "BAL09", {"limit": 20}, 10000),
    ],
)
def test_the_ante_is_within_the_limits(
    game: str, decree: str, settings: dict[str, Any], most: int
) -> None:
    play = opened(game, decree, **settings)
    for amount in (500, most):
        play.send("bet.place", who="box:1", bet="ante", amount=amount)
    laws = play.game.book.laws
    for amount, limit, law in (
        (499, "least 500", "bet_minimum"),
        (most + 1, f"most {most}", "ante_limit"),
    ):
        with pytest.raises(
            RejectedError,
            match=f"ante must be at {limit}: {laws[law].rule}",
        ):
            play.send("bet.place", who="box:1", bet="ante", amount=amount)


@pytest.mark.rule("BAL05-136")
def test_a_side_bet_lies_before_the_deal() -> None:
    play = opened()
    play.send("bet.place", who="box:1", bet="insurance")
    [back] = of_kind(play.send("bet.withdraw", who="box:1", bet="insurance"), BetPlaced)
    assert back.withdrawn is True
    with pytest.raises(RejectedError, match="box:1 has no bet insurance"):
        play.send("bet.withdraw", who="box:1", bet="insurance")
    play.send("bets.close")
    with pytest.raises(RejectedError, match="bets are closed; wait for the next round"):
        play.send("bet.place", who="box:1", bet="insurance")


def test_an_unknown_bet_is_refused() -> None:
    play = opened(decree="ARA02")
    with pytest.raises(RejectedError, match="no bet insurance here; bets are: ante, jackpot"):
        play.send("bet.place", who="box:1", bet="insurance")
    with pytest.raises(
        RejectedError, match="box:9 is not a box from 1 to 7; a box is box:1, another bettor on it"
    ):
        play.send("bet.place", who="box:9", bet="jackpot")


@pytest.mark.rule("EUS96-185")
def test_a_side_bet_without_an_ante_is_given_back() -> None:
    play = opened("poker-draw-house", "EUS96")
    play.coin(2)
    play.send("bet.place", who="box:1", bet="jackpot", amount=100)
    events = play.send("bets.close")
    assert [(event.what, event.detail) for event in of_kind(events, Irregularity)] == [
        ("bet_without_ante", "box:2: jackpot")
    ]
    assert [(event.who, event.withdrawn) for event in of_kind(events, BetPlaced)] == [
        ("box:2", True)
    ]
    assert play.shown["hands"]["box:1"]["bets"] == ["jackpot"]


# Payouts


@pytest.mark.rule("BAL05-136", "EUS96-198")
@pytest.mark.parametrize("decree", ["BAL05", "EUS96"])
@for_each(
    ("hand", "pays"),
    [("7s 7d 7c 8s 8d", 100), (FOUR, 300), (FLUSH, 1000), (ROYAL, 2000), ("Qs Js 8s 6s 2s", None)],
)
@for_each("bank", [BANK, "Qh Jd 3c 4h 9h", "Qc Qd Qh Tc Td"], ids=["plays", "does not", "wins"])
def test_insurance_depends_on_the_hand_alone(
    decree: str, hand: str, pays: int | None, bank: str
) -> None:
    events = go(table(decree=decree), hand, bank, bets=[(1, "insurance")])
    assert bets(box(events))["insurance"] == (
        ("lose", None) if pays is None else ("win", (pays, 1))
    )


def test_a_hand_with_a_side_bet_is_shown_though_the_bank_does_not_play() -> None:
    play = table()
    dealt(play, "7s 7d 7c 8s 8d", "2s 2d 2c 3s 3d", "Qh Jd 9c 4h 5h", bets=[(1, "insurance")])
    play.act(1, "go")
    play.act(2, "go")
    assert of_kind(play.turn("dealer"), RoundResult) == []
    assert play.shown["phase"] == "showdown"
    events = play.turn("box:1")
    assert [hand.cards != () for hand in outcome_of(of_kind(events, RoundResult)[0]).hands] == [
        True,
        False,
        True,
    ]


@pytest.mark.rule("BAL09-069", "BAL09-080")
@for_each("number", [1, 2, 3])
@for_each(
    ("hand", "kind"),
    [
        ("As Ks Qs", "royal_flush"),
        ("Js Ts 9s", "straight_flush"),
        ("8s 8d 8c", "trips"),
        ("8s 7d 6c", "straight"),
        ("Js 8s 6s", "flush"),
        ("8s 8d 6c", "pair"),
        ("Js 8d 6c", None),
    ],
)
def test_the_bet_on_a_pair_is_paid_by_the_announced_table(
    number: int, hand: str, kind: str | None
) -> None:
    play = table("three-card-poker", "BAL09", pay_table=number)
    events = go(play, hand, "Ah Kh Qh", bets=[(1, "pair_plus")])
    shown = play.shown["side_bets"]["pair_plus"]
    announced = {made: tuple(pays) for made, pays in shown.items()}
    assert announced == book_of("three-card-poker", "BAL09").sides["pair_plus"].tables[number - 1]
    assert bets(box(events))["pair_plus"] == (
        ("lose", None) if kind is None else ("win", announced[kind])
    )


@pytest.mark.parametrize(
    ("folded", "outcome"), [("lose", ("lose", None)), ("play", ("win", (3, 1)))]
)
def test_the_side_bet_of_a_hand_that_gives_up(folded: str, outcome: tuple[str, Any]) -> None:
    play = table("three-card-poker", "BAL09", folded_bets=folded)
    dealt(play, "Js 8s 6s", "Ah Kh Qh", bets=[(1, "pair_plus")])
    events = play.act(1, "pass")
    if folded == "play":
        events = play.turn("box:1")
    assert bets(box(events)) == {"ante": ("lose", None), "pair_plus": outcome}


# The last rounds


@pytest.mark.rule("EUS96-183")
@pytest.mark.parametrize("game", ["poker-no-draw", "poker-draw-house", "three-card-poker"])
def test_the_last_three_hands_are_announced(game: str) -> None:
    play = table(game, "EUS96")
    [announced] = of_kind(play.send("last_rounds.announce"), LastRounds)
    assert (announced.left, announced.announcement) == (3, {"eu": "azken hiru eskuak"})
    with pytest.raises(RejectedError, match="the last rounds are already announced"):
        play.send("last_rounds.announce")
    for left in (2, 1, 0):
        play.bets(1)
        play.send("cards.deal", count=2 * play.game.book.hand)
        assert [event.left for event in of_kind(play.act(1, "pass"), LastRounds)] == [left]


def test_no_such_announcement_under_another_decree() -> None:
    with pytest.raises(RejectedError, match="no announcement"):
        table().send("last_rounds.announce")


@pytest.mark.rule("BAL09-014")
def test_others_bet_on_a_hand_only_where_the_casino_says_so() -> None:
    play = opened("three-card-poker", "BAL09")
    with pytest.raises(RejectedError, match="at most 1 may bet on a box: BAL09-014"):
        play.send("bet.place", who="box:1/2", bet="ante", amount=500)
    play = opened("three-card-poker", "BAL09", others_bet=True)
    for place in (2, 3, 4):
        [placed] = of_kind(
            play.send("bet.place", who=f"box:1/{place}", bet="ante", amount=500), BetPlaced
        )
        assert (placed.who, placed.withdrawn) == (f"box:1/{place}", False)
    with pytest.raises(RejectedError, match="at most 4 may bet on a box"):
        play.send("bet.place", who="box:1/5", bet="ante", amount=500)
    with pytest.raises(
        RejectedError,
        match="box:8/2 is not a box from 1 to 7; a box is box:1, another bettor on it",
    ):
        play.send("bet.place", who="box:8/2", bet="ante", amount=500)


@pytest.mark.rule("BAL05-138", "ARA02-139", "BAL09-075")
@pytest.mark.parametrize(
    ("game", "decree", "most"),
    [
        ("poker-no-draw", "BAL05", 4),
        ("poker-no-draw", "ARA02", 3),
        ("three-card-poker", "BAL09", 4),
    ],
)
def test_all_antes_on_a_box_are_one_ante_for_the_limit(game: str, decree: str, most: int) -> None:
    settings = {"others_bet": True} if decree in ("BAL05", "BAL09") else {}
    play = opened(game, decree, **settings)
    limit = play.game.rules.limit * 500
    play.send("bet.place", who="box:1", bet="ante", amount=limit - 1000)
    with pytest.raises(
        RejectedError,
        match=f"ante on box:1 must be at most 1000: {play.game.book.laws['ante_limit'].rule}",
    ):
        play.send("bet.place", who="box:1/2", bet="ante", amount=1001)
    play.send("bet.place", who="box:1/2", bet="ante", amount=1000)
    with pytest.raises(RejectedError, match=f"ante must be at most {limit - 1000}"):
        play.send("bet.place", who="box:1", bet="ante", amount=limit)
    play.send("bet.withdraw", who="box:1/2", bet="ante")
    with pytest.raises(RejectedError, match="box:1/2 has no bet ante"):
        play.send("bet.withdraw", who="box:1/2", bet="ante")
    play.send("bet.place", who="box:1", bet="ante", amount=limit)
    with pytest.raises(RejectedError, match=f"at most {most} may bet on a box"):
        play.send("bet.place", who=f"box:1/{most + 1}", bet="ante")
    for side in play.game.book.sides:
        with pytest.raises(RejectedError, match=f"can only be ante, not {side}"):
            play.send("bet.place", who="box:1/2", bet=side)
