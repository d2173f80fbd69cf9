"""The running recorder: the way of a message from the broker to the archive.

Messages of all sites wait in the order in which they came. A thread keeps them together; only then
the broker is told that they came. While the archive takes nothing, nothing is acknowledged, so the
brokers keep what comes: no more than a few messages of each site wait here.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from controller.metrics.endpoint import serve
from devices.log import structlog
from subscribers.essential import essential
from subscribers.recall_key import RecallKey
from subscribers.surveillance.archive import Archive, Kept
from subscribers.surveillance.errors import ArchiveError, TakenError
from subscribers.surveillance.findings import open_findings
from subscribers.surveillance.health import Health, pages
from subscribers.surveillance.open_archive import open_archive
from subscribers.surveillance.settings import SurveillanceSettings
from subscribers.surveillance.site import AT_ONCE, SHOWN, Site, Taken

TICK = 0.1
"""Seconds between two looks at what is due."""
AGAIN = 1.0
"""Seconds between two attempts to reach the archive."""
LATE = 15.0
"""Seconds after which an archive that does not answer is told, whatever it waits for."""
REMEMBERED = 5.0
"""Seconds between two times at which it is kept how far the tables were heard and what was proved.
What is older is heard and proved again.
"""
SETTLING = 2.0
"""Seconds between two looks at what persons have settled."""
SAID = 60.0
"""Seconds between two lines of the log that say how the recorder is."""
WRITE_TIMEOUT_SECONDS = 4.0
"""Time allowed at the end for what has come to be stored; the broker repeats the rest."""
FAREWELL_TIMEOUT_SECONDS = 3.0
"""Time allowed at the end for the last messages to each broker."""


T = TypeVar("T")


class Grown:
    """Lets a task beside the recording wait for new records."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self.number = 0

    def to(self, number: int) -> None:
        """The archive has records up to this number."""
        self.number = max(self.number, number)
        event, self._event = self._event, asyncio.Event()
        event.set()

    async def beyond(self, number: int) -> None:
        """Wait until there is, or may be, a record of a larger number."""
        if self.number <= number:
            await self._event.wait()


Beside = Callable[[Grown], Coroutine[Any, Any, None]]
"""A task beside the recording, such as what delivers bookmarks. It opens the archive itself."""


class Recorder:
    """``beside``: by name, what runs beside the recording until it ends. Where one fails, it is
    logged and begun again. Raises ``PrivateKeyError`` and ``OSError`` for the key of the reader.
    """

    def __init__(
        self, settings: SurveillanceSettings, beside: dict[str, Beside] | None = None
    ) -> None:
        self.settings = settings
        self._log = structlog.get_logger()
        self._beside = beside or {}
        key = (
            None
            if settings.recall_key is None or settings.recall_passphrase is None
            else RecallKey(Path(settings.recall_key), Path(settings.recall_passphrase))
        )
        boot = secrets.token_hex(4)
        self._work = asyncio.Event()
        self.sites = [
            Site(each, settings.node, boot, self._work.set, key, settings.recall_person)
            for each in settings.sites
        ]
        self.grown = Grown()
        self.health = Health()
        self._archive: Archive | None = None
        self._opened = asyncio.Event()
        """Set when the archive was opened for the first time."""
        self._untaken = asyncio.Event()
        """Set when the archive took nothing, and no other recorder has it."""
        self._ending = False
        self._remember = 0.0
        """When it is kept again how far the tables were heard, on the monotonic clock."""
        self._doubted = False
        """Whether the archive did not answer a question, so that a write has to show how it is."""

    async def run(self, ending: asyncio.Event) -> None:
        """Until ``ending`` is set. What came by then and was not kept, the broker repeats."""
        tasks: list[asyncio.Task[None]] = []
        async with asyncio.TaskGroup() as group:

            def start(name: str, work: Coroutine[Any, Any, object]) -> asyncio.Task[None]:
                tasks.append(group.create_task(essential(name, work, ending), name=name))
                return tasks[-1]

            writing = start("archive", self._write(start))
            start("clock", self._tick())
            for name, each in self._beside.items():
                start(name, self._run_beside(name, each))
            if self.settings.listen is not None:
                start("pages", serve(self.settings.listen, pages(self._told)))
            await ending.wait()
            self._ending = True
            self._work.set()
            if self._archive is not None:
                with suppress(TimeoutError):
                    async with asyncio.timeout(WRITE_TIMEOUT_SECONDS):
                        await asyncio.shield(writing)
            await asyncio.gather(*map(self._say_farewell, self.sites))
            for task in tasks:
                task.cancel()
        if self._archive is not None:
            await asyncio.to_thread(self._archive.close)

    async def _say_farewell(self, site: Site) -> None:
        with suppress(Exception):  # whatever is wrong with the broker: it has our will
            async with asyncio.timeout(FAREWELL_TIMEOUT_SECONDS):
                await site.connection.flush(site.farewell)
        site.connection.end()

    async def _write(
        self, start: Callable[[str, Coroutine[Any, Any, object]], asyncio.Task[None]]
    ) -> None:
        """Keep what comes."""
        heralds = [start(f"herald of {site.id}", self._herald(site)) for site in self.sites]
        await self._open()
        for herald in heralds:
            herald.cancel()
        await asyncio.wait(heralds)
        if self.health.trouble is not None:
            await self._keep([])  # what is over is not told
        for site in self.sites:
            start(f"connection of {site.id}", site.connection.run())
        while True:
            batches = [(site, list(islice(site.taken, AT_ONCE))) for site in self.sites]
            if not any(batch for _, batch in batches) and not self._doubted:
                if self._ending:
                    return
                self._work.clear()
                await self._work.wait()
                continue
            kept = await self._keep(batches)
            for site, batch in batches:
                for each in batch:
                    site.taken.popleft()
                    if each.kept is not None:
                        each.kept()
                site.acknowledge(batch)
            by_id = {site.id: site for site in self.sites}
            for before, said in kept.differ:
                by_id[before.site].differ(before, said)
            for row in kept.new:
                if row.record.kind == "finding":
                    by_id[row.record.site].tell(row.record)
            if kept.new:
                self.health.kept += len(kept.new)
                self.grown.to(kept.new[-1].number)

    async def _keep(self, batches: Sequence[tuple[Site, list[Taken]]]) -> Kept:
        """Keep a batch, however long the archive takes nothing."""
        records = [record for _, batch in batches for each in batch for record in each.records]
        kept: Kept | None = None
        while True:
            if self._archive is not None:
                archive = self._archive
                try:
                    if kept is None:
                        kept = await self._ask(archive.keep, records)
                    if self._doubted or time.monotonic() >= self._remember:
                        for site, _ in batches:
                            name, value = site.proved()
                            if self._doubted or site.remembered != value:
                                await self._ask(archive.remember, name, value)
                                site.remembered = value
                        self._remember = time.monotonic() + REMEMBERED
                    if self.health.trouble is not None:
                        await self._recover(archive)
                except ArchiveError as error:
                    self._fail(error)
                else:
                    return kept
            await asyncio.sleep(AGAIN)
            await self._open()

    async def _herald(self, site: Site) -> None:
        """Tell the broker that the archive cannot be opened, from a connection on which nothing is
        heard.
        """
        await self._untaken.wait()
        try:
            await site.herald.run()
        finally:
            site.herald.end()

    async def _open(self) -> None:
        """Open the archive, and try until it succeeds."""
        while True:
            opened, self._archive = self._archive, None
            try:
                if opened is not None:
                    await asyncio.to_thread(opened.close)
                opened = await self._ask(
                    partial(open_archive, self.settings.archive, recorder=True)
                )
                for site in self.sites:
                    if site.remembered is None:
                        await self._ask(site.remember, opened)
            except ArchiveError as error:
                self._archive = opened
                self._fail(error)
                await asyncio.sleep(AGAIN)
            else:
                self._archive = opened
                self._opened.set()
                return

    async def _ask(self, question: Callable[..., T], *of: Any) -> T:
        """What the archive answers, in a thread. That it does not answer for long is told, and it
        is waited for all the same. Raises :class:`ArchiveError`.
        """
        asked = asyncio.create_task(asyncio.to_thread(question, *of))
        done, _ = await asyncio.wait({asked}, timeout=LATE)
        if not done:
            self._doubt(
                ArchiveError(
                    f"the archive has not answered for {LATE:g} s; look after its disk or server"
                )
            )
        return await asked

    def _doubt(self, error: ArchiveError) -> None:
        """It does not answer: a write has to show how it is."""
        self._doubted = True
        self._fail(error)
        self._work.set()

    def _fail(self, error: ArchiveError) -> None:
        reason = str(error)
        if not isinstance(error, TakenError):
            self._untaken.set()
        self.health.failed += 1
        if self.health.trouble != reason:
            self._log.error("the archive takes nothing", reason=reason)
            for site in self.sites:
                site.stall(reason)
        self.health.trouble = reason

    async def _recover(self, archive: Archive) -> None:
        """It takes records again. A write that seemed to fail may have been done: what it kept is
        not new the second time, so it is looked up.
        """
        before = await self._ask(archive.newest)
        opened = await self._ask(open_findings, archive)
        newest = await self._ask(archive.newest)
        for site in self.sites:
            ours = [record for _, record in opened[-SHOWN:] if record.site == site.id]
            site.stand_again(ours, before)
        self.grown.to(newest)
        self._log.info("the archive takes records again")
        self.health.trouble, self._doubted = None, False
        for site in self.sites:
            site.stall(None)
            site.look_for_gaps()

    async def _tick(self) -> None:
        """What is due by the clock."""
        said = looked = time.monotonic()
        while True:
            await asyncio.sleep(TICK)
            now = time.monotonic()
            for site in self.sites:
                archive = self._archive
                if archive is None or self.health.trouble is not None:
                    continue
                try:
                    await self._ask(site.look, archive, now)
                    if now - looked >= SETTLING:
                        await self._ask(site.look_for_settled, archive)
                except ArchiveError as error:
                    if archive is self._archive and self.health.trouble is None:
                        self._doubt(error)
                    site.look_for_gaps()
                    continue
                site.ask(now)
            if now - looked >= SETTLING:
                looked = now
            if now - said >= SAID:
                said = now
                self._log.info("health", **self.health.of(self.sites))

    def _told(self) -> Health:
        self.health.of(self.sites)
        return self.health

    async def _run_beside(self, name: str, beside: Beside) -> None:
        """Run a side task, and again whenever it ends. A failure is logged when it begins, not at
        each attempt.
        """
        await self._opened.wait()
        reason = ""
        while True:
            began = time.monotonic()
            try:
                await beside(self.grown)
            except Exception as error:
                if time.monotonic() - began >= SAID:
                    reason = ""  # it had worked in between
                if repr(error) != reason:
                    reason = repr(error)
                    cause = None if isinstance(error, ArchiveError) else error
                    self._log.error(
                        "a task beside the recording failed; it is tried again every second",
                        task=name,
                        reason=str(error),
                        exc_info=cause,
                    )
            await asyncio.sleep(AGAIN)
