"""What a table of trente et quarante remembers. Everything is here; the game itself remembers
nothing.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from controller.contract.events import Frame, Hand
from controller.games.coups import Coup, CoupEntry, CoupState, Waiting
from controller.games.shoe import Past, Shoe
from controller.games.stakes import Stake
from controller.games.trente.rows import Winner

QUEUE = 24
"""Cards that may wait for a person: two long coups. Later ones are counted but not followed."""
SHOWN = 20
"""Rounds in the retained history."""


class TrenteCard(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A card on the table, face up. ``card`` is None if it was not read and nobody has named it."""

    card: str | None = None
    frame: Frame | None = None


class TrenteCoup(Coup, frozen=True, kw_only=True, omit_defaults=True):
    """The round in progress. ``gap``: since its bets closed a silence may have hidden a card.
    ``confirmed_by``: who decided about one. ``bets``: those reported.
    """

    round: int
    closed: bool = False
    cards: tuple[TrenteCard, ...] = ()
    gap: bool = False
    confirmed_by: str | None = None
    bets: tuple[Stake, ...] = ()

    @property
    def begun(self) -> bool:
        """Whether its bets are closed: before that no card of it comes."""
        return self.closed

    @property
    def known(self) -> tuple[str, ...]:
        """The cards that were read, in the order in which they came."""
        return tuple(each.card for each in self.cards if each.card is not None)

    @property
    def unread(self) -> bool:
        """Whether a card was not read; then nobody knows where the next belongs."""
        return len(self.known) < len(self.cards)


class TrenteEntry(CoupEntry, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of one round. ``cards``: of an unresolved one, all that were seen, in order; a
    person may confirm it. ``last``: it was the last hand of the session.
    """

    round: int
    kind: Literal["result", "void", "unresolved"]
    winner: Winner | None = None
    hands: tuple[Hand, ...] = ()
    marks: tuple[str, ...] = ()
    cards: tuple[TrenteCard, ...] = ()
    last: bool = False
    corrected: bool = False
    reason: str | None = None
    article: str | None = None


class TrenteState(CoupState[TrenteEntry], frozen=True, kw_only=True, omit_defaults=True):
    """A table of trente et quarante between two inputs.

    ``past``: the shoes of the last sessions. ``tail``: cards that came after the cut card.
    ``queue``: cards that need a decision. ``carried``: cards decided to be the first of the next
    round. ``queue_overflowed``: more came than can wait. ``silent``: the device is silent now.
    ``out_of_sync``: cards go to no round until a person opens one. ``unseen``: a round may have
    begun in a silence, at a table without keys. ``reset``: the shoe restarted, and nobody has said
    what is in it. ``expected``: where the next card was last announced to go. ``last``: announced
    last rounds still to play, from round ``last_since`` on.
    """

    past: Past = ()
    shoe: Shoe | None = None
    tail: int = 0
    current: TrenteCoup | None = None
    queue: tuple[Waiting, ...] = ()
    carried: tuple[Waiting, ...] = ()
    queue_overflowed: bool = False
    silent: bool = False
    out_of_sync: bool = False
    unseen: bool = False
    reset: bool = False
    expected: str | None = None
    last: int | None = None
    last_since: int = 0
    entries: tuple[TrenteEntry, ...] = ()

    def is_last(self, number: int) -> bool:
        """Whether this round, whose result is not published yet, is the announced last one of the
        session.
        """
        return self.last in (0, 1) and number == self.round >= self.last_since

    @property
    def asks(self) -> tuple[str, ...]:
        """Commands that would answer the table's question."""
        if self.reset:
            return ("shoe.start", "card.decide")
        if self.queue or (self.current is not None and self.current.unread):
            return ("card.decide", "round.void") if self.current else ("card.decide",)
        if self.current is not None and self.current.gap:
            return ("round.confirm", "round.void")
        return ("bets.open",) if self.astray else ()
