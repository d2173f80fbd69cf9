"""Driver of a self-built reader of dice: see ``docs/engineer/board.md``.

The board reports the visible faces, their positions and whether the dice move; it counts the
throws. A throw is read when the same faces have been seen, not moving, for ``settle_time`` without
interruption. Each throw has one outcome: its values, or faults for a person to resolve. Dice in the
same position as after the previous throw were not thrown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import permutations
from math import dist
from typing import Annotated, ClassVar, Literal, NamedTuple

import msgspec

from common.readings import AnyReading, DiceFault, DiceFaultName, DiceRead, DiceState
from devices.board import codec
from devices.board.agreement import Agreement
from devices.board.codec import BoardMessage
from devices.board.launches import LaunchBoard
from devices.codec import Driver

FACE_FAULTS: dict[str, DiceFaultName] = {"?": "no_read", "/": "cocked"}
"""The board's sign in place of a face -> the fault."""


class Options(codec.Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``dice``: number of dice; ``settle_time``: seconds for which the same faces must be seen;
    ``same_place``: millimetres by which a die may seem to move without having been thrown.
    """

    dice: Annotated[int, msgspec.Meta(ge=1, le=5)] = 2
    settle_time: Annotated[float, msgspec.Meta(gt=0, le=3600)] = 1.0
    same_place: Annotated[float, msgspec.Meta(ge=0, le=3600)] = 3.0


class Die(NamedTuple):
    """A die as seen: its upper face, or a sign in its place; and its position, if known."""

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
        self._position: Agreement[tuple[list[str], bool]] = Agreement()
        self._moved = False  # the dice have been seen moving since the throw began
        self._before: tuple[Die, ...] = ()  # their position after the previous throw
        self._shown: tuple[str, int | None, bool] | None = None
        self._faults: dict[DiceFaultName, str | None] = {}

    def on_gap(self) -> None:
        """Restart all timing; the dice may have moved."""
        super().on_gap()
        self._position.reset()
        self._moved = True

    def on_message(self, message: BoardMessage, out: list[AnyReading]) -> None:
        """Handle ``dice``: whether they move, the count of throws, the reader's health, and each
        die with its position.
        """
        moving, throws = message.fields["moving"] == "1", int(message.fields["throws"])
        dice, health = read_dice(message.fields["dice"]), message.fields["health"]
        known = self._launches
        self.follow_count(throws, moving)
        if known is not None and throws not in (known, self.spin):
            self.begin(throws)
            self._position.reset()  # they may be about to move
            self._moved = False
        if not self.launch_seen and not self.candidate and self.outcome_pending:
            self.launch_seen = True
            self._end_faults(message, out)
        lain = self._position.update((sorted(die.face for die in dice), moving), message.at)
        self._moved = self._moved or moving
        self._set_fault("sensor", health != "ok", message, out, None if health == "ok" else health)
        if not self.outcome_pending:
            lying = dice and self._shown is not None and self._shown[0] == "settled"
            self._report_state("settled" if lying else "idle", message, out)
        elif moving:
            self._report_state("moving", message, out)
        elif lain >= self._options.settle_time:
            self._on_rest(dice, health, message, out)

    def _on_rest(
        self, dice: tuple[Die, ...], health: str, message: BoardMessage, out: list[AnyReading]
    ) -> None:
        """Report the faults or the values of dice at rest."""
        self.outcome_pending = False
        self._end_faults(message, out)
        if self.candidate and not dice:
            return  # they were picked up, so their position is unknown
        wrong = self._find_faults(dice)
        if health != "ok" and not wrong:
            wrong["no_read"] = health
        self._report_state("settled", message, out)
        for fault, detail in wrong.items():
            self._set_fault(fault, True, message, out, detail)
        self._before = dice
        if not wrong:
            values = tuple(int(die.face) for die in dice)
            late = message.late or self.candidate
            out.append(
                DiceRead(
                    at=message.now,
                    device=self._device,
                    frame=message.frame,
                    values=values,
                    throw=self.spin,
                    late=late,
                )
            )

    def _find_faults(self, dice: tuple[Die, ...]) -> dict[DiceFaultName, str | None]:
        wrong: dict[DiceFaultName, str | None] = {}
        if len(dice) != self._options.dice:
            wrong["missing" if len(dice) < self._options.dice else "extra"] = (
                f"{len(dice)} of {self._options.dice}"
            )
        for sign, fault in FACE_FAULTS.items():
            if any(die.face == sign for die in dice):
                wrong[fault] = None
        if not wrong and self._is_unchanged(dice):
            wrong["unchanged"] = None
        return wrong

    def _is_unchanged(self, dice: tuple[Die, ...]) -> bool:
        """Whether every die is in the position of one before the throw. If positions are unknown,
        only motion decides.
        """
        if self._moved and not all(die.place for die in dice):
            return False
        return len(dice) == len(self._before) and any(
            all(self._is_same(die, before) for die, before in zip(dice, order, strict=True))
            for order in permutations(self._before)
        )

    def _is_same(self, die: Die, before: Die) -> bool:
        apart = dist(die.place, before.place) if die.place and before.place else 0.0
        return die.face == before.face and apart <= self._options.same_place

    def _report_state(
        self,
        state: Literal["idle", "moving", "settled"],
        message: BoardMessage,
        out: list[AnyReading],
    ) -> None:
        if self._shown != (state, self.spin, message.late):
            self._shown = state, self.spin, message.late
            reading = DiceState(
                at=message.now,
                device=self._device,
                frame=message.frame,
                state=state,
                throw=self.spin,
                late=message.late,
            )
            out.append(reading)

    def _end_faults(self, message: BoardMessage, out: list[AnyReading]) -> None:
        """End the faults of the previous throw. A fault of the reader remains."""
        for fault in [fault for fault in self._faults if fault != "sensor"]:
            self._set_fault(fault, False, message, out)

    def _set_fault(
        self,
        fault: DiceFaultName,
        active: bool,
        message: BoardMessage,
        out: list[AnyReading],
        detail: str | None = None,
    ) -> None:
        """Report that a fault begins or ends; nothing if it is unchanged."""
        if active == (fault in self._faults):
            return
        if active:
            self._faults[fault] = detail
        else:
            detail = self._faults.pop(fault)
        reading = DiceFault(
            at=message.now,
            device=self._device,
            frame=message.frame,
            fault=fault,
            active=active,
            throw=self.spin,
            detail=detail,
        )
        out.append(reading)


def read_dice(text: str) -> tuple[Die, ...]:
    """Parse the dice of a report, each preceded by a comma."""
    dice = []
    for die in text.split(",")[1:]:
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
