"""Black jack, and the triple game: one state machine; the rulebook makes the difference.

A round begins when a person says its boxes (``boxes.set``), or opens or closes its bets; its first card closes them. Cards go
where the rules say; what a hand does the croupier's keys say (``hand.…``). ``card.expected`` tells where the next card
belongs. The result comes by itself when no hand and no rule wants another card.

At a table without keys (``keys = false``) the shoe is counted and the cut card told; a round ends when the next begins or by
``round.confirm``. The dealer's hand is told then only where boxes and cards leave one possibility; else it is unresolved.

In the triple game each play of the dealer against the same hands is a round of its own, settled by itself; only the first
opens its bets.

Where to read on: ``blackjack.course`` for the rules of a round, ``blackjack.turn`` for the moves, ``blackjack.readings`` for
what the shoe says, ``blackjack.commands`` and ``blackjack.decisions`` for what people say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from controller.commands import (
    AnyCommand,
    BetsClose,
    BetsOpen,
    BoxesSet,
    CardDecide,
    Command,
    HandDouble,
    HandDraw,
    HandSplit,
    HandStand,
    HandSurrender,
    LastRoundsAnnounce,
    LimitAnnounce,
    RoundConfirm,
    RoundVoid,
    SessionClose,
    SessionOpen,
    ShoeEnd,
    ShoeStart,
)
from controller.events import AnyEvent, CardDealt, CardRemoved
from controller.games import shoe
from controller.games.blackjack import commands, course, decisions, readings
from controller.games.blackjack.course import Rules
from controller.games.blackjack.hands import points
from controller.games.blackjack.settings import BlackjackSettings, faults
from controller.games.blackjack.state import Deal, Entry, State
from controller.games.blackjack.turn import Turn, asks, seat_in_turn
from controller.games.game import Rejected
from controller.games.roles import allow
from controller.rulebooks.blackjack import Blackjack
from devices.readings import (
    AnyReading,
    CardCut,
    CardDrawn,
    LinkGap,
    LinkLate,
    LinkLost,
    LinkStale,
    LinkUnintelligible,
    LinkUp,
    ShoeFault,
    ShoeReset,
)

TAKE: Mapping[type[Any], Callable[[Turn, Any], None]] = {
    CardDrawn: readings.take_card,
    CardCut: readings.take_cut,
    ShoeReset: readings.take_reset,
    ShoeFault: readings.take_fault,
    **dict.fromkeys((LinkUp, LinkStale, LinkLost, LinkUnintelligible, LinkLate, LinkGap), readings.take_silence),
    SessionOpen: commands.open_session,
    SessionClose: commands.close_session,
    ShoeStart: commands.start_shoe,
    ShoeEnd: commands.end_shoe,
    BoxesSet: commands.set_boxes,
    BetsOpen: commands.open_bets,
    BetsClose: commands.close_bets,
    RoundVoid: commands.void,
    RoundConfirm: commands.confirm,
    LimitAnnounce: commands.announce_limit,
    LastRoundsAnnounce: commands.announce_last_rounds,
    CardDecide: decisions.decide,
    **dict.fromkeys((HandStand, HandDraw, HandDouble, HandSplit, HandSurrender), decisions.take_key),
}
"""Who takes which input. A reading that is not here does not concern the game; a command is refused."""


class BlackjackGame:
    """The game under one decree with one table's settings. Raises ``ValueError`` for settings that the decree does not allow."""

    state_type = State
    face_down = True
    """Every card is dealt face up, but those that are burned nobody sees."""

    def __init__(self, book: Blackjack, settings: BlackjackSettings) -> None:
        if wrong := faults(settings, book):
            raise ValueError(f"{'; '.join(wrong)}: {book.article}")
        self.book = book
        self.settings = settings
        self.rules = Rules(book, settings)

    def begin(self) -> State:
        """A table that never played."""
        return State()

    def step(self, state: State, given: AnyReading | AnyCommand) -> tuple[State, tuple[AnyEvent, ...]]:
        """Take one input."""
        turn = Turn(self.rules, state)
        if isinstance(given, Command):
            allow(given, commands.MAY, self.book.void_by)
        take = TAKE.get(type(given))
        if take is not None:
            take(turn, given)
        return turn.state, tuple(turn.events)

    def confidential(self, state: State, given: AnyReading | AnyCommand) -> bool:
        """A card is confidential unless this very step tells it: one that is burned, or waits for a decision, is not told."""
        return isinstance(given, CardDrawn | CardDecide) and given.card is not None and given.card not in self._told(state, given)

    def _told(self, state: State, given: AnyReading | AnyCommand) -> set[str | None]:
        """The cards that the events of this step tell."""
        try:
            _, events = self.step(state, given)
        except Rejected:
            return set()
        return {each.card for each in events if isinstance(each, CardDealt | CardRemoved)}

    def show(self, state: State) -> dict[str, Any]:
        """What the retained state tells: every card on the table lies face up."""
        deal, speaks = state.deal, seat_in_turn(self.rules, state)
        return {
            "phase": self._phase(state),
            "session": state.session,
            "round": state.round,
            "asks": list(asks(self.rules, state)),
            "expected": state.expected,
            "turn": speaks.who if speaks and not state.doubt else None,
            "hands": {seat.who: self._hand(seat.cards, course.worth(self.rules, seat)) for seat in deal.seats} if deal else {},
            "dealer": self._hand(deal.dealer, points(deal.dealer)) if deal and deal.dealer else None,
            "insurance": bool(deal and deal.insurance),
            "play": deal.play if deal else None,
            "last_round": deal.last if deal else False,
            "last_rounds": state.last_rounds,
            "shoe": shoe.show(state.shoe),
            "boxes": self.rules.boxes,
            "minimum": state.minimum,
            "next_minimum": state.limit.minimum if state.limit else None,
            "currency": state.currency,
            "settings": msgspec.to_builtins(self.settings),
        }

    def history(self, state: State) -> list[dict[str, Any]]:
        """The latest rounds of the session, oldest first."""
        return [_line(entry) for entry in state.entries]

    def _hand(self, cards: tuple[str, ...], total: int) -> dict[str, Any]:
        return {"cards": list(cards), "points": total}

    def _phase(self, state: State) -> str:
        """``closed``, ``no_shoe``, ``burning``, ``waiting`` for boxes, ``bets_open``, ``dealing``, ``players``, ``dealer``,
        ``decision``, ``shoe_over``.
        """
        if not state.open:
            return "closed"
        if asks(self.rules, state):
            return "decision"
        if state.shoe is None:
            return "no_shoe"
        if state.burn:
            return "burning"
        if state.deal is not None:
            return self._stage(state.deal)
        return "shoe_over" if state.shoe.over else "waiting"

    def _stage(self, deal: Deal) -> str:
        if not deal.begun:
            return "dealing" if deal.closed else "bets_open"
        if course.next_card(self.rules, deal) == course.DEALER and deal.dealer:
            return "dealer"
        whole = bool(deal.dealer) and all(len(seat.cards) > 1 or seat.split for seat in deal.seats)
        return "players" if whole else "dealing"


def _line(entry: Entry) -> dict[str, Any]:
    line: dict[str, Any] = {"round": entry.round, "kind": entry.kind}
    if entry.kind == "result":
        line |= {"hands": msgspec.to_builtins(entry.hands), "marks": list(entry.marks)}
    if entry.kind == "void":
        line |= {"reason": entry.reason, "article": entry.article}
    return line
