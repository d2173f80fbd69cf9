"""Bookmarks from the archive to one receiver: at least once, in the order of the archive, whatever
happens to the receiver or to us.

Each receiver has a thread, a connection to the archive and a place in it of its own, so one that is
away holds up neither the recording nor another. The place is kept in the archive, so nothing is
lost by a restart; what was sent after the place was last kept is sent again.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Protocol

import msgspec

from controller.contract.times import moment, utc
from devices.log import structlog
from subscribers.surveillance.archive import ArchiveRow, Query, RecordArchive
from subscribers.surveillance.errors import ArchiveError
from subscribers.video.bookmarks import Bookmark, bookmark
from subscribers.video.errors import AwayError, RefusedError
from subscribers.video.frigate import Frigate
from subscribers.video.milestone import Milestone
from subscribers.video.pos import PointOfSale
from subscribers.video.settings import BookmarkSettings
from subscribers.video.webhook import Webhook

LOOK = 0.05
"""Seconds between two looks whether the archive has more."""
AT_ONCE = 200
"""Records read at once."""
KEEP_EVERY = 1.0
"""Seconds between two times that the place is kept while there is more to send."""
FIRST, LAST = 0.5, 30.0
"""Seconds before it tries again: at first, and at most."""
REMIND = 300.0
"""Seconds between two lines of the log about the same trouble."""
PATIENCE = 1.0
"""Seconds for who is sending when all ends. What it had not kept by then is sent again."""

log = structlog.get_logger()


class Receiver(Protocol):
    """What an adapter does."""

    def send(self, mark: Bookmark, *, late: bool, now: float) -> None:
        """Return when the receiver has it. Raises :class:`AwayError` and :class:`RefusedError`."""

    def close(self) -> None:
        """End."""


RECEIVERS: Mapping[str, Callable[[BookmarkSettings], Receiver]] = {
    "milestone": Milestone,
    "frigate": Frigate,
    "pos": PointOfSale,
    "webhook": Webhook,
}


class Progress(msgspec.Struct, kw_only=True):
    """How far a receiver has come, as it is kept in the archive."""

    after: int
    """The number of the last record that is done with."""
    sent: int = 0
    late: int = 0
    """Of those sent."""
    refused: int = 0
    failed: int = 0
    """Attempts that were made again."""
    trouble: str = ""
    """Why the next one is not sent; empty: all is sent."""
    since: str = ""
    """When that began: UTC, ISO 8601."""


def name_of(receiver: str) -> str:
    """Under which name the archive keeps it."""
    return f"bookmark/{receiver}"


class Delivery:
    """All of one receiver. ``opened`` gives a connection to the archive, which it closes."""

    def __init__(
        self,
        settings: BookmarkSettings,
        opened: Callable[[], RecordArchive],
        ending: threading.Event,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._settings, self._opened, self._ending, self._clock = settings, opened, ending, clock
        self._receiver = RECEIVERS[settings.kind](settings)
        self._log = log.bind(bookmark=settings.id, address=settings.address)
        self._next = self._kept = self._told = 0.0
        self.progress = Progress(after=0)

    def run(self) -> None:
        """Send until the end. Trouble with the archive is told, and tried again."""
        pause, reason = FIRST, ""
        while not self._ending.is_set():
            try:
                archive = self._opened()
                try:
                    self.progress = self._begin(archive)
                    while not self._ending.is_set():
                        self._some(archive)
                        pause, reason = FIRST, ""
                finally:
                    archive.close()
            except ArchiveError as error:
                if str(error) != reason:
                    reason = str(error)
                    self._log.error("bookmarks wait for the archive", why=reason)
            except Exception as error:  # a defect: the bookmark is not left out
                if repr(error) != reason:
                    reason = repr(error)
                    self._log.exception("bookmarks wait")
            else:
                continue
            self._ending.wait(pause)
            pause = min(LAST, pause * 2)
        self._receiver.close()

    def _begin(self, archive: RecordArchive) -> Progress:
        """Where it was; a new receiver begins with what happens from now on."""
        kept = archive.load_value(name_of(self._settings.id))
        if kept is not None:
            return msgspec.json.decode(kept, type=Progress)
        after = 0
        for row in archive.find(Query(order="latest", limit=1)):
            after = row.number
        for row in archive.find(Query(order="number", after=after)):
            after = row.number
        progress = Progress(after=after)
        archive.save_value(name_of(self._settings.id), msgspec.json.encode(progress))
        return progress

    def _some(self, archive: RecordArchive) -> None:
        """What the archive has now, up to some; wait where it has nothing."""
        progress = self.progress
        query = Query(kinds=("event",), order="number", after=progress.after, limit=AT_ONCE)
        rows = list(archive.find(query))
        for row in rows:
            mark = wanted(row, self._settings)
            if mark is not None and not self._deliver(archive, mark):
                break  # we end
            progress.after = row.number
            if time.monotonic() - self._kept >= KEEP_EVERY:
                self._keep(archive)
        if rows:
            self._keep(archive)
        if len(rows) < AT_ONCE:
            self._ending.wait(LOOK)

    def _deliver(self, archive: RecordArchive, mark: Bookmark) -> bool:
        """Send it until it is taken or refused for good. False: we end before."""
        progress, pause = self.progress, FIRST
        while not self._ending.wait(max(0.0, self._next - time.monotonic())):
            self._next = time.monotonic() + 1 / self._settings.pace
            now = self._clock()
            late = is_late(mark, now, self._settings.late_after)
            try:
                self._receiver.send(mark, late=late, now=now)
            except AwayError as error:
                self._away(archive, str(error), mark)
                self._next = time.monotonic() + pause
                pause = min(LAST, pause * 2)
                continue
            except RefusedError as error:
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

    def _away(self, archive: RecordArchive, why: str, mark: Bookmark) -> None:
        progress, now = self.progress, time.monotonic()
        if why != progress.trouble or now - self._told >= REMIND:
            self._told = now
            self._log.warning("bookmarks wait", why=why, bookmark_of=mark.id)
        progress.failed += 1
        progress.trouble, progress.since = why, progress.since or utc(self._clock())
        self._keep(archive)

    def _keep(self, archive: RecordArchive) -> None:
        archive.save_value(name_of(self._settings.id), msgspec.json.encode(self.progress))
        self._kept = time.monotonic()


def wanted(row: ArchiveRow, settings: BookmarkSettings) -> Bookmark | None:
    """The bookmark of a record, where this receiver is to have it."""
    record = row.record
    if record.site != settings.site or record.type not in settings.events:
        return None
    if settings.tables and record.table not in settings.tables:
        return None
    return bookmark(record, settings.language)


def is_late(mark: Bookmark, now: float, after: float) -> bool:
    """Whether it comes so late that a receiver must not take its arrival for its time."""
    try:
        return mark.historical or now - moment(mark.time) > after
    except ValueError:
        return True


def beside(
    receivers: Sequence[BookmarkSettings], opened: Callable[[], RecordArchive]
) -> Callable[[object], Coroutine[object, object, None]]:
    """What sends to all receivers beside the recorder, until it is cancelled. A receiver that does
    not answer then is not waited for.
    """

    async def run(_grown: object) -> None:
        ending = threading.Event()
        threads = [
            threading.Thread(target=Delivery(each, opened, ending).run, daemon=True)
            for each in receivers
        ]
        for thread in threads:
            thread.start()
        try:
            await asyncio.Event().wait()
        finally:
            ending.set()
            end = time.monotonic() + PATIENCE
            for thread in threads:
                thread.join(max(0.0, end - time.monotonic()))

    return run
