"""Driver of a reader of dice, built by the house: see ``docs/board.md``.

The board says raw which faces it sees, where, and whether they move; it counts the throws. A throw
is read when the same faces were seen, not moving, for ``settle_time`` without a break. Each throw
has one outcome: its values, or faults that a person sees to. Dice that lie as they lay after the
throw before were not thrown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import permutations
from math import dist
from typing import Annotated, ClassVar, Literal, NamedTuple

import msgspec

from devices.board import codec
from devices.board.agreement import Agreement
from devices.board.codec import Heard
from devices.board.launches import LaunchBoard
from devices.codec import Driver
from devices.readings import AnyReading, DiceFault, DiceFaultName, DiceRead, DiceState

NOT_A_VALUE: dict[str, DiceFaultName] = {"?": "no_read", "/": "cocked"}
"""What the board says in the place of a face, and what that means."""


class Options(codec.Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``dice``: how many are thrown; ``settle_time``: seconds that the same faces are seen before
    they are read; ``same_place``: millimetres by which a die that was not moved may be seen
    elsewhere.
    """

    dice: Annotated[int, msgspec.Meta(ge=1, le=5)] = 2
    settle_time: Annotated[float, msgspec.Meta(gt=0, le=3600)] = 1.0
    same_place: Annotated[float, msgspec.Meta(ge=0, le=3600)] = 3.0


class Die(NamedTuple):
    """A die as it is seen: its upper face, or what is in its place; and where it lies, where that
    is known.
    """

    face: str
    place: tuple[int, int] | None


class DiceBoard(LaunchBoard):
    """One reader. See :class:`devices.codec.Codec`."""

    kind = "dice"
    words: ClassVar[Mapping[str, re.Pattern[str]]] = {
        "dice": re.compile(
            r"(?P<moving>[01]),(?P<throws>\d{1,5}),(?P<health>[a-z_]{1,16})"
            r"(?P<dice>(?:,[1-6?/](?:@\d{1,4}\.\d{1,4})?){0,8})"
        )
    }

    def __init__(self, device: str, options: Options) -> None:
        super().__init__(device, options)
        self._options = options
        self._lie: Agreement[tuple[list[str], bool]] = Agreement()
        self._moved = False  # the dice were seen to move since the throw began
        self._before: tuple[Die, ...] = ()  # how they lay after the throw before
        self._shown: tuple[str, int | None, bool] | None = None
        self._faults: dict[DiceFaultName, str | None] = {}

    def missed(self) -> None:
        """What was seen before must be seen again for as long; they may have moved."""
        super().missed()
        self._lie.broken()
        self._moved = True

    def take(self, heard: Heard, out: list[AnyReading]) -> None:
        """``dice``: whether they move, how many throws there were, whether the reader is well, and
        each die with its place.
        """
        moving, throws = heard.fields["moving"] == "1", int(heard.fields["throws"])
        dice, health = read_dice(heard.fields["dice"]), heard.fields["health"]
        known = self._launches
        self.follow(throws, moving)
        if known is not None and throws not in (known, self.spin):
            self.begin(throws)
            self._lie.broken()  # they may be about to move
            self._moved = False
        if not self.begun and not self.candidate and self.waiting:
            self.begun = True
            self._end_faults(heard, out)
        lain = self._lie.held((sorted(die.face for die in dice), moving), heard.at)
        self._moved = self._moved or moving
        self._fault("sensor", health != "ok", heard, out, None if health == "ok" else health)
        if not self.waiting:
            lying = dice and self._shown is not None and self._shown[0] == "settled"
            self._show("settled" if lying else "idle", heard, out)
        elif moving:
            self._show("moving", heard, out)
        elif lain >= self._options.settle_time:
            self._settle(dice, health, heard, out)

    def _settle(
        self, dice: tuple[Die, ...], health: str, heard: Heard, out: list[AnyReading]
    ) -> None:
        """The dice lie: what is wrong with them, or what they show."""
        self.waiting = False
        self._end_faults(heard, out)
        if self.candidate and not dice:
            return  # they were taken up since, and nobody knows how they lay
        wrong = self._wrong(dice)
        if health != "ok" and not wrong:
            wrong["no_read"] = health
        self._show("settled", heard, out)
        for fault, detail in wrong.items():
            self._fault(fault, True, heard, out, detail)
        self._before = dice
        if not wrong:
            values = tuple(int(die.face) for die in dice)
            late = heard.late or self.candidate
            out.append(
                DiceRead(
                    at=heard.now,
                    device=self._device,
                    frame=heard.frame,
                    values=values,
                    throw=self.spin,
                    late=late,
                )
            )

    def _wrong(self, dice: tuple[Die, ...]) -> dict[DiceFaultName, str | None]:
        wrong: dict[DiceFaultName, str | None] = {}
        if len(dice) != self._options.dice:
            wrong["missing" if len(dice) < self._options.dice else "extra"] = (
                f"{len(dice)} of {self._options.dice}"
            )
        for sign, fault in NOT_A_VALUE.items():
            if any(die.face == sign for die in dice):
                wrong[fault] = None
        if not wrong and self._as_before(dice):
            wrong["unchanged"] = None
        return wrong

    def _as_before(self, dice: tuple[Die, ...]) -> bool:
        """Whether every die lies as one lay before. Where no places are known, motion
        alone tells.
        """
        if self._moved and not all(die.place for die in dice):
            return False
        return len(dice) == len(self._before) and any(
            all(self._same(die, before) for die, before in zip(dice, order, strict=True))
            for order in permutations(self._before)
        )

    def _same(self, die: Die, before: Die) -> bool:
        apart = dist(die.place, before.place) if die.place and before.place else 0.0
        return die.face == before.face and apart <= self._options.same_place

    def _show(
        self, state: Literal["idle", "moving", "settled"], heard: Heard, out: list[AnyReading]
    ) -> None:
        if self._shown != (state, self.spin, heard.late):
            self._shown = state, self.spin, heard.late
            told = DiceState(
                at=heard.now,
                device=self._device,
                frame=heard.frame,
                state=state,
                throw=self.spin,
                late=heard.late,
            )
            out.append(told)

    def _end_faults(self, heard: Heard, out: list[AnyReading]) -> None:
        """What was wrong with the throw before is over. The reader stays what it is."""
        for fault in [fault for fault in self._faults if fault != "sensor"]:
            self._fault(fault, False, heard, out)

    def _fault(
        self,
        fault: DiceFaultName,
        active: bool,
        heard: Heard,
        out: list[AnyReading],
        detail: str | None = None,
    ) -> None:
        """Tell that a fault begins or ends; nothing where it was so already."""
        if active == (fault in self._faults):
            return
        if active:
            self._faults[fault] = detail
        else:
            detail = self._faults.pop(fault)
        told = DiceFault(
            at=heard.now,
            device=self._device,
            frame=heard.frame,
            fault=fault,
            active=active,
            throw=self.spin,
            detail=detail,
        )
        out.append(told)


def read_dice(said: str) -> tuple[Die, ...]:
    """The dice of a report: a comma before each."""
    dice = []
    for die in said.split(",")[1:]:
        face, _, place = die.partition("@")
        x, _, y = place.partition(".")
        dice.append(Die(face, (int(x), int(y)) if place else None))
    return tuple(dice)


def _make(device: str, options: msgspec.Struct) -> DiceBoard:
    assert isinstance(options, Options)
    return DiceBoard(device, options)


DRIVER = Driver(
    name="dice-board",
    kind="dice",
    title="Reader of dice with a sensor board",
    evidence="documented",
    line="baud=115200",
    options=Options,
    commands=(),
    make=_make,
)
