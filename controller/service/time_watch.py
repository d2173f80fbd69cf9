"""Monitors the machine's clock: checks once a second how wrong it may be and whether it was set,
and reports that to the tables, the alerts and health.

Each step of the clock, and each change of the time bound of events, is an input of every table and
is journalled. Tables never read a clock themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from common import clock
from common.contract.node import ClockHealth
from common.contract.retained import Alert
from common.contract.times import format_utc
from common.log import structlog
from common.readings import ClockBound, ClockStep
from controller.configuration.settings import ClockConfig
from controller.journal.journal import Journal
from controller.proof.chrony import Chrony, Tracking
from controller.proof.clocks import wall_and_machine
from controller.proof.kernel_clock import read_kernel_clock
from controller.proof.time_bound import (
    Stage,
    TimeKept,
    clock_statement,
    crossing_time,
    unproved_alert,
    update_clock_state,
)
from controller.tables.runner import TableRunner

CHECK_INTERVAL_SECONDS = 1.0
"""Seconds between two checks."""
FIRST_REPLY_INTERVAL_SECONDS, FIRST_REPLY_CHECKS = 0.2, 10
"""Seconds between two checks, and their number, while waiting for chrony's first reply."""
REPLY_VALID_SECONDS = 10.0
"""Seconds for which chrony's last reply is used without a newer one."""
UNPROVED_ALERT_ID = "time-unproved"
"""Id of the alert that the clock is not, or soon will not be, as accurate as the site requires."""


class TimeWatch:
    """The clock monitor of one daemon. ``runners``: the current tables; ``alerts``: where its alert
    is stored; ``changed`` is called after each change of the alert; ``doubt`` returns why the time
    of day cannot be trusted.
    """

    def __init__(
        self,
        *,
        settings: ClockConfig,
        journal: Journal,
        runners: Sequence[TableRunner],
        alerts: dict[str, Alert],
        changed: Callable[[], None],
        doubt: Callable[[], str | None] = lambda: None,
    ) -> None:
        self._doubt = doubt
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
        """Steps not yet reported to the tables, because the journal cannot be written."""
        self._log = structlog.get_logger()

    async def run(self) -> None:
        """Check once a second until cancelled."""
        try:
            for _ in range(FIRST_REPLY_CHECKS):
                answered = self._tracking(wall_and_machine()[1]) is not None
                if answered or self._chrony is None or not self._chrony.is_waiting:
                    break
                await clock.sleep(FIRST_REPLY_INTERVAL_SECONDS)
            while True:
                self.check()
                await clock.sleep(CHECK_INTERVAL_SECONDS)
        finally:
            if self._chrony is not None:
                self._chrony.close()

    def check(self) -> None:
        """Check the clock, and report changes."""
        wall, machine = wall_and_machine()
        statement = clock_statement(read_kernel_clock(), self._tracking(machine))
        self._now, step = update_clock_state(self._now, wall, machine, statement, self._bound)
        if step is not None:
            self._log.warning("clock was set", by=round(step, 6))
            self._steps.append(round(step, 6))
        self._report(self._now.reported_error)
        self._update_alert(self._now)

    def _tracking(self, machine: float) -> Tracking | None:
        """Return chrony's last reply if it is recent."""
        if self._chrony is None:
            return None
        if (reply := self._chrony.poll()) is not None:
            self._answer = machine, reply
        if self._answer is None or machine - self._answer[0] > REPLY_VALID_SECONDS:
            return None
        since, tracking = self._answer
        return replace(
            tracking, dispersion=tracking.dispersion + (machine - since) * tracking.growth
        )

    def _report(self, bound: float | None) -> None:
        """Report to the tables. While the journal has failed, the report is postponed."""
        if self._journal.failed is not None:
            return
        steps, self._steps = self._steps, []
        for runner in self._runners:
            if runner.table.time_bound == bound and not steps:  # as mostly
                continue
            readings: list[ClockStep | ClockBound] = []
            if runner.table.time_bound != bound:
                readings.append(ClockBound(at=runner.clock(), bound=bound))
            readings += (ClockStep(at=runner.clock(), step=step) for step in steps)
            runner.on_readings(readings)

    def _update_alert(self, time_kept: TimeKept) -> None:
        """Raise, reword or clear the alert when its stage changes."""
        reason = unproved_alert(time_kept, self._bound)
        stage = reason[0] if reason else None
        if stage == self._stage:
            return
        self._stage = stage
        if reason is None:
            self._log.info("time is proved again")
            self._alerts.pop(UNPROVED_ALERT_ID, None)
        else:
            self._log.error("alert", alert=UNPROVED_ALERT_ID, reason=reason[1])
            self._alerts[UNPROVED_ALERT_ID] = Alert(
                alert=UNPROVED_ALERT_ID,
                what="time.unproved",
                severity="warning",
                raised=format_utc(time_kept.wall),
                detail=reason[1],
            )
        self._changed()

    def notable(self) -> tuple[object, ...]:
        """Return what is published at once when it changes."""
        now = self._now
        if now is None:
            return ()
        statement = now.stated
        return (
            statement and (statement.by, statement.source, statement.synchronised),
            now.reported_error,
            now.steps,
            self._stage,
        )

    def health(self) -> ClockHealth:
        """Return the clock's part of the retained ``health``."""
        now = self._now or TimeKept(*wall_and_machine())
        statement = now.stated
        crossing = crossing_time(now, self._bound)
        return ClockHealth(
            bound=self._bound,
            stated_by=statement.by if statement else None,
            source=statement.source if statement else None,
            synchronised=statement.synchronised if statement else None,
            offset=_short(statement.offset) if statement and statement.synchronised else None,
            estimated=_short(statement.estimated) if statement and statement.synchronised else None,
            error=None if now.error is None else _short(now.error),
            corrected=None if now.corrected is None else round(now.machine - now.corrected, 1),
            crossed=None if crossing is None else format_utc(crossing),
            steps=now.steps,
            doubt=self._doubt(),
        )


def _short(seconds: float) -> float:
    return round(seconds, 9) + 0.0  # never -0.0
