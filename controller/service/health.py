"""Health of the daemon: the retained topic ``health`` of the node."""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import Any

import msgspec

from common import clock
from common.contract.node import (
    Checkpoint,
    Health,
    PeopleHealth,
    ReloadHealth,
    StandbyHealth,
    TableHealth,
)
from common.contract.times import format_utc
from common.contract.version import VERSION
from common.wakeup import Wakeup
from controller.journal.journal import Journal
from controller.mqtt.publisher import Publisher
from controller.mqtt.tables_api import TablesApi
from controller.service import logs
from controller.service.time_watch import TimeWatch
from controller.tables.stages import Stages

REPORT_INTERVAL_SECONDS = 30.0
"""Seconds between two reports if nothing changes."""
MAX_REPORT_CPU_SHARE = 0.05
"""Maximum share of the event loop's CPU time spent on health reports."""
CHECK_INTERVAL_SECONDS = 1.0
"""Seconds between two checks for conditions that nothing signals, such as a failing log."""


class HealthReporter:
    """Merges the health that every part states of itself. ``people``, ``reload`` and ``standby``
    return the health of parts that some daemons lack.
    """

    def __init__(
        self,
        *,
        boot: str,
        journal: Journal,
        publisher: Publisher,
        api: TablesApi,
        stages: Stages,
        time_watch: TimeWatch,
        people: Callable[[], PeopleHealth | None],
        reload: Callable[[], ReloadHealth | None],
        standby: Callable[[], StandbyHealth | None],
    ) -> None:
        self._boot = boot
        self._journal = journal
        self._publisher = publisher
        self._api = api
        self._stages = stages
        self._time_watch = time_watch
        self._people = people
        self._reload = reload
        self._standby = standby
        self._started = clock.monotonic()
        self._versions = {"novamas": VERSION, "python": platform.python_version()}

    def report(self, tables: dict[str, TableHealth]) -> Health:
        """Return the present health of everything. ``tables``: that of each table."""
        return Health(
            boot=self._boot,
            time=format_utc(clock.wall()),
            uptime=round(clock.monotonic() - self._started, 1),
            versions=self._versions,
            broker=self._publisher.health(),
            outbox=self._publisher.outbox.health(),
            journal=self._journal.health(),
            stages=self._stages.health(),
            clock=self._time_watch.health(),
            log=logs.health(),
            **self._api.commands.health(),
            people=self._people(),
            tables=tables,
            reload=self._reload(),
            standby=self._standby(),
        )

    def notable(self, tables: dict[str, TableHealth]) -> tuple[Any, ...]:
        """Return what is published at once when it changes: the journal, the log, the clock, the
        broker, each device. A link that opens for the first time is not a change of state.
        """
        links = (
            (device.state, device.reconnects, bool(device.link))
            for table in tables.values()
            for device in table.devices.values()
        )
        return (*self.trouble(), tuple(table.elsewhere for table in tables.values()), *links)

    def trouble(self) -> tuple[Any, ...]:
        """Return the part of :meth:`notable` that does not depend on devices: the journal, the log,
        the broker, the people, the configuration.
        """
        broker = self._publisher.health()
        return (
            self._people(),
            self._reload(),
            self._journal.failed,
            logs.health().trouble,
            broker.connected,
            dict(broker.forbidden),
        )


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
        due: Wakeup,
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
            tables = await self._api.health()
            notable = self._reporter.notable(tables)
            if notable != published or clock.monotonic() >= due:
                published, due = notable, clock.monotonic() + REPORT_INTERVAL_SECONDS
                self._api.node = {
                    "health": msgspec.json.encode(self._reporter.report(tables)),
                    "checkpoint": msgspec.json.encode(self._checkpoint()),
                }
                self._wake()
            await clock.sleep((clock.thread_time() - start) / MAX_REPORT_CPU_SHARE)
            trouble = self._reporter.trouble()
            while clock.monotonic() < due and self._reporter.trouble() == trouble:
                if await self._due.wait(CHECK_INTERVAL_SECONDS):
                    break
