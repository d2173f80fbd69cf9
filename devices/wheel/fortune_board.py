"""Driver of a self-built wheel of fortune with an encoder board: see ``docs/engineer/board.md``.

The board reports which cell is under the tongue, how many have passed since the launch, and the
wheel's direction and speed. The wheel has stopped when it does not turn and one cell has been under
the tongue for ``settle_time`` without interruption. Each launch has one outcome: a cell, or a fault
for a person to resolve. A fault of the launch is reported before its cell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, ClassVar

import msgspec

from common.readings import AnyReading, Direction
from devices.board import codec
from devices.board.agreement import Agreement
from devices.board.codec import BoardMessage
from devices.board.wheel import WheelBoard
from devices.codec import Driver

DIRECTIONS: dict[str, Direction] = {"+": "clockwise", "-": "anticlockwise"}
"""The direction of rotation, as seen by a person in front of the wheel."""

SLOW_SECONDS = 0.5
"""Time of slow rotation after which the wheel counts as about to stop; a single measurement of its
speed is not enough.
"""

Seconds = Annotated[float, msgspec.Meta(gt=0, le=3600)]


class Options(codec.Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``cells``: number of cells; ``settle_time``: seconds for which one cell must be under the
    tongue of a stationary wheel; ``launch_cells``: fewer passing cells are a touch, not a launch;
    ``slow``: revolutions per minute below which it is about to stop; ``min_turns``: minimum number
    of complete turns; ``back``: cells it may fall back at the end.
    """

    cells: Annotated[int, msgspec.Meta(ge=2, le=200)] = 54
    settle_time: Seconds = 1.0
    launch_cells: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 5
    slow: Annotated[float, msgspec.Meta(gt=0, le=1000)] = 10.0
    min_turns: Annotated[int, msgspec.Meta(ge=0, le=1000)] = 3
    back: Annotated[int, msgspec.Meta(ge=0, le=1000)] = 2


class FortuneBoard(WheelBoard):
    """One wheel of fortune. See :class:`devices.codec.Codec`."""

    kind = "fortune"
    words: ClassVar[Mapping[str, re.Pattern[str]]] = {
        "wheel": re.compile(
            r"(?P<cell>\d{1,3}),(?P<forward>\d{1,5}),(?P<back>\d{1,5}),(?P<way>[-+0]),(?P<rpm>\d{1,4}),(?P<launches>\d{1,5}),"
            r"(?P<health>[a-z_]{1,16})"
        )
    }

    def __init__(self, device: str, options: Options) -> None:
        super().__init__(device, options)
        self._options = options
        self._stopped: Agreement[tuple[int, bool]] = Agreement()
        self._slow: Agreement[bool] = Agreement()
        self._reported: int | None = None  # the cell that was reported, until the wheel is touched

    def on_gap(self) -> None:
        """Restart all timing: each observation must last for its full time again."""
        super().on_gap()
        self._stopped.reset()
        self._slow.reset()

    def on_message(self, message: BoardMessage, out: list[AnyReading]) -> None:
        """Handle ``wheel``: the cell under the tongue (0: a pin), cells passed, direction, tenths
        of a turn per minute, launches.
        """
        fields = message.fields
        cell, forward, back, launches = (
            int(fields[name]) for name in ("cell", "forward", "back", "launches")
        )
        direction, rpm = DIRECTIONS.get(fields["way"]), int(fields["rpm"]) / 10
        stopped = self._stopped.update((cell, direction is not None), message.at)
        broken = fields["health"] != "ok"
        self.follow_count(launches, direction is not None)
        self.set_fault("sensor", broken, message, out, fields["health"] if broken else None)
        self.candidate = self.candidate or broken  # the board may have missed cells
        if direction is not None:
            self._on_turning(launches, forward, rpm, direction, broken, message, out)
        if self.outcome_pending and self.launch_seen and back > self._options.back:
            self.set_fault("reversed", True, message, out, f"{back} cells")
        if direction is None and stopped >= self._options.settle_time:
            self._on_rest(cell, forward // self._options.cells, broken, message, out)
        self.repeat_live(message, out)

    def _on_turning(
        self,
        launches: int,
        forward: int,
        rpm: float,
        direction: Direction,
        broken: bool,
        message: BoardMessage,
        out: list[AnyReading],
    ) -> None:
        slow = rpm < self._options.slow
        steady = self._slow.update(slow, message.at) >= SLOW_SECONDS
        relaunched = self._counted not in (None, launches)
        if forward >= self._options.launch_cells and (
            not self.outcome_pending or not self.launch_seen or relaunched
        ):
            self._reported = None
            self.report_launch(launches, message, out, rpm, direction)
            self.candidate = broken
        if self.phase == "launched" and slow and steady:
            self.report_phase("settling", message, out, rpm, direction)

    def _on_rest(
        self, cell: int, turns: int, broken: bool, message: BoardMessage, out: list[AnyReading]
    ) -> None:
        if not self.outcome_pending:
            changed = self._reported is not None and cell != self._reported
            self.set_fault("number_changed", changed, message, out, str(cell) if changed else None)
        elif broken:
            self.outcome_pending = False
            self.set_fault("number_unknown", True, message, out, message.fields["health"])
        elif not 0 < cell <= self._options.cells:
            self.outcome_pending = False
            self.set_fault(
                "number_unknown" if cell else "between",
                True,
                message,
                out,
                str(cell) if cell else None,
            )
        else:
            if not self.interrupted and turns < self._options.min_turns:
                self.set_fault("too_few_turns", True, message, out, str(turns))
            self._reported = cell
            self.report_rest(cell, message, out, None if self.interrupted else turns)


def _make(device: str, options: msgspec.Struct) -> FortuneBoard:
    assert isinstance(options, Options)
    return FortuneBoard(device, options)


DRIVER = Driver(
    name="fortune-board",
    kind="wheel",
    title="Wheel of fortune with an encoder board",
    evidence="documented",
    line="baud=115200",
    options=Options,
    games=("fortune-wheel",),
    commands=(),
    make=_make,
)
