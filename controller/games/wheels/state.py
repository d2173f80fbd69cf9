"""What a table with a wheel remembers, whatever its game: the round in hand, the latest rounds,
announced last balls.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Literal, Self, TypeVar

import msgspec

from controller.contract.events import Frame
from controller.games.rounds import Rounds, in_place
from controller.games.stakes import Stake
from devices.readings import Number, Phase

SHOWN = 20
"""Rounds that the retained history shows."""


Purpose = Literal["close", "limit"]


class WheelRound(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The round in hand. ``frames``: its evidence so far, oldest first.

    ``said``: what is said once and was: breaches, the last call. ``asks``: the commands one of
    which it waits for; ``landed``: the number that waits with it, ``cell`` where it lies, if the
    wheel tells places. ``confirmed_by``: who let it go on. ``bets``: those that were told.
    """

    round: int
    spin: int | None = None
    relaunch: bool = False
    last: bool = False
    launched: bool = False
    closed: bool = False
    frames: tuple[Frame, ...] = ()
    said: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    landed: Number | None = None
    cell: int | None = None
    confirmed_by: str | None = None
    bets: tuple[Stake, ...] = ()

    @property
    def begun(self) -> bool:
        """Whether its ball was launched, or its wheel set going, for all that is known."""
        return self.launched or self.closed


class WheelEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of one round. ``number`` is a result, ``candidate`` is none until a person
    confirms it; ``cell``: where the wheel told that it lies; ``bets``: those that were told.
    """

    round: int
    kind: Literal["result", "void", "unresolved"]
    spin: int | None = None
    number: Number | None = None
    candidate: Number | None = None
    cell: int | None = None
    frames: tuple[Frame, ...] = ()
    reason: str | None = None
    article: str | None = None
    last: bool = False
    bets: tuple[Stake, ...] = ()
    corrected: bool = False

    @property
    def told(self) -> Number | None:
        """What the wheel or a person said of it, be it a result or a candidate."""
        return self.candidate if self.number is None else self.number


class WheelCountdown(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Announced last balls: ``left`` of them, from round ``since`` on. ``minimum``: what holds
    afterwards.
    """

    purpose: Purpose
    left: int
    since: int
    minimum: int | None = None


class WheelTally(msgspec.Struct, frozen=True):
    """Where the results so far have led: the last valid number."""

    number: Number | None = None

    def after(self, entry: WheelEntry) -> Self:
        """Null and unresolved rounds change nothing."""
        return self if entry.number is None else msgspec.structs.replace(self, number=entry.number)

    def anew(self) -> Self:
        """What of it goes on into the next session: where the ball lies."""
        return type(self)(self.number)


T = TypeVar("T", bound=WheelTally)


class WheelState(Rounds[WheelEntry], frozen=True, kw_only=True, omit_defaults=True):
    """A table with a wheel between two inputs.

    ``phase`` and ``spin``: what the wheel last said, live. ``spent``: the outcome of what the wheel
    is doing is known, so nothing of it counts until it starts over. ``gap``: the device was silent
    since the wheel last started over. ``relaunch``: the round before was null and none has
    followed. ``faults``: what the wheel complains of now. ``foreign``: devices that said what no
    wheel of the game says, and are not listened to in this session. ``before``: the tally before
    the oldest entry.
    """

    kept: ClassVar[int] = 60
    """About an hour of play."""

    current: WheelRound | None = None
    phase: Phase | None = None
    spin: int | None = None
    spent: bool = False
    gap: bool = False
    relaunch: bool = False
    faults: tuple[str, ...] = ()
    countdowns: tuple[WheelCountdown, ...] = ()
    entries: tuple[WheelEntry, ...] = ()
    foreign: tuple[str, ...] = ()
    before: WheelTally = WheelTally()

    def tally(self, upto: int | None = None) -> WheelTally:
        """The tally after all remembered rounds, or after round ``upto``."""
        return tallied(self.before, self.entries, upto)

    def with_entry(self, entry: WheelEntry) -> Self:
        """With this outcome in the place of any earlier one of its round; the oldest round too many
        is forgotten.
        """
        entries = in_place(self.entries, entry)
        before = self.before
        if len(entries) > self.kept:
            before, entries = before.after(entries[0]), entries[1:]
        return msgspec.structs.replace(self, entries=entries, before=before)

    def left(self, purpose: Purpose) -> int | None:
        """How many announced last balls are left, or None where none were announced."""
        return next((each.left for each in self.countdowns if each.purpose == purpose), None)


def tallied(before: T, entries: Iterable[WheelEntry], upto: int | None = None) -> T:
    """A tally after these rounds, or those of them up to round ``upto``."""
    tally = before
    for entry in entries:
        if upto is None or entry.round <= upto:
            tally = tally.after(entry)
    return tally
