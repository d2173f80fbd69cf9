"""What every table of poker remembers of its rounds: the base of each ``State``, and the outcome of
a round.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import msgspec
from msgspec.structs import replace

from controller.contract.events import Hand
from controller.games.moves import Remembered

REMEMBERED = 60
"""Rounds whose outcome is remembered."""
SHOWN = 20
"""Rounds that the retained history shows."""


class PokerEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of one round. ``hands``: those that lay open, of an unresolved one too.
    ``corrected``: a person has put another result in the place of the first.
    """

    round: int
    kind: Literal["result", "void", "unresolved"]
    hands: tuple[Hand, ...] = ()
    winner: str | None = None
    marks: tuple[str, ...] = ()
    reason: str | None = None
    article: str | None = None
    corrected: bool = False


class PokerState(Remembered, frozen=True, kw_only=True, omit_defaults=True):
    """A table of poker between two inputs, as far as all of them are alike.

    ``last``: announced last rounds that are left, from round ``last_since`` on. ``silent``: devices
    that are not heard now. ``expected``: to whom the next card was last said to go. ``played``: the
    rounds behind the latest results, as far as these stand on more than their hands: bets and
    decisions, and no card that lay face down.
    """

    entries: tuple[PokerEntry, ...] = ()
    played: tuple[Any, ...] = ()
    last: int | None = None
    last_since: int = 0
    silent: tuple[str, ...] = ()
    expected: str | None = None

    def entry(self, number: int) -> PokerEntry | None:
        """The outcome of a round of this session, if it is remembered."""
        return next((entry for entry in self.entries if entry.round == number), None)

    def with_entry(self, entry: PokerEntry) -> Self:
        """With this outcome in the place of any earlier one of its round; the oldest round too many
        is forgotten, and the hands of results that are shown no more: the state is written down
        with every input.
        """
        others = (each for each in self.entries if each.round != entry.round)
        entries = sorted((*others, entry), key=lambda each: each.round)[-REMEMBERED:]
        older = tuple(
            replace(each, hands=()) if each.kind == "result" else each for each in entries[:-SHOWN]
        )
        played = tuple(each for each in self.played if each.round >= entries[-SHOWN:][0].round)
        return replace(self, entries=(*older, *entries[-SHOWN:]), played=played)

    def round_of(self, number: int) -> Any:
        """The round behind a result, None where it is not kept."""
        return next((each for each in self.played if each.round == number), None)

    def unresolved(self) -> list[PokerEntry]:
        """The rounds whose result a person may still give."""
        return [entry for entry in self.entries if entry.kind == "unresolved"]
