"""The end of a round of circle poker: who shows, who wins, what is published; and the arithmetic of
hands.
"""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations

import pytest
from pokerkit.hands import OmahaEightOrBetterLowHand, OmahaHoldemHand, StandardHighHand

from common.contract.events import Hand, HandDecided, ResultCorrected, RoundResult
from common.contract.refusals import RejectedError
from controller.games.circle.game import CircleGame
from controller.games.decks import deck
from controller.games.hands.evaluator import best_of
from controller.games.hands.of import CONTESTS
from tests.conftest import cases
from tests.support.games.circle_play import HOLES, PAIRS, Play, deal_out, holdem, table
from tests.support.games.decrees import by_decree
from tests.support.games.outcomes import history, outcome_of
from tests.support.games.play import of_kind

rule = pytest.mark.rule
STREETS = ("2c 3c 4c 9d", "2d Td", "2h 7d")
"""Burn and flop, burn and turn, burn and river: a board of 3c 4c 9d Td 7d."""


def shown(decree: str = "EUS96") -> Play:
    """Hold'em at its showdown. 4 has aces, 3 (or 1) kings, 2 queens, 1 (or 3) jacks."""
    play = holdem(decree)
    for cards in STREETS:
        play.street(cards)
    play.close()
    return play


def first_hands(result: RoundResult) -> dict[str, Hand]:
    """The first hand of each player, and the boards."""
    return {hand.who: hand for hand in reversed(outcome_of(result).hands)}


# Who shows


def test_the_last_bettor_shows_first() -> None:
    play = holdem()
    play.act(3, "bet")
    for cards in STREETS:
        play.street(cards)
    play.close()
    shown_now = play.shown
    assert shown_now["phase"] == "showdown"
    assert shown_now["shows"] == ["seat:3", "seat:2", "seat:1", "seat:4"]
    assert play.asks == ("cards.show", "cards.turn", "hand.act", "round.confirm")
    play.turn(3)
    assert play.shown["shows"] == ["seat:2", "seat:1", "seat:4"]


def test_without_a_bet_who_has_the_hand_shows_first() -> None:
    assert shown().shown["shows"] == ["seat:4", "seat:3", "seat:2", "seat:1"]


def test_hands_that_a_reader_knows_are_turned() -> None:
    play = shown()
    [result] = of_kind(play.turn(), RoundResult)
    assert [hand.who for hand in outcome_of(result).hands] == [
        "seat:4",
        "seat:3",
        "seat:2",
        "seat:1",
        "board",
    ]
    assert [hand.outcome for hand in outcome_of(result).hands] == [
        "win",
        "lose",
        "lose",
        "lose",
        None,
    ]
    best = first_hands(result)["seat:4"]
    assert (best.cards, best.kind, best.best) == (
        ("Ah", "As"),
        "pair",
        ("Ah", "As", "Td", "9d", "7d"),
    )
    assert (outcome_of(result).winner, outcome_of(result).marks) == ("seat:4", ())
    assert len(play.evidence(result)) == 13


def test_one_card_may_be_shown_before_the_other() -> None:
    play = shown()
    play.turn(3)
    play.send("cards.turn", who="seat:4", index=1)
    assert play.shown["hands"]["seat:4"] == ["Ah"]
    play.show(4, "As", index=2)
    assert play.shown["hands"]["seat:4"] == ["Ah", "As"]
    with pytest.raises(RejectedError, match="the cards of seat:4 are already face up"):
        play.show(4, "Ah As")
    with pytest.raises(RejectedError, match="seat:4 has no such card face down"):
        play.turn(4)


@rule("BAL09-082")
def test_hidden_cards_are_never_published() -> None:
    play = shown("BAL09")
    play.turn(4)
    play.act(1, "muck")
    play.act(2, "muck")
    [result] = of_kind(play.act(3, "muck"), RoundResult)
    assert [event.decision for event in of_kind(play.events, HandDecided)][-3:] == ["muck"] * 3
    assert outcome_of(result).winner == "seat:4"
    public = str(play.events) + str(play.game.view(play.state).history()) + str(play.shown)
    for card in ("Kh", "Ks", "Qh", "Qs", "Jh", "Js", "2c", "2d", "2h", "As"):
        assert f"'{card}'" not in public or card == "As"
    assert {card for card in play.sealed if card} == {*HOLES.split(), "2c", "2d", "2h"}


def test_a_shown_hand_is_not_mucked() -> None:
    play = shown()
    play.turn(4)
    with pytest.raises(RejectedError, match="the cards of seat:4 are already face up"):
        play.act(4, "muck")


# Who wins


def test_equal_hands_share_the_pot() -> None:
    play = table("EUS96")
    play.bets()
    play.cards("Ah Kh 2s 5s Ks As 8s Js")
    for cards in STREETS:
        play.street(cards)
    play.close()
    [result] = of_kind(play.turn(), RoundResult)
    assert (outcome_of(result).winner, outcome_of(result).marks) == ("tie", ("split",))
    assert [(hand.who, hand.outcome) for hand in outcome_of(result).hands][:2] == [
        ("seat:4", "tie"),
        ("seat:3", "tie"),
    ]
    assert play.shown["last_winner"] == "tie"


def test_a_player_with_nothing_left_is_marked() -> None:
    play = holdem()
    play.act(1, "all_in")
    for cards in STREETS:
        play.street(cards)
    play.close()
    [result] = of_kind(play.turn(), RoundResult)
    assert outcome_of(result).marks == ("all_in",)  # the side pots are the croupier's


@pytest.mark.parametrize("decree", by_decree("BAL09-059", "EUS96-207"))
def test_omaha_is_two_own_cards_and_three_common_ones(decree: str) -> None:
    """Four hearts on the table and one in the hand are no flush; four aces in the hand
    are a pair.
    """
    play = table(decree, "omaha")
    play.bets()
    play.cards("Ah 9s 8s 7s  Ac 9c 8c 7c  Ad 2s 3s 4s  As 2d 3d 4d")
    for cards in ("5d Kh Qh 2h", "5h 5c", "6c 3h"):
        play.street(cards)
    play.close()
    [result] = of_kind(play.turn(), RoundResult)
    first = first_hands(result)["seat:4"]
    assert first.cards == ("Ah", "Ac", "Ad", "As")
    assert first.kind == "pair"
    assert set(first.best) & {"Ah", "Ac", "Ad", "As"} == set(first.best[:2])


@rule("EUS96-208")
def test_the_low_half_needs_three_low_common_cards() -> None:
    def result(board: tuple[str, str, str]) -> RoundResult:
        play = table("EUS96", "omaha-hi-lo")
        play.bets()
        play.cards("Ah Kh Qh Jh  2s Ks Qs Js  7h Kd Qd Jd  7s Kc Qc Jc")
        for cards in board:
            play.street(cards)
        play.close()
        [event] = of_kind(play.turn(), RoundResult)
        return event

    low = result(("3h 4c 5d 8c", "4h 9s", "3s Ts"))
    assert outcome_of(low).marks == ("low", "split")
    assert outcome_of(low).winner == "tie"
    hands = first_hands(low)
    assert (hands["seat:4"].low, hands["seat:4"].low_kind) == (
        ("8c", "5d", "4c", "2s", "Ah"),
        "high_card",
    )
    assert [(each.bet, each.outcome) for each in hands["seat:4"].settled] == [
        ("high", "lose"),
        ("low", "win"),
    ]
    assert hands["seat:3"].low == ()
    none = result(("3h 4c 5d 9c", "4h 9s", "3s Ts"))
    assert outcome_of(none).marks == ("no_low",)
    assert first_hands(none)["seat:4"].low == ()


@rule("EUS96-208")
@pytest.mark.parametrize(
    ("low_hand", "board", "low", "marks"),
    [
        ("eight_or_better", "3h 4c 5d 9s Td", (), ("no_low",)),
        ("common_eight", "3h 4c 5d 9s Td", ("Qh", "9c", "5d", "4c", "3h"), ("low",)),
        ("eight_or_better", "3h 4c 9d 9s Td", (), ("no_low",)),
        ("common_eight", "3h 4c 9d 9s Td", (), ("no_low",)),
    ],
)
def test_whether_own_cards_of_a_low_hand_may_be_higher_is_a_doubt(
    low_hand: str, board: str, low: tuple[str, ...], marks: tuple[str, ...]
) -> None:
    """«hiru karta komun egon beharko dira, 8aren maila berekoak edo gutxiagokoak» (L2766): of own
    cards it says nothing.
    """
    play = table("EUS96", "omaha-hi-lo", low_hand=low_hand)
    play.bets()
    play.cards("Qh Kh Ah Jh  9c Ks As Js  Kc Qd Tc Jd  Qs Qc Kd Jc")
    first, second, third, *rest = board.split()
    for cards in (f"2s {first} {second} {third}", f"2c {rest[0]}", f"2h {rest[1]}"):
        play.street(cards)
    play.close()
    [result] = of_kind(play.turn(), RoundResult)
    hands = first_hands(result)
    assert hands["seat:4"].low == low
    assert outcome_of(result).marks == marks


@rule("EUS96-206")
def test_each_row_of_double_holdem_has_half_the_pot() -> None:
    play = table("EUS96", "holdem-double")
    play.bets()
    play.cards(HOLES)
    for cards in ("2c 3c 4c 9d Kc Kd 8s", "2d Td 6c", "2h 7d 5c"):
        play.street(cards)
    play.close()
    [result] = of_kind(play.turn(), RoundResult)
    assert (outcome_of(result).winner, outcome_of(result).marks) == ("tie", ("split",))
    wins = [
        (hand.who, hand.settled[0].bet)
        for hand in outcome_of(result).hands
        if hand.outcome == "win"
    ]
    assert wins == [("seat:4", "board"), ("seat:3", "board:2")]
    boards = first_hands(result)
    assert boards["board"].cards == ("3c", "4c", "9d", "Td", "7d")
    assert boards["board:2"].cards == ("Kc", "Kd", "8s", "6c", "5c")


@pytest.mark.parametrize("decree", by_decree("BAL09-059", "ARA02-148", "EUS96-210"))
def test_synthetic_poker_uses_both_own_cards(decree: str) -> None:
    """Four of a kind on the table: with two own cards it is a pair, or three of a kind."""
    play = table(decree, "synthetic-poker")
    play.bets()
    play.cards("Ah Kh Qh Jh As Ks Qs Js 9c 9d 9h 9s Tc")
    for _ in range(4):
        play.close()
        play.turn("board")
    play.close()
    [result] = of_kind(play.turn(), RoundResult)
    assert {hand.who: hand.kind for hand in outcome_of(result).hands if hand.kind} == {
        f"seat:{seat}": "full_house" for seat in (1, 2, 3, 4)
    }
    assert outcome_of(result).winner == "seat:4"


@rule("BAL05-139")
def test_synthetic_poker_of_2005_is_the_best_five_of_seven() -> None:
    """«amb set cartes ... només n'hi ha cinc que tenen valor» (L2474-2476): the common cards alone
    are everybody's hand.
    """
    play = table("BAL05", "synthetic-poker")
    play.bets()
    play.cards("As Qs Kh Kc  Ah Ks Ac Qc  8d 9d Td Jd Ad")
    for _ in range(4):
        play.close()
        play.turn("board")
    play.close()
    [result] = of_kind(play.turn(), RoundResult)
    found = {
        hand.who: (hand.kind, set(hand.best)) for hand in outcome_of(result).hands if hand.kind
    }
    assert found == dict.fromkeys(
        ("seat:1", "seat:2", "seat:3", "seat:4"), ("straight_flush", {"8d", "9d", "Td", "Jd", "Ad"})
    )
    assert outcome_of(result).marks == ("split",)


# Statements of a person


@pytest.mark.parametrize("decree", by_decree("BAL09-054", "EUS96-E09"))
def test_the_cards_decide_whatever_is_announced(decree: str) -> None:
    play = shown(decree)
    law = {"BAL09": "BAL09-054", "EUS96": "EUS96-E09"}[decree]
    play.turn(4)
    play.turn(2)
    with pytest.raises(
        RejectedError, match=f"seat:2 cannot win; other face-up cards beat this hand: {law}"
    ):
        play.send("round.confirm", winner="seat:2")
    [result] = of_kind(play.send("round.confirm", winner="seat:4"), RoundResult)
    assert (outcome_of(result).winner, result.confirmed_by) == ("seat:4", "M. Lasa (table_head)")
    assert [hand.who for hand in outcome_of(result).hands] == [
        "seat:4",
        "seat:2",
        "board",
    ]  # the open cards only


def test_nobody_is_confirmed_before_the_showdown() -> None:
    play = holdem()
    with pytest.raises(
        RejectedError, match="the round is still being played; if all others folded, send"
    ):
        play.send("round.confirm", winner="seat:4")
    done = shown()
    done.turn()
    with pytest.raises(RejectedError, match="no round is in progress and none is unresolved"):
        done.send("round.confirm", winner="seat:4")


def test_a_result_without_showdown_is_corrected_by_the_winner() -> None:
    play = holdem()
    play.send("betting.close", winner="seat:4")
    [corrected] = of_kind(play.send("result.correct", round=1, winner="seat:3"), ResultCorrected)
    assert (outcome_of(corrected).winner, corrected.was, outcome_of(corrected).marks) == (
        "seat:3",
        "seat:4",
        ("no_showdown",),
    )
    assert history(play) == [
        {
            "round": 1,
            "kind": "result",
            "outcome": {
                "family": "circle-poker",
                "winner": "seat:3",
                "hands": [],
                "marks": ["no_showdown"],
            },
            "corrected": True,
        }
    ]
    for winner, said in (
        ("seat:3", "the winner of round 1 is already seat:3"),
        (None, r"winner \(a seat or tie\) or hands is required"),
        ("banker", "winner must be one of: seat:4, seat:3, seat:2, seat:1, tie"),
    ):
        with pytest.raises(RejectedError, match=said):
            play.send("result.correct", round=1, winner=winner)
    with pytest.raises(
        RejectedError, match="winner must be one of: seat:4, seat:3, seat:2, seat:1, tie"
    ):
        play.send("result.correct", round=1, winner="seat:9")
    with pytest.raises(RejectedError, match="round 2 is not among the remembered rounds"):
        play.send("result.correct", round=2, winner="seat:3")


# The rankings and their arithmetic


@pytest.mark.parametrize(("decree", "game"), PAIRS)
def test_hands_are_compared_as_the_decree_says(decree: str, game: str) -> None:
    """The rulebook and the table of contests that ``novamas hand`` answers by agree."""
    book = Play(decree, game).game.book
    contest = CONTESTS[decree][game]
    assert (contest.rankings, contest.low, contest.own_exactly) == (
        (book.ranking,),
        book.low,
        book.own_exactly,
    )
    assert contest.own == sum(
        len(deal.split()[1])
        for street in book.streets
        for deal in street
        if deal.startswith("seats")
    )


HIGH = {"texas-holdem": StandardHighHand, "holdem-double": StandardHighHand}
"""How a published evaluator values the hands; Omaha's own way else."""


@rule("BAL09-059", "EUS96-207", "EUS96-208")
@pytest.mark.parametrize(
    "game", ["texas-holdem", "omaha", "omaha-five", "omaha-hi-lo", "holdem-double"]
)
def test_the_table_finds_the_winners_that_a_published_evaluator_finds(game: str) -> None:
    for seed in range(cases(15, 40)):
        play = table("EUS96", game)
        play.bets()
        deal_out(play, seed)
        [result] = of_kind(play.turn(), RoundResult)
        rows = {
            hand.who: hand.cards
            for hand in outcome_of(result).hands
            if hand.who.startswith("board")
        }
        for row, board in rows.items():
            bet = {"omaha-hi-lo": "high", "holdem-double": row}.get(game, "pot")
            own = {
                hand.who: hand.cards
                for hand in outcome_of(result).hands
                if hand.settled and hand.settled[0].bet == bet
            }
            maker = HIGH.get(game, OmahaHoldemHand)
            high = {
                who: maker.from_game("".join(cards), "".join(board)) for who, cards in own.items()
            }
            assert winners(result, bet) == {
                who for who, made in high.items() if made == max(high.values())
            }
        if game == "omaha-hi-lo":
            lows = {
                who: OmahaEightOrBetterLowHand.from_game_or_none("".join(own[who]), "".join(board))
                for who in own
            }
            best = max((made for made in lows.values() if made is not None), default=None)
            assert winners(result, "low") == {
                who for who, made in lows.items() if made is not None and made == best
            }


def winners(result: RoundResult, bet: str) -> set[str]:
    """The winners of this bet, shared or not."""
    settled = [(hand.who, each) for hand in outcome_of(result).hands for each in hand.settled]
    return {who for who, each in settled if each.bet == bet and each.outcome != "lose"}


def test_the_best_of_seven_cards_comes_as_often_as_published() -> None:
    """Of the 133,784,560 hands of seven cards; here of 30,000 drawn at random, each category within
    five standard deviations.
    """
    published = {
        "royal_flush": 4_324,
        "straight_flush": 37_260,
        "four": 224_848,
        "full_house": 3_473_184,
        "flush": 4_047_644,
        "straight": 6_180_020,
        "trips": 6_461_620,
        "two_pair": 31_433_400,
        "pair": 58_627_800,
        "high_card": 23_294_460,
    }
    every = sum(published.values())
    assert every == 133_784_560
    count, chance, pack = 30_000, random.Random(7), deck("deck_52")
    found: Counter[str] = Counter()
    for _ in range(count):
        cards = chance.sample(pack, 7)
        value = best_of(cards[:2], cards[2:], "five-52")
        assert value is not None
        found[value.category] += 1
    for category, times in published.items():
        share = times / every
        assert (
            abs(found[category] - count * share) <= 5 * (count * share * (1 - share)) ** 0.5 + 1
        ), category


def test_every_hand_of_synthetic_poker_on_one_board() -> None:
    """Both own cards and three of the board: all 253 hands that 23 cards can make, against plain
    counting.
    """
    board = ("8c", "9c", "Tc", "8d", "Ks")
    rest = [card for card in deck("deck_28") if card not in board]
    found: Counter[str] = Counter()
    for own in combinations(rest, 2):
        value = best_of(own, board, "five-28", 2)
        assert value is not None
        assert len({*own} & {*value.cards}) == 2
        found[value.category] += 1
    assert sum(found.values()) == 253
    assert found["straight_flush"] == 2  # Jc Qc, and Ac Jc with the ace below the 8
    assert found["four"] == 1  # 8h 8s
    assert found["flush"] == 4  # two of J Q K A of clubs: six pairs, less the straight flushes


def test_the_game_is_the_same_for_every_variant() -> None:
    assert {type(Play(decree, game).game) for decree, game in PAIRS} == {CircleGame}
