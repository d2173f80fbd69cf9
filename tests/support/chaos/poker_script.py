"""The cards of a table of house poker, round by round, from a seed: hands that win a share of a
meter and hands that do not, with their ranks, computed without the project's games.

A round is identified by table, session and number: the seed determines its cards.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import msgspec

from tests.support.carrousel.law import Made

RANKS, SUITS = "23456789TJQKA", "shdc"
DECK = [rank + suit for rank in RANKS for suit in SUITS]
BOXES = 4
DEALER = "dealer"

KINDS: dict[str, dict[str, int]] = {
    "BAL05": {"royal": 3, "flush": 10, "flush unequal": 2, "royal flush": 1},
    "ARA02": {
        "royal": 3,
        "royal royal": 2,
        "flush": 8,
        "flush equal": 2,
        "flush unequal": 3,
        "royal flush": 1,
    },
    "EUS96": {
        "royal": 3,
        "royal royal": 2,
        "royal royal royal": 1,
        "flush": 4,
        "flush equal": 2,
        "flush unequal": 2,
        "four": 6,
        "four four": 2,
        "flush four": 3,
        "flush equal four": 1,
        "royal four": 1,
        "four discarded": 3,
        "flush discarded": 3,
        "royal discarded": 2,
        "four flush discarded": 2,
    },
}
"""How often what comes where something comes, by decree. The last hand is made by discarding where
``discarded`` follows it; ``equal`` and ``unequal`` add a straight flush.
"""


class Script(msgspec.Struct, frozen=True):
    """A round. ``hands``: the five cards of each box, and of the bank, after all discards;
    ``first``: what was dealt where one was discarded. ``coins``: how many fall in each box.
    ``right``: what a correction says of a box after the result.
    """

    hands: dict[str, list[str]]
    first: dict[str, list[str]]
    rest: list[str]
    coins: dict[str, int]
    void: bool
    right: dict[str, list[str]]

    def dealt(self, who: str) -> list[str]:
        """The first five cards."""
        return self.first.get(who, self.hands[who])

    def made(self, staked: set[str], *, corrected: bool) -> tuple[Made, ...]:
        """The hands of the boxes with a stake."""
        shown = {**self.hands, **(self.right if corrected else {})}
        return tuple(
            found
            for box in sorted(staked)
            if (found := made(box, shown[box], discarded=box in self.first)) is not None
        )


def made(box: str, cards: list[str], *, discarded: bool) -> Made | None:
    """What five cards are, if they may take part of a meter."""
    counts = Counter(card[0] for card in cards)
    [(rank, most), *_] = counts.most_common(1)
    if most == 4:
        return Made(box, "four", (RANKS.index(rank),), discarded)
    if len({card[1] for card in cards}) > 1 or len(counts) < 5:
        return None
    found = sorted(RANKS.index(card[0]) for card in cards)
    if found == [0, 1, 2, 3, 12]:
        return Made(box, "straight_flush", (3,), discarded)
    if found[4] - found[0] != 4:
        return None
    if found[4] == 12:
        return Made(box, "royal_flush", (), discarded)
    return Made(box, "straight_flush", (found[4],), discarded)


def script(
    seed: int, table: str, decree: str, session: int, number: int, *, hits: float, coins: int
) -> Script:
    """The round. ``hits``: the part of all rounds in which something is won; ``coins``: the most
    that fall in a box.
    """
    chance = Random(f"{seed} {table} {session} {number}")
    kind = ""
    if chance.random() < hits:
        kinds = KINDS[decree]
        kind = chance.choices(list(kinds), list(kinds.values()))[0]
    free = chance.sample(DECK, len(DECK))
    names = [f"box:{box}" for box in range(1, BOXES + 1)]
    places = iter(chance.sample(names, len(names)))
    hands: dict[str, list[str]] = {}
    first: dict[str, list[str]] = {}
    for word in kind.split():
        if word == "discarded":
            box, cards = list(hands.items())[-1]
            junk = chance.choice([card for card in free if _spoils(cards, card)])
            free.remove(junk)
            first[box] = [*cards[:4], junk]
            continue
        cards = _hand(chance, word, free, hands)
        hands[next(places)] = cards
        free = [card for card in free if card not in cards]
    for who in [*places, DEALER]:
        hands[who] = _plain(chance, free)
        free = [card for card in free if card not in hands[who]]
    right: dict[str, list[str]] = {}
    winners = [box for box in names if box not in first and made(box, hands[box], discarded=False)]
    if winners and not first and chance.random() < 0.15:
        box = chance.choice(winners)
        right[box] = _plain(chance, free)
    return Script(
        hands={who: hands[who] for who in [*names, DEALER]},
        first=first,
        rest=[card for card in free if not any(card in each for each in right.values())],
        coins={box: 0 if chance.random() < 0.15 else chance.randint(1, coins) for box in names},
        void=chance.random() < 0.03,
        right=right,
    )


def _hand(chance: Random, word: str, free: list[str], hands: dict[str, list[str]]) -> list[str]:
    """Cards of a kind, of those that are free."""
    before = [cards for cards in hands.values() if made("", cards, discarded=False)]
    tops = sorted(range(4, 12), key=lambda _: chance.random())
    if word == "royal":
        found = [_run(12, suit) for suit in chance.sample(SUITS, 4)]
    elif word == "four":
        ranks = chance.sample(RANKS[:9], 9)
        found = [[rank + suit for suit in SUITS] for rank in ranks]
        found = [[next(c for c in free if c[0] not in four[0]), *four] for four in found]
    elif word == "equal":
        top = max(RANKS.index(card[0]) for card in before[-1])
        found = [_run(top, suit) for suit in chance.sample(SUITS, 4)]
    else:
        own = max(RANKS.index(card[0]) for card in before[-1]) if word == "unequal" else None
        found = [_run(top, suit) for top in tops if top != own for suit in chance.sample(SUITS, 4)]
    return next(cards for cards in found if set(cards) <= set(free))


def _run(top: int, suit: str) -> list[str]:
    return [RANKS[rank] + suit for rank in range(top, top - 5, -1)]


def _plain(chance: Random, free: list[str]) -> list[str]:
    """Five cards that win nothing and give no reason to stop a round."""
    while True:
        cards = chance.sample(free, 5)
        if made("", cards, discarded=False) is None:
            return cards


def _spoils(cards: list[str], card: str) -> bool:
    """Whether this card instead of the last makes the hand worth nothing."""
    return made("", [*cards[:4], card], discarded=False) is None
