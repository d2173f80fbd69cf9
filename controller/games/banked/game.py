"""Games in which boxes play one deck against the house or whoever has the bank: what their state machines have in common.

Bets open and close by a person's key; then cards come, face down, where the rules say: read one by one by a shoe, in packets
from a shuffler, or dealt by hand. What a hand is, is known when a person turns it (``cards.turn``, where a reader knows it) or
tells it (``cards.show``). Where to read on: ``banked.turn`` for the moves, ``banked.readings`` for what devices say,
``banked.commands`` for what people say, ``poker.cards`` for the cards on the table.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from controller.commands import AnyCommand, CardDecide, CardsDeal, CardsShow, Command, ResultCorrect, Role
from controller.events import AnyEvent, CardDealt, CardRemoved, CardTurned, ResultCorrected
from controller.games.banked import commands as banked_commands
from controller.games.banked import readings as banked_readings
from controller.games.banked.state import BankedState, Deal
from controller.games.banked.turn import BankedTurn
from controller.games.game import Rejected
from controller.games.poker import cards as poker_cards
from controller.games.poker.readings import OF_A_CARD
from controller.games.roles import allow
from devices.readings import AnyReading, CardDrawn, ShoeFault, ShufflerVerdict


class BankedGame(ABC):
    """Such a game under one decree with one table's settings. A game names its own ``Turn``, ``State`` and commands."""

    state_type: type[BankedState]
    turn_type: type[BankedTurn[Any, Any, Any]]
    face_down = True
    """Cards are dealt face down."""
    may: Mapping[type[Command], tuple[Role, ...]] = {}
    """Commands of its own, and whose they are."""
    take: Mapping[type[Any], Callable[[Any, Any], None]] = {}
    """Inputs of its own, and who takes them."""

    def __init__(self, book: Any, settings: Any) -> None:
        self.book = book
        self.settings = settings
        self._may = {**banked_commands.MAY, **self.may}
        self._take = {**banked_readings.TAKE, **banked_commands.TAKE, **self.take}

    def begin(self) -> Any:
        """A table that never played."""
        return self.state_type()

    def step(self, state: Any, given: AnyReading | AnyCommand) -> tuple[Any, tuple[AnyEvent, ...]]:
        """Take one input."""
        turn = self.turn_type(self.book, self.settings, state)
        if isinstance(given, Command):
            allow(given, self._may, self.book.void_by)
        take = self._take.get(type(given))
        if take is not None:
            take(turn, given)
        return turn.state, tuple(turn.events)

    def confidential(self, state: Any, given: AnyReading | AnyCommand) -> bool:
        """A card is confidential unless this very step tells it."""
        if isinstance(given, ShoeFault):
            return given.fault in OF_A_CARD
        if isinstance(given, ShufflerVerdict) and state.deal is None and not state.held:
            return False  # no card lies on the table, or waits
        cards = _named(given)
        return bool(cards) and not cards <= self._told(state, given)

    def _told(self, state: Any, given: AnyReading | AnyCommand) -> set[str]:
        """The cards that the events of this step tell."""
        try:
            _, events = self.step(state, given)
        except Rejected:
            return set()
        corrected = (hand for each in events if isinstance(each, ResultCorrected) for hand in each.hands or ())
        told = {each.card for each in events if isinstance(each, CardDealt | CardTurned | CardRemoved) and each.card}
        return told | {card for hand in corrected for card in hand.cards}

    def asks(self, state: Any) -> tuple[str, ...]:
        """The commands one of which the table waits for."""
        return self.turn_type(self.book, self.settings, state).asks()

    def show(self, state: Any) -> dict[str, Any]:
        """What the retained state tells: of cards, those that lie face up."""
        deal: Deal | None = state.deal
        return {
            "phase": self._phase(state),
            "session": state.session,
            "round": state.round,
            "asks": list(self.asks(state)),
            "expected": state.expected,
            "boxes": list(state.boxes),
            "hands": _hands(deal) if deal else {},
            "unresolved": [entry.round for entry in state.unresolved()],
            "last_rounds": state.last,
            "minimum": state.minimum,
            "currency": state.currency,
            "settings": msgspec.to_builtins(self.settings),
        }

    def history(self, state: Any) -> list[dict[str, Any]]:
        """The latest rounds of the session, oldest first."""
        shown: list[dict[str, Any]] = state.history()
        return shown

    def _phase(self, state: Any) -> str:
        """``closed``, ``waiting`` for bets, ``bets_open``, ``decision``, ``dealing``, or as the game names it."""
        if not state.open:
            return "closed"
        if state.stop is not None:
            return "decision"
        if state.deal is None:
            return "waiting"
        if not state.deal.closed:
            return "bets_open"
        return "dealing" if state.deal.due else self.stage(state.deal)

    @abstractmethod
    def stage(self, deal: Any) -> str:
        """The phase after the deal."""


def _hands(deal: Deal) -> dict[str, list[str | None]]:
    """The cards as they lie, null where they lie face down."""
    names = dict.fromkeys(each.to for each in deal.table if not each.gone)
    return {who: [each.card if each.up else None for each in poker_cards.hand(deal.table, who)] for who in names}


def _named(given: AnyReading | AnyCommand) -> set[str]:
    """The cards that an input names."""
    match given:
        case CardDrawn() | CardDecide():
            return {given.card} if given.card else set()
        case CardsShow():
            return {*given.cards, *given.low}
        case CardsDeal():
            return set(given.cards)
        case ResultCorrect():
            return {card for cards in (given.hands or {}).values() for card in cards}
        case ShufflerVerdict():
            return {*given.missing, *given.extra}
    return set()
