"""Watches the machine's clock: looks once a second by how much it may be wrong and whether it was
set, and tells the tables, the alerts and health.

Each step of the clock, and each change of what events have to say of their time, is an input of
every table, which the journal keeps. Events themselves ask no clock.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from controller.configuration.settings import ClockConfig
from controller.contract.node import ClockHealth
from controller.contract.retained import Alert
from controller.contract.times import utc
from controller.journal.journal import Journal
from controller.proof.chrony import Chrony, Tracking
from controller.proof.clocks import wall_and_machine
from controller.proof.kernel_clock import read_kernel_clock
from controller.proof.time_bound import (
    Stage,
    TimeKept,
    crossed,
    look,
    stated,
    unproved,
)
from controller.tables.runner import TableRunner
from devices.log import structlog
from devices.readings import ClockBound, ClockStep

LOOK = 1.0
"""Seconds between two looks."""
FIRST, TRIES = 0.2, 10
"""Seconds between two looks, and how many, that chrony has for its first answer."""
PATIENCE = 10.0
"""Seconds for which chrony's last answer counts while the next is not there."""
UNPROVED = "time-unproved"
"""The alert that the clock is not, or soon will not be, as good as the site asks."""


class TimeWatch:
    """The watch of one daemon. ``runners``: the tables that there are at each look; ``alerts``:
    where its alert goes; ``changed`` is called after each change of it.
    """

    def __init__(
        self,
        settings: ClockConfig,
        journal: Journal,
        runners: Sequence[TableRunner],
        alerts: dict[str, Alert],
        changed: Callable[[], None],
    ) -> None:
        self._bound = settings.bound
        self._chrony = Chrony(settings.chrony) if settings.chrony else None
        self._answer: tuple[float, Tracking] | None = None
        self._journal = journal
        self._runners = runners
        self._alerts = alerts
        self._changed = changed
        self._now: TimeKept | None = None
        self._stage: Stage | None = None
        self._steps: list[float] = []
        """Steps that the tables were not told, because the journal cannot be written."""
        self._log = structlog.get_logger()

    async def run(self) -> None:
        """Look once a second, until cancelled."""
        try:
            for _ in range(TRIES):
                answered = self._asked(wall_and_machine()[1]) is not None
                if answered or self._chrony is None or not self._chrony.asked:
                    break
                await asyncio.sleep(FIRST)
            while True:
                self.look()
                await asyncio.sleep(LOOK)
        finally:
            if self._chrony is not None:
                self._chrony.close()

    def look(self) -> None:
        """Look at the clock, and tell what is new."""
        wall, machine = wall_and_machine()
        said = stated(read_kernel_clock(), self._asked(machine))
        self._now, step = look(self._now, wall, machine, said, self._bound)
        if step is not None:
            self._log.warning("clock was set", by=round(step, 6))
            self._steps.append(round(step, 6))
        self._tell(self._now.told)
        self._say(self._now)

    def _asked(self, machine: float) -> Tracking | None:
        """What chrony said last, if that was not long ago."""
        if self._chrony is None:
            return None
        if (heard := self._chrony.look()) is not None:
            self._answer = machine, heard
        if self._answer is None or machine - self._answer[0] > PATIENCE:
            return None
        since, last = self._answer
        return replace(last, dispersion=last.dispersion + (machine - since) * last.growth)

    def _tell(self, bound: float | None) -> None:
        """Tell the tables. What cannot be stored now is told when it can."""
        if self._journal.failed is not None:
            return
        steps, self._steps = self._steps, []
        for runner in self._runners:
            readings: list[ClockStep | ClockBound] = []
            if runner.table.time_bound != bound:
                readings.append(ClockBound(at=runner.clock(), bound=bound))
            readings += (ClockStep(at=runner.clock(), step=step) for step in steps)
            if readings:
                runner.on_readings(readings)

    def _say(self, now: TimeKept) -> None:
        """Raise and clear the alert, worded once at each stage."""
        found = unproved(now, self._bound)
        stage = found[0] if found else None
        if stage == self._stage:
            return
        self._stage = stage
        if found is None:
            self._log.info("time is proved again")
            self._alerts.pop(UNPROVED, None)
        else:
            self._log.error("alert", alert=UNPROVED, reason=found[1])
            self._alerts[UNPROVED] = Alert(
                alert=UNPROVED,
                what="time.unproved",
                severity="warning",
                raised=utc(now.wall),
                detail=found[1],
            )
        self._changed()

    def notable(self) -> tuple[object, ...]:
        """What is published at once when it changes."""
        now = self._now
        if now is None:
            return ()
        said = now.stated
        return (
            said and (said.by, said.source, said.synchronised),
            now.told,
            now.steps,
            self._stage,
        )

    def health(self, doubt: str | None) -> ClockHealth:
        """The state of the clock. ``doubt``: why the time of day is not believed."""
        now = self._now or TimeKept(*wall_and_machine())
        said = now.stated
        crossing = crossed(now, self._bound)
        return ClockHealth(
            bound=self._bound,
            stated_by=said.by if said else None,
            source=said.source if said else None,
            synchronised=said.synchronised if said else None,
            offset=_short(said.offset) if said and said.synchronised else None,
            estimated=_short(said.estimated) if said and said.synchronised else None,
            error=None if now.error is None else _short(now.error),
            corrected=None if now.corrected is None else round(now.machine - now.corrected, 1),
            crossed=None if crossing is None else utc(crossing),
            steps=now.steps,
            doubt=doubt,
        )


def _short(seconds: float) -> float:
    return round(seconds, 9) + 0.0  # never -0.0
