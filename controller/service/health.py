"""Health of the daemon: the retained topic ``health`` of the node, and a check for progress."""

from __future__ import annotations

import asyncio
import contextlib
import platform
from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec

from common import clock
from common.chain.schema import Entry, JournalUnusableError
from common.contract.node import (
    Checkpoint,
    Health,
    JournalHealth,
    OutboxHealth,
    StagesHealth,
    TableHealth,
)
from common.contract.times import format_utc
from common.contract.version import VERSION
from common.log import structlog
from controller.journal.journal import Journal
from controller.journal.mono import age_ns
from controller.mqtt.publisher import Publisher
from controller.mqtt.served_table import ServedTable
from controller.mqtt.tables_api import TablesApi
from controller.service import logs
from controller.service.systemd_notify import notify
from controller.service.time_watch import TimeWatch
from controller.tables.stages import Stages

REPORT_INTERVAL_SECONDS = 30.0
"""Seconds between two reports if nothing changes."""
MAX_REPORT_CPU_SHARE = 0.05
"""Maximum share of the event loop's CPU time spent on health reports."""
CHECK_INTERVAL_SECONDS = 1.0
"""Seconds between two checks for conditions that nothing signals, such as a failing log."""
MAX_COUNTED_EVENTS = 1000
"""Maximum count of unsent events."""
STUCK_SECONDS = 15.0
"""Seconds without progress after which a part counts as stuck."""


class HealthReporter:
    """Collects the health of every part. ``doubt``: why the time of day cannot be trusted."""

    def __init__(
        self,
        *,
        boot: str,
        journal: Journal,
        publisher: Publisher,
        api: TablesApi,
        places: dict[str, ServedTable],
        time_watch: TimeWatch,
        doubt: Callable[[], str | None],
        stages: Stages | None = None,
    ) -> None:
        self._time_watch = time_watch
        self._doubt = doubt
        self._stages = stages or Stages()
        self._boot = boot
        self._journal = journal
        self._publisher = publisher
        self._api = api
        self._places = places
        self._started = clock.monotonic()
        self._unsent = OutboxHealth(depth=0, oldest=None)
        self._versions = {"novamas": VERSION, "python": platform.python_version()}

    def report(self) -> Health:
        """Return the present health of everything."""
        elsewhere = self._api.claims.elsewhere()
        return Health(
            boot=self._boot,
            time=format_utc(clock.wall()),
            uptime=round(clock.monotonic() - self._started, 1),
            versions=self._versions,
            broker=self._publisher.health,
            outbox=self._outbox(),
            journal=JournalHealth(
                state="failed" if self._journal.failed else "ok",
                trouble=self._journal.failed,
                position=self._journal.head(),
                waiting=self._journal.waiting,
            ),
            stages=StagesHealth(
                decided=self._stages.decided.times(),
                committed=self._stages.committed.times(),
                acknowledged=self._stages.acknowledged.times(),
            ),
            clock=self._time_watch.health(self._doubt()),
            log=logs.health(),
            commands_followed=self._api.commands.followed,
            commands_refused=self._api.commands.refused,
            refusals=dict(self._api.commands.refusals),
            people=self._api.people,
            commands_discarded=self._api.commands.discarded,
            answers_withheld=self._api.commands.withheld,
            tables={
                id: TableHealth(
                    elsewhere=elsewhere.get(id),
                    readings_lost=place.runner.lost_readings,
                    devices={name: device.health() for name, device in place.devices.items()},
                )
                for id, place in self._places.items()  # noqa: A001
            },
            reload=self._api.reload,
            standby=self._api.standby,
        )

    def notable(self) -> tuple[Any, ...]:
        """Return what is published at once when it changes: the journal, the log, the clock, the
        broker, each device. A link that opens for the first time is not a change of state.
        """
        devices = (
            device.health() for place in self._places.values() for device in place.devices.values()
        )
        links = ((health.state, health.reconnects, bool(health.link)) for health in devices)
        return (*self.trouble(), self._api.claims.elsewhere(), *links)

    def trouble(self) -> tuple[Any, ...]:
        """Return the part of :meth:`notable` that does not depend on devices: the journal, the log,
        the broker, the people, the configuration.
        """
        return (
            self._api.people,
            self._api.reload,
            self._journal.failed,
            logs.health().trouble,
            self._publisher.health.connected,
            dict(self._publisher.health.forbidden),
        )

    def _outbox(self) -> OutboxHealth:
        try:
            unsent = self._journal.events_after(self._publisher.position, MAX_COUNTED_EVENTS)
        except JournalUnusableError:  # temporary, and reported elsewhere
            return self._unsent
        self._unsent = self._age(unsent)
        return self._unsent

    def _age(self, unsent: list[Entry]) -> OutboxHealth:
        if not unsent:
            return OutboxHealth(depth=0, oldest=None)
        age = age_ns(unsent[0].mono_ns) / 1e9
        if unsent[0].boot != self._boot:  # mono_ns starts again with each run
            age = clock.wall() - datetime.fromisoformat(unsent[0].time).timestamp()
        return OutboxHealth(depth=len(unsent), oldest=round(max(0.0, age), 3))

    def stuck(self) -> str | None:
        """Return what makes no progress, or None. A journal that retries and a disconnected device
        count as progress.
        """
        for id, place in self._places.items():  # noqa: A001
            pending = place.runner.oldest_pending_seconds
            if pending > STUCK_SECONDS and self._journal.failed is None:
                return f"the journal has stored nothing from table {id} for {pending:.0f} s"
            for name, device in place.devices.items():
                # a working reader reports "stale" in time; one that hangs leaves it "up"
                health = device.health()
                if health.state == "up" and health.age is not None and health.age > place.silence:
                    return f"device {name} of table {id} has not been read for {health.age:.0f} s"
        return None


class HealthPublisher:
    """Publishes the health and the ``checkpoint`` of the node. ``due`` is set when the health may
    have changed; ``wake`` makes the publisher publish.
    """

    def __init__(
        self,
        *,
        reporter: HealthReporter,
        api: TablesApi,
        checkpoint: Callable[[], Checkpoint],
        due: asyncio.Event,
        wake: Callable[[], None],
    ) -> None:
        self._reporter = reporter
        self._api = api
        self._checkpoint = checkpoint
        self._due = due
        self._wake = wake

    async def run(self) -> None:
        """Publish health on every change, and every half minute. With many tables a report is
        expensive, so changes in quick succession are combined.
        """
        published: tuple[Any, ...] = ()
        due = 0.0
        while True:
            self._due.clear()
            start = clock.thread_time()
            notable = self._reporter.notable()
            if notable != published or clock.monotonic() >= due:
                published, due = notable, clock.monotonic() + REPORT_INTERVAL_SECONDS
                self._api.node = {
                    "health": msgspec.json.encode(self._reporter.report()),
                    "checkpoint": msgspec.json.encode(self._checkpoint()),
                }
                self._wake()
            await clock.sleep((clock.thread_time() - start) / MAX_REPORT_CPU_SHARE)
            trouble = self._reporter.trouble()
            while clock.monotonic() < due and self._reporter.trouble() == trouble:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(CHECK_INTERVAL_SECONDS):
                        await self._due.wait()
                        break


class Watchdog:
    """Feeds the service manager's watchdog every ``interval`` seconds, as long as everything makes
    progress.
    """

    def __init__(self, *, reporter: HealthReporter, interval: float) -> None:
        self._reporter = reporter
        self._interval = interval
        self._log = structlog.get_logger()

    async def run(self) -> None:
        """Feed the watchdog until cancelled."""
        while True:
            stuck = self._reporter.stuck()
            if stuck is None:
                notify("WATCHDOG=1")
            else:
                self._log.error("no progress", what=stuck)
            await clock.sleep(self._interval)
