"""A table that is linked with a jackpot accepts bets on it only while it is in play; a table that
is not linked accepts them as the decree says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from common.contract.events import (
    AwardQualified,
    BetPlaced,
    Irregularity,
    JackpotInPlay,
    JackpotStaked,
)
from common.contract.messages.messages import LANGUAGES
from common.contract.refusals import RejectedError
from common.contract.shown import LinkedJackpot
from common.readings import JackpotStanding, OutOfPlay
from controller.games.games import make_game
from tests.support.games import blackjack_play, poker_play
from tests.support.games.outcomes import shown
from tests.support.games.play import of_kind

Play = poker_play.Play | blackjack_play.Play


def poker(**settings: Any) -> poker_play.Play:
    return poker_play.opened("poker-no-draw", "ARA02", **settings)


def blackjack(**settings: Any) -> blackjack_play.Play:
    play = blackjack_play.Play("EUS96", "blackjack", accumulated_bets=True, **settings)
    play.open()
    play.send("bets.open", role="croupier")
    play.boxes(1, 2)
    return play


TABLES = pytest.mark.parametrize(
    ("table", "bet"), [(poker, "jackpot"), (blackjack, "accumulated")], ids=["poker", "blackjack"]
)


def standing(play: Play, *, in_play: bool | None, why: OutOfPlay | None = None) -> list[Any]:
    return play.take(JackpotStanding(at=1.0, jackpot="carrousel-1", in_play=in_play, why=why))


def place(play: Play, bet: str, who: str = "box:1", amount: int = 100) -> list[Any]:
    return play.send("bet.place", role="croupier", who=who, bet=bet, amount=amount)


@TABLES
@pytest.mark.rule("EUS96-197", "ARA02-140")
def test_a_bet_is_refused_while_the_jackpot_is_not_in_play(
    table: Callable[..., Play], bet: str
) -> None:
    play = table()
    standing(play, in_play=False, why="gap")
    before = play.state
    with pytest.raises(RejectedError) as no:
        place(play, bet)
    assert play.state == before
    refusal = no.value.refusal
    assert (refusal.key, refusal.fields) == ("jackpot_not_in_play", {"why": "gap"})
    assert refusal.law is not None
    assert len({refusal.message(language) for language in LANGUAGES}) == len(LANGUAGES)
    assert "faltan eventos de la mesa" in refusal.message("es")
    assert "mahaiko gertaerak falta dira" in refusal.message("eu")
    standing(play, in_play=True)
    (placed,) = of_kind(place(play, bet), BetPlaced)
    assert (placed.amount, placed.out_of_play) == (100, False)


@TABLES
def test_bets_placed_before_stay_in_play(table: Callable[..., Play], bet: str) -> None:
    play = table()
    standing(play, in_play=True)
    place(play, bet)
    assert of_kind(standing(play, in_play=False, why="suspended"), BetPlaced) == []
    with pytest.raises(RejectedError):
        place(play, bet, amount=200)
    taken = play.send("bet.withdraw", role="croupier", who="box:1", bet=bet)
    assert [event.withdrawn for event in of_kind(taken, BetPlaced)] == [True]


@TABLES
def test_a_bet_is_marked_where_the_site_is_set_so(table: Callable[..., Play], bet: str) -> None:
    play = table(out_of_play="mark")
    (before,) = of_kind(place(play, bet), BetPlaced)
    standing(play, in_play=False, why="unheard")
    (marked,) = of_kind(place(play, bet, "box:2"), BetPlaced)
    standing(play, in_play=True)
    (after,) = of_kind(place(play, bet, "box:2"), BetPlaced)
    assert [each.out_of_play for each in (before, marked, after)] == [False, True, False]


@TABLES
def test_other_bets_are_still_accepted(table: Callable[..., Play], bet: str) -> None:
    play = table()
    standing(play, in_play=False, why="unheard")
    other = "ante" if bet == "jackpot" else "bet"
    (placed,) = of_kind(place(play, other, amount=1000), BetPlaced)
    assert placed.bet == other


@TABLES
def test_the_state_of_the_jackpot_is_published_once_and_shown(
    table: Callable[..., Play], bet: str
) -> None:
    play = table()
    assert shown(play.game, play.state)["jackpot_standing"] is None
    told = [
        *standing(play, in_play=False),
        *standing(play, in_play=False, why="unheard"),
        *standing(play, in_play=False, why="store"),
        *standing(play, in_play=True),
        *standing(play, in_play=True),
        *standing(play, in_play=None),
    ]
    events = of_kind(told, JackpotInPlay)
    assert [(event.in_play, event.why) for event in events] == [
        (False, "unheard"),
        (False, "store"),
        (True, None),
        (None, None),
    ]
    assert events == told
    assert play.state.jackpot is None
    standing(play, in_play=False, why="closed")
    assert shown(play.game, play.state)["jackpot_standing"] == {
        "jackpot": "carrousel-1",
        "in_play": False,
        "why": "closed",
    }


@TABLES
def test_a_table_that_is_not_linked_is_saved_as_before(
    table: Callable[..., Play], bet: str
) -> None:
    play = table()
    place(play, bet)
    saved = msgspec.to_builtins(play.state)
    assert "jackpot" not in saved
    assert "marked" not in saved["current"]
    standing(play, in_play=True)
    again = msgspec.json.decode(msgspec.json.encode(play.state), type=type(play.state))
    assert again.jackpot == LinkedJackpot("carrousel-1", in_play=True)


# Coins


def coin(play: poker_play.Play, box: int = 1, **fields: Any) -> list[Any]:
    return play.coin(box, **fields)


@pytest.mark.rule("BAL05-137", "ARA02-140", "EUS96-186", "EUS96-189")
@pytest.mark.parametrize(
    ("game", "decree", "rule"),
    [
        ("poker-no-draw", "BAL05", "BAL05-E93"),
        ("poker-no-draw", "ARA02", "ARA02-140"),
        ("poker-no-draw", "EUS96", "EUS96-E08"),
        ("poker-draw-house", "EUS96", "EUS96-186"),
    ],
)
def test_a_coin_does_not_count_while_the_jackpot_is_not_in_play(
    game: str, decree: str, rule: str
) -> None:
    stake = {"jackpot_stake": poker_play.COIN_CENTS} if decree == "EUS96" else {}
    play = poker_play.opened(game, decree, **stake)
    standing(play, in_play=True)
    coin(play)
    standing(play, in_play=False, why="unheard")
    events = coin(play, 2)
    assert [(event.what, event.law, event.detail) for event in events] == [
        ("jackpot_not_in_play", rule, f"box:2: {poker_play.COIN_CENTS}; unheard")
    ]
    assert play.state.current is not None
    assert play.state.current.amounts == {"box:1": {"jackpot": poker_play.COIN_CENTS}}


def test_a_late_coin_is_late_whatever_the_jackpot_does() -> None:
    play = poker()
    standing(play, in_play=False, why="unheard")
    assert [event.what for event in of_kind(coin(play, late=True), Irregularity)] == ["bet_late"]


def test_coins_add_up_and_stay_marked() -> None:
    """If one of them was made out of play, the stake of the box is marked until it is withdrawn."""
    play = poker(out_of_play="mark")
    standing(play, in_play=False, why="unheard")
    coin(play)
    standing(play, in_play=True)
    (both,) = of_kind(coin(play), BetPlaced)
    assert (both.amount, both.out_of_play) == (2 * poker_play.COIN_CENTS, True)
    play.send("bet.withdraw", who="box:1", bet="jackpot")
    (anew,) = of_kind(coin(play), BetPlaced)
    assert (anew.amount, anew.out_of_play) == (poker_play.COIN_CENTS, False)


def test_an_award_states_that_its_bet_was_out_of_play() -> None:
    play = blackjack(out_of_play="mark")
    standing(play, in_play=False, why="unheard")
    place(play, "accumulated")
    events = play.cards("7d 9s Kd 7d 9c")
    events += play.key("draw", "box:1")
    events += play.cards("7d")
    events += play.key("stand", "box:2")
    events += play.cards("8s")
    (award,) = of_kind(events, AwardQualified)
    (staked,) = of_kind(events, JackpotStaked)
    assert (award.box, award.out_of_play, staked.amount) == ("box:1", True, 100)


# Tables that may be linked


@pytest.mark.parametrize(
    ("game", "decree", "settings", "bet"),
    [
        ("poker-no-draw", "ARA02", {}, "jackpot"),
        ("poker-no-draw", "EUS96", {}, None),
        ("poker-no-draw", "EUS96", {"jackpot_stake": 100}, "jackpot"),
        ("three-card-poker", "EUS96", {}, None),
        ("blackjack", "EUS96", {}, None),
        ("blackjack", "EUS96", {"accumulated_bets": True}, "accumulated"),
        ("blackjack", "ARA02", {}, None),
    ],
)
def test_the_bets_on_a_jackpot(
    game: str, decree: str, settings: dict[str, Any], bet: str | None
) -> None:
    made: Any = make_game(game, decree, settings)
    assert made.jackpot_bet == bet


@pytest.mark.parametrize(
    ("game", "decree", "why"),
    [
        ("three-card-poker", "EUS96", "out_of_play: leave it out; the decree has no jackpot"),
        ("blackjack", "EUS96", "out_of_play: the table has no accumulated bet"),
    ],
)
def test_a_table_without_a_jackpot_marks_nothing(game: str, decree: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        make_game(game, decree, {"out_of_play": "mark"})
