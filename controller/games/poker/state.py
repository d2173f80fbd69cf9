"""What every table of poker remembers of its rounds: the base of each ``State``, and the outcome of
a round.
"""

from __future__ import annotations

from typing import Any, Self, TypeVar

from msgspec.structs import replace

from controller.games.dealt.state import SHOWN, DealtState, Entry
from controller.games.rounds import in_place
from controller.games.session import Numbered

REMEMBERED = 60
"""Rounds whose outcome is remembered."""
P = TypeVar("P", bound=Numbered)


class PokerState(DealtState[Entry], frozen=True, kw_only=True, omit_defaults=True):
    """A table of poker between two inputs, as far as all of them are alike."""

    entries: tuple[Entry, ...] = ()
    played: tuple[Any, ...] = ()
    """The rounds behind the latest results, as far as these depend on more than their hands: bets
    and decisions, and no card that lay face down.
    """

    def with_entry(self, entry: Entry) -> Self:
        """With this outcome in the place of any earlier one of its round; the oldest round too many
        is forgotten, and the hands of results that are shown no more: the state is written down
        with every input.
        """
        entries = kept(self.entries, entry)
        return replace(self, entries=entries, played=behind(self.played, entries))

    def round_of(self, number: int) -> Any:
        """The round behind a result, None where it is not kept."""
        return next((each for each in self.played if each.round == number), None)


def kept(entries: tuple[Entry, ...], entry: Entry) -> tuple[Entry, ...]:
    """These outcomes with one more: the hands of results that are shown no more are forgotten."""
    every = in_place(entries, entry)[-REMEMBERED:]
    older = (replace(each, hands=()) if each.kind == "result" else each for each in every[:-SHOWN])
    return (*older, *every[-SHOWN:])


def behind(played: tuple[P, ...], entries: tuple[Entry, ...]) -> tuple[P, ...]:
    """The rounds behind the results that are still shown."""
    return tuple(each for each in played if each.round >= entries[-SHOWN:][0].round)
