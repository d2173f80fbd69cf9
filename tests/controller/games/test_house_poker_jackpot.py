"""The jackpot of house poker: coins and bets that take part, the prizes, and the events for the
meter's controller.
"""

from __future__ import annotations

from typing import Any

import pytest

from common.contract.events import (
    AwardQualified,
    BetPlaced,
    Irregularity,
    JackpotStaked,
    RoundResult,
)
from common.contract.refusals import RejectedError
from controller.games.hands.evaluator import value
from controller.games.house_poker.pays import prizes
from controller.rulebooks.house_poker import JackpotRules
from tests.controller.rulebooks.test_rulebook_house_poker import book_of
from tests.support.games.play import of_kind
from tests.support.games.poker_play import bets, box, dealt, go, opened, singly, table

ROYAL, FLUSH, FLUSH_TOO, LOWER, FOUR = (
    "As Ks Qs Js Ts",
    "9s 8s 7s 6s 5s",
    "9d 8d 7d 6d 5d",
    "8c 7c 6c 5c 4c",
    "2c 2d 2h 2s Kd",
)
BANK = "Ah Kh 3c 4h 9h"

# Coins


@pytest.mark.rule("EUS96-188", "ARA02-142", "BAL05-137")
@pytest.mark.parametrize(
    ("game", "decree"),
    [
        ("poker-draw-house", "EUS96"),
        ("poker-no-draw", "EUS96"),
        ("poker-no-draw", "ARA02"),
        ("poker-no-draw", "BAL05"),
    ],
)
def test_a_coin_counts_before_the_deal_and_with_an_ante(game: str, decree: str) -> None:
    play = opened(game, decree)
    assert [(event.who, event.bet, event.amount) for event in of_kind(play.coin(1), BetPlaced)] == [
        ("box:1", "jackpot", 100)
    ]
    play.coin(2)
    play.send("bets.close")
    assert play.state.current is not None
    assert [who for who, own in play.state.current.amounts.items() if own] == ["box:1"]
    events = play.coin(1)
    assert [(event.what, event.detail) for event in of_kind(events, Irregularity)] == [
        ("bet_late", "box:1")
    ]
    assert of_kind(events, BetPlaced) == []


def test_a_coin_that_came_in_a_silence_or_outside_a_round_does_not_count() -> None:
    play = table()
    assert [event.what for event in of_kind(play.coin(1), Irregularity)] == ["bet_late"]
    play.send("bets.open")
    assert [event.what for event in of_kind(play.coin(1, late=True), Irregularity)] == ["bet_late"]
    assert play.state.current is not None
    assert play.state.current.amounts == {}


@pytest.mark.rule("EUS96-184")
@pytest.mark.parametrize(
    ("game", "rule"), [("poker-no-draw", "EUS96-E98"), ("poker-draw-house", "EUS96-184")]
)
def test_the_stake_of_the_jackpot_is_half_the_minimum_at_most(game: str, rule: str) -> None:
    play = opened(game, "EUS96", jackpot_stake=251)
    with pytest.raises(RejectedError, match=f"jackpot must be at most 250: {rule}"):
        play.send("bet.place", who="box:1", bet="jackpot", amount=251)
    events = play.coin(1, 251)
    assert [event.what for event in of_kind(events, Irregularity)] == ["stake_limit"]
    assert of_kind(events, BetPlaced) == []
    half = opened(game, "EUS96", jackpot_stake=250)
    assert of_kind(half.send("bet.place", who="box:1", bet="jackpot", amount=250), BetPlaced)


@pytest.mark.rule("EUS96-E08")
@pytest.mark.parametrize("game", ["poker-no-draw", "poker-draw-house"])
def test_only_the_decided_amount_takes_part_in_the_jackpot(game: str) -> None:
    """«erabakitako zenbatekoa ... mahaiaren ageriko lekuan adieraziko da» (EUS96 L1819), «Jackpoten
    balio bereko fitxa» (L1855).
    """
    play = opened(game, "EUS96", jackpot_stake=200)
    assert play.shown["settings"]["jackpot_stake"] == 200
    for amount in (1, 199, 201, 250):
        with pytest.raises(
            RejectedError,
            match=f"a bet of {amount} takes no part in the jackpot; 200 is decided .*: EUS96-E08",
        ):
            play.send("bet.place", who="box:1", bet="jackpot", amount=amount)
        events = play.coin(1, amount)
        assert [event.what for event in of_kind(events, Irregularity)] == ["jackpot_stake"]
        assert of_kind(events, BetPlaced) == []
    with pytest.raises(RejectedError, match="amount is required for the jackpot; it is 200"):
        play.send("bet.place", who="box:1", bet="jackpot")
    assert [event.amount for event in of_kind(play.coin(1, 200), BetPlaced)] == [200]
    events = play.coin(1, 200)
    assert [(event.what, event.detail) for event in of_kind(events, Irregularity)] == [
        ("jackpot_stake", "box:1: it takes part already, 200 more came")
    ]


@pytest.mark.rule("EUS96-E08")
@pytest.mark.parametrize("game", ["poker-no-draw", "poker-draw-house"])
def test_a_table_without_a_decided_amount_has_no_jackpot(game: str) -> None:
    play = opened(game, "EUS96", jackpot_stake=None)
    with pytest.raises(RejectedError, match="this table has no jackpot"):
        play.send("bet.place", who="box:1", bet="jackpot", amount=100)
    assert [event.what for event in of_kind(play.coin(1), Irregularity)] == ["jackpot_stake"]
    assert play.state.current is not None
    assert play.state.current.amounts == {}


@pytest.mark.rule("ARA02-140")
@pytest.mark.parametrize("decree", ["ARA02", "BAL05"])
def test_all_coins_go_into_the_carrousel_and_a_bet_needs_its_amount(decree: str) -> None:
    play = opened(decree=decree)
    assert [
        event.amount for event in of_kind([*play.coin(1, 50), *play.coin(1, 70)], BetPlaced)
    ] == [50, 120]
    with pytest.raises(RejectedError, match="amount is required; the jackpot meter rises by it"):
        play.send("bet.place", who="box:1", bet="jackpot")


# Events for the meter's controller


@pytest.mark.rule("EUS96-187", "ARA02-140")
@pytest.mark.parametrize(
    ("game", "decree"),
    [("poker-no-draw", "EUS96"), ("poker-no-draw", "ARA02"), ("poker-no-draw", "BAL05")],
)
def test_stakes_on_the_jackpot_are_published_at_the_end_of_the_play(game: str, decree: str) -> None:
    play = table(game, decree)
    play.send("bets.open")
    play.send("boxes.set", boxes=[1, 2])
    play.coin(1)
    play.send("bet.place", who="box:2", bet="jackpot", amount=100)
    play.send("bets.close")
    play.cards(singly(FLUSH, LOWER, BANK))
    said = [*play.act(1, "pass"), *play.act(2, "go"), *play.turn("dealer"), *play.turn()]
    kinds = [
        type(event)
        for event in said
        if isinstance(event, RoundResult | AwardQualified | JackpotStaked)
    ]
    assert kinds == [RoundResult, AwardQualified, JackpotStaked]
    assert [(event.amount, event.slots) for event in of_kind(play.events, JackpotStaked)] == [
        (200, 100)
    ]


def test_a_null_play_stakes_nothing_on_the_jackpot() -> None:
    play = table(decree="EUS96")
    dealt(play, FLUSH, BANK, bets=[(1, "jackpot")])
    play.send("deal.error", error="order")
    go(play, FLUSH, BANK)
    assert of_kind(play.events, JackpotStaked) == []


@pytest.mark.rule("EUS96-190", "EUS96-196")
@pytest.mark.parametrize(
    ("game", "decree", "settings", "of"),
    [
        ("poker-no-draw", "EUS96", {}, "all_tables"),
        ("poker-no-draw", "ARA02", {}, "all_tables"),
        ("poker-no-draw", "BAL05", {}, "all_tables"),
        ("poker-draw-house", "EUS96", {}, "table"),
        ("poker-draw-house", "EUS96", {"linked": True}, "all_tables"),
    ],
)
def test_the_meter_that_a_share_is_of(
    game: str, decree: str, settings: dict[str, Any], of: str
) -> None:
    play = table(game, decree, **settings)
    dealt(play, ROYAL, BANK, bets=[(1, "jackpot")])
    play.act(1, "go")
    if game == "poker-draw-house":
        play.act(1, "discard", count=0)
    play.turn("dealer")
    for card in ("2c", "2d"):
        if play.shown["expected"] == "dealer":
            play.cards(card)
    if play.state.current is not None:
        play.turn()
    assert [(event.share, event.of) for event in of_kind(play.events, AwardQualified)] == [
        ((1, 1), of)
    ]


@pytest.mark.rule("EUS96-194")
@pytest.mark.parametrize(
    ("later", "shares"), [("of_remainder", [(1, 10), (9, 200)]), ("of_whole", [(1, 10), (1, 20)])]
)
def test_the_amount_that_a_second_prize_is_a_share_of(
    later: str, shares: list[tuple[int, int]]
) -> None:
    play = table(decree="EUS96", later_prizes=later)
    go(play, FOUR, FLUSH, BANK, bets=[(1, "jackpot"), (2, "jackpot")])
    assert [event.share for event in of_kind(play.events, AwardQualified)] == shares


def test_a_coin_where_there_is_no_jackpot() -> None:
    play = opened("three-card-poker", "BAL09")
    assert play.coin(1) == []


# Prizes


@pytest.mark.rule("BAL05-137", "ARA02-141", "EUS96-190")
@pytest.mark.parametrize(
    ("decree", "award", "hand", "share"),
    [
        ("BAL05", "carrousel", ROYAL, (1, 1)),
        ("BAL05", "carrousel", FLUSH, (1, 10)),
        ("BAL05", "carrousel", FOUR, None),
        ("ARA02", "carrousel", ROYAL, (1, 1)),
        ("ARA02", "carrousel", FLUSH, (1, 10)),
        ("EUS96", "jackpot", ROYAL, (1, 1)),
        ("EUS96", "jackpot", FLUSH, (1, 10)),
        ("EUS96", "jackpot", FOUR, (1, 20)),
    ],
)
def test_the_hands_with_a_right_to_the_meter(
    decree: str, award: str, hand: str, share: tuple[int, int] | None
) -> None:
    play = table(decree=decree)
    events = go(play, hand, BANK, bets=[(1, "jackpot")])
    found = [(event.award, event.box, event.share) for event in of_kind(events, AwardQualified)]
    assert found == ([] if share is None else [(award, "box:1", share)])
    assert bets(box(events))["jackpot"] == ("lose" if share is None else "win", None)


@pytest.mark.rule("ARA02-142", "EUS96-185")
@pytest.mark.parametrize("decree", ["ARA02", "EUS96"])
def test_without_a_coin_there_is_no_prize(decree: str) -> None:
    assert of_kind(go(table(decree=decree), ROYAL, BANK), AwardQualified) == []


def test_the_prize_does_not_depend_on_the_bank() -> None:
    events = go(table(decree="EUS96"), FOUR, "Qh Jd 3c 4h 9h", bets=[(1, "jackpot")])
    assert [event.hand for event in of_kind(events, AwardQualified)] == ["four"]


def several(
    jackpot: JackpotRules | None, *hands: str, discarded: tuple[str, ...] = ()
) -> list[tuple[str, tuple[int, int] | None]]:
    assert jackpot is not None
    values = {
        f"box:{number}": value(hand.split(), "five-52") for number, hand in enumerate(hands, 1)
    }
    return [(winner.who, winner.share) for winner in prizes(jackpot, values, discarded)]


@pytest.mark.rule("EUS96-193", "ARA02-141")
@pytest.mark.parametrize("decree", ["EUS96", "ARA02"])
def test_several_royals_share_equally(decree: str) -> None:
    jackpot = book_of("poker-no-draw", decree).jackpot
    assert several(jackpot, ROYAL, ROYAL.replace("s", "d"), FLUSH) == [
        ("box:1", (1, 2)),
        ("box:2", (1, 2)),
        ("box:3", None),
    ]


@pytest.mark.rule("EUS96-194")
def test_the_highest_first_and_the_next_of_what_is_left() -> None:
    jackpot = book_of("poker-no-draw", "EUS96").jackpot
    assert several(jackpot, FOUR, LOWER, FLUSH) == [
        ("box:3", (1, 10)),
        ("box:2", (9, 100)),
        ("box:1", (81, 2000)),
    ]
    assert several(jackpot, FLUSH, FLUSH_TOO, FOUR) == [
        ("box:1", (1, 10)),
        ("box:2", (1, 10)),
        ("box:3", (1, 25)),
    ]
    lower_too = LOWER.replace("c", "h")
    assert several(jackpot, LOWER, lower_too, FLUSH) == [
        ("box:3", (1, 10)),
        ("box:1", (1, 10)),
        ("box:2", (1, 10)),
    ]


@pytest.mark.rule("EUS96-190")
@pytest.mark.parametrize("game", ["poker-no-draw", "poker-draw-house"])
def test_the_share_of_each_hand_in_the_basque_country(game: str) -> None:
    jackpot = book_of(game, "EUS96").jackpot
    assert [several(jackpot, hand) for hand in (ROYAL, FLUSH, FOUR)] == [
        [("box:1", share)] for share in ((1, 1), (1, 10), (1, 20))
    ]


@pytest.mark.rule("ARA02-141")
def test_only_the_highest_straight_flush_in_aragon() -> None:
    jackpot = book_of("poker-no-draw", "ARA02").jackpot
    assert several(jackpot, LOWER, FLUSH) == [("box:2", (1, 10))]  # L1398: the highest takes it
    assert several(jackpot, ROYAL, LOWER, FLUSH) == [("box:1", (1, 1)), ("box:3", None)]
    assert several(jackpot, FLUSH_TOO, FLUSH) == [("box:1", None), ("box:2", None)]


def test_several_winners_without_a_rule_in_the_decree() -> None:
    jackpot = book_of("poker-no-draw", "BAL05").jackpot
    assert several(jackpot, FLUSH, ROYAL) == [("box:2", None), ("box:1", None)]


@pytest.mark.rule("EUS96-191", "EUS96-192")
def test_prizes_without_discards_come_first() -> None:
    jackpot = book_of("poker-draw-house", "EUS96").jackpot
    found = several(jackpot, ROYAL, FOUR, FLUSH, discarded=("box:1", "box:3"))
    assert found == [("box:2", (1, 20)), ("box:1", (19, 200)), ("box:3", (171, 20000))]


@pytest.mark.rule("EUS96-191")
@pytest.mark.parametrize(("paid", "share"), [(True, (1, 200)), (False, None)])
def test_a_prize_for_a_hand_made_by_discarding(paid: bool, share: tuple[int, int] | None) -> None:
    play = table("poker-draw-house", "EUS96", discarded_jackpot=paid)
    dealt(play, "2c 2d 2h 9s Kd", "Qh Jd 3c 4h 9h", bets=[(1, "jackpot")])
    play.act(1, "go")
    play.act(1, "discard", count=1)
    play.cards("2s")
    play.turn("dealer")
    play.cards("5h 6d")
    events = play.show("box:1", "2c 2d 2h 2s Kd")
    assert [event.share for event in of_kind(events, AwardQualified)] == (
        [] if share is None else [share]
    )
    assert bets(box(events))["jackpot"][0] == ("win" if paid else "lose")
