"""Delivers bookmarks from the archive to one receiver: at least once, in the order of the archive.

Each receiver has its own thread, archive connection and position, so one that is unreachable delays
neither the recording nor another receiver. The position is stored in the archive, so nothing is
lost by a restart; bookmarks sent after the position was last stored are sent again.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Protocol

import msgspec

from common import clock
from common.contract.times import format_utc, parse_utc
from common.log import structlog
from subscribers.surveillance.archive import ArchiveRow, Query, RecordArchive
from subscribers.surveillance.errors import ArchiveError
from subscribers.video.bookmarks import Bookmark, bookmark
from subscribers.video.frigate import Frigate
from subscribers.video.milestone import Milestone
from subscribers.video.pos import PointOfSale
from subscribers.video.settings import BookmarkSettings
from subscribers.video.webhook import Webhook
from subscribers.webhooks.errors import ReceiverAwayError, RequestRefusedError

POLL_INTERVAL_SECONDS = 0.05
"""Interval at which the archive is checked for new records."""
MAX_RECORDS_PER_READ = 200
"""Number of records read at once."""
SAVE_INTERVAL_SECONDS = 1.0
"""Interval for storing the position while there is more to send."""
MIN_RETRY_SECONDS, MAX_RETRY_SECONDS = 0.5, 30.0
"""First and maximum delay before a retry."""
LOG_REPEAT_SECONDS = 300.0
"""Interval at which the same problem is logged again."""
SHUTDOWN_TIMEOUT_SECONDS = 1.0
"""Time allowed for a delivery to end. Unstored progress is repeated at the next start."""

log = structlog.get_logger()


class BookmarkReceiver(Protocol):
    """Interface of the adapters."""

    def send(self, mark: Bookmark, *, late: bool, now: float) -> None:
        """Return when the receiver has the bookmark. Raises :class:`ReceiverAwayError` and
        :class:`RequestRefusedError`.
        """

    def close(self) -> None:
        """Close the connection."""


RECEIVERS: Mapping[str, Callable[[BookmarkSettings], BookmarkReceiver]] = {
    "milestone": Milestone,
    "frigate": Frigate,
    "pos": PointOfSale,
    "webhook": Webhook,
}


class DeliveryProgress(msgspec.Struct, kw_only=True):
    """Progress of a receiver, as stored in the archive."""

    after: int
    """Number of the last processed record."""
    sent: int = 0
    late: int = 0
    """Number of late ones among those sent."""
    refused: int = 0
    failed: int = 0
    """Number of repeated attempts."""
    trouble: str = ""
    """Why the next one cannot be sent; empty if there is no problem."""
    since: str = ""
    """When the problem began: UTC, ISO 8601."""


def progress_key(receiver: str) -> str:
    """Return the key of a receiver's progress in the archive."""
    return f"bookmark/{receiver}"


class BookmarkDelivery:
    """Delivery to one receiver. ``opened`` returns a connection to the archive, which
    this closes.
    """

    def __init__(
        self,
        settings: BookmarkSettings,
        opened: Callable[[], RecordArchive],
        ending: threading.Event,
        clock: Callable[[], float] = clock.wall,
    ) -> None:
        self._settings, self._opened, self._ending, self._clock = settings, opened, ending, clock
        self._receiver = RECEIVERS[settings.kind](settings)
        self._log = log.bind(bookmark=settings.id, address=settings.address)
        self._next_send = self._saved_at = self._logged_at = 0.0
        self.progress = DeliveryProgress(after=0)

    def run(self) -> None:
        """Send until ``ending`` is set. Problems with the archive are logged and retried."""
        pause, reason = MIN_RETRY_SECONDS, ""
        while not self._ending.is_set():
            try:
                archive = self._opened()
                try:
                    self.progress = self._begin(archive)
                    while not self._ending.is_set():
                        self._send_batch(archive)
                        pause, reason = MIN_RETRY_SECONDS, ""
                finally:
                    archive.close()
            except ArchiveError as error:
                if str(error) != reason:
                    reason = str(error)
                    self._log.error("bookmarks wait for the archive", why=reason)
            except Exception as error:  # a bug: retry rather than skip the bookmark
                if repr(error) != reason:
                    reason = repr(error)
                    self._log.exception("bookmarks wait")
            else:
                continue
            self._ending.wait(pause)
            pause = min(MAX_RETRY_SECONDS, pause * 2)
        self._receiver.close()

    def _begin(self, archive: RecordArchive) -> DeliveryProgress:
        """Return the stored progress; a new receiver starts with the next event."""
        stored = archive.load_value(progress_key(self._settings.id))
        if stored is not None:
            return msgspec.json.decode(stored, type=DeliveryProgress)
        after = 0
        for row in archive.find(Query(order="latest", limit=1)):
            after = row.number
        for row in archive.find(Query(order="number", after=after)):
            after = row.number
        progress = DeliveryProgress(after=after)
        archive.save_value(progress_key(self._settings.id), msgspec.json.encode(progress))
        return progress

    def _send_batch(self, archive: RecordArchive) -> None:
        """Send the next records of the archive; wait if the archive has no more."""
        progress = self.progress
        query = Query(
            kinds=("event",), order="number", after=progress.after, limit=MAX_RECORDS_PER_READ
        )
        rows = list(archive.find(query))
        for row in rows:
            mark = bookmark_for(row, self._settings)
            if mark is not None and not self._deliver(archive, mark):
                break  # the program is ending
            progress.after = row.number
            if clock.monotonic() - self._saved_at >= SAVE_INTERVAL_SECONDS:
                self._save(archive)
        if rows:
            self._save(archive)
        if len(rows) < MAX_RECORDS_PER_READ:
            self._ending.wait(POLL_INTERVAL_SECONDS)

    def _deliver(self, archive: RecordArchive, mark: Bookmark) -> bool:
        """Send a bookmark until it is accepted or permanently refused. Return False if the program
        ends before.
        """
        progress, pause = self.progress, MIN_RETRY_SECONDS
        while not self._ending.wait(max(0.0, self._next_send - clock.monotonic())):
            self._next_send = clock.monotonic() + 1 / self._settings.pace
            now = self._clock()
            late = is_late(mark, now, self._settings.late_after)
            try:
                self._receiver.send(mark, late=late, now=now)
            except ReceiverAwayError as error:
                self._on_away(archive, str(error), mark)
                self._next_send = clock.monotonic() + pause
                pause = min(MAX_RETRY_SECONDS, pause * 2)
                continue
            except RequestRefusedError as error:
                self._log.error("bookmark refused", why=str(error), bookmark_of=mark.id)
                progress.refused += 1
            else:
                progress.sent += 1
                progress.late += late
            if progress.trouble:
                self._log.info("bookmarks are taken again", since=progress.since)
                progress.trouble = progress.since = ""
            return True
        return False

    def _on_away(self, archive: RecordArchive, why: str, mark: Bookmark) -> None:
        progress, now = self.progress, clock.monotonic()
        if why != progress.trouble or now - self._logged_at >= LOG_REPEAT_SECONDS:
            self._logged_at = now
            self._log.warning("bookmarks wait", why=why, bookmark_of=mark.id)
        progress.failed += 1
        progress.trouble, progress.since = why, progress.since or format_utc(self._clock())
        self._save(archive)

    def _save(self, archive: RecordArchive) -> None:
        archive.save_value(progress_key(self._settings.id), msgspec.json.encode(self.progress))
        self._saved_at = clock.monotonic()


def bookmark_for(row: ArchiveRow, settings: BookmarkSettings) -> Bookmark | None:
    """Return the bookmark of a record if this receiver should get it, else None."""
    record = row.record
    if record.site != settings.site or record.type not in settings.events:
        return None
    if settings.tables and record.table not in settings.tables:
        return None
    return bookmark(record, settings.language)


def is_late(mark: Bookmark, now: float, after: float) -> bool:
    """Return whether a bookmark is so late that a receiver must not use its arrival as its time."""
    try:
        return mark.historical or now - parse_utc(mark.time) > after
    except ValueError:
        return True


def deliver_beside(
    receivers: Sequence[BookmarkSettings], opened: Callable[[], RecordArchive]
) -> Callable[[object], Coroutine[object, object, None]]:
    """Return the task that delivers to all receivers, until it is cancelled. It does not wait for a
    receiver that does not reply then.
    """

    async def run(_grown: object) -> None:
        ending = threading.Event()
        threads = [
            threading.Thread(target=BookmarkDelivery(settings, opened, ending).run, daemon=True)
            for settings in receivers
        ]
        for thread in threads:
            thread.start()
        try:
            await asyncio.Event().wait()
        finally:
            ending.set()
            end = clock.monotonic() + SHUTDOWN_TIMEOUT_SECONDS
            for thread in threads:
                thread.join(max(0.0, end - clock.monotonic()))

    return run
