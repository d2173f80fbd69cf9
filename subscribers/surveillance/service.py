"""The recorder: receives messages from the brokers and stores them in the archive.

Messages of all sites queue in the order of arrival. A thread stores them together; only then are
they acknowledged. While the archive cannot store, nothing is acknowledged, so the brokers keep new
messages, and only a few messages of each site are queued here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from common import clock, randomness
from common.log import structlog
from common.metrics.endpoint import serve
from common.tasks import end_tasks
from subscribers.essential import essential
from subscribers.feed.recall_key import RecallKey
from subscribers.surveillance.archive import RecordArchive, StoreResult
from subscribers.surveillance.errors import ArchiveError, ArchiveInUseError
from subscribers.surveillance.findings import STALLED_ALERT_ID, open_findings
from subscribers.surveillance.health import RecorderHealth, pages
from subscribers.surveillance.open_archive import open_archive
from subscribers.surveillance.settings import SurveillanceSettings
from subscribers.surveillance.site import MAX_BATCH_RECORDS, PendingMessage, RecordedSite
from subscribers.surveillance.site_alerts import MAX_RESTORED_ALERTS

TICK_SECONDS = 0.1
"""Interval at which due work is checked."""
RETRY_DELAY_SECONDS = 1.0
"""Delay between two attempts to reach the archive."""
REPLY_TIMEOUT_SECONDS = 15.0
"""Time after which an archive without reply is reported as stalled."""
STATE_SAVE_INTERVAL_SECONDS = 5.0
"""Interval for saving the read positions and the journal proofs. Anything newer is read and checked
again after a restart.
"""
SETTLED_CHECK_INTERVAL_SECONDS = 2.0
"""Interval for checking which findings were settled."""
HEALTH_LOG_INTERVAL_SECONDS = 60.0
"""Interval for logging the recorder's health."""
WRITE_TIMEOUT_SECONDS = 4.0
"""Time allowed at shutdown for storing received messages; the broker redelivers the rest."""
FAREWELL_TIMEOUT_SECONDS = 3.0
"""Time allowed at shutdown for the last messages to each broker."""


T = TypeVar("T")


class NewRecordSignal:
    """Lets side tasks wait for new records."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self.number = 0

    def publish(self, number: int) -> None:
        """Announce that the archive has records up to this number."""
        self.number = max(self.number, number)
        event, self._event = self._event, asyncio.Event()
        event.set()

    async def beyond(self, number: int) -> None:
        """Wait until there may be a record with a larger number."""
        if self.number <= number:
            await self._event.wait()


SideTask = Callable[[NewRecordSignal], Coroutine[Any, Any, None]]
"""A task that runs beside the recording, such as the delivery of bookmarks. It opens the archive
itself.
"""


class SurveillanceRecorder:
    """``side_tasks``: tasks by name that run beside the recording until it ends. One that fails is
    logged and restarted. ``open_own``: opens the archive for a recorder; default: the one of the
    settings. Raise ``PrivateKeyError`` or ``OSError`` if the reader's key cannot be used.
    """

    def __init__(
        self,
        settings: SurveillanceSettings,
        side_tasks: dict[str, SideTask] | None = None,
        open_own: Callable[[], RecordArchive] | None = None,
    ) -> None:
        self.settings = settings
        self._open_own = open_own or partial(open_archive, settings.archive, recorder=True)
        self._log = structlog.get_logger()
        self._side_tasks = side_tasks or {}
        key = (
            None
            if settings.recall_key is None or settings.recall_passphrase is None
            else RecallKey(Path(settings.recall_key), Path(settings.recall_passphrase))
        )
        boot = randomness.token_hex(4)
        self._work = asyncio.Event()
        self.sites = [
            RecordedSite(
                site_settings, settings.node, boot, self._work.set, key, settings.recall_person
            )
            for site_settings in settings.sites
        ]
        self.new_records = NewRecordSignal()
        self.health = RecorderHealth()
        self._archive: RecordArchive | None = None
        self._opened = asyncio.Event()
        """Set when the archive was opened for the first time."""
        self._unavailable = asyncio.Event()
        """Set when the archive cannot store records for another reason than a second recorder."""
        self._ending = False
        self._next_save = 0.0
        """When to save the state again, on the monotonic clock."""
        self._unresponsive = False
        """True if the archive did not reply in time, until a write succeeds."""

    async def run(self, ending: asyncio.Event) -> None:
        """Run until ``ending`` is set. Messages that are not stored by then are redelivered by the
        broker.
        """
        tasks: list[asyncio.Task[None]] = []
        async with asyncio.TaskGroup() as group:

            def start(name: str, work: Coroutine[Any, Any, object]) -> asyncio.Task[None]:
                tasks.append(group.create_task(essential(name, work, ending), name=name))
                return tasks[-1]

            writing = start("archive", self._store_messages(start))
            start("clock", self._run_clock())
            for name, side_task in self._side_tasks.items():
                start(name, self._run_side_task(name, side_task))
            if self.settings.listen is not None:
                start("pages", serve(self.settings.listen, pages(self._current_health)))
            await ending.wait()
            self._ending = True
            self._work.set()
            if self._archive is not None:
                with suppress(TimeoutError):
                    async with asyncio.timeout(WRITE_TIMEOUT_SECONDS):
                        await asyncio.shield(writing)
            await asyncio.gather(*map(self._send_last_messages, self.sites))
            for task in tasks:
                task.cancel()
        if self._archive is not None:
            await asyncio.to_thread(self._archive.close)

    async def _send_last_messages(self, site: RecordedSite) -> None:
        with suppress(Exception):  # the broker publishes our last will instead
            async with asyncio.timeout(FAREWELL_TIMEOUT_SECONDS):
                await site.connection.flush(site.last_messages)
        site.connection.end()

    async def _store_messages(
        self, start: Callable[[str, Coroutine[Any, Any, object]], asyncio.Task[None]]
    ) -> None:
        publishing = [
            start(f"alert connection of {site.id}", self._publish_while_closed(site))
            for site in self.sites
        ]
        await self._open_archive()
        await end_tasks(*publishing)
        if self.health.trouble is not None:
            await self._store([])  # clears the alert before connecting
        for site in self.sites:
            start(f"connection of {site.id}", site.connection.run())
        while True:
            batches = [(site, list(islice(site.pending, MAX_BATCH_RECORDS))) for site in self.sites]
            if not any(batch for _, batch in batches) and not self._unresponsive:
                if self._ending:
                    return
                self._work.clear()
                await self._work.wait()
                continue
            result = await self._store(batches)
            for site, batch in batches:
                for message in batch:
                    site.pending.popleft()
                    if message.on_stored is not None:
                        message.on_stored()
                site.acknowledge(batch)
            by_id = {site.id: site for site in self.sites}
            for stored, received in result.conflicts:
                by_id[stored.site].on_conflict(stored, received)
            for row in result.new:
                if row.record.kind == "finding":
                    by_id[row.record.site].alerts.report_finding(row.record)
            if result.new:
                self.health.kept += len(result.new)
                self.new_records.publish(result.new[-1].number)

    async def _store(
        self, batches: Sequence[tuple[RecordedSite, list[PendingMessage]]]
    ) -> StoreResult:
        """Store a batch; retry until it succeeds."""
        records = [
            record for _, batch in batches for message in batch for record in message.records
        ]
        result: StoreResult | None = None
        while True:
            if self._archive is not None:
                archive = self._archive
                try:
                    if result is None:
                        result = await self._call(archive.store, records)
                    if self._unresponsive or clock.monotonic() >= self._next_save:
                        for site, _ in batches:
                            name, value = site.snapshot()
                            if self._unresponsive or site.saved != value:
                                await self._call(archive.save_value, name, value)
                                site.saved = value
                        self._next_save = clock.monotonic() + STATE_SAVE_INTERVAL_SECONDS
                    if self.health.trouble is not None:
                        await self._recover(archive)
                except ArchiveError as error:
                    self._on_archive_error(error)
                else:
                    return result
            await clock.sleep(RETRY_DELAY_SECONDS)
            await self._open_archive()

    async def _publish_while_closed(self, site: RecordedSite) -> None:
        """Publish that the archive cannot be opened, on a connection without subscriptions."""
        await self._unavailable.wait()
        try:
            await site.alert_connection.run()
        finally:
            site.alert_connection.end()

    async def _open_archive(self) -> None:
        """Open the archive; retry until it succeeds."""
        while True:
            archive, self._archive = self._archive, None
            try:
                if archive is not None:
                    await asyncio.to_thread(archive.close)
                archive = await self._call(self._open_own)
                for site in self.sites:
                    if site.saved is None:
                        await self._call(site.restore, archive)
            except ArchiveError as error:
                self._archive = archive
                self._on_archive_error(error)
                await clock.sleep(RETRY_DELAY_SECONDS)
            else:
                self._archive = archive
                self._opened.set()
                return

    async def _call(self, method: Callable[..., T], *arguments: Any) -> T:
        """Call an archive method in a thread and return its result. If it takes long, report the
        archive as stalled, and keep waiting. Raise :class:`ArchiveError`.
        """
        call = asyncio.create_task(asyncio.to_thread(method, *arguments))
        # retrieved: a stop abandons a call to an archive that hangs
        call.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        done, _ = await asyncio.wait({call}, timeout=REPLY_TIMEOUT_SECONDS)
        if not done:
            self._mark_unresponsive(
                ArchiveError(
                    f"the archive has not answered for {REPLY_TIMEOUT_SECONDS:g} s; check its disk "
                    "or server"
                )
            )
        return await call

    def _mark_unresponsive(self, error: ArchiveError) -> None:
        self._unresponsive = True
        self._on_archive_error(error)
        self._work.set()

    def _on_archive_error(self, error: ArchiveError) -> None:
        reason = str(error)
        if not isinstance(error, ArchiveInUseError):
            self._unavailable.set()
        self.health.failed += 1
        if self.health.trouble != reason:
            self._log.error("the archive takes nothing", reason=reason, alert=STALLED_ALERT_ID)
            for site in self.sites:
                site.alerts.set_stalled(reason)
        self.health.trouble = reason

    async def _recover(self, archive: RecordArchive) -> None:
        """The archive stores records again. A write that seemed to fail may have been done: its
        records are not new the second time, so findings among them are looked up.
        """
        newest_before = await self._call(archive.newest_number)
        findings = await self._call(open_findings, archive)
        newest = await self._call(archive.newest_number)
        for site in self.sites:
            own_findings = [
                record for _, record in findings[-MAX_RESTORED_ALERTS:] if record.site == site.id
            ]
            site.alerts.restore_findings(own_findings, newest_before)
        self.new_records.publish(newest)
        self._log.info("the archive takes records again")
        self.health.trouble, self._unresponsive = None, False
        for site in self.sites:
            site.alerts.set_stalled(None)
            site.recalls.schedule_gap_checks()

    async def _run_clock(self) -> None:
        logged = checked = clock.monotonic()
        while True:
            await clock.sleep(TICK_SECONDS)
            now = clock.monotonic()
            for site in self.sites:
                archive = self._archive
                if archive is None or self.health.trouble is not None:
                    continue
                try:
                    if site.recalls.has_due_gap_check(now):
                        await self._call(site.recalls.query_missing, archive, now)
                    if now - checked >= SETTLED_CHECK_INTERVAL_SECONDS:
                        await self._call(site.alerts.check_settled, archive)
                except ArchiveError as error:
                    if archive is self._archive and self.health.trouble is None:
                        self._mark_unresponsive(error)
                    site.recalls.schedule_gap_checks()
                    continue
                site.send_due(now)
            if now - checked >= SETTLED_CHECK_INTERVAL_SECONDS:
                checked = now
            if now - logged >= HEALTH_LOG_INTERVAL_SECONDS:
                logged = now
                self._log.info("health", **self.health.update(self.sites))

    def _current_health(self) -> RecorderHealth:
        self.health.update(self.sites)
        return self.health

    async def _run_side_task(self, name: str, side_task: SideTask) -> None:
        """Run a side task, and restart it whenever it ends. Log a failure once, not at each
        attempt.
        """
        await self._opened.wait()
        reason = ""
        while True:
            started = clock.monotonic()
            try:
                await side_task(self.new_records)
            except Exception as error:
                if clock.monotonic() - started >= HEALTH_LOG_INTERVAL_SECONDS:
                    reason = ""  # it worked in between
                if repr(error) != reason:
                    reason = repr(error)
                    cause = None if isinstance(error, ArchiveError) else error
                    self._log.error(
                        "a task beside the recording failed; it is tried again every second",
                        task=name,
                        reason=str(error),
                        exc_info=cause,
                    )
            await clock.sleep(RETRY_DELAY_SECONDS)
