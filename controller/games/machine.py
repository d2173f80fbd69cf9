"""The state machine that every game is: who takes which input, in one table; what a step makes of
it; what is confidential.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

from controller.contract.commands import (
    COMMANDS,
    AnyCommand,
    CardDecide,
    Command,
    Role,
    RoundConfirm,
    RoundVoid,
    tag_of,
)
from controller.contract.events import AnyEvent, CardDealt, CardRemoved, CardTurned, ResultCorrected
from controller.contract.history import AnyLine
from controller.contract.outcomes import hands
from controller.contract.shown import AnyShown
from controller.games.moves import GameState, Moves
from controller.games.roles import AT_THE_TABLE, IN_CHARGE, allow, allow_role
from controller.games.shoe import CARD_FAULTS
from controller.games.when import Whens
from controller.rulebooks.deciders import Decider
from devices.readings import (
    AnyReading,
    CardDrawn,
    LinkGap,
    LinkLate,
    LinkLost,
    LinkStale,
    LinkUnintelligible,
    LinkUp,
    ShoeFault,
    ShufflerVerdict,
)

Choices = Mapping[type[Command], Mapping[str, tuple[str, ...]]]
Handlers = Mapping[type[Any], Callable[[Any, Any], None]]
NO_HANDLERS: Handlers = MappingProxyType({})

SILENCES = (LinkUp, LinkStale, LinkLost, LinkUnintelligible, LinkLate, LinkGap)
"""Readings about a silence: a device is silent, is back, or its readings came late or were lost.
"""


SETTLING_COMMANDS: tuple[type[Command], ...] = (RoundConfirm, RoundVoid)
"""Commands that settle an unresolved round."""


class Inputs(NamedTuple):
    """Who takes which input. A reading that is not here does not concern the game; a command is
    refused.

    ``in_charge`` and ``at_the_table``: commands by role. ``of_voiders``: those of these commands
    that are reserved for the people whom the rulebook allows to void a round.
    """

    readings: Handlers = NO_HANDLERS
    in_charge: Handlers = NO_HANDLERS
    at_the_table: Handlers = NO_HANDLERS
    of_voiders: tuple[type[Command], ...] = (RoundVoid,)
    withdrawn: tuple[type[Command], ...] = ()
    """Commands that are taken back by the same with ``valid`` false."""
    leaves_out: Mapping[type[Command], tuple[str, ...]] = MappingProxyType({})
    """By command: its fields that this game does not read, or refuses."""
    when: Whens = MappingProxyType({})
    """The preconditions of commands that a table does not accept at any time."""

    def also(
        self,
        readings: Handlers = NO_HANDLERS,
        in_charge: Handlers = NO_HANDLERS,
        at_the_table: Handlers = NO_HANDLERS,
        when: Whens = MappingProxyType({}),
        withdrawn: tuple[type[Command], ...] = (),
        leaves_out: Mapping[type[Command], tuple[str, ...]] = MappingProxyType({}),
    ) -> Inputs:
        """These conditions, and before them those of one game."""
        return Inputs(
            {**self.readings, **readings},
            {**self.in_charge, **in_charge},
            {**self.at_the_table, **at_the_table},
            self.of_voiders,
            (*self.withdrawn, *withdrawn),
            {**self.leaves_out, **leaves_out},
            {**self.when, **when},
        )

    @property
    def takes(self) -> Handlers:
        """The roles of each command."""
        return {**self.readings, **self.in_charge, **self.at_the_table}

    def roles(self, void_by: tuple[Role, ...]) -> Mapping[type[Command], tuple[Role, ...]]:
        """Whose each command is, where these may void a round."""
        return (
            dict.fromkeys(self.in_charge, IN_CHARGE)
            | dict.fromkeys(self.at_the_table, AT_THE_TABLE)
            | {kind: void_by for kind in self.of_voiders if kind in self.takes}
        )


class Decree(Protocol):
    """A game's page of the rulebook, as far as it is needed here."""

    @property
    def void_by(self) -> tuple[Role, ...]:
        """Who may void a round."""
        ...

    @property
    def void(self) -> Mapping[Any, Any]:
        """The law behind each reason to void a round."""
        ...


B = TypeVar("B", bound=Decree)
S = TypeVar("S")
T = TypeVar("T", bound=GameState)
M = TypeVar("M", bound=Moves[Any, Any, Any])


class Machine(ABC, Generic[B, S, T, M]):
    """A game under one decree with one table's settings: what is alike in all of them.

    A game names its state, its turn and its inputs, and says what it shows.
    """

    state_type: type[T]
    turn_type: type[M]
    inputs: ClassVar[Inputs]
    face_down: bool = True

    def __init__(self, book: B, settings: S) -> None:
        self.book = book
        self.settings = settings
        self._handlers = self.inputs.takes
        self.appoint({})
        self._commands = tuple(kind for kind in COMMANDS if kind in self.roles)

    def appoint(self, deciders: Mapping[str, Decider]) -> None:
        """Leave each command, or each kind of one, to the roles that the decree names for it; the
        others to our default.
        """
        self.deciders = deciders
        self.roles = {
            kind: cell.roles if (cell := deciders.get(tag_of(kind))) else roles
            for kind, roles in self.inputs.roles(self.book.void_by).items()
        }
        self.settled_by: Mapping[str, tuple[Role, ...]] = {
            tag_of(kind): self.roles[kind] for kind in SETTLING_COMMANDS
        }

    def begin(self) -> T:
        """The initial state."""
        return self.state_type()

    def turn(self, state: T) -> M:
        """One step of the game from this state."""
        return self.turn_type(self.book, self.settings, state)

    def handler(
        self,
        turn: M,  # noqa: ARG002 - some games look
        received: AnyReading | AnyCommand,
    ) -> Callable[[M, Any], None] | None:
        """Who takes this input now."""
        return self._handlers.get(type(received))

    def step(self, state: T, received: AnyReading | AnyCommand) -> tuple[T, tuple[AnyEvent, ...]]:
        """Take one input."""
        turn = self.turn(state)
        if isinstance(received, Command):
            allow(received, self.roles)
            self._allow_kind(turn, received)
        handle = self.handler(turn, received)
        if handle is not None:
            handle(turn, received)
            turn.after_input()
        return turn.state, tuple(turn.events)

    def decider_kind(self, turn: M, command: AnyCommand) -> str:  # noqa: ARG002 - some games look
        """The kind of a command that a decree may reserve for a role of its own: a reason to void a
        round.
        """
        return command.reason if isinstance(command, RoundVoid) else ""

    def roles_by_reason(self, command: str) -> dict[str, tuple[Role, ...]]:
        """The roles that the decree names for values of the command's field ``reason``."""
        if command != tag_of(RoundVoid):
            return {}
        return {
            cell.of: cell.roles
            for cell in self.deciders.values()
            if cell.of and cell.command == command
        }

    def _allow_kind(self, turn: M, command: AnyCommand) -> None:
        """Reject a role that the decree does not name for this kind of the command."""
        kind = self.decider_kind(turn, command)
        if kind and (cell := self.deciders.get(f"{tag_of(type(command))} {kind}")):
            allow_role(command.role, cell.roles)

    def takes(self, state: T) -> tuple[str, ...]:
        """The commands that the table accepts in its present state, regardless of their fields and
        sender.
        """
        turn = self.turn(state)
        return tuple(tag_of(kind) for kind in self._commands if self.is_taken(turn, kind))

    def choices(self) -> Choices:
        """By command and field, the values that the game and its decree know."""
        return {RoundVoid: {"reason": tuple(self.book.void)}} if self.book.void else {}

    def is_taken(self, turn: M, kind: type[Command]) -> bool:
        """Whether the table takes a command of this kind now."""
        when = self.inputs.when.get(kind)
        return when is None or when(turn)

    def confidential(
        self, state: T, received: AnyReading | AnyCommand, events: tuple[AnyEvent, ...]
    ) -> bool:
        """Inputs that name a card that neither the events of their step nor the table show; a fault
        that is about a card may name it. Only a person names an open card again: a reader that does
        was wrong about another.
        """
        if isinstance(received, ShoeFault):
            return received.fault in CARD_FAULTS
        open_cards = self.seen(state) if isinstance(received, Command) else set()
        return not self.named(received) <= revealed(events) | open_cards

    def named(self, received: AnyReading | AnyCommand) -> set[str]:
        """The cards that an input names."""
        if isinstance(received, ShufflerVerdict):
            return {*received.missing, *received.extra}
        return (
            {received.card}
            if isinstance(received, CardDrawn | CardDecide) and received.card is not None
            else set()
        )

    def seen(self, state: T) -> set[str]:  # noqa: ARG002 - at most games no card is named again once it lies open
        """The cards that are face up and that an input may name again."""
        return set()

    @abstractmethod
    def show(self, state: T) -> AnyShown:
        """The retained state; of cards, only those face up."""

    @abstractmethod
    def history(self, state: T) -> list[AnyLine]:
        """The latest rounds of the session, oldest first."""


def revealed(events: Iterable[AnyEvent]) -> set[str]:
    """The cards that these events reveal. ``cards.burned`` is left out: what it shows was revealed
    before, and a burned card of the same value was not.
    """
    found: set[str | None] = set()
    for event in events:
        match event:
            case CardDealt() | CardTurned() | CardRemoved():
                found.add(event.card)
            case ResultCorrected():
                found.update(card for hand in hands(event.outcome) for card in hand.cards)
    return {card for card in found if card is not None}
