"""Decisions of hands at house poker, whether the bank plays, and payouts."""

from __future__ import annotations

import pytest

from common.contract.events import CardDealt, CardTurned, HandDecided, Irregularity
from common.contract.refusals import RejectedError
from tests.support.for_each import for_each
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind
from tests.support.games.poker_play import bets, box, dealt, go, result, table

LOW = "7c 5d 4h 3s 2c"
"""A hand without value: the bank does not play with it."""
ACE_KING = "Ah Kd 5s 4s 9h"
NO_DRAW = pytest.mark.parametrize("decree", ["BAL05", "ARA02", "EUS96"])


# Going and passing


@pytest.mark.rule("BAL05-133")
def test_a_hand_that_passes_loses_the_ante_and_never_shows() -> None:
    play = table()
    dealt(play, "As Ad Kc 2d 3h", "Qs Qd Qc 2h 3d", ACE_KING)
    [decided] = of_kind(play.act(1, "pass"), HandDecided)
    assert (decided.decision, decided.announcement) == ("pass", {"ca": "pas"})
    [decided] = of_kind(play.act(2, "go"), HandDecided)
    assert decided.announcement == {"ca": "hi vaig"}
    with pytest.raises(RejectedError, match="box:1 cannot be turned"):
        play.turn("box:1")
    events = [*play.turn("dealer"), *play.turn("box:2")]
    assert {event.to for event in of_kind(events, CardTurned)} == {"dealer", "box:2"}
    assert bets(box(events)) == {"ante": ("lose", None)}
    assert (box(events).cards, box(events).kind, box(events).outcome) == ((), None, "lose")


@NO_DRAW
def test_when_all_pass_the_bank_shows_nothing(decree: str) -> None:
    play = table(decree=decree)
    dealt(play, "As Ad Kc 2d 3h", ACE_KING)
    events = play.act(1, "pass")
    assert of_kind(events, CardTurned) == []
    assert outcome_of(result(events)).marks == ()
    assert [hand.cards for hand in outcome_of(result(events)).hands] == [(), ("9h",)]


@pytest.mark.rule("BAL05-133", "ARA02-139", "BAL09-067")
@pytest.mark.parametrize(
    ("game", "decree", "second"),
    [
        ("poker-no-draw", "BAL05", 2),
        ("poker-no-draw", "ARA02", 2),
        ("three-card-poker", "BAL09", 1),
    ],
)
def test_the_second_bet_is_a_multiple_of_the_ante(game: str, decree: str, second: int) -> None:
    play = table(game, decree)
    play.send("bets.open")
    play.send("boxes.set", boxes=[1])
    play.send("bet.place", who="box:1", bet="ante", amount=1000)
    play.send("bets.close")
    play.send("cards.deal", count=2 * play.game.book.hand)
    with pytest.raises(
        RejectedError, match=f"the second bet must be {second * 1000}: {second} times the ante"
    ):
        play.act(1, "go", amount=3000)
    play.act(1, "go", amount=second * 1000)
    assert play.shown["second_bet"] == second


def test_a_hand_decides_once_and_not_before_the_deal() -> None:
    play = table()
    play.bets(1, 2)
    with pytest.raises(RejectedError, match="not all cards are dealt"):
        play.act(1, "go")
    play.send("cards.deal", count=15)
    play.act(1, "go")
    for number, message in (
        (1, "box:1 has already decided go; to change it, send go first with valid"),
        (3, "box:3 has no hand in play; hands in play: box:1, box:2"),
    ):
        with pytest.raises(RejectedError, match=message):
            play.act(number, "pass")
    with pytest.raises(RejectedError, match="no choice"):
        play.send("hand.act", who="dealer", action="go")
    with pytest.raises(
        RejectedError, match=r"action raise is not possible here; possible: go, pass, buy$"
    ):
        play.act(2, "raise")
    assert play.shown["undecided"] == ["box:2"]


@pytest.mark.rule("BAL05-131")
def test_a_player_who_shows_his_cards_loses_everything() -> None:
    play = table()
    dealt(play, "As Ad Kc 2d 3h", "Qs Qd Qc 2h 3d", ACE_KING, bets=[(1, "insurance")])
    play.act(1, "go")
    events = play.send("deal.error", error="exposed", who="box:1", fault="player")
    assert [(event.what, event.detail) for event in of_kind(events, Irregularity)] == [
        ("hand_told", "box:1")
    ]
    play.act(2, "go")
    events = play.turn()
    assert bets(box(events)) == {
        "ante": ("lose", None),
        "second": ("lose", None),
        "insurance": ("lose", None),
    }
    assert box(events, 2).outcome == "win"


def test_a_decree_that_names_no_loss_for_it() -> None:
    play = table("three-card-poker", "BAL09")
    dealt(play, "As Ad Kc", "Qs Qd 2h")
    with pytest.raises(
        RejectedError, match="the decree does not say what a player loses by showing cards; send"
    ):
        play.send("deal.error", error="exposed", who="box:1", fault="player")


# Whether the bank plays


@pytest.mark.rule("BAL05-132", "ARA02-137", "EUS96-164")
@NO_DRAW
@for_each(
    ("bank", "plays"),
    [
        (ACE_KING, True),
        ("As Qd Jc 9h 8d", False),
        ("Ks Qd Jc 9h 8d", False),
        ("2s 2d Jc 9h 8d", True),
        ("As Kd 4c 3h 2d", True),
    ],
)
def test_the_bank_plays_with_ace_and_king_or_better(decree: str, bank: str, plays: bool) -> None:
    events = go(table(decree=decree), "Ts Td Tc 6c 7s", bank)
    assert outcome_of(result(events)).marks == (
        "dealer_qualifies" if plays else "dealer_not_qualified",
    )
    if plays:
        assert bets(box(events)) == {"ante": ("win", (1, 1)), "second": ("win", (3, 1))}
    else:
        assert bets(box(events)) == {"ante": ("win", (1, 1)), "second": ("void", None)}
        assert box(events).cards == (), "it is not compared, and needs not be shown"


@pytest.mark.rule("BAL09-066", "EUS96-168")
@for_each("decree", ["BAL09", "EUS96"])
@for_each(
    ("bank", "plays"),
    [("Qs 3d 2c", True), ("Js Td 8c", False), ("2s 2d 3c", True), ("As 3d 2c", True)],
)
def test_the_bank_plays_with_a_queen_or_better(decree: str, bank: str, plays: bool) -> None:
    events = go(table("three-card-poker", decree), "Ks Kd 4c", bank)
    assert outcome_of(result(events)).marks == (
        "dealer_qualifies" if plays else "dealer_not_qualified",
    )
    assert bets(box(events))["ante"][0] == ("lose" if bank == "As 3d 2c" else "win")


@pytest.mark.rule("BAL09-082")
def test_the_bank_lies_face_down_until_all_have_decided() -> None:
    play = table("three-card-poker", "BAL09")
    dealt(play, "As Ad Kc", "Qs Qd 2h", "9c 8d 4h")
    for who in ("dealer", "box:1", None):
        with pytest.raises(
            RejectedError,
            match=r"cannot be turned now|no hand can be turned now",
        ):
            play.turn(who)
    with pytest.raises(
        RejectedError, match="dealer is not shown now; if its cards were seen, send deal-error"
    ):
        play.show("dealer", "9c 8d 4h")
    play.act(1, "go")
    play.act(2, "pass")
    assert [event.card for event in of_kind(play.turn("dealer"), CardTurned)] == ["9c", "8d", "4h"]
    shown = [event.card for event in play.events if isinstance(event, CardDealt | CardTurned)]
    assert not {"Qs", "Qd", "2h"} & set(shown), "who gives up never shows"


# Payouts


@pytest.mark.rule("BAL05-134", "ARA02-138", "EUS96-172", "EUS96-173")
@NO_DRAW
@for_each(
    ("hand", "kind", "pays"),
    [
        ("As Ks Qs Js Ts", "royal_flush", 100),
        ("Ts 9s 8s 7s 6s", "straight_flush", 25),
        ("Ts Td Tc Th 5c", "four", 20),
        ("Ts Td Tc 3h 3c", "full_house", 7),
        ("Ks Js 8s 6s 2s", "flush", 5),
        ("Ts 9d 8c 7h 6s", "straight", 4),
        ("Ac 2d 3c 4h 5c", "straight", 4),
        ("Ts Td Tc 3h 2s", "trips", 3),
        ("Ts Td 3c 3h 2s", "two_pair", 2),
        ("Ts Td 7c 3h 2s", "pair", 1),
        ("Ac Kc Qd 3h 2s", "high_card", 1),
    ],
)
def test_the_second_bet_is_paid_by_the_hand(decree: str, hand: str, kind: str, pays: int) -> None:
    events = go(table(decree=decree), hand, ACE_KING)
    assert (box(events).kind, box(events).outcome) == (kind, "win")
    assert bets(box(events)) == {"ante": ("win", (1, 1)), "second": ("win", (pays, 1))}


@pytest.mark.rule("BAL05-134", "BAL05-135", "EUS96-171")
@for_each(
    ("hand", "bank", "outcome"),
    [
        ("Ks Kd Kc Kh 2d", "Qs Qd Qc Qh 3d", "win"),
        ("7s 7d 7c 8h 8d", "6s 6d 6c Ah Ad", "win"),
        (
            "Ac 2d 3c 4h 5d",
            "2s 3d 4c 5h 6d",
            "lose",
        ),  # the ace before the two makes the lowest straight
        ("Ac Kd Qc Jh Td", "Ks Qd Jc Th 9d", "win"),
        ("Qc Kd Ac 2h 3d", "4s 4d 5c 6h 7d", "lose"),  # no straight goes round the ace
        ("As 9s 8s 5s 3s", "Ad 9d 8d 5d 2d", "win"),
        ("Ks Kd 3c 3h 9d", "Kc Kh 3s 3d 8d", "win"),
        ("Qs Qd Ac 3h 2d", "Qc Qh Kc 9h 8d", "win"),
        ("As Kd 9c 7h 3d", "Ac Kh 9s 7d 3s", "tie"),
        ("As Kd 9c 7h 2d", "Ac Kh 9s 7d 3s", "lose"),
    ],
)
def test_the_higher_hand(hand: str, bank: str, outcome: str) -> None:
    events = go(table(), hand, bank)
    assert box(events).outcome == outcome
    if outcome == "tie":
        assert bets(box(events)) == {"ante": ("tie", None), "second": ("tie", None)}, (
            "the bet is kept, without a prize"
        )
    if outcome == "lose":
        assert bets(box(events)) == {"ante": ("lose", None), "second": ("lose", None)}


@pytest.mark.rule("ARA02-138")
@pytest.mark.parametrize(("ranking", "outcome"), [("listed", "win"), ("paid", "lose")])
def test_a_flush_against_a_full_house_in_aragon(ranking: str, outcome: str) -> None:
    assert (
        box(go(table(decree="ARA02", ranking=ranking), "Ks Js 8s 6s 2s", "3s 3d 3c 9h 9d")).outcome
        == outcome
    )


@pytest.mark.rule("BAL09-065", "EUS96-170")
@pytest.mark.parametrize("decree", ["BAL09", "EUS96"])
@for_each(
    ("hand", "bank", "kind", "outcome"),
    [
        ("As Ks Qs", "Kd Qd Jd", "royal_flush", "win"),
        ("2s 2d 2c", "Ks Qd Jc", "trips", "win"),
        ("4s 3d 2c", "As Ks Js", "straight", "win"),
        ("As 2d 3c", "4s 3d 2h", "straight", "lose"),
        ("As Ks Js", "Qs Qd Ac", "flush", "win"),
        ("Qs Qd Jc", "Qc Qh Ts", "pair", "win"),
        ("Ks Qd 3c", "Kd Qc 3s", "high_card", "tie"),
    ],
)
def test_three_cards_trips_above_straight_above_flush(
    decree: str, hand: str, bank: str, kind: str, outcome: str
) -> None:
    events = go(table("three-card-poker", decree), hand, bank)
    assert (box(events).kind, box(events).outcome) == (kind, outcome)


@pytest.mark.rule("BAL09-068")
@for_each(
    ("hand", "bonus"),
    [
        ("As Ks Qs", 5),
        ("Js Ts 9s", 5),
        ("8s 8d 8c", 4),
        ("8s 7d 6c", 1),
        ("Ks 8s 6s", None),
        ("8s 8d 6c", None),
    ],
)
@for_each("bank", ["Qh Qc 9d", "Jh Tc 8h", "Ah Kh Qh", "9c 8h 7h"])
def test_the_bonus_is_paid_whatever_the_bank_has(hand: str, bonus: int | None, bank: str) -> None:
    events = go(table("three-card-poker", "BAL09"), hand, bank)
    assert bets(box(events)).get("bonus") == (None if bonus is None else ("win", (bonus, 1)))
