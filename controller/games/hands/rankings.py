"""The orders in which hands of poker beat each other, as data: what the decrees list, best
first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from controller.games.decks import LOWEST_RANKS, RANK_ORDER

Category = Literal[
    "five_aces",
    "royal_flush",
    "straight_flush",
    "four",
    "full_house",
    "flush",
    "straight",
    "trips",
    "figures",
    "two_pair",
    "pair",
    "high_card",
]


class Ranking(msgspec.Struct, frozen=True, kw_only=True):
    """How hands of one size are compared."""

    size: int
    """How many cards count."""
    ranks: str
    """From low to high. A hand with any other rank does not qualify."""
    categories: tuple[Category, ...]
    """Best first. A hand that fits several is the best of them; a hand that fits none does not
    qualify.
    """
    straights: tuple[str, ...] = ()
    """Best first, each from its highest card down. The first of them in one suit is the royal
    flush.
    """
    figures: str = ""
    """The ranks of which all five cards must be to make ``figures``."""
    joker: frozenset[Category] = frozenset()
    """The hands that the joker may complete as any card; else it is an ace."""
    lowest_wins: bool = False


def _straights(ranks: str, size: int) -> tuple[str, ...]:
    """All runs, the ace last after the king and first before the lowest rank, never in the
    middle.
    """
    run = ranks[-1] + ranks
    return tuple(run[start : start + size][::-1] for start in range(len(run) - size, -1, -1))


def _second(straights: tuple[str, ...]) -> tuple[str, ...]:
    """The straight with the low ace comes right after the highest one."""
    highest, *others, low_ace = straights
    return (highest, low_ace, *others)


_52 = RANK_ORDER
_32 = RANK_ORDER[RANK_ORDER.index(LOWEST_RANKS["deck_32"]) :]
_28 = RANK_ORDER[RANK_ORDER.index(LOWEST_RANKS["deck_28"]) :]

FULL_OVER_FLUSH: tuple[Category, ...] = (
    "royal_flush",
    "straight_flush",
    "four",
    "full_house",
    "flush",
    "straight",
    "trips",
    "two_pair",
    "pair",
    "high_card",
)
FLUSH_OVER_FULL: tuple[Category, ...] = (
    "royal_flush",
    "straight_flush",
    "four",
    "flush",
    "full_house",
    "straight",
    "trips",
    "two_pair",
    "pair",
    "high_card",
)
THREE_CARDS: tuple[Category, ...] = (
    "royal_flush",
    "straight_flush",
    "trips",
    "straight",
    "flush",
    "pair",
    "high_card",
)
LOWEST_FIRST: tuple[Category, ...] = (
    "high_card",
    "pair",
    "two_pair",
    "trips",
    "full_house",
    "four",
)


def _with_figures(categories: tuple[Category, ...]) -> tuple[Category, ...]:
    place = categories.index("two_pair")
    return (*categories[:place], "figures", *categories[place:])


_FIVE_52 = Ranking(size=5, ranks=_52, categories=FULL_OVER_FLUSH, straights=_straights(_52, 5))
_FIVE_32 = Ranking(size=5, ranks=_32, categories=FLUSH_OVER_FULL, straights=_straights(_32, 5))

RANKINGS: Mapping[str, Ranking] = {
    "five-52": _FIVE_52,
    "five-52-figures": msgspec.structs.replace(
        _FIVE_52, categories=_with_figures(FULL_OVER_FLUSH), figures="AKQJ"
    ),
    "five-52-flush": msgspec.structs.replace(_FIVE_52, categories=FLUSH_OVER_FULL),
    "five-32": _FIVE_32,
    "five-32-figures": msgspec.structs.replace(
        _FIVE_32, categories=_with_figures(FLUSH_OVER_FULL), figures="AKQJ"
    ),
    "five-28": Ranking(size=5, ranks=_28, categories=FLUSH_OVER_FULL, straights=_straights(_28, 5)),
    "five-53": Ranking(
        size=5,
        ranks=_52,
        categories=("five_aces", *FULL_OVER_FLUSH),
        straights=_second(_straights(_52, 5)),
        joker=frozenset({"royal_flush", "straight_flush", "flush", "straight"}),
    ),
    "two-53": Ranking(size=2, ranks=_52, categories=("pair", "high_card")),
    "three": Ranking(size=3, ranks=_52, categories=THREE_CARDS, straights=_straights(_52, 3)),
    "low-8": Ranking(size=5, ranks="A2345678", categories=("high_card",), lowest_wins=True),
    "low-any": Ranking(size=5, ranks="A23456789TJQK", categories=LOWEST_FIRST, lowest_wins=True),
}
"""By name. The keys of a high and a low hand of pai gow (``five-53``, ``two-53``) can be compared
with each other.
"""
