"""State of a table of coups: the base of its ``State``."""

from __future__ import annotations

from typing import Any

from controller.games.dealt.state import DealtState, Held, Stop
from controller.games.rounds import E
from controller.games.shoe import Past, Shoe

CARD_DECISIONS = ("card.decide",)
ROUND_DECISIONS = ("round.confirm", "round.void")


class CoupState(DealtState[E], frozen=True, kw_only=True, omit_defaults=True):
    """Such a table between two inputs."""

    past: Past = ()
    """The shoes of the last sessions."""
    shoe: Shoe | None = None
    carried: tuple[Held, ...] = ()
    """Cards decided to be the first of the next round."""
    overflowed: bool = False
    """More cards came than can wait."""
    out_of_sync: bool = False
    """Cards go to no round, since a silence may have hidden where one ended or began, until a
    person opens one or the shoe says where it is.
    """
    unseen: bool = False
    """A round may have begun in a silence, at a table without keys."""
    reset: bool = False
    """The shoe restarted, and its content has not been stated."""

    @property
    def stop(self) -> Stop | None:
        """The first of: the shoe's content, a held card, a silence."""
        return first_stop(self)


def first_stop(state: CoupState[Any]) -> Stop | None:
    """The first of: the shoe's content, a held card, a silence."""
    if state.reset:
        return Stop("shoe_reset", ("shoe.start", *CARD_DECISIONS), "shoe_restarted")
    if state.held or (state.current is not None and state.current.unread):
        why = state.held[0].trouble if state.held else None
        asks = (*CARD_DECISIONS, "round.void") if state.current else CARD_DECISIONS
        return Stop(why or "card_unread", asks, "card_waits")
    if state.current is not None:
        return Stop("silence", ROUND_DECISIONS) if state.current.gap else None
    playable = state.shoe is not None and not state.shoe.over and state.last != 0
    return Stop("silence", ("bets.open",)) if state.out_of_sync and playable else None
