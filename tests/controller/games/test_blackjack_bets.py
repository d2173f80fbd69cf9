"""Bets reported to a table of black jack: on hands, by several players of one box, insurance, and
side bets.
"""

from __future__ import annotations

from typing import Any

import pytest

from common.contract.events import BetPlaced, RoundResult, Settled
from common.contract.refusals import RejectedError
from tests.support.games.blackjack_play import PAIRS, Play, outcomes
from tests.support.games.decrees import by_decree
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import only

every = pytest.mark.parametrize(("game", "decree"), PAIRS)
MINIMUM = 500


def table(decree: str, game: str = "blackjack", **settings: Any) -> Play:
    play = Play(decree, game, **settings)
    play.open()
    return play


def place(play: Play, who: str, bet: str = "bet", amount: int | None = MINIMUM) -> BetPlaced:
    return only(play.send("bet.place", "croupier", who=who, bet=bet, amount=amount), BetPlaced)


@pytest.mark.rule("BAL05-071", "EUS96-062")
@every
def test_bets_are_made_before_the_cards(game: str, decree: str) -> None:
    play = table(decree, game)
    cites = play.game.book.laws["bet_after_close"].rule
    with pytest.raises(RejectedError, match=f"no bets are open; return the chips: {cites}"):
        place(play, "box:1")
    play.boxes(1, 2)
    assert not place(play, "box:1").withdrawn
    assert only(play.send("bet.withdraw", "croupier", who="box:1", bet="bet"), BetPlaced).withdrawn
    with pytest.raises(RejectedError, match="box:1 has no bet bet"):
        play.send("bet.withdraw", "croupier", who="box:1", bet="bet")
    place(play, "box:1")
    assert play.shown["bets"] == [{"who": "box:1", "bet": "bet", "amount": MINIMUM}]
    play.cards("9h")
    for command, said in (
        ("bet.place", "no bets are open; return the chips"),
        ("bet.withdraw", "no bet can be withdrawn now; a stake that is placed stays"),
    ):
        with pytest.raises(RejectedError, match=f"{said}: {cites}"):
            play.send(command, "croupier", who="box:1", bet="bet")


@pytest.mark.rule("BAL05-086", "ARA02-070", "EUS96-087", "GAL07-077")
@pytest.mark.parametrize(
    ("game", "decree", "most"),
    [("blackjack", "BAL05", 200), ("blackjack", "ARA02", 200), ("blackjack", "EUS96", 200),
     ("blackjack-triple", "EUS96", 200), ("blackjack", "GAL07", 200)],
)  # fmt: skip
def test_all_bets_on_a_hand_are_between_the_minimum_and_the_maximum(
    game: str, decree: str, most: int
) -> None:
    play = table(decree, game)
    play.boxes(1, 2)
    law = play.game.book.laws["bet_limit"].rule
    least = play.game.book.laws["bet_minimum"].rule
    for amount in (MINIMUM, most * MINIMUM):
        place(play, "box:1", amount=amount)
    for amount, why in (
        (MINIMUM - 1, f"on box:1 must be at least {MINIMUM}: {least}"),
        (most * MINIMUM + 1, f"at most {most * MINIMUM}"),
    ):
        with pytest.raises(RejectedError, match=why):
            place(play, "box:1", amount=amount)
    place(play, "box:1", amount=(most - 2) * MINIMUM)
    place(play, "box:1/2", amount=MINIMUM)
    with pytest.raises(
        RejectedError, match=f"bet on box:1 must be at most {2 * MINIMUM}: {law}"
    ):  # the rest left by the others
        place(play, "box:1/2", amount=2 * MINIMUM + 1)
    place(play, "box:2", amount=most * MINIMUM)


@pytest.mark.parametrize(
    ("game", "decree", "most"),
    [
        pytest.param("blackjack", "ARA02", 3, marks=pytest.mark.rule("ARA02-069")),
        pytest.param("blackjack", "GAL07", 3, marks=pytest.mark.rule("GAL07-065")),
        pytest.param("blackjack", "EUS96", 4),
        pytest.param("blackjack-triple", "EUS96", 4),
    ],
)
def test_only_so_many_players_may_bet_on_a_box(game: str, decree: str, most: int) -> None:
    play = table(decree, game)
    play.boxes(1, 2)
    for place_of in range(2, most + 1):
        place(play, f"box:1/{place_of}")
    with pytest.raises(
        RejectedError,
        match=f"at most {most} may bet on a box: {play.game.book.laws['box_bettors'].rule}",
    ):
        place(play, f"box:1/{most + 1}")


@every
def test_a_bet_needs_a_box_of_the_table(game: str, decree: str) -> None:
    play = table(decree, game)
    play.boxes(1, 2)
    for who in (
        "box:0",
        "box:10",
        "box:1/1",
        "box:1/0",
        "box:1/x",
        "box:1/",
        "box:01",
        "seat:1",
        "1",
        "",
    ):
        with pytest.raises(RejectedError, match="is not a box from 1 to"):
            place(play, who)


def test_balears_does_not_say_how_many_may_bet_on_a_box() -> None:
    play = table("BAL05")
    play.boxes(1)
    assert not place(play, "box:1/9").withdrawn


@pytest.mark.rule("BAL05-080", "ARA02-059", "EUS96-076", "GAL07-069")
@every
def test_insurance_is_accepted_while_it_is_offered_for_up_to_half_of_the_bet(
    game: str, decree: str
) -> None:
    play = table(decree, game)
    play.boxes(1, 2)
    place(play, "box:1", amount=4 * MINIMUM)
    with pytest.raises(RejectedError, match="insurance is not offered"):
        place(play, "box:1", "insurance")
    play.cards("9h 9s Ad 8h 9c")
    law = play.game.book.laws["insurance_limit"].rule
    with pytest.raises(
        RejectedError, match=f"insurance on box:1 must be at most {2 * MINIMUM}: {law}"
    ):
        place(play, "box:1", "insurance", 2 * MINIMUM + 1)
    if decree == "ARA02":
        with pytest.raises(
            RejectedError, match=f"insurance on box:1 must be at least {MINIMUM // 2}: {law}"
        ):
            place(play, "box:1", "insurance", MINIMUM // 2 - 1)
    assert not place(play, "box:1", "insurance", 2 * MINIMUM).withdrawn
    play.key("draw")
    play.cards("2h")
    for command in ("bet.place", "bet.withdraw"):
        with pytest.raises(RejectedError, match="insurance is not offered"):
            play.send(command, "croupier", who="box:1", bet="insurance")


@pytest.mark.parametrize("decree", by_decree("BAL05-080", "ARA02-059", "EUS96-076", "GAL07-069"))
def test_insurance_pays_two_to_one(decree: str) -> None:
    for then, settled in (
        ("Kd", Settled(bet="insurance", outcome="win", pays=(2, 1))),
        ("9d", Settled(bet="insurance", outcome="lose")),
    ):
        play = table(decree)
        play.boxes(1, 2)
        play.cards("9h 9s Ad 8h 9c")
        play.key("stand")
        play.key("stand")
        assert only(play.cards(then), RoundResult).bets == (settled,)


@every
def test_a_placed_insurance_is_settled_though_no_hand_is_left(game: str, decree: str) -> None:
    for insured in (True, False):
        play = table(decree, game)
        play.boxes(1, 2)
        play.cards("9h 9s Ad 8h 8c")
        if insured:
            place(play, "box:1", "insurance", MINIMUM // 2)
        play.key("draw")
        play.cards("9d")
        play.key("draw")
        events = play.cards("Qd")
        if insured:
            assert play.state.expected == "dealer"
            events = play.cards("Kd")
        result = only(events, RoundResult)
        assert ("insurance_wins" if insured else "insurance_undecided") in outcome_of(result).marks
        assert outcomes(result)["dealer"] == (
            (21, "blackjack", None) if insured else (11, None, None)
        )
        assert [each.pays for each in result.bets or ()] == ([(2, 1)] if insured else [])


@pytest.mark.rule("EUS96-083")
def test_side_bets_have_limits_of_their_own() -> None:
    play = table("EUS96", pair_bets=True, accumulated_bets=True)
    play.boxes(1)
    for bet, least, most in (("pairs", 250, 15000), ("accumulated", 1, 250)):
        for amount in (least, most):
            assert not place(play, "box:1", bet, amount).withdrawn
        with pytest.raises(RejectedError, match=f"{bet} on box:1 must be at most {most}"):
            place(play, "box:1", bet, most + 1)
    with pytest.raises(RejectedError, match="pairs on box:1 must be at least 250"):
        place(play, "box:1", "pairs", 249)
    play = table("EUS96")
    play.boxes(1)
    with pytest.raises(RejectedError, match="no bet pairs here"):
        place(play, "box:1", "pairs")


def test_the_authorisation_may_have_a_lower_maximum() -> None:
    play = table("ARA02", highest={"hands": 25_000})
    play.boxes(1, 2)
    with pytest.raises(RejectedError, match="bet on box:1 must be at most 25000"):
        place(play, "box:1", amount=25_001)
