"""What a table of chemin de fer or two-cloth baccarat remembers. Face-down cards are included, so
it is never shown.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from controller.contract.events import BaccaratOutcome, Frame, Hand
from controller.games.baccarat import Winner
from controller.games.rounds import Rounds
from controller.games.shoe import Past, Shoe
from controller.games.stakes import Stake

SHOWN = 20
"""Rounds in the retained history."""

Word = Literal["draw", "stand", "natural"]
"""A hand's decision: carta, no, or that it shows an eight or nine."""
Fate = Literal["nine", "natural_nine", "zero", "loses", "void"]
"""The fate of a hand whose cards went into the basket. ``nine``: its third card did."""


class CheminCard(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A card out of the shoe.

    ``card`` is None if it was not read and nobody has named it. ``to``: its hand; None while it
    waits. ``last_announced_to``: the hand it was last announced to. ``third``: it came after the
    deal. ``kept``: a person placed it. ``up``: it is face up. ``doubt``: the irregularity that a
    person must decide; it and all later cards wait. ``out``: it has left the game; one in the
    basket still counts as dealt.
    """

    card: str | None = None
    to: str | None = None
    last_announced_to: str | None = None
    third: bool = False
    kept: bool = False
    up: bool = False
    doubt: str | None = None
    out: Literal["removed", "basket"] | None = None
    frame: Frame | None = None

    @property
    def told(self) -> str | None:
        """The card, if the table has seen it."""
        return self.card if self.up else None


class CheminCoup(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The round in progress.

    ``cards``: all that came, in their order. ``words``: each hand's decision. ``banco``: one player
    plays alone for the whole bank. ``fates``: of hands whose cards went into the basket. ``table``:
    the bank keeps to the table of plays. ``optional``: it draws in the optional cells.
    ``restored``: a wrong decision was put right. ``bank_fault``: the banker has shown both cards of
    a cloth. ``shown``: cards exposed too early, by hand. ``owed``: the bank's cards that must be
    shown for it. ``overdealt``: the bank has taken more than two first cards. ``said``: what was
    already reported. ``question``: the irregularity that a person must decide. ``confirmed_by``:
    who let it go on. ``bets``: those reported.
    """

    round: int
    closed: bool = False
    banco: bool = False
    cards: tuple[CheminCard, ...] = ()
    words: dict[str, Word] = {}
    fates: dict[str, Fate] = {}
    table: bool = False
    optional: bool = False
    restored: bool = False
    bank_fault: bool = False
    shown: dict[str, tuple[int, ...]] = {}
    owed: tuple[int, ...] = ()
    overdealt: bool = False
    said: tuple[str, ...] = ()
    question: str | None = None
    confirmed_by: str | None = None
    bets: tuple[Stake, ...] = ()

    @property
    def begun(self) -> bool:
        """Whether its bets are closed, or a card of it came."""
        return self.closed or bool(self.cards)


class CheminEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of one round; its hands as the result showed them."""

    round: int
    kind: Literal["result", "void", "unresolved"]
    winner: Winner | None = None
    hands: tuple[Hand, ...] = ()
    reason: str | None = None
    article: str | None = None

    @property
    def outcome(self) -> BaccaratOutcome:
        """What a round that has a result came to."""
        natural = ("natural",) if any(each.kind == "natural" for each in self.hands) else ()
        tie = ("tie",) if self.winner == "tie" else ()
        return BaccaratOutcome(winner=self.winner, hands=self.hands, marks=natural + tie)


class CheminState(Rounds[CheminEntry], frozen=True, kw_only=True, omit_defaults=True):
    """A table between two inputs.

    ``past``: the shoes of the last sessions. ``unplaced``: cards that came between rounds.
    ``silent``: the device is silent now. ``expected``: where the next card was last announced to
    go. ``last``: announced last rounds still to play, from round ``last_since`` on.
    """

    past: Past = ()
    shoe: Shoe | None = None
    current: CheminCoup | None = None
    unplaced: tuple[CheminCard, ...] = ()
    silent: bool = False
    expected: str | None = None
    last: int | None = None
    last_since: int = 0
    entries: tuple[CheminEntry, ...] = ()
