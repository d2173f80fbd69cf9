"""Whether a shoe was shuffled: bets on its next card, from the cards dealt face up.

After a perfect shuffle the next card is any unseen card with equal probability, however many of
them were burned or remain unseen. Bets on a card gather evidence against that: a martingale that
begins at 1 (Shafer and Vovk 2001). There are two gamblers. The first expects what followed the last
cards in the shoe before: it wins if an order is repeated, in part or whole, and if a shuffle leaves
rising sequences (Bayer and Diaconis 1992; Diaconis, Fulman and Holmes 2013). The second expects a
rank or suit more or less often than its share. With perfect shuffles either ever reaches 1,000 with
probability at most 1 in 1,000 over all shoes of a table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import exp, log

import msgspec

from subscribers.statistics.bias import LOG_ALARM_THRESHOLD, log_sum

RANKS, SUITS = "23456789TJQKA", "cdhs"
DECK = tuple(rank + suit for rank in RANKS for suit in SUITS)
TRUST = (0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 0.95)
"""Fractions of its capital that the first gambler bets on the order of the shoe before."""
HEADS = (0.5, 0.25, 0.15, 0.1)
"""How it divides its bet among what followed the last card, the one before, and so on: two riffled
packets alternate.
"""
FAVOURS = (0.7, 0.8, 0.9, 1.1, 1.25, 1.5)
"""Relative frequencies at which the second gambler expects a rank or suit."""

LARGE, TINY = 100.0, 1e-300
"""Log above which 1 is negligible; and a lower bound that replaces zero."""


class DealtShoe(msgspec.Struct, frozen=True):
    """One shoe. ``cards``: in the order in which they were dealt; None for a card dealt
    face down.
    """

    name: str
    decks: int
    cards: tuple[str | None, ...]


class ShoeEvidence(msgspec.Struct, frozen=True):
    """Evidence after some shoes of a table, as logs."""

    shoes: int = 0
    order: tuple[float, ...] = (0.0,) * len(TRUST)
    """Of the first gambler over all shoes, by trust."""
    order_single: float = 0.0
    """Of the first gambler, starting again with each shoe; includes the share reserved for future
    shoes.
    """
    ranks: tuple[float, ...] = ()
    """Of the second gambler, by part and favour."""
    kept: int = 0
    """Neighbouring cards that were neighbours in the shoe before."""
    expected: float = 0.0
    """Mean of that after perfect shuffles."""
    counts: dict[str, int] = {}
    """How often each rank and suit was dealt."""
    alarms: dict[str, int] = {}
    """``order`` or ``ranks``, and the number of shoes after which it reached 1,000."""

    @property
    def order_evidence(self) -> float:
        """Evidence of the first gambler: half of its capital is bet over all shoes, half starts
        again with each.
        """
        continued = log_sum(self.order) - log(len(TRUST))
        return log_sum([continued, self.order_single]) - log(2)

    @property
    def ranks_evidence(self) -> float:
        """Evidence of the second gambler, who bets on the ranks of cards."""
        return log_sum(self.ranks) - log(len(self.ranks)) if self.ranks else 0.0


def after(evidence: ShoeEvidence, before: DealtShoe | None, shoe: DealtShoe) -> ShoeEvidence:
    """Return the evidence after one more shoe. ``before``: the shoe whose order it may repeat."""
    number = evidence.shoes + 1
    gathered = (0.0,) * len(TRUST) if before is None else order_bets(before, shoe)
    single = log_sum(gathered) - log(len(TRUST))
    # the n-th shoe bets 1/n(n+1) of the half, so that all together bet all of it
    share = 1 / (number * (number + 1))
    single = log_sum([evidence.order_single, single + log(share)])
    # that share was reserved until now
    single = single if single > LARGE else log(max(exp(single) - share, TINY))
    ranks = rank_bets(shoe)
    kept, expected = (0, 0.0) if before is None else neighbours(before, shoe)
    counts = Counter(evidence.counts)
    for card in shoe.cards:
        if card is not None:
            counts.update((card[0], card[1]))
    updated = ShoeEvidence(
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
    for name, value in (("order", updated.order_evidence), ("ranks", updated.ranks_evidence)):
        if value >= LOG_ALARM_THRESHOLD:
            alarms.setdefault(name, number)
    return msgspec.structs.replace(updated, alarms=alarms)


def order_bets(before: DealtShoe, shoe: DealtShoe) -> tuple[float, ...]:
    """Return the log evidence of the first gambler in this shoe, by trust."""
    follows: dict[str, Counter[str]] = {}
    for first, second in _pairs(before.cards):
        follows.setdefault(first, Counter())[second] += 1
    gathered = [0.0] * len(TRUST)
    heads: list[str | None] = []
    for card, left, unseen in _draws(shoe):
        if card is not None:
            fair = left[card] / unseen
            expected = 0.0
            for head, part in zip(reversed(heads), HEADS, strict=False):
                after_head = None if head is None else follows.get(head)
                followers = (
                    {}
                    if after_head is None
                    else {
                        follower: min(count, left[follower])
                        for follower, count in after_head.items()
                        if left[follower]
                    }
                )
                total = sum(followers.values())
                expected += part * (followers.get(card, 0) / total if total else fair)
            expected += (1 - sum(HEADS[: len(heads)])) * fair
            for place, trust in enumerate(TRUST):
                gathered[place] += log(1 - trust + trust * expected / fair)
        heads = [*heads[-(len(HEADS) - 1) :], card]
    return tuple(gathered)


def rank_bets(shoe: DealtShoe) -> tuple[float, ...]:
    """Return the log evidence of the second gambler in this shoe, by part and favour."""
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


def neighbours(before: DealtShoe, shoe: DealtShoe) -> tuple[int, float]:
    """Return how many neighbouring cards of this shoe were neighbours in the one before, and how
    many remain on average after a perfect shuffle, as far as both were seen.
    """
    pairs_before, pairs_now = set(_pairs(before.cards)), list(_pairs(shoe.cards))
    cards = 52 * shoe.decks
    pairs = cards * (cards - 1)
    chance = (
        sum(shoe.decks * (shoe.decks - (first == second)) for first, second in pairs_before) / pairs
    )
    return sum(pair in pairs_before for pair in pairs_now), chance * len(pairs_now)


def rising_sequences(order: Sequence[str], now: Sequence[str]) -> int:
    """Return the number of rising sequences: passes in which the former order is found in this one,
    for cards that are all different. A perfect shuffle of n cards leaves (n + 1) / 2 on average, a
    single riffle two.
    """
    place = {card: index for index, card in enumerate(now)}
    places = [place[card] for card in order if card in place]
    return 1 + sum(first > second for first, second in pairwise(places))


def _pairs(cards: Sequence[str | None]) -> Iterator[tuple[str, str]]:
    for first, second in pairwise(cards):
        if first is not None and second is not None:
            yield first, second


def _draws(shoe: DealtShoe) -> Iterator[tuple[str | None, Counter[str], int]]:
    """Yield each card, how many of each are unseen before it, and the number of unseen cards. Ends
    at a card that cannot be in the shoe: its composition is not as declared.
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
