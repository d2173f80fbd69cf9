"""The packs that poker is played with: their cards, and the pack of each ranking of hands."""

from __future__ import annotations

from collections.abc import Mapping

from controller.games.cards import DECK

JOKER = "X"

LOWEST_RANKS: Mapping[str, str] = {"deck_52": "2", "deck_32": "7", "deck_28": "8"}
"""The lowest rank of each pack without jokers, the ace apart: every pack has it."""

RANK_ORDER = "23456789TJQKA"
"""The ranks from low to high; the ace can also rank below the lowest rank in play."""


def _from(lowest: str) -> tuple[str, ...]:
    return tuple(card for card in DECK if RANK_ORDER.index(card[0]) >= RANK_ORDER.index(lowest))


DECKS: Mapping[str, tuple[str, ...]] = {
    name: _from(lowest) for name, lowest in LOWEST_RANKS.items()
} | {"deck_53": (*DECK, JOKER)}
"""The cards of each pack: 32 from 7 to ace, 28 from 8 to ace, 53 are 52 and a joker."""

DECK_OF: Mapping[str, str] = {
    "five-52": "deck_52",
    "five-52-figures": "deck_52",
    "five-52-flush": "deck_52",
    "five-32": "deck_32",
    "five-32-figures": "deck_32",
    "five-28": "deck_28",
    "five-53": "deck_53",
    "two-53": "deck_53",
    "three": "deck_52",
    "low-8": "deck_52",
    "low-any": "deck_52",
}
"""The pack that each ranking of hands is made for."""


def deck(name: str) -> tuple[str, ...]:
    """The cards of a pack, by its name or by that of a ranking. Raises ``KeyError`` for an unknown
    name.
    """
    return DECKS[DECK_OF.get(name, name)]
