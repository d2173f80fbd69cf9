"""The value of a hand of poker: a pure function of its cards and of the game's ranking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import combinations

import msgspec

from controller.games.decks import JOKER, deck
from controller.games.hands.rankings import RANKINGS, Category, Ranking

__all__ = ["RANKINGS", "Category", "Ranking", "Value", "best", "best_of", "showing", "value"]

SHAPES: Mapping[tuple[int, ...], Category] = {
    (5,): "five_aces",
    (4, 1): "four",
    (3, 2): "full_house",
    (3, 1, 1): "trips",
    (2, 2, 1): "two_pair",
    (2, 1, 1, 1): "pair",
    (1, 1, 1, 1, 1): "high_card",
    (4,): "four",
    (3, 1): "trips",
    (2, 2): "two_pair",
    (2, 1, 1): "pair",
    (1, 1, 1, 1): "high_card",
    (3,): "trips",
    (2, 1): "pair",
    (1, 1, 1): "high_card",
    (2,): "pair",
    (1, 1): "high_card",
    (1,): "high_card",
}
"""The category of a hand by the counts of its ranks."""

RUNS: Mapping[tuple[bool, bool], Category] = {
    (False, False): "straight",
    (False, True): "straight",
    (True, False): "straight_flush",
    (True, True): "royal_flush",
}
"""The category of a run, by whether it is of one suit and whether it is the highest."""


class Value(msgspec.Struct, frozen=True):
    """The value of a hand. Compare ``key``, within one ranking: the higher one wins, equal ones are
    a tie.
    """

    key: tuple[int, ...]
    category: Category
    cards: tuple[str, ...]
    """The cards that count, the most significant first."""


class _Judged(msgspec.Struct, frozen=True):
    """The category of a hand by its ranks alone; ``by_weight``: the ranks, the most significant
    first; ``joker``: the joker's.
    """

    key: tuple[int, ...]
    category: Category
    by_weight: str
    joker: str = ""


def value(cards: Iterable[str], ranking_id: str) -> Value:
    """What exactly these cards are worth.

    Raises ``ValueError`` for a wrong number of cards, a card that is not of the pack or there
    twice, and a hand that does not qualify.
    """
    cards = _checked(cards, ranking_id)
    if len(cards) != RANKINGS[ranking_id].size:
        raise ValueError(f"{ranking_id} counts {RANKINGS[ranking_id].size} cards, not {len(cards)}")
    return _certain(cards, _judge(cards, ranking_id), ranking_id)


def showing(cards: Iterable[str], ranking_id: str) -> Value:
    """The value of the face-up cards of a hand before all are face up: by equal ranks and high
    cards; runs and suits count only in a full hand.

    Raises ``ValueError`` as ``value`` does.
    """
    cards = _checked(cards, ranking_id)
    if not 0 < len(cards) < RANKINGS[ranking_id].size:
        return value(cards, ranking_id)
    return _certain(
        cards, _judged("".join(sorted(card[0] for card in cards)), False, ranking_id), ranking_id
    )


def best(cards: Iterable[str], ranking_id: str) -> Value | None:
    """The best hand that can be chosen from these cards; None if no choice qualifies. Raises
    ``ValueError`` as ``value`` does.
    """
    return _best(_choices(_checked(cards, ranking_id), RANKINGS[ranking_id].size), ranking_id)


def best_of(
    own: Iterable[str], common: Iterable[str], ranking_id: str, own_exactly: int | None = None
) -> Value | None:
    """The best hand of own and common cards: of all together, or with a fixed number of own ones.
    Otherwise as ``best``.
    """
    own, common = tuple(own), tuple(common)
    cards = _checked((*own, *common), ranking_id)
    size = RANKINGS[ranking_id].size
    if own_exactly is None:
        return _best(_choices(cards, size), ranking_id)
    mine, shared = (
        _choices(own, own_exactly, "own "),
        tuple(_choices(common, size - own_exactly, "common ")),
    )
    return _best(((*own_cards, *others) for own_cards in mine for others in shared), ranking_id)


def _checked(cards: Iterable[str], ranking_id: str) -> tuple[str, ...]:
    if ranking_id not in RANKINGS:
        raise ValueError(f"no ranking {ranking_id!r}; there are: {', '.join(RANKINGS)}")
    cards = tuple(cards)
    foreign = [card for card in cards if card not in _members(ranking_id)]
    if foreign:
        raise ValueError(
            f"{foreign[0]!r} is not a card of {ranking_id}: allowed are {_allowed(ranking_id)}"
        )
    if len(set(cards)) < len(cards):
        raise ValueError(
            f"{next(card for card in cards if cards.count(card) > 1)!r} is named twice"
        )
    return cards


@cache
def _members(ranking_id: str) -> frozenset[str]:
    return frozenset(deck(ranking_id))


def _allowed(ranking_id: str) -> str:
    """The cards that a ranking knows, in words."""
    members = _members(ranking_id)
    ranks = [rank for rank in "A23456789TJQK" if f"{rank}c" in members]
    return f"{' '.join(ranks)} of c d h s" + (f", and {JOKER}" if JOKER in members else "")


def _choices(cards: Sequence[str], size: int, kind: str = "") -> Iterable[tuple[str, ...]]:
    if len(cards) < size:
        raise ValueError(f"{size} {kind}cards must be chosen, and there are only {len(cards)}")
    return combinations(
        sorted(cards), size
    )  # sorted, so that equal choices do not depend on the order of the deal


def _best(choices: Iterable[tuple[str, ...]], ranking_id: str) -> Value | None:
    found: tuple[_Judged, tuple[str, ...]] | None = None
    for cards in choices:
        judged = _judge(cards, ranking_id)
        if judged is not None and (found is None or judged.key > found[0].key):
            found = judged, cards
    return None if found is None else _valued(found[1], found[0])


def _certain(cards: Sequence[str], judged: _Judged | None, ranking_id: str) -> Value:
    if judged is None:
        raise ValueError(f"{' '.join(cards)} does not qualify for {ranking_id}")
    return _valued(cards, judged)


def _valued(cards: Sequence[str], judged: _Judged) -> Value:
    def place(card: str) -> tuple[int, str]:
        return judged.by_weight.index(judged.joker if card == JOKER else card[0]), card

    return Value(judged.key, judged.category, tuple(sorted(cards, key=place)))


def _judge(cards: Sequence[str], ranking_id: str) -> _Judged | None:
    if JOKER in cards:
        cards = [card for card in cards if card != JOKER]
        judge = _judged_with_joker
    else:
        judge = _judged
    return judge(
        "".join(sorted([card[0] for card in cards])),
        len({card[1] for card in cards}) == 1,
        ranking_id,
    )


@cache
def _judged_with_joker(ranks: str, suited: bool, ranking_id: str) -> _Judged | None:
    """The best category that the joker makes with the other cards: it is an ace, or any card that
    completes what it may complete.
    """
    ranking = RANKINGS[ranking_id]
    found: _Judged | None = None
    for rank in ranking.ranks:
        # Where the others are of one suit and have this rank, the joker can only stand for the card
        # of another suit.
        judged = _judged("".join(sorted(ranks + rank)), suited and rank not in ranks, ranking_id)
        if judged is None or (rank != "A" and judged.category not in ranking.joker):
            continue
        if found is None or judged.key > found.key:
            found = msgspec.structs.replace(judged, joker=rank)
    return found


@cache
def _judged(ranks: str, suited: bool, ranking_id: str) -> _Judged | None:
    """The category of a hand, by its ranks in alphabetical order and whether all are of one suit;
    None if it does not qualify.
    """
    ranking = RANKINGS[ranking_id]
    if not set(ranks) <= set(ranking.ranks):
        return None
    run = next((run for run in ranking.straights if sorted(run) == sorted(ranks)), None)
    shapes = _shapes(ranks, suited, run, ranking)
    category = next((category for category in ranking.categories if category in shapes), None)
    if category is None:
        return None
    strength = len(ranking.categories) - ranking.categories.index(category)
    if run is not None and category in RUNS.values():
        return _Judged(
            (strength, len(ranking.straights) - ranking.straights.index(run)), category, run
        )
    by_weight = "".join(
        sorted(ranks, key=lambda rank: (ranks.count(rank), ranking.ranks.index(rank)), reverse=True)
    )
    if category == "figures":  # the highest pair, then the highest card of what remains
        by_weight = by_weight[:2] + "".join(
            sorted(by_weight[2:], key=ranking.ranks.index, reverse=True)
        )
    sign = -1 if ranking.lowest_wins else 1
    return _Judged(
        (strength, *(sign * ranking.ranks.index(rank) for rank in by_weight)), category, by_weight
    )


def _shapes(ranks: str, suited: bool, run: str | None, ranking: Ranking) -> set[Category]:
    """The categories that a hand has at once."""
    shapes: set[Category] = {SHAPES[tuple(sorted(Counter(ranks).values(), reverse=True))]}
    if suited:
        shapes.add("flush")
    if run is not None:
        shapes.add(RUNS[suited, run == ranking.straights[0]])
    if set(ranks) <= set(ranking.figures):
        shapes.add("figures")
    return shapes
