"""State of a table with a wheel in any game: the round in progress, the latest rounds, the
announced last balls.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Literal, Self, TypeVar

import msgspec

from common.contract.events import Frame
from common.readings import Number, Phase
from controller.games.rounds import Rounds, in_place
from controller.games.stakes import Stake

HISTORY_ROUNDS = 20
"""Rounds in the retained history."""


Purpose = Literal["close", "limit"]


class WheelRound(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The round in progress. ``frames``: its evidence so far, oldest first. ``said``: breaches and
    calls announced so far. ``asks``: the commands one of which answers its question. ``landed``:
    the number held back until then; ``cell``: its place, if the wheel reports places.
    ``confirmed_by``: the person who let it continue. ``bets``: the reported ones. ``missed``: the
    device was silent since its ball fell or may have fallen, so that a number may be of another
    spin; ``uncounted``: for so long that the wheel's count does not show whether it is.
    ``quiet_since``: since when the device sends nothing, on its clock.
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
    missed: bool = False
    uncounted: bool = False
    quiet_since: float | None = None

    @property
    def begun(self) -> bool:
        """Whether its ball was launched or its wheel set going, as far as is known."""
        return self.launched or self.closed


class WheelEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The outcome of one round. ``number`` is a result; ``candidate`` stays pending until a person
    confirms it. ``cell``: where the wheel reported it. ``bets``: those reported.
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
    def reported(self) -> Number | None:
        """The number reported by the wheel or a person, as a result or a candidate."""
        return self.candidate if self.number is None else self.number


class WheelCountdown(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Announced last balls: ``left`` of them, from round ``since`` on. ``minimum``: the one that
    holds afterwards.
    """

    purpose: Purpose
    left: int
    since: int
    minimum: int | None = None


class WheelTally(msgspec.Struct, frozen=True):
    """The last valid number so far."""

    number: Number | None = None

    def after(self, entry: WheelEntry) -> Self:
        """Add a round. Void and unresolved rounds change nothing."""
        return self if entry.number is None else msgspec.structs.replace(self, number=entry.number)


T = TypeVar("T", bound=WheelTally)


class WheelState(Rounds[WheelEntry], frozen=True, kw_only=True, omit_defaults=True):
    """A table with a wheel between two inputs. ``phase`` and ``spin``: the wheel's last live
    report. ``spent``: the outcome of the current spin is known, so nothing more of it counts until
    the wheel starts again. ``gap``: the device was silent since the wheel last started again.
    ``relaunch``: the round before was void and none has followed. ``faults``: the wheel's present
    faults. ``foreign``: devices of another game, ignored in this session. ``before``: the tally
    before the oldest entry. ``second``: the round and the other place that was last reported for
    it. ``opened``: devices whose link was opened, and nothing lost since.
    """

    remembered_rounds: ClassVar[int] = 60
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
    second: tuple[int, str] | None = None
    opened: tuple[str, ...] = ()

    def tally(self, upto: int | None = None) -> WheelTally:
        """The tally after all remembered rounds, or after round ``upto``."""
        return tallied(self.before, self.entries, upto)

    def with_entry(self, entry: WheelEntry) -> Self:
        """The state with this outcome in place of an earlier one of its round; the oldest surplus
        round is forgotten.
        """
        entries = in_place(self.entries, entry)
        before = self.before
        if len(entries) > self.remembered_rounds:
            before, entries = before.after(entries[0]), entries[1:]
        return msgspec.structs.replace(self, entries=entries, before=before)

    def left(self, purpose: Purpose) -> int | None:
        """How many announced last balls are left; None where none were announced."""
        return next(
            (countdown.left for countdown in self.countdowns if countdown.purpose == purpose), None
        )

    @property
    def next_minimum(self) -> int | None:
        """The announced minimum; None where none was announced."""
        return next(
            (countdown.minimum for countdown in self.countdowns if countdown.purpose == "limit"),
            None,
        )


def tallied(before: T, entries: Iterable[WheelEntry], upto: int | None = None) -> T:
    """A tally after these rounds, or those of them up to round ``upto``."""
    tally = before
    for entry in entries:
        if upto is None or entry.round <= upto:
            tally = tally.after(entry)
    return tally
