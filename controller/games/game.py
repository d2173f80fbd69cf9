"""The contract of a game, and the table of games.

A game is a pure function over a state that can be written down: ``step(state, input)`` gives the
next state and the events. It has no clock, does no I/O and never logs; the same inputs always give
the same events.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from common.contract.commands import AnyCommand, Role, WitnessReport
from common.contract.events import AnyEvent
from common.contract.history import AnyLine
from common.contract.shown import AnyShown
from common.readings import AnyReading, Number


class GameView(NamedTuple):
    """The part of the retained topics that is derived from a state of the game."""

    shown: AnyShown
    """The game's part of ``state``: phase, round, last number ... JSON values only; of cards, only
    those face up. ``asks`` lists the commands one of which the game waits for, ``unresolved`` the
    rounds whose result a person may still give; the table is ``waiting`` while either is not empty.
    """
    takes: tuple[str, ...]
    """The commands that the table accepts in this state, as far as that does not depend on their
    fields or their sender. Any other is refused now.
    """
    history: Callable[[], list[AnyLine]]
    """Makes the latest rounds of ``history``, oldest first, of the state's ``entries`` alone, if it
    has any. They take long to make and change seldom.
    """


class Game(Protocol):
    """One game under one decree with one table's settings."""

    state_type: type[Any]
    """The frozen msgspec struct that holds everything the game remembers. ``msgspec.json`` writes
    and reads it. The table reads ``entries``, ``current``, ``alerts`` and ``jackpot`` of it, which
    :class:`~controller.games.rounds.GameState` declares.
    """

    face_down: bool
    """Whether cards are ever face down. If so, the table's state and its devices' reports are
    confidential.
    """

    @property
    def jackpot_bet(self) -> str | None:
        """The bet on a jackpot, if this table has one."""
        ...

    @property
    def settled_by(self) -> Mapping[str, tuple[Role, ...]]:
        """The commands that settle an unresolved round, and the roles that may give each."""
        ...

    def begin(self) -> Any:
        """The initial state."""
        ...

    def read_witness_report(self, command: WitnessReport) -> Number | tuple[int, ...]:
        """Return the number or the dice of a report of a second witness. Raises ``RejectedError``
        if no round of the game can have this result.
        """
        ...

    def step(
        self, state: Any, received: AnyReading | AnyCommand
    ) -> tuple[Any, tuple[AnyEvent, ...]]:
        """The next state and the events of one input. Raises ``RejectedError`` for a command that
        is refused; a reading is never refused.
        """
        ...

    def confidential(
        self, state: Any, received: AnyReading | AnyCommand, events: tuple[AnyEvent, ...]
    ) -> bool:
        """True if this input names a card that must not be seen at the table yet; it is then
        published for surveillance only.

        ``state`` is the one before the step, ``events`` are those of the step. Called after each
        step of a game with :attr:`face_down`.
        """
        ...

    def view(self, state: Any) -> GameView:
        """Return the part of the retained topics that is derived from a state."""
        ...
