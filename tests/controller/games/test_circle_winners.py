"""Winners, worked out again from the decrees independently of the table: fewer than 52 cards, and
figures. The games of 52 cards are checked against a published evaluator in
``test_circle_showdown``.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import combinations
from typing import NamedTuple

import pytest

from controller.games.circle.game import CircleGame
from controller.games.circle.showdown import CircleShown, compare
from controller.games.circle.state import CircleRound, CircleSeat
from controller.games.dealt.cards import TableCard
from controller.games.games import make_game

ROUND_COUNT = 250
RANKS = "23456789TJQKA"

Worth = tuple[float, list[int]]


class Kind(NamedTuple):
    """A game: its lowest rank, the number of own cards, how many of them count exactly, the number
    of common ones.
    """

    lowest: str
    own: int
    exactly: int | None = None
    common: int = 0
    figures: bool = False


def worth(five: Iterable[str], kind: Kind) -> Worth:
    """The value of five cards: the place of the combination in the decree's list, then what decides
    between equal ones.
    """
    five = tuple(five)
    ranks = RANKS[RANKS.index(kind.lowest) :]
    order = sorted((ranks.index(card[0]) for card in five), reverse=True)
    often = sorted(((order.count(rank), rank) for rank in set(order)), reverse=True)
    shape, telling = [times for times, _ in often], [rank for _, rank in often]
    suited, last = len({card[1] for card in five}) == 1, len(ranks) - 1
    top = None
    if len(often) == 5:
        top = order[0] if order[0] - order[4] == 4 else 3 if order == [last, 3, 2, 1, 0] else None
    flush, full = (
        (6, 5) if len(ranks) < 13 else (5, 6)
    )  # «que es juguin amb menys de 52 cartes, el Color»
    if suited and top is not None:
        return (9 if top == last else 8), [top]
    if shape[0] == 4:
        return 7, telling
    if suited:
        return flush, order
    if shape == [3, 2]:
        return full, telling
    if top is not None:
        return 4, [top]
    if shape[0] == 3:
        return 3, telling
    if kind.figures and all(card[0] in "AKQJ" for card in five):
        rest = sorted(order, reverse=True)
        rest.remove(telling[0])
        rest.remove(telling[0])
        return 2.5, [telling[0], *rest]
    return {(2, 2, 1): 2, (2, 1, 1, 1): 1}.get(tuple(shape), 0), telling


def best(own: tuple[str, ...], common: tuple[str, ...], kind: Kind) -> Worth:
    if kind.exactly is None:
        return max(worth(five, kind) for five in combinations((*own, *common), 5))
    mine = combinations(own, kind.exactly)
    return max(
        worth((*some, *rest), kind)
        for some in mine
        for rest in combinations(common, 5 - kind.exactly)
    )


def laid(hands: dict[str, tuple[str, ...]], board: tuple[str, ...], players: int) -> CircleRound:
    cards = [
        TableCard(to=who, up=True, card=card)
        for who, own in [*hands.items(), ("board", board)]
        for card in own
    ]
    seats = tuple(CircleSeat(number=int(who.removeprefix("seat:")), shown=True) for who in hands)
    return CircleRound(
        round=1, seats=seats, cards=tuple(cards), players=players, closed=True, showdown=True
    )


def winners(shown: CircleShown) -> set[str]:
    return {hand.who for hand in shown.hands if hand.settled and hand.settled[0].outcome != "lose"}


@pytest.mark.parametrize(
    ("decree", "game", "kind", "players"),
    [
        pytest.param(
            "BAL09",
            "synthetic-poker",
            Kind("8", 2, 2, 5),
            8,
            marks=pytest.mark.rule("BAL09-056", "BAL09-059"),
        ),
        pytest.param(
            "BAL05",
            "synthetic-poker",
            Kind("8", 2, None, 5),
            10,
            marks=pytest.mark.rule("BAL05-139"),
        ),
        pytest.param(
            "ARA02",
            "synthetic-poker",
            Kind("8", 2, 2, 5),
            8,
            marks=pytest.mark.rule("ARA02-143", "ARA02-148"),
        ),
        pytest.param(
            "EUS96",
            "synthetic-poker",
            Kind("8", 2, 2, 5),
            8,
            marks=pytest.mark.rule("EUS96-209", "EUS96-210"),
        ),
        pytest.param(
            "BAL09", "five-card-stud", Kind("7", 5), 6, marks=pytest.mark.rule("BAL09-056")
        ),
        pytest.param(
            "EUS96", "five-card-stud", Kind("7", 5), 6, marks=pytest.mark.rule("EUS96-209")
        ),
        pytest.param("BAL09", "seven-card-stud", Kind("2", 7), 7),
        pytest.param(
            "BAL09",
            "circle-draw",
            Kind("7", 5, figures=True),
            5,
            marks=pytest.mark.rule("BAL09-057", "BAL09-058"),
        ),
        pytest.param(
            "BAL09",
            "circle-draw",
            Kind("2", 5, figures=True),
            8,
            marks=pytest.mark.rule("BAL09-057"),
        ),
        pytest.param(
            "EUS96",
            "circle-draw",
            Kind("7", 5, figures=True),
            5,
            marks=pytest.mark.rule("EUS96-209"),
        ),
    ],
)
def test_the_winners_are_those_of_the_decree(
    decree: str, game: str, kind: Kind, players: int
) -> None:
    made = make_game(game, decree, {})
    assert isinstance(made, CircleGame)
    chance = random.Random(f"{decree} {game} {players}")
    pack = [f"{rank}{suit}" for rank in RANKS[RANKS.index(kind.lowest) :] for suit in "cdhs"]
    for _ in range(ROUND_COUNT):
        live = chance.randint(2, players)
        cards = chance.sample(pack, live * kind.own + kind.common)
        hands = {
            f"seat:{seat + 1}": tuple(cards[seat * kind.own : (seat + 1) * kind.own])
            for seat in range(live)
        }
        board = tuple(cards[live * kind.own :])
        values = {who: best(own, board, kind) for who, own in hands.items()}
        right = {who for who, value in values.items() if value == max(values.values())}
        shown = compare(made.book, laid(hands, board, players))
        assert winners(shown) == right, (hands, board)
        assert shown.winner == (next(iter(right)) if len(right) == 1 else "tie")
