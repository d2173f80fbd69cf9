"""Black jack against the dealer's ace, paid at par: what each decree prints, who may, when, and
what is paid.
"""

from __future__ import annotations

import pytest

from common.contract.events import HandDecided, Insurance, RoundResult, Settled
from common.contract.refusals import RejectedError
from tests.support.for_each import for_each
from tests.support.games.blackjack_play import PAIRS, Play, outcomes
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind, only, whats

every = pytest.mark.parametrize(("game", "decree"), PAIRS)
having = pytest.mark.parametrize(
    ("game", "decree"),
    [
        pytest.param("blackjack", "BAL05", marks=pytest.mark.rule("BAL05-E01")),
        pytest.param("blackjack", "ARA02", marks=pytest.mark.rule("ARA02-E01")),
        pytest.param("blackjack", "EUS96", marks=pytest.mark.rule("EUS96-E01")),
        pytest.param("blackjack-triple", "EUS96", marks=pytest.mark.rule("EUS96-E02")),
    ],
)


def dealt(
    decree: str, game: str = "blackjack", cards: str = "Ah 9s Ad Kd 9c", **settings: object
) -> Play:
    """Box 1 has a black jack, box 2 eighteen, the dealer an ace."""
    play = Play(decree, game, **settings)
    play.open()
    play.deal((1, 2), cards)
    return play


def paid(result: RoundResult) -> dict[str, tuple[Settled, ...]]:
    """The outcome and pay of each hand's bet."""
    return {hand.who: hand.settled for hand in outcome_of(result).hands}


@having
@for_each("then", ["Kc", "9d", "5d Td 3c"])
def test_a_black_jack_takes_its_win_at_par_whatever_the_dealer_makes(
    game: str, decree: str, then: str
) -> None:
    play = dealt(decree, game)
    assert play.shown["even_money"] == ["box:1"]
    decided = only(play.key("even_money", "box:1"), HandDecided)
    assert (decided.who, decided.decision, decided.by) == ("box:1", "even_money", "M. Lasa")
    assert play.shown["even_money"] == []
    play.key("stand")
    result = only(play.cards(then), RoundResult)
    assert outcomes(result)["box:1"] == (21, "even_money", "win")
    assert paid(result)["box:1"] == (Settled(bet="bet", outcome="win", pays=(1, 1)),)


@pytest.mark.rule("BAL05-079", "ARA02-062", "EUS96-071", "GAL07-075")
@every
def test_without_even_money_a_black_jack_pays_three_to_two_or_ties(game: str, decree: str) -> None:
    for then, settled in (
        ("9d", Settled(bet="bet", outcome="win", pays=(3, 2))),
        ("Kc", Settled(bet="bet", outcome="tie")),
    ):
        play = dealt(decree, game)
        play.key("stand")
        result = only(play.cards(then), RoundResult)
        assert outcomes(result)["box:1"] == (21, "blackjack", settled.outcome)
        assert paid(result)["box:1"] == (settled,)


@pytest.mark.rule("GAL07-069")
def test_galicia_has_no_such_right() -> None:
    play = dealt("GAL07")
    assert play.shown["even_money"] == []
    with pytest.raises(RejectedError, match="the decree has no even money"):
        play.key("even_money", "box:1")


@having
def test_only_a_black_jack_against_an_ace_before_the_third_cards(game: str, decree: str) -> None:
    law = "BAL05-E01" if decree == "BAL05" else f"{decree}-E01"
    play = dealt(decree, game)
    for who, why in (("box:2", "no black jack"), ("box:5", "box:5 has no hand in play")):
        with pytest.raises(RejectedError, match=why):
            play.key("even_money", who)
    play.key("draw")
    play.cards("2d")
    with pytest.raises(RejectedError, match=f"a third card was dealt; .*: {law}"):
        play.key("even_money", "box:1")
    play = dealt(decree, game, "Ah 9s Kc Kd 9c")
    with pytest.raises(RejectedError, match="is not an ace"):
        play.key("even_money", "box:1")
    play = dealt(decree, game)
    play.key("even_money", "box:1")
    with pytest.raises(RejectedError, match="already"):
        play.key("even_money", "box:1")
    play = Play(decree, game)
    play.open()
    play.deal((1, 2), "Ah 9s Ad Kd")
    with pytest.raises(RejectedError, match="third card was dealt"):
        play.key("even_money", "box:1")


@having
def test_21_of_a_split_pair_is_no_black_jack(game: str, decree: str) -> None:
    play = dealt(decree, game, "Ah 9s Ad Ac 9c")
    play.key("split", "box:1")
    play.cards("Kd")
    with pytest.raises(RejectedError, match="no black jack"):
        play.key("even_money", "box:1")


@having
def test_a_hand_that_was_paid_is_no_reason_for_the_dealer_to_draw(game: str, decree: str) -> None:
    play = dealt(decree, game, "Ah 9s Ad Kd 9c")
    play.key("even_money", "box:1")
    play.key("draw")
    result = only(play.cards("8d"), RoundResult)  # box 2 has 26
    assert outcomes(result)["dealer"] == (11, None, None)
    assert "insurance_undecided" in outcome_of(result).marks


@having
def test_removing_an_initial_card_ends_the_right_and_the_next_card_renews_it(
    game: str, decree: str
) -> None:
    play = dealt(decree, game, "9s Ah Ad 9c Kd")
    play.key("even_money", "box:2")
    events = play.decide("remove")
    assert [event.offered for event in of_kind(events, Insurance)] == [False]
    assert [event.offered for event in of_kind(play.cards("Qd"), Insurance)] == [True]
    assert play.shown["even_money"] == ["box:2"]
    play.key("stand")
    assert outcomes(only(play.cards("9d"), RoundResult))["box:2"] == (21, "blackjack", "win")


@pytest.mark.rule("EUS96-E02")
def test_triple_each_play_is_paid_by_itself() -> None:
    play = dealt("EUS96", "blackjack-triple")
    play.key("stand")
    kinds = []
    for number, takes in enumerate((False, True, False), 1):
        if number > 1:
            assert play.shown["even_money"] == ["box:1"]
        if takes:
            play.key("even_money", "box:1")
        kinds.append(outcomes(only(play.cards("9d"), RoundResult))["box:1"][1])
    assert kinds == ["blackjack", "even_money", "blackjack"]
    play = dealt("EUS96", "blackjack-triple")
    play.key("stand")
    play.cards("9d")
    play.cards("5d")
    with pytest.raises(RejectedError, match="the dealer has drawn"):
        play.key("even_money", "box:1")


@pytest.mark.rule("EUS96-E02")
def test_triple_a_play_with_all_hands_paid_is_over_and_the_next_one_begins() -> None:
    play = dealt("EUS96", "blackjack-triple")
    play.key("draw")
    play.cards("9d")  # box 2 has 27
    only(play.cards("9d"), RoundResult)
    result = only(play.key("even_money", "box:1"), RoundResult)
    assert (result.round, outcomes(result)["box:1"], outcomes(result)["dealer"]) == (
        2,
        (21, "even_money", "win"),
        (11, None, None),
    )
    assert only(play.cards("9d"), RoundResult).round == 3
    assert "round.opened" in whats(play.boxes(1, 2))


def test_a_table_without_keys_takes_none() -> None:
    play = Play("ARA02", keys=False)
    play.open()
    with pytest.raises(RejectedError, match="no decision keys"):
        play.key("even_money", "box:1")
