"""What the boards of wheels share: one outcome per launch; phases and faults are reported when they
begin and end.
"""

from __future__ import annotations

from devices.board.codec import BoardMessage, Options
from devices.board.launches import LaunchBoard
from devices.readings import (
    AnyReading,
    Direction,
    Phase,
    WheelCell,
    WheelFault,
    WheelFaultName,
    WheelPhase,
)


class WheelBoard(LaunchBoard):
    """A boule plate or a wheel of fortune."""

    def __init__(self, device: str, options: Options) -> None:
        super().__init__(device, options)
        self.phase: Phase | None = None
        self._phase_late = False
        self._faults: dict[WheelFaultName, str | None] = {}

    def begin(self, spin: int) -> None:
        """Begin a new spin; nothing of it is reported yet."""
        super().begin(spin)
        self.phase = None

    def launch(
        self,
        spin: int,
        heard: BoardMessage,
        out: list[AnyReading],
        rpm: float | None = None,
        direction: Direction | None = None,
    ) -> None:
        """The ball or the wheel was launched: faults of the previous spin end, except those of
        sensors.
        """
        self.begin(spin)
        self.begun = True
        for fault in [fault for fault in self._faults if fault != "sensor"]:
            self.fault(fault, False, heard, out)
        self.show("launched", heard, out, rpm, direction)

    def show(
        self,
        phase: Phase,
        heard: BoardMessage,
        out: list[AnyReading],
        rpm: float | None = None,
        direction: Direction | None = None,
    ) -> None:
        """Report a phase, also if only ``spin`` or lateness changed."""
        self.phase, self._phase_late = phase, heard.late
        reading = WheelPhase(
            at=heard.now,
            device=self._device,
            frame=heard.frame,
            phase=phase,
            spin=self.spin,
            rpm=rpm,
            direction=direction,
            late=heard.late,
        )
        out.append(reading)

    def show_live(self, heard: BoardMessage, out: list[AnyReading]) -> None:
        """Repeat the phase if it was first reported by a late report and this one is live."""
        if self.phase is not None and self._phase_late and not heard.late:
            self.show(self.phase, heard, out)

    def settle(
        self, cell: int, heard: BoardMessage, out: list[AnyReading], turns: int | None = None
    ) -> None:
        """Report that the ball or the wheel has come to rest, and where."""
        self.waiting = False
        self.show("settled", heard, out)
        reading = WheelCell(
            at=heard.now,
            device=self._device,
            frame=heard.frame,
            cell=cell,
            spin=self.spin,
            turns=turns,
            late=heard.late or self.candidate,
        )
        out.append(reading)

    def fault(
        self,
        fault: WheelFaultName,
        active: bool,
        heard: BoardMessage,
        out: list[AnyReading],
        detail: str | None = None,
    ) -> None:
        """Report that a fault begins, that its detail changed, or that it ends. Nothing if it is
        unchanged.
        """
        if (active and self._faults.get(fault, "") == detail) or (
            not active and fault not in self._faults
        ):
            return
        if active:
            self._faults[fault] = detail
        else:
            detail = self._faults.pop(fault)
        reading = WheelFault(
            at=heard.now,
            device=self._device,
            frame=heard.frame,
            fault=fault,
            active=active,
            spin=self.spin,
            detail=detail,
        )
        out.append(reading)
