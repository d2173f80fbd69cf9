"""State of a table of craps. Everything is here; the game itself remembers nothing."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from common.contract.events import CrapsOutcome, Frame
from controller.games.craps.bets import Dice, next_point
from controller.games.rounds import Rounds, in_place
from controller.games.stakes import Stake

HISTORY_ROUNDS = 20
"""Throws in the retained history."""


class CrapsDiceSet(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The dice of the table, by serial number.

    ``lost``: those that left the table and were not found. ``unfit``: why they may not be used.
    """

    serials: tuple[str, ...]
    playing: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    unfit: tuple[str, ...] = ()

    @property
    def reserve(self) -> tuple[str, ...]:
        """The dice neither in play nor lost."""
        return tuple(serial for serial in self.serials if serial not in (*self.playing, *self.lost))


class CrapsRound(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The round in progress: one throw.

    ``throw``: the device's own count of it. ``frames``: its evidence so far, oldest first.
    ``early``: the dice moved before its bets were closed. ``said``: the breaches reported so far.
    ``asks``: the commands one of which answers its question. ``dice``: the total held back until
    then. ``confirmed_by``: the person who let it continue. ``uncounted``: the device was silent for
    so long that its count does not show whether a throw came; ``quiet_since``: since when it sends
    nothing, on its clock.
    """

    round: int
    closed: bool = False
    early: bool = False
    throw: int | None = None
    frames: tuple[Frame, ...] = ()
    said: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    dice: Dice | None = None
    confirmed_by: str | None = None
    uncounted: bool = False
    quiet_since: float | None = None


class CrapsEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of one throw. ``candidate`` is no result until a person confirms it.

    ``point``, ``shooter`` and ``bets`` are as they were before the throw.
    """

    round: int
    kind: Literal["result", "void", "unresolved"]
    dice: Dice | None = None
    candidate: Dice | None = None
    point: int | None = None
    shooter: int | None = None
    bets: tuple[Stake, ...] = ()
    throw: int | None = None
    frames: tuple[Frame, ...] = ()
    reason: str | None = None
    article: str | None = None
    corrected: bool = False

    @property
    def outcome(self) -> CrapsOutcome:
        """The total of a throw with a result."""
        assert self.dice is not None
        first, second = self.dice
        return CrapsOutcome(dice=(first, second), total=first + second, point=self.point)


class CrapsState(Rounds[CrapsEntry], frozen=True, kw_only=True, omit_defaults=True):
    """A table of craps between two inputs.

    ``before``: the point before the oldest entry. ``set``: the present dice. ``used``: those of
    this session that were put away. ``past``: those of the session before. ``seats``: in play,
    clockwise from the croupiers' left. ``thrown``: the seat that last had the dice. ``taken_over``:
    the shooter began in the middle of a series. ``last``: announced last shooters left.

    ``dice`` and ``throw``: the device's last live report. ``tells``: the device reports movement.
    ``moved``: the dice have moved since the last outcome. ``gap``: the device was silent since
    then, and ``airborne`` is the throw that the dice were in before. ``stray``: a throw outside a
    round was reported since. ``relaunch``: the throw before was void.
    """

    remembered_rounds: ClassVar[int] = 60
    """About an hour of play."""

    current: CrapsRound | None = None
    entries: tuple[CrapsEntry, ...] = ()
    before: int | None = None
    set: CrapsDiceSet | None = None
    used: tuple[str, ...] = ()
    past: tuple[str, ...] = ()
    seats: tuple[int, ...] = ()
    shooter: int | None = None
    thrown: int | None = None
    taken_over: bool = False
    bets: tuple[Stake, ...] = ()
    last: int | None = None
    dice: Literal["idle", "moving", "settled"] | None = None
    throw: int | None = None
    tells: bool = False
    moved: bool = False
    gap: bool = False
    airborne: int | None = None
    stray: bool = False
    relaunch: bool = False

    def point(self, points: tuple[int, ...], before_round: int | None = None) -> int | None:
        """The point after all remembered throws, or before round ``before_round``."""
        point = self.before
        for entry in self.entries:
            if entry.dice and (before_round is None or entry.round < before_round):
                point = next_point(points, point, sum(entry.dice))
        return point

    def after(self, entry: CrapsEntry, points: tuple[int, ...]) -> CrapsState:
        """The state with this outcome in place of an earlier one of its round; the oldest surplus
        round is forgotten.
        """
        entries = in_place(self.entries, entry)
        before = self.before
        if len(entries) > self.remembered_rounds:
            if entries[0].dice:
                before = next_point(points, before, sum(entries[0].dice))
            entries = entries[1:]
        return msgspec.structs.replace(self, entries=entries, before=before)

    @property
    def full(self) -> bool:
        """Whether one more throw would push out an unresolved one, without whose dice no later
        point is known.
        """
        return len(self.entries) == self.remembered_rounds and self.entries[0].kind == "unresolved"

    def results(self) -> list[CrapsEntry]:
        """The throws with a result."""
        return [entry for entry in self.entries if entry.kind == "result"]
