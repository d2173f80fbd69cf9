"""What lies beside the ante at house poker: insurance, the bet on a pair, coins for the jackpot, and the prizes."""

from __future__ import annotations

from typing import Any

import pytest

from controller.events import AwardQualified, BetPlaced, Irregularity, LastRounds, RoundResult
from controller.games.game import Rejected
from controller.games.hands.evaluator import value
from controller.games.house_poker.pays import prizes
from controller.rulebooks.house_poker import Jackpot
from tests.controller.games.play import of_kind
from tests.controller.games.poker_play import Play, bets, box, dealt, go, table
from tests.controller.test_rulebook_house_poker import book_of

ROYAL, FLUSH, FLUSH_TOO, LOWER, FOUR = "As Ks Qs Js Ts", "9s 8s 7s 6s 5s", "9d 8d 7d 6d 5d", "8c 7c 6c 5c 4c", "2c 2d 2h 2s Kd"
BANK = "Ah Kh 3c 4h 9h"


def opened(game: str = "poker-no-draw", decree: str = "BAL05", **settings: Any) -> Play:
    """Bets are open, and box 1 is in play."""
    play = table(game, decree, **settings)
    play.say("bets.open")
    play.say("boxes.set", boxes=[1])
    return play


# Stakes


@pytest.mark.rule("BAL05-136", "EUS96-184", "EUS96-198", "BAL09-076")
@pytest.mark.parametrize(
    ("game", "decree", "bet", "allowed", "refused"),
    [
        ("poker-no-draw", "BAL05", "insurance", (1, 250), (0, 251)),
        ("poker-no-draw", "EUS96", "insurance", (1, 250), (251,)),
        ("poker-no-draw", "EUS96", "jackpot", (250,), (251,)),
        ("poker-draw-house", "EUS96", "jackpot", (250,), (251,)),
        ("three-card-poker", "BAL09", "pair_plus", (250, 5000), (249, 5001)),
        ("three-card-poker", "EUS96", "pair_plus", (1, 99999), (0,)),
    ],
)
def test_the_stake_of_a_side_bet(game: str, decree: str, bet: str, allowed: tuple[int, ...], refused: tuple[int, ...]) -> None:
    play = opened(game, decree)
    for amount in allowed:
        [placed] = of_kind(play.say("bet.place", who="box:1", bet=bet, amount=amount), BetPlaced)
        assert (placed.bet, placed.amount, placed.lies) == (bet, amount, True)
    for amount in refused:
        with pytest.raises(Rejected, match=f"{bet} is at (least|most) |an amount of 0 is none"):
            play.say("bet.place", who="box:1", bet=bet, amount=amount)


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
def test_the_ante_is_within_the_limits(game: str, decree: str, settings: dict[str, Any], most: int) -> None:
    play = opened(game, decree, **settings)
    for amount in (500, most):
        play.say("bet.place", who="box:1", bet="ante", amount=amount)
    for amount in (499, most + 1):
        with pytest.raises(Rejected, match=f"ante is at (least 500|most {most}): {play.game.book.laws['ante_limit'].rule}"):
            play.say("bet.place", who="box:1", bet="ante", amount=amount)


@pytest.mark.rule("BAL05-136")
def test_a_side_bet_lies_before_the_deal() -> None:
    play = opened()
    play.say("bet.place", who="box:1", bet="insurance")
    [back] = of_kind(play.say("bet.withdraw", who="box:1", bet="insurance"), BetPlaced)
    assert back.lies is False
    with pytest.raises(Rejected, match="has no bet 'insurance'"):
        play.say("bet.withdraw", who="box:1", bet="insurance")
    play.say("bets.close")
    with pytest.raises(Rejected, match="they lie before the deal"):
        play.say("bet.place", who="box:1", bet="insurance")


def test_a_bet_that_there_is_not() -> None:
    play = opened(decree="ARA02")
    with pytest.raises(Rejected, match="no bet 'insurance' here; there are: ante, jackpot"):
        play.say("bet.place", who="box:1", bet="insurance")
    with pytest.raises(Rejected, match="'box:9' is none of the boxes"):
        play.say("bet.place", who="box:9", bet="jackpot")


@pytest.mark.rule("EUS96-185")
def test_a_side_bet_without_an_ante_is_given_back() -> None:
    play = opened("poker-draw-house", "EUS96")
    play.coin(2)
    play.say("bet.place", who="box:1", bet="jackpot")
    told = play.say("bets.close")
    assert [(event.what, event.detail) for event in of_kind(told, Irregularity)] == [("bet_without_ante", "box:2: jackpot")]
    assert [(event.who, event.lies) for event in of_kind(told, BetPlaced)] == [("box:2", False)]
    assert play.shown["hands"]["box:1"]["bets"] == ["jackpot"]


# What they pay


@pytest.mark.rule("BAL05-136", "EUS96-198")
@pytest.mark.parametrize("decree", ["BAL05", "EUS96"])
@pytest.mark.parametrize(
    ("hand", "pays"), [("7s 7d 7c 8s 8d", 100), (FOUR, 300), (FLUSH, 1000), (ROYAL, 2000), ("Qs Js 8s 6s 2s", None)]
)
@pytest.mark.parametrize("bank", [BANK, "Qh Jd 3c 4h 9h", "Qc Qd Qh Tc Td"], ids=["plays", "does not", "wins"])
def test_insurance_goes_by_the_hand_alone(decree: str, hand: str, pays: int | None, bank: str) -> None:
    told = go(table(decree=decree), hand, bank, bets=[(1, "insurance")])
    assert bets(box(told))["insurance"] == (("lose", None) if pays is None else ("win", (pays, 1)))


def test_a_hand_with_a_side_bet_is_shown_though_the_bank_does_not_play() -> None:
    play = table()
    dealt(play, "7s 7d 7c 8s 8d", "2s 2d 2c 3s 3d", "Qh Jd 9c 4h 5h", bets=[(1, "insurance")])
    play.act(1, "go")
    play.act(2, "go")
    assert of_kind(play.turn("dealer"), RoundResult) == []
    assert play.shown["phase"] == "showdown"
    told = play.turn("box:1")
    assert [hand.cards != () for hand in of_kind(told, RoundResult)[0].hands or ()] == [True, False, True]


@pytest.mark.rule("BAL09-069", "BAL09-080")
@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize(
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
def test_the_bet_on_a_pair_is_paid_by_the_announced_table(number: int, hand: str, kind: str | None) -> None:
    play = table("three-card-poker", "BAL09", pay_table=number)
    told = go(play, hand, "Ah Kh Qh", bets=[(1, "pair_plus")])
    announced = play.shown["side_bets"]["pair_plus"]
    assert announced == book_of("three-card-poker", "BAL09").sides["pair_plus"].tables[number - 1]
    assert bets(box(told))["pair_plus"] == (("lose", None) if kind is None else ("win", announced[kind]))


@pytest.mark.parametrize(("folded", "outcome"), [("lose", ("lose", None)), ("play", ("win", (3, 1)))])
def test_the_side_bet_of_who_gives_up(folded: str, outcome: tuple[str, Any]) -> None:
    play = table("three-card-poker", "BAL09", folded_bets=folded)
    dealt(play, "Js 8s 6s", "Ah Kh Qh", bets=[(1, "pair_plus")])
    told = play.act(1, "pass")
    if folded == "play":
        told = play.turn("box:1")
    assert bets(box(told)) == {"ante": ("lose", None), "pair_plus": outcome}


# Coins


@pytest.mark.rule("EUS96-188", "ARA02-142", "BAL05-137")
@pytest.mark.parametrize(
    ("game", "decree"),
    [("poker-draw-house", "EUS96"), ("poker-no-draw", "EUS96"), ("poker-no-draw", "ARA02"), ("poker-no-draw", "BAL05")],
)
def test_a_coin_counts_before_the_deal_and_with_an_ante(game: str, decree: str) -> None:
    play = opened(game, decree)
    assert [(event.who, event.bet, event.amount) for event in of_kind(play.coin(1), BetPlaced)] == [("box:1", "jackpot", 100)]
    play.coin(2)
    play.say("bets.close")
    assert play.state.hand is not None
    assert [who for who, own in play.state.hand.bets.items() if own] == ["box:1"]
    told = play.coin(1)
    assert [(event.what, event.detail) for event in of_kind(told, Irregularity)] == [("bet_late", "box:1")]
    assert of_kind(told, BetPlaced) == []


def test_a_coin_that_came_in_a_silence_or_outside_a_round_does_not_count() -> None:
    play = table()
    assert [event.what for event in of_kind(play.coin(1), Irregularity)] == ["bet_late"]
    play.say("bets.open")
    assert [event.what for event in of_kind(play.coin(1, late=True), Irregularity)] == ["bet_late"]
    assert play.state.hand is not None
    assert play.state.hand.bets == {}


@pytest.mark.rule("EUS96-184")
def test_a_coin_above_half_the_minimum_is_said() -> None:
    play = opened(decree="EUS96")
    assert [event.what for event in of_kind(play.coin(1, 300), Irregularity)] == ["stake_limit"]


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
def test_who_has_a_right_to_the_meter(decree: str, award: str, hand: str, share: tuple[int, int] | None) -> None:
    play = table(decree=decree)
    told = go(play, hand, BANK, bets=[(1, "jackpot")])
    found = [(event.award, event.box, event.share) for event in of_kind(told, AwardQualified)]
    assert found == ([] if share is None else [(award, "box:1", share)])
    assert bets(box(told))["jackpot"] == ("lose" if share is None else "win", None)


@pytest.mark.rule("ARA02-142", "EUS96-185")
@pytest.mark.parametrize("decree", ["ARA02", "EUS96"])
def test_without_a_coin_there_is_no_prize(decree: str) -> None:
    assert of_kind(go(table(decree=decree), ROYAL, BANK), AwardQualified) == []


def test_the_prize_does_not_depend_on_the_bank() -> None:
    told = go(table(decree="EUS96"), FOUR, "Qh Jd 3c 4h 9h", bets=[(1, "jackpot")])
    assert [event.hand for event in of_kind(told, AwardQualified)] == ["four"]


def several(jackpot: Jackpot | None, *hands: str, discarded: tuple[str, ...] = ()) -> list[tuple[str, tuple[int, int] | None]]:
    assert jackpot is not None
    values = {f"box:{number}": value(hand.split(), "five-52") for number, hand in enumerate(hands, 1)}
    return [(winner.who, winner.share) for winner in prizes(jackpot, values, discarded)]


@pytest.mark.rule("EUS96-193", "ARA02-141")
@pytest.mark.parametrize("decree", ["EUS96", "ARA02"])
def test_several_royals_share_equally(decree: str) -> None:
    jackpot = book_of("poker-no-draw", decree).jackpot
    assert several(jackpot, ROYAL, ROYAL.replace("s", "d"), FLUSH) == [("box:1", (1, 2)), ("box:2", (1, 2)), ("box:3", None)]


@pytest.mark.rule("EUS96-194")
def test_the_highest_first_and_the_next_of_what_is_left() -> None:
    jackpot = book_of("poker-no-draw", "EUS96").jackpot
    assert several(jackpot, FOUR, LOWER, FLUSH) == [("box:3", (1, 10)), ("box:2", (9, 100)), ("box:1", (81, 2000))]
    assert several(jackpot, FLUSH, FLUSH_TOO, FOUR) == [("box:1", (1, 10)), ("box:2", (1, 10)), ("box:3", (1, 25))]
    lower_too = LOWER.replace("c", "h")
    assert several(jackpot, LOWER, lower_too, FLUSH) == [("box:3", (1, 10)), ("box:1", (1, 10)), ("box:2", (1, 10))]


@pytest.mark.rule("EUS96-190")
@pytest.mark.parametrize("game", ["poker-no-draw", "poker-draw-house"])
def test_what_each_hand_takes_of_the_meter_in_the_basque_country(game: str) -> None:
    jackpot = book_of(game, "EUS96").jackpot
    assert [several(jackpot, hand) for hand in (ROYAL, FLUSH, FOUR)] == [[("box:1", share)] for share in ((1, 1), (1, 10), (1, 20))]


@pytest.mark.rule("ARA02-141")
def test_only_the_highest_straight_flush_in_aragon() -> None:
    jackpot = book_of("poker-no-draw", "ARA02").jackpot
    assert several(jackpot, LOWER, FLUSH) == [("box:2", (1, 10)), ("box:1", None)]
    assert several(jackpot, FLUSH_TOO, FLUSH) == [("box:1", None), ("box:2", None)]


def test_several_winners_of_which_the_decree_says_nothing() -> None:
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
    told = play.show("box:1", "2c 2d 2h 2s Kd")
    assert [event.share for event in of_kind(told, AwardQualified)] == ([] if share is None else [share])
    assert bets(box(told))["jackpot"][0] == ("win" if paid else "lose")


# The last rounds


@pytest.mark.rule("EUS96-183")
@pytest.mark.parametrize("game", ["poker-no-draw", "poker-draw-house", "three-card-poker"])
def test_the_last_three_hands_are_announced(game: str) -> None:
    play = table(game, "EUS96")
    [announced] = of_kind(play.say("last_rounds.announce"), LastRounds)
    assert (announced.left, announced.announcement) == (3, {"eu": "azken hiru eskuak"})
    with pytest.raises(Rejected, match="announced already"):
        play.say("last_rounds.announce")
    for left in (2, 1, 0):
        play.bets(1)
        play.say("cards.deal", count=2 * play.game.book.hand)
        assert [event.left for event in of_kind(play.act(1, "pass"), LastRounds)] == [left]


def test_no_such_announcement_under_another_decree() -> None:
    with pytest.raises(Rejected, match="no announcement"):
        table().say("last_rounds.announce")


@pytest.mark.rule("BAL09-014")
def test_others_bet_on_a_hand_only_where_the_casino_says_so() -> None:
    play = opened("three-card-poker", "BAL09")
    with pytest.raises(Rejected, match="1 may bet on a box at most: BAL09-014"):
        play.say("bet.place", who="box:1/2", bet="ante", amount=500)
    play = opened("three-card-poker", "BAL09", others_bet=True)
    for place in (2, 3, 4):
        [placed] = of_kind(play.say("bet.place", who=f"box:1/{place}", bet="ante", amount=500), BetPlaced)
        assert (placed.who, placed.lies) == (f"box:1/{place}", True)
    with pytest.raises(Rejected, match="4 may bet on a box at most: BAL09-014"):
        play.say("bet.place", who="box:1/5", bet="ante", amount=500)
    with pytest.raises(Rejected, match="none of the boxes"):
        play.say("bet.place", who="box:8/2", bet="ante", amount=500)


@pytest.mark.rule("BAL05-138", "ARA02-139", "BAL09-075")
@pytest.mark.parametrize(
    ("game", "decree", "most"), [("poker-no-draw", "BAL05", 4), ("poker-no-draw", "ARA02", 3), ("three-card-poker", "BAL09", 4)]
)
def test_all_antes_on_a_box_are_one_ante_for_the_limit(game: str, decree: str, most: int) -> None:
    settings = {"others_bet": True} if decree == "BAL09" else {}
    play = opened(game, decree, **settings)
    limit = play.game.rules.limit * 500
    play.say("bet.place", who="box:1", bet="ante", amount=limit - 1000)
    with pytest.raises(Rejected, match=f"ante is at most 1000 on box:1: {play.game.book.laws['ante_limit'].rule}"):
        play.say("bet.place", who="box:1/2", bet="ante", amount=1001)
    play.say("bet.place", who="box:1/2", bet="ante", amount=1000)
    with pytest.raises(Rejected, match=f"ante is at most {limit - 1000}"):
        play.say("bet.place", who="box:1", bet="ante", amount=limit)
    play.say("bet.withdraw", who="box:1/2", bet="ante")
    with pytest.raises(Rejected, match="box:1/2 has no bet ante"):
        play.say("bet.withdraw", who="box:1/2", bet="ante")
    play.say("bet.place", who="box:1", bet="ante", amount=limit)
    with pytest.raises(Rejected, match=f"{most} may bet on a box at most"):
        play.say("bet.place", who=f"box:1/{most + 1}", bet="ante")
    for side in play.game.book.sides:
        with pytest.raises(Rejected, match=f"bets on it alone: no {side}"):
            play.say("bet.place", who="box:1/2", bet=side)
