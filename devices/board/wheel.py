"""What the boards of wheels have in common: one outcome for each launch; what begins and ends is
told when it does.
"""

from __future__ import annotations

from devices.board.codec import Heard, Options
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
    """A plate or a wheel."""

    def __init__(self, device: str, options: Options) -> None:
        super().__init__(device, options)
        self.phase: Phase | None = None
        self._phase_late = False
        self._faults: dict[WheelFaultName, str | None] = {}

    def begin(self, spin: int) -> None:
        """Another spin, of which nothing is told yet."""
        super().begin(spin)
        self.phase = None

    def launch(
        self,
        spin: int,
        heard: Heard,
        out: list[AnyReading],
        rpm: float | None = None,
        direction: Direction | None = None,
    ) -> None:
        """The ball or the wheel is set going: what was wrong with the spin before is over. A sensor
        stays what it is.
        """
        self.begin(spin)
        self.begun = True
        for fault in [fault for fault in self._faults if fault != "sensor"]:
            self.fault(fault, False, heard, out)
        self.show("launched", heard, out, rpm, direction)

    def show(
        self,
        phase: Phase,
        heard: Heard,
        out: list[AnyReading],
        rpm: float | None = None,
        direction: Direction | None = None,
    ) -> None:
        """Tell that a phase begins, or that it is so still, and live."""
        self.phase, self._phase_late = phase, heard.late
        told = WheelPhase(
            at=heard.now,
            device=self._device,
            frame=heard.frame,
            phase=phase,
            spin=self.spin,
            rpm=rpm,
            direction=direction,
            late=heard.late,
        )
        out.append(told)

    def show_live(self, heard: Heard, out: list[AnyReading]) -> None:
        """Tell the phase once more if it was told by a report that had waited, and this one has
        not.
        """
        if self.phase is not None and self._phase_late and not heard.late:
            self.show(self.phase, heard, out)

    def settle(
        self, cell: int, heard: Heard, out: list[AnyReading], turns: int | None = None
    ) -> None:
        """Tell that the ball lies, or the wheel stands, and where."""
        self.waiting = False
        self.show("settled", heard, out)
        told = WheelCell(
            at=heard.now,
            device=self._device,
            frame=heard.frame,
            cell=cell,
            spin=self.spin,
            turns=turns,
            late=heard.late or self.candidate,
        )
        out.append(told)

    def fault(
        self,
        fault: WheelFaultName,
        active: bool,
        heard: Heard,
        out: list[AnyReading],
        detail: str | None = None,
    ) -> None:
        """Tell that a fault begins, that its cause is another, or that it ends; nothing where it
        was so already.
        """
        if (active and self._faults.get(fault, "") == detail) or (
            not active and fault not in self._faults
        ):
            return
        if active:
            self._faults[fault] = detail
        else:
            detail = self._faults.pop(fault)
        told = WheelFault(
            at=heard.now,
            device=self._device,
            frame=heard.frame,
            fault=fault,
            active=active,
            spin=self.spin,
            detail=detail,
        )
        out.append(told)
