"""Base class of the codecs of boards at wheels: phases, outcomes and faults."""

from __future__ import annotations

from common.readings import (
    AnyReading,
    Direction,
    Phase,
    WheelCell,
    WheelFault,
    WheelFaultName,
    WheelPhase,
)
from devices.board.codec import BoardMessage, Options
from devices.board.launches import LaunchBoard


class WheelBoard(LaunchBoard):
    """A boule plate or a wheel of fortune."""

    def __init__(self, device: str, options: Options) -> None:
        super().__init__(device, options)
        self.phase: Phase | None = None
        self._phase_late = False
        self._faults: dict[WheelFaultName, str | None] = {}

    def begin(self, spin: int) -> None:
        """Begin a new spin; nothing has been reported for it yet."""
        super().begin(spin)
        self.phase = None

    def report_launch(
        self,
        spin: int,
        message: BoardMessage,
        out: list[AnyReading],
        rpm: float | None = None,
        direction: Direction | None = None,
    ) -> None:
        """Report the launch of the ball or wheel; end the faults of the previous spin, except those
        of sensors.
        """
        self.begin(spin)
        self.launch_seen = True
        for fault in [fault for fault in self._faults if fault != "sensor"]:
            self.set_fault(fault, False, message, out)
        self.report_phase("launched", message, out, rpm, direction)

    def report_phase(
        self,
        phase: Phase,
        message: BoardMessage,
        out: list[AnyReading],
        rpm: float | None = None,
        direction: Direction | None = None,
    ) -> None:
        """Report a phase, even if only ``spin`` or lateness changed."""
        self.phase, self._phase_late = phase, message.late
        reading = WheelPhase(
            at=message.now,
            device=self._device,
            frame=message.frame,
            phase=phase,
            spin=self.spin,
            rpm=rpm,
            direction=direction,
            late=message.late,
        )
        out.append(reading)

    def repeat_live(self, message: BoardMessage, out: list[AnyReading]) -> None:
        """Repeat the phase if it was only known from a late report and this one is live."""
        if self.phase is not None and self._phase_late and not message.late:
            self.report_phase(self.phase, message, out)

    def report_rest(
        self, cell: int, message: BoardMessage, out: list[AnyReading], turns: int | None = None
    ) -> None:
        """Report where the ball or wheel has come to rest."""
        self.outcome_pending = False
        self.report_phase("settled", message, out)
        reading = WheelCell(
            at=message.now,
            device=self._device,
            frame=message.frame,
            cell=cell,
            spin=self.spin,
            turns=turns,
            late=message.late or self.candidate,
        )
        out.append(reading)

    def set_fault(
        self,
        fault: WheelFaultName,
        active: bool,
        message: BoardMessage,
        out: list[AnyReading],
        detail: str | None = None,
    ) -> None:
        """Report a fault that begins, ends or changes its detail; nothing if it is unchanged."""
        if (active and self._faults.get(fault, "") == detail) or (
            not active and fault not in self._faults
        ):
            return
        if active:
            self._faults[fault] = detail
        else:
            detail = self._faults.pop(fault)
        reading = WheelFault(
            at=message.now,
            device=self._device,
            frame=message.frame,
            fault=fault,
            active=active,
            spin=self.spin,
            detail=detail,
        )
        out.append(reading)
