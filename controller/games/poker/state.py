"""The base of each poker game's ``State``: the outcomes and the hands of its rounds."""

from __future__ import annotations

from typing import Any, Self, TypeVar

from msgspec.structs import replace

from controller.games.dealt.state import HISTORY_ROUNDS, DealtEntry, DealtState
from controller.games.rounds import in_place
from controller.games.session import NumberedRound

MAX_REMEMBERED_ROUNDS = 60
"""Rounds whose outcome is remembered."""
P = TypeVar("P", bound=NumberedRound)


class PokerState(DealtState[DealtEntry], frozen=True, kw_only=True, omit_defaults=True):
    """A table of poker between two inputs: the base of all of them."""

    entries: tuple[DealtEntry, ...] = ()
    played: tuple[Any, ...] = ()
    """The rounds behind the latest results, as far as these depend on more than their hands: bets
    and decisions, and no card that lay face down.
    """

    def with_entry(self, entry: DealtEntry) -> Self:
        """With this outcome in the place of any earlier one of its round; the oldest round too many
        is forgotten, and the hands of results that are shown no more: the state is written down
        with every input.
        """
        entries = with_entry(self.entries, entry)
        return replace(self, entries=entries, played=behind(self.played, entries))

    def round_of(self, number: int) -> Any:
        """The round behind a result; None if it is not remembered."""
        return next((result for result in self.played if result.round == number), None)


def with_entry(entries: tuple[DealtEntry, ...], entry: DealtEntry) -> tuple[DealtEntry, ...]:
    """These outcomes with one more: the hands of results that are shown no more are forgotten."""
    every = in_place(entries, entry)[-MAX_REMEMBERED_ROUNDS:]
    older = (
        replace(result, hands=()) if result.kind == "result" else result
        for result in every[:-HISTORY_ROUNDS]
    )
    return (*older, *every[-HISTORY_ROUNDS:])


def behind(played: tuple[P, ...], entries: tuple[DealtEntry, ...]) -> tuple[P, ...]:
    """The rounds whose results are still published."""
    return tuple(result for result in played if result.round >= entries[-HISTORY_ROUNDS:][0].round)
