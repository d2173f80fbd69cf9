"""Driver of a self-built boule plate of 18 holes with a sensor in each.

``docs/engineer/board.md`` defines its line.

The board reports only what its sensors see and decides nothing. The ball is at rest when it has
been seen in exactly one hole, not moving, for ``settle_time`` without interruption. Each launch has
one outcome: a hole, or a fault for a person to resolve.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, ClassVar

import msgspec

from common.readings import AnyReading, WheelFaultName
from devices.board import codec
from devices.board.agreement import Agreement
from devices.board.codec import BoardMessage
from devices.board.wheel import WheelBoard
from devices.codec import Driver

HOLES = 18
HOLES_PER_ROW = 9
"""Holes per row: hole 10 is beside hole 1, hole 18 beside hole 9, and 1 follows 9."""

Seconds = Annotated[float, msgspec.Meta(gt=0, le=3600)]


class Options(codec.Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``settle_time``: seconds for which the ball must be seen in one hole, not moving, to be at
    rest; ``launch_time``: seconds for which it must be seen moving to count as launched;
    ``out_time``: seconds for which it must be seen nowhere to be out; ``stuck_time``: a sensor that
    sees its hole full for this many seconds while the ball moves is stuck.
    """

    settle_time: Seconds = 2.0
    launch_time: Seconds = 0.5
    out_time: Seconds = 5.0
    stuck_time: Seconds = 3.0


class BouleBoard(WheelBoard):
    """One boule plate. See :class:`devices.codec.Codec`."""

    kind = "boule"
    words: ClassVar[Mapping[str, re.Pattern[str]]] = {
        "holes": re.compile(
            r"(?P<full>[0-3][0-9A-F]{4}),(?P<blind>[0-3][0-9A-F]{4}),(?P<moving>[01]),(?P<launches>\d{1,5})"
        )
    }

    def __init__(self, device: str, options: Options) -> None:
        super().__init__(device, options)
        self._options = options
        self._position: Agreement[tuple[frozenset[int], bool]] = Agreement()
        self._moves: Agreement[bool] = Agreement()
        # hole -> since when it has been seen full without interruption
        self._full_since: dict[int, float] = {}
        self._stuck: frozenset[int] = frozenset()
        # the hole in which the ball was reported, until it is taken out
        self._reported: int | None = None
        self._launched = 0.0
        self._ball_removed = False  # the ball is in no hole: it was taken out

    def on_restart(self) -> None:
        """See :class:`devices.board.codec.BoardCodec`."""
        super().on_restart()
        self._full_since.clear()

    def on_gap(self) -> None:
        """Restart all timing: each observation must last for its full time again."""
        super().on_gap()
        self._position.reset()
        self._moves.reset()

    def begin(self, spin: int) -> None:
        """Begin a new spin."""
        super().begin(spin)
        self._reported, self._ball_removed = None, False

    def on_message(self, message: BoardMessage, out: list[AnyReading]) -> None:
        """Handle ``holes``: the holes seen full, the blind sensors, whether the ball moves, and the
        number of launches.
        """
        full, blind = holes_of_mask(message.fields["full"]), holes_of_mask(message.fields["blind"])
        moving, launches = message.fields["moving"] == "1", int(message.fields["launches"])
        lain = self._position.update((full, moving), message.at)
        since = self._moves.update(moving, message.at)
        self._full_since = {hole: self._full_since.get(hole, message.at) for hole in full}
        self._stuck &= full
        self.follow_count(launches, moving)
        if moving:
            self._on_moving(full, launches, since, message, out)
        else:
            self._on_rest(full, blind, lain, since, message, out)
        causes = [
            f"{problem} {list_holes(sensors)}"
            for problem, sensors in (("blind", blind), ("stuck", self._stuck))
            if sensors
        ]
        self.set_fault("sensor", bool(causes), message, out, ", ".join(causes) or None)
        self.repeat_live(message, out)

    def _on_moving(
        self,
        full: frozenset[int],
        launches: int,
        since: float,
        message: BoardMessage,
        out: list[AnyReading],
    ) -> None:
        """Handle a moving ball: it was launched, or jumps between holes. A hole that stays full
        meanwhile has a stuck sensor.
        """
        if since >= self._options.launch_time and (
            not self.outcome_pending or not self.launch_seen or self._ball_removed
        ):
            self.report_launch(launches, message, out)
            self._launched = message.at if self._moves.since is None else self._moves.since
        if since >= self._options.stuck_time:
            self._stuck |= {
                hole
                for hole in full
                if message.at - self._full_since[hole] >= self._options.stuck_time
            }
        if self.phase == "launched" and self._filled_since_launch(full):
            self.report_phase("settling", message, out)

    def _on_rest(
        self,
        full: frozenset[int],
        blind: frozenset[int],
        lain: float,
        since: float,
        message: BoardMessage,
        out: list[AnyReading],
    ) -> None:
        """Handle a ball that does not move. ``lain``: seconds since anything changed; ``since``:
        seconds since it moved.
        """
        decided = lain >= self._options.settle_time
        self._ball_removed = self._ball_removed or (not full and lain >= self._options.launch_time)
        if not self.outcome_pending:
            if decided:
                self._check_reported(full, message, out)
        elif not decided:
            if since >= self._options.settle_time + self._options.out_time:
                self._end_without_result("number_unknown", "unsteady", message, out)
        elif full & self._stuck or (not self.candidate and self._filled_since_launch(full) != full):
            # full since before the launch, so no ball fell into it
            self._stuck |= full - self._filled_since_launch(full)
            self._end_without_result(
                "number_unknown", f"stuck {list_holes(self._stuck)}", message, out
            )
        elif len(full) == 1:
            # it may rest between this hole and a blind one
            self.candidate = self.candidate or any(_are_adjacent(full | {hole}) for hole in blind)
            self._report_hole(full, message, out)
        elif full:
            self._end_without_result(
                "between" if _are_adjacent(full) else "number_unknown",
                f"seen in {list_holes(full)}",
                message,
                out,
            )
        elif lain >= self._options.out_time:  # the ball may be in a hole whose sensor is blind
            self._end_without_result(
                "number_unknown" if blind else "ball_out", "seen nowhere", message, out
            )

    def _end_without_result(
        self, fault: WheelFaultName, detail: str, message: BoardMessage, out: list[AnyReading]
    ) -> None:
        """End the spin without a result, for a person to decide."""
        self.outcome_pending = False
        self.set_fault(fault, True, message, out, detail)

    def _filled_since_launch(self, full: frozenset[int]) -> frozenset[int]:
        """Holes that have been seen empty since the launch."""
        return frozenset(hole for hole in full if self._full_since[hole] > self._launched)

    def _report_hole(
        self, full: frozenset[int], message: BoardMessage, out: list[AnyReading]
    ) -> None:
        (self._reported,) = full
        self.report_rest(self._reported, message, out)

    def _check_reported(
        self, full: frozenset[int], message: BoardMessage, out: list[AnyReading]
    ) -> None:
        """Report a fault if the ball moves to another hole after it was reported."""
        if not full:
            self._reported = None
        if self._reported is not None:
            changed = self._reported not in full
            self.set_fault(
                "number_changed",
                changed,
                message,
                out,
                f"seen in {list_holes(full)}" if changed else None,
            )


@lru_cache(maxsize=256)  # a board sends the same few masks
def holes_of_mask(mask: str) -> frozenset[int]:
    """Return the holes of a hexadecimal mask, whose lowest bit is hole 1."""
    bits = int(mask, 16)
    return frozenset(hole for hole in range(1, HOLES + 1) if bits >> (hole - 1) & 1)


def list_holes(holes: frozenset[int]) -> str:
    """Format holes in order, for people."""
    return " ".join(map(str, sorted(holes)))


def _are_adjacent(full: frozenset[int]) -> bool:
    """Whether the ball can rest between all of these: two adjacent holes, in a row, across or
    diagonally.
    """
    if len(full) != 2:
        return False
    apart = ((max(full) - 1) % HOLES_PER_ROW - (min(full) - 1) % HOLES_PER_ROW) % HOLES_PER_ROW
    return apart in (0, 1, HOLES_PER_ROW - 1)


def _make(device: str, options: msgspec.Struct) -> BouleBoard:
    assert isinstance(options, Options)
    return BouleBoard(device, options)


DRIVER = Driver(
    name="boule-board",
    kind="wheel",
    title="Boule plate with a sensor board",
    evidence="documented",
    line="baud=115200",
    options=Options,
    games=("boule",),
    commands=(),
    make=_make,
)
