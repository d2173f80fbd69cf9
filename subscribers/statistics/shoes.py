"""Whether a shoe was shuffled: bets on its next card, from cards that lay face up.

After a perfect shuffle the next card is any of those not seen yet, each with the same chance,
however many of them were burned or stay unseen. Who bets on a card against that gathers evidence: a
martingale that begins at 1 (Shafer and Vovk 2001). Two gamblers bet. One expects what followed the
last cards in the shoe before: it wins where an order is repeated, in part or whole, and where a
shuffle leaves rising sequences (Bayer and Diaconis 1992; Diaconis, Fulman and Holmes 2013). The
other expects a rank or suit more or less often than its share. A perfect shuffle lets either ever
reach 1,000 with a probability of at most 1 in 1,000 over all shoes of a table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import exp, log

import msgspec

from subscribers.statistics.bias import ALARM, log_sum

RANKS, SUITS = "23456789TJQKA", "cdhs"
DECK = tuple(rank + suit for rank in RANKS for suit in SUITS)
TRUST = (0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 0.95)
"""The parts of what it has that the first gambler bets on the order before."""
HEADS = (0.5, 0.25, 0.15, 0.1)
"""How it divides its bet on what followed the last card, the one before, and so on: two riffled
packets alternate.
"""
FAVOURS = (0.7, 0.8, 0.9, 1.1, 1.25, 1.5)
"""How often, in multiples of its share, the second gambler expects a rank or suit."""

LARGE, TINY = 100.0, 1e-300
"""Of logs: beside it 1 is nothing. Of numbers: what is left of nothing."""


class Shoe(msgspec.Struct, frozen=True):
    """One shoe. ``cards``: those that came face up, as they left it; None stands for one that
    nobody saw.
    """

    name: str
    decks: int
    cards: tuple[str | None, ...]


class ShoeEvidence(msgspec.Struct, frozen=True):
    """What is known after some shoes of a table. All evidence is in logs."""

    shoes: int = 0
    order: tuple[float, ...] = (0.0,) * len(TRUST)
    """Of each trust: what it gathered over all shoes."""
    order_single: float = 0.0
    """What single shoes gathered, each for itself; the share of those to come included."""
    ranks: tuple[float, ...] = ()
    """Of each part and favour of the second gambler."""
    kept: int = 0
    """Neighbours that were neighbours in the shoe before."""
    expected: float = 0.0
    """The mean of that after perfect shuffles."""
    counts: dict[str, int] = {}
    """How often each rank and suit came."""
    alarms: dict[str, int] = {}
    """``order`` or ``ranks`` -> after how many shoes it reached 1,000."""

    @property
    def order_evidence(self) -> float:
        """Of the first gambler: half of it plays on over all shoes, half with each anew."""
        whole = log_sum(self.order) - log(len(TRUST))
        return log_sum([whole, self.order_single]) - log(2)

    @property
    def ranks_evidence(self) -> float:
        """Of the second gambler."""
        return log_sum(self.ranks) - log(len(self.ranks)) if self.ranks else 0.0


def after(evidence: ShoeEvidence, before: Shoe | None, shoe: Shoe) -> ShoeEvidence:
    """After one more shoe. ``before``: the one whose order it may still have."""
    number = evidence.shoes + 1
    gathered = (0.0,) * len(TRUST) if before is None else order_bets(before, shoe)
    single = log_sum(gathered) - log(len(TRUST))
    # the n-th shoe plays with 1/n(n+1) of the half: all of them together with the whole
    share = 1 / (number * (number + 1))
    single = log_sum([evidence.order_single, single + log(share)])
    # that share was set aside until now
    single = single if single > LARGE else log(max(exp(single) - share, TINY))
    ranks = rank_bets(shoe)
    kept, expected = (0, 0.0) if before is None else neighbours(before, shoe)
    counts = Counter(evidence.counts)
    for card in shoe.cards:
        if card is not None:
            counts.update((card[0], card[1]))
    found = ShoeEvidence(
        shoes=number,
        order=tuple(a + b for a, b in zip(evidence.order, gathered, strict=True)),
        order_single=single,
        ranks=tuple(
            a + b for a, b in zip(evidence.ranks or (0.0,) * len(ranks), ranks, strict=True)
        ),
        kept=evidence.kept + kept,
        expected=evidence.expected + expected,
        counts=dict(counts),
    )
    alarms = dict(evidence.alarms)
    for name, value in (("order", found.order_evidence), ("ranks", found.ranks_evidence)):
        if value >= ALARM:
            alarms.setdefault(name, number)
    return msgspec.structs.replace(found, alarms=alarms)


def order_bets(before: Shoe, shoe: Shoe) -> tuple[float, ...]:
    """What the first gambler gathers in this shoe, by trust."""
    follows: dict[str, Counter[str]] = {}
    for one, other in _pairs(before.cards):
        follows.setdefault(one, Counter())[other] += 1
    gathered = [0.0] * len(TRUST)
    heads: list[str | None] = []
    for card, left, unseen in _draws(shoe):
        if card is not None:
            fair = left[card] / unseen
            expected = 0.0
            for head, part in zip(reversed(heads), HEADS, strict=False):
                after_head = None if head is None else follows.get(head)
                there = (
                    {}
                    if after_head is None
                    else {each: min(n, left[each]) for each, n in after_head.items() if left[each]}
                )
                total = sum(there.values())
                expected += part * (there.get(card, 0) / total if total else fair)
            expected += (1 - sum(HEADS[: len(heads)])) * fair
            for place, trust in enumerate(TRUST):
                gathered[place] += log(1 - trust + trust * expected / fair)
        heads = [*heads[-(len(HEADS) - 1) :], card]
    return tuple(gathered)


def rank_bets(shoe: Shoe) -> tuple[float, ...]:
    """What the second gambler gathers in this shoe, by part and favour."""
    gathered = [0.0] * (len(RANKS + SUITS) * len(FAVOURS))
    parts: Counter[str] = Counter(
        {**dict.fromkeys(RANKS, 4 * shoe.decks), **dict.fromkeys(SUITS, 13 * shoe.decks)}
    )
    for card, _, unseen in _draws(shoe):
        if card is None:
            continue
        place = 0
        for part in RANKS + SUITS:
            share, hit = parts[part] / unseen, part in card
            for favour in FAVOURS:
                gathered[place] += log((favour if hit else 1.0) / (1 + (favour - 1) * share))
                place += 1
        parts.subtract((card[0], card[1]))
    return tuple(gathered)


def neighbours(before: Shoe, shoe: Shoe) -> tuple[int, float]:
    """How many neighbours in this shoe were neighbours in the one before, and how many a perfect
    shuffle leaves on average, as far as both were seen.
    """
    then, now = set(_pairs(before.cards)), list(_pairs(shoe.cards))
    cards = 52 * shoe.decks
    pairs = cards * (cards - 1)
    each = sum(shoe.decks * (shoe.decks - (one == other)) for one, other in then) / pairs
    return sum(pair in then for pair in now), each * len(now)


def rising_sequences(order: Sequence[str], now: Sequence[str]) -> int:
    """In how many passes the order before is found in this one, for cards that are all different. A
    perfect shuffle of n cards leaves (n + 1) / 2 on average, a single riffle two.
    """
    place = {card: index for index, card in enumerate(now)}
    places = [place[card] for card in order if card in place]
    return 1 + sum(one > other for one, other in pairwise(places))


def _pairs(cards: Sequence[str | None]) -> Iterator[tuple[str, str]]:
    for one, other in pairwise(cards):
        if one is not None and other is not None:
            yield one, other


def _draws(shoe: Shoe) -> Iterator[tuple[str | None, Counter[str], int]]:
    """Each card, how many of each are unseen before it, and how many that are in all. What cannot
    be in the shoe ends it: its composition is not what was said.
    """
    left = Counter(dict.fromkeys(DECK, shoe.decks))
    unseen = left.total()
    for card in shoe.cards:
        if card is not None and not left[card]:
            return
        yield card, left, unseen
        if card is not None:
            left[card] -= 1
            unseen -= 1
