"""The ranking and the choice of cards by which each game of poker compares its hands, for each
decree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from controller.games.decks import DECK_OF, DECKS


class Contest(msgspec.Struct, frozen=True, kw_only=True):
    """How the hands of one game are compared."""

    rankings: tuple[str, ...]
    """One for each pack that the game is played with, the larger one first."""
    low: str | None = None
    """The ranking of the second, low hand."""
    own: int
    """How many own cards a hand is made of or chosen from."""
    common: int = 0
    """How many common cards it may use."""
    own_exactly: int | None = None
    """How many of the own cards must be used; None: any number."""

    def ranking(self, pack: int | None = None) -> str:
        """The ranking for a pack of this size; None: the larger pack. Raises ``ValueError`` for an
        unknown pack.
        """
        packs = {len(DECKS[DECK_OF[ranking]]): ranking for ranking in self.rankings}
        if pack is None:
            return self.rankings[0]
        if pack not in packs:
            raise ValueError(
                f"not played with {pack} cards; allowed are: {', '.join(map(str, packs))}"
            )
        return packs[pack]

    def low_ranking(self) -> str:
        """The ranking of the low hand. Raises ``ValueError`` for a game without one."""
        if self.low is None:
            raise ValueError("there is no low hand")
        return self.low

    def split(
        self, cards: Sequence[str], own: int | None = None
    ) -> tuple[Sequence[str], Sequence[str]]:
        """Own and common cards, in this order. Raises ``ValueError`` if there are more than the
        game deals.
        """
        first = self.own if own is None else own
        mine, shared = cards[:first], cards[first:]
        if not 0 <= first <= self.own or len(shared) > self.common:
            raise ValueError(
                f"{len(mine)} own and {len(shared)} common cards; at most {self.own} and "
                f"{self.common} are dealt"
            )
        return mine, shared


FIVE = Contest(rankings=("five-52",), own=5)
FLUSH_FIRST = Contest(rankings=("five-52-flush",), own=5)
TRIJOKER = Contest(rankings=("five-52",), own=3, common=2)
THREE = Contest(rankings=("three",), own=3)
PAI_GOW = Contest(rankings=("five-53",), low="two-53", own=7)
COVERED = Contest(rankings=("five-52-figures", "five-32-figures"), own=5)
STUD = Contest(rankings=("five-32",), own=5)
SEVEN = Contest(rankings=("five-52",), own=7)
HOLDEM = Contest(rankings=("five-52",), own=2, common=5)
OMAHA = Contest(rankings=("five-52",), own=4, common=5, own_exactly=2)
OMAHA_FIVE = Contest(rankings=("five-52",), own=5, common=5, own_exactly=2)
HI_LO = Contest(rankings=("five-52",), low="low-8", own=4, common=5, own_exactly=2)
SYNTHETIC = Contest(rankings=("five-28",), own=2, common=5, own_exactly=2)
SYNTHETIC_ANY = Contest(rankings=("five-28",), own=2, common=5)

CONTESTS: Mapping[str, Mapping[str, Contest]] = {
    "BAL05": {
        "poker-no-draw": FIVE,
        "synthetic-poker": SYNTHETIC_ANY,
        "trijoker": TRIJOKER,
    },  # «amb set cartes» (L2474-2476)
    "BAL09": {
        "circle-draw": COVERED,
        "seven-card-stud": SEVEN,
        "omaha": OMAHA,
        "texas-holdem": HOLDEM,
        "five-card-stud": STUD,
        "synthetic-poker": SYNTHETIC,
        "pai-gow": PAI_GOW,
        "three-card-poker": THREE,
    },
    "ARA02": {
        "poker-no-draw": FLUSH_FIRST,
        "synthetic-poker": SYNTHETIC,
    },  # it lists «Color» before «Full»
    "EUS96": {
        "poker-no-draw": FIVE,
        "poker-draw-house": FIVE,
        "trijoker": TRIJOKER,
        "pai-gow": PAI_GOW,
        "three-card-poker": THREE,
        "texas-house": HOLDEM,
        "circle-draw": COVERED,
        "omaha": OMAHA,
        "omaha-five": OMAHA_FIVE,
        "omaha-hi-lo": HI_LO,
        "texas-holdem": HOLDEM,
        "holdem-double": HOLDEM,
        "five-card-stud": STUD,
        "seven-card-stud": SEVEN,
        "synthetic-poker": SYNTHETIC,
    },
    "GAL07": {},
}
"""By decree, then by game."""


def contest(game: str, decree: str) -> Contest:
    """The comparison of hands of a game under a decree. Raises ``ValueError`` that lists the
    games.
    """
    if decree not in CONTESTS:
        raise ValueError(f"no decree {decree!r}; there are: {', '.join(CONTESTS)}")
    games = CONTESTS[decree]
    if not games:
        raise ValueError(f"{decree} has no game of poker")
    if game not in games:
        raise ValueError(f"{decree} has no game of poker {game!r}; it has: {', '.join(games)}")
    return games[game]
