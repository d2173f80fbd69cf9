"""The state machine that every game is: the table of its input handlers, the step, the roles and
what is confidential.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

from common.contract.commands import (
    COMMANDS,
    AnyCommand,
    CardDecide,
    Command,
    Role,
    RoundConfirm,
    RoundVoid,
    WitnessReport,
    tag_of,
)
from common.contract.events import AnyEvent, CardDealt, CardRemoved, CardTurned, ResultCorrected
from common.contract.history import AnyLine
from common.contract.outcomes import hands
from common.contract.refusals import RejectedError
from common.contract.shown import AnyShown
from common.contract.topics import level
from common.readings import (
    AnyReading,
    CardDrawn,
    LinkGap,
    LinkLate,
    LinkLost,
    LinkStale,
    LinkUnintelligible,
    LinkUp,
    Number,
    ShoeFault,
    ShufflerVerdict,
)
from controller.games.game import GameView
from controller.games.guards import Rows, accepted, allow_role
from controller.games.rounds import GameState
from controller.games.shoe import CARD_FAULTS
from controller.rulebooks.deciders import Decider

Choices = Mapping[type[Command], Mapping[str, tuple[str, ...]]]
Handlers = Mapping[type[Any], Callable[[Any, Any], None] | None]

SILENCES = (LinkUp, LinkStale, LinkLost, LinkUnintelligible, LinkLate, LinkGap)
"""Readings that a device is silent or back, or that its readings came late or were lost."""


SETTLING_COMMANDS: tuple[type[Command], ...] = (RoundConfirm, RoundVoid)
"""Commands that settle an unresolved round."""


class Inputs(NamedTuple):
    """The inputs of a game. A reading without a handler is ignored; a command without a row is
    refused.
    """

    readings: Handlers = MappingProxyType({})
    commands: Rows = MappingProxyType({})
    withdrawn: tuple[type[Command], ...] = ()
    """Commands that the same command with ``valid`` false withdraws."""
    leaves_out: Mapping[type[Command], tuple[str, ...]] = MappingProxyType({})
    """By command: its fields that this game does not read, or refuses."""

    def also(
        self,
        readings: Handlers = MappingProxyType({}),
        commands: Rows = MappingProxyType({}),
        withdrawn: tuple[type[Command], ...] = (),
        leaves_out: Mapping[type[Command], tuple[str, ...]] = MappingProxyType({}),
    ) -> Inputs:
        """Add the inputs of one game; they replace those of the same type."""
        return Inputs(
            {**self.readings, **readings},
            {**self.commands, **commands},
            (*self.withdrawn, *withdrawn),
            {**self.leaves_out, **leaves_out},
        )

    @property
    def takes(self) -> Handlers:
        """The moves of each input."""
        return {**self.readings, **{kind: row.apply for kind, row in self.commands.items()}}

    def roles(self, void_by: tuple[Role, ...]) -> Mapping[type[Command], tuple[Role, ...]]:
        """The roles that may give each command. ``void_by``: those that may void a round."""
        return {kind: row.roles or void_by for kind, row in self.commands.items()}


class Step(Protocol):
    """One step of a game: the moves that follow from one input."""

    state: Any
    events: list[AnyEvent]

    def after_input(self) -> None:
        """Make the moves that follow from an input without another one."""
        ...


class Decree(Protocol):
    """A game's page of the rulebook, as far as it is needed here."""

    @property
    def void_by(self) -> tuple[Role, ...]:
        """The roles that may void a round."""
        ...

    @property
    def void(self) -> Mapping[Any, Any]:
        """The law behind each reason to void a round."""
        ...


B = TypeVar("B", bound=Decree)
S = TypeVar("S")
T = TypeVar("T", bound=GameState)
M = TypeVar("M", bound=Step)


class Kind(NamedTuple):
    """What makes a game. Each function but ``prepare``, ``rules``, ``history`` and ``named`` gets
    the game first.
    """

    state_type: type[Any]
    turn_type: Callable[..., Any]
    """Makes one step from book, settings, state and rules."""
    inputs: Inputs
    show: Callable[[Any, Any], AnyShown]
    """The retained state; of cards, only those face up."""
    history: Callable[[Any], list[AnyLine]]
    """The latest rounds of the session, oldest first, from a turn."""
    prepare: Callable[[Any, Any], Any] = lambda book, _: book
    """The page of the rulebook as these settings make it. Raises ``ValueError`` for settings that
    the decree does not allow.
    """
    rules: Callable[[Any, Any], Any] = lambda *_: None
    """What each turn needs that derives from book and settings."""
    choices: Callable[[Any], Choices] = lambda _: {}
    """By command and field, the values that the game and its decree know, besides the reasons to
    void a round.
    """
    jackpot_bet: Callable[[Any], str | None] = lambda _: None
    """The bet on a jackpot, if this table has one."""
    face_down: bool = True
    """Whether cards are ever face down."""
    confidential: Callable[[Any, Any, Any], bool | None] = lambda *_: None
    """Whether an input in this state is confidential; None if the cards that it names decide."""
    named: Callable[[Any], set[str]] = lambda _: set()
    """The cards named by an input of this game."""
    seen: Callable[[Any, Any], set[str]] = lambda *_: set()
    """The cards that are face up and that an input may name again. In most games no card is named
    again once it is face up.
    """
    hears: Callable[[Any, Any], bool] | None = None
    """Whether the turn, the first argument, handles this reading at all; None: any reading."""
    read_witness_report: Callable[[Any, WitnessReport], Number | tuple[int, ...]] | None = None
    """The number or the dice of a report of a second witness; rejects those that no round can have.
    None: the game has no second witness.
    """
    decider_kind: Callable[[Any, Any], str] | None = None
    """The kind of a command to the turn, besides the reason to void a round, that a decree may
    reserve for certain roles; empty if it has none. None: no command has one.
    """


class Machine(Generic[B, S, T, M]):
    """A game under one decree with one table's settings. Each game supplies its kind."""

    kind: ClassVar[Kind]

    def __init__(self, book: B, settings: S) -> None:
        kind = self.kind
        self.book: B = kind.prepare(book, settings)
        self.settings = settings
        self.rules = kind.rules(self.book, settings)
        self.state_type: type[T] = kind.state_type
        self.inputs = kind.inputs
        self.face_down = kind.face_down
        self._handlers = self.inputs.takes
        self.appoint({})
        rows = self.inputs.commands
        self._rows = tuple((rows[kind], tag_of(kind)) for kind in COMMANDS if kind in rows)

    def appoint(self, deciders: Mapping[str, Decider]) -> None:
        """Set the roles of each command, or of each kind of one, to those that the decree names;
        the others keep the default.
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

    def read_witness_report(self, command: WitnessReport) -> Number | tuple[int, ...]:
        """Return the number or the dice of a report of a second witness. Raises ``RejectedError``
        if no round of the game can have this result.
        """
        if self.kind.read_witness_report is None:
            raise RejectedError("unknown_command", command=level(tag_of(WitnessReport)))
        return self.kind.read_witness_report(self, command)

    def turn(self, state: T) -> M:
        """One step of the game from this state."""
        turn: M = self.kind.turn_type(self.book, self.settings, state, self.rules)
        return turn

    def step(self, state: T, received: AnyReading | AnyCommand) -> tuple[T, tuple[AnyEvent, ...]]:
        """The next state and the events of one input. Raises ``RejectedError`` for a command that
        is refused.
        """
        turn = self.turn(state)
        handle, hears = self._handlers.get(type(received)), self.kind.hears
        if isinstance(received, Command):
            self._allow_role(turn, received)
            self.inputs.commands[type(received)].require(turn, received)
        elif handle is None or (hears is not None and not hears(turn, received)):
            return state, ()
        if handle is not None:
            handle(turn, received)
            turn.after_input()
        return turn.state, tuple(turn.events)

    def roles_by_reason(self, command: str) -> dict[str, tuple[Role, ...]]:
        """The roles that the decree names for values of the command's field ``reason``."""
        if command != tag_of(RoundVoid):
            return {}
        return {
            cell.of: cell.roles
            for cell in self.deciders.values()
            if cell.of and cell.command == command
        }

    def _allow_role(self, turn: M, command: AnyCommand) -> None:
        """Reject a command that the game does not have, and a role that may not give it, or that
        the decree does not name for this kind of the command.
        """
        roles = self.roles.get(type(command))
        if roles is None:
            raise RejectedError("unknown_command", command=level(tag_of(type(command))))
        allow_role(command.role, roles)
        if not self.deciders:
            return
        if isinstance(command, RoundVoid):
            kind: str = command.reason
        elif self.kind.decider_kind is not None:
            kind = self.kind.decider_kind(turn, command)
        else:
            return
        if kind and (cell := self.deciders.get(f"{tag_of(type(command))} {kind}")):
            allow_role(command.role, cell.roles)

    def choices(self) -> Choices:
        """By command and field, the values that the game and its decree know."""
        void: Choices = {RoundVoid: {"reason": tuple(self.book.void)}} if self.book.void else {}
        return {**void, **self.kind.choices(self)}

    def confidential(
        self, state: T, received: AnyReading | AnyCommand, events: tuple[AnyEvent, ...]
    ) -> bool:
        """Whether an input names a card that neither the events of its step nor the table show. A
        fault about a card may name it. Only a person may name a face-up card again: a reader that
        does so misread another card.
        """
        decided = self.kind.confidential(self, state, received)
        if decided is not None:
            return decided
        if isinstance(received, ShoeFault):
            return received.fault in CARD_FAULTS
        open_cards = self.kind.seen(self, state) if isinstance(received, Command) else set()
        return not self.named(received) <= revealed(events) | open_cards

    def named(self, received: AnyReading | AnyCommand) -> set[str]:
        """The cards named by an input."""
        if isinstance(received, ShufflerVerdict):
            return {*received.missing, *received.extra}
        if isinstance(received, CardDrawn | CardDecide):
            return set() if received.card is None else {received.card}
        return self.kind.named(received)

    @property
    def jackpot_bet(self) -> str | None:
        """The bet on a jackpot, if this table has one."""
        return self.kind.jackpot_bet(self)

    def view(self, state: T) -> GameView:
        """Return the part of the retained topics that is derived from a state."""
        turn = self.turn(state)
        return GameView(
            self.kind.show(self, state),
            accepted(self._rows, turn),
            partial(self.kind.history, turn),
        )


AnyMachine = Machine[Any, Any, Any, Any]


def revealed(events: Iterable[AnyEvent]) -> set[str]:
    """The cards that these events reveal. ``cards.burned`` is ignored: the card that it shows was
    revealed before, and burned cards of the same value were not.
    """
    found: set[str | None] = set()
    for event in events:
        match event:
            case CardDealt() | CardTurned() | CardRemoved():
                found.add(event.card)
            case ResultCorrected():
                found.update(card for hand in hands(event.outcome) for card in hand.cards)
    return {card for card in found if card is not None}
