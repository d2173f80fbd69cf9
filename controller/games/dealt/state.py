"""State of a dealt table: the base of each game's ``State``, its round and its outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from common.contract.events import Hand
from common.readings import CardDrawn
from controller.games.dealt.cards import Table
from controller.games.rounds import E, Rounds
from controller.games.stakes import Stake

HISTORY_ROUNDS = 20
"""Rounds in the retained history."""


class Held(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A card that was drawn and has no place yet."""

    given: CardDrawn
    packet: int | None = None
    """The number of unread cards in a shuffler's packet; None: one card."""
    trouble: str | None = None
    """The irregularity that a person must decide; None if the card only waits behind another."""


class Stop(NamedTuple):
    """What stops the table until a person decides."""

    what: str
    """The irregularity."""
    asks: tuple[str, ...]
    """The commands one of which settles it."""
    refusal: str = "table_waits_for"
    """The refusal's key for a command that would continue without settling it."""


class DealtRound(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The round in progress: the base of each game's round."""

    round: int
    closed: bool = False
    """Whether its bets are closed."""
    cards: Table = ()
    """Its cards, in the order in which they came."""
    gap: bool = False
    """Whether a silence may have hidden a card of it."""
    confirmed_by: str | None = None
    """Who decided about one of its cards."""
    bets: tuple[Stake, ...] = ()
    """The bets that were reported."""

    @property
    def begun(self) -> bool:
        """Whether its bets are closed, or a card of it came."""
        return self.closed or bool(self.cards)

    @property
    def known(self) -> tuple[str, ...]:
        """Its cards that are known, in the order in which they came."""
        return tuple(card.card for card in self.cards if card.card is not None)

    @property
    def unread(self) -> bool:
        """True if a card of it is unread and has not been named."""
        return len(self.known) < len(self.cards)


class DealtEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The outcome of one round."""

    round: int
    kind: Literal["result", "void", "unresolved"]
    winner: str | None = None
    hands: tuple[Hand, ...] = ()
    """As the result shows them; empty where a person gave it."""
    marks: tuple[str, ...] = ()
    cards: Table = ()
    """Of an unresolved round, all cards that were seen, in their order: a person may confirm it."""
    readings: tuple[int, ...] = ()
    """The evidence, if it may be published again."""
    corrected: bool = False
    """A person has put another result in the place of the first."""
    reason: str | None = None
    """Why it is void."""
    article: str | None = None
    """If the law requires it."""


class DealtState(Rounds[E], frozen=True, kw_only=True, omit_defaults=True):
    """A dealt table between two inputs. Each game's state declares ``current`` and ``entries`` with
    its own types.
    """

    if TYPE_CHECKING:
        current: DealtRound | None = None

    held: tuple[Held, ...] = ()
    """Cards that wait for a person, and behind the first those that came after it."""
    silent: tuple[str, ...] = ()
    """Devices that are silent now."""
    expected: str | None = None
    """Where the next card was last announced to belong."""
    last: int | None = None
    """Announced last rounds still to play, from round ``last_since`` on."""
    last_since: int = 0

    @property
    def stop(self) -> Stop | None:
        """What stops the table; None if it continues by itself."""
        return None

    @property
    def asks(self) -> tuple[str, ...]:
        """The commands one of which the table waits for."""
        return self.stop.asks if self.stop is not None else ()
