"""Takes over another configuration while the daemon runs: tables and their devices are added,
changed and removed, and all other tables go on. A mistake changes nothing.

A table that is changed ends as at a stop and is placed anew, in the same run: the numbers of its
events go on. While its session is open it stays as it is. A daemon of a pair that waits has placed
no table yet, and takes all of them over.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TypeVar

import msgspec

from controller.confidential.key_file import KeyFileError
from controller.configuration.changes import Changes, apply_changes, changes
from controller.configuration.checks import deals_face_down, flaws
from controller.configuration.file import load
from controller.configuration.settings import Configuration, ConfigurationError
from controller.configuration.settings import TableConfig as TableSettings
from controller.contract.node import ReloadHealth
from controller.contract.times import utc
from controller.contract.topics import Topics
from controller.journal.journal import Journal
from controller.journal.schema import JournalUnusableError
from controller.mqtt.publisher import Publisher
from controller.mqtt.tables_api import ServedTable, TablesApi
from controller.proof.journal_upkeep import JournalUpkeep
from controller.service.ending import error_fields
from controller.service.keys import card_cipher
from controller.service.systemd_notify import notify
from controller.tables.runner import TableRunner
from controller.tables.table import UnrestorableStateError
from devices.errors import NovamasError
from devices.log import structlog
from devices.places import format_path

OPEN = "its session is open: close the session, then reload again"
OTHER_TOPICS = (
    "`simulated` gives it other topics: remove the table and reload, then add it and reload"
)


_Given = TypeVar("_Given")
_Found = TypeVar("_Found")


class NotTakenOverError(NovamasError):
    """Nothing of a configuration is taken over. The message says why, and what to do."""


class Floor(msgspec.Struct, frozen=True):
    """The tables of a running daemon, and what has to hear of another one.

    ``ready_for`` raises :class:`KeyFileError` where a key is missing; ``attempt`` makes a table and
    leaves no trace; ``place`` has it stored that it goes on, and ``read`` has its devices read,
    until ``stop_reading``.
    """

    places: dict[str, ServedTable]
    runners: list[TableRunner]
    api: TablesApi
    publisher: Publisher
    upkeep: JournalUpkeep
    ready_for: Callable[[Configuration], None]
    attempt: Callable[[TableSettings], None]
    place: Callable[[TableSettings], ServedTable]
    read: Callable[[str], None]
    stop_reading: Callable[[Collection[str]], Awaitable[None]]


class Reload:
    """For a daemon that has placed no table yet. It runs by ``configuration``, read from ``file``.
    ``tell`` is called with the outcome of each reload, and when the file began to be read.
    """

    def __init__(
        self,
        configuration: Configuration,
        file: Path | None,
        tell: Callable[[ReloadHealth, int], None],
    ) -> None:
        self.now = configuration
        """What the daemon runs by."""
        self._file = file
        self._tell = tell
        self._log = structlog.get_logger()

    async def run(self, again: asyncio.Event) -> None:
        """Read the file whenever ``again`` is set, until cancelled. What asks for it while it is
        being read is answered by one more; what is cut short here, by whoever goes on with it.
        """
        while True:
            await again.wait()
            again.clear()
            if self._file is not None:
                try:
                    await self._reload(self._file)
                except asyncio.CancelledError:
                    again.set()
                    raise

    async def _reload(self, file: Path) -> None:
        begun = time.monotonic_ns()
        notify("RELOADING=1", f"MONOTONIC_USEC={begun // 1000}")
        read = utc(time.time())
        try:
            after = await self._looked(load, file)
            told = await self._take_over(after)
        except (ConfigurationError, NotTakenOverError) as error:
            self._log.error("configuration not taken over", reason=str(error))
            told = ReloadHealth(time=read, trouble=str(error))
        else:
            told = msgspec.structs.replace(told, time=read)
            said = {key: each for key in told.__struct_fields__ if (each := getattr(told, key))}
            self._log.info("configuration taken over", **said)
        self._tell(told, begun)

    async def _take_over(self, after: Configuration) -> ReloadHealth:
        """Run by it from now on. Raises :class:`NotTakenOverError`."""
        found, applied = changes(self.now, after), apply_changes(self.now, after)
        await self._check(applied)
        if any(map(deals_face_down, applied.table)):
            try:
                card_cipher(applied)  # made here, where there is none yet
            except (KeyFileError, ValueError) as error:
                raise NotTakenOverError(str(error)) from None
        self.now = applied
        return _told(found, found, {})

    async def _looked(self, look: Callable[[_Given], _Found], given: _Given) -> _Found:
        """What a look at a configuration finds, whose defects must not end the tables. Raises
        :class:`ConfigurationError` and :class:`NotTakenOverError`.
        """
        try:
            return await asyncio.to_thread(look, given)
        except ConfigurationError:
            raise
        except Exception as error:
            raise self._failed(error) from None

    def _failed(self, error: Exception) -> NotTakenOverError:
        """A defect, which must not end the tables. Its text may hold a card."""
        fields = error_fields(error, confidential=True)
        self._log.error("defect: the daemon failed on a configuration", **fields)
        return NotTakenOverError(
            f"the daemon failed on it ({type(error).__name__}); its log says where"
        )

    async def _check(
        self, applied: Configuration, waiting: Mapping[str, str] = {}, *, serves: bool = False
    ) -> None:
        """Whether the daemon can run by what it would run by then: other tables, and all else as it
        was. Raises :class:`NotTakenOverError`.
        """
        wrong = [f"{format_path(at)}: {what}" for at, what in await self._looked(flaws, applied)]
        if not applied.table:
            wrong.append("no table would be left: stop the daemon instead")
        elif serves and _simulated(applied) != _simulated(self.now):
            wrong.append(
                "the daemon's own topics are among the simulated ones only while all tables are"
            )
        if wrong:
            also = "".join(f"; {table}: {why}" for table, why in waiting.items())
            raise NotTakenOverError(
                "the tables cannot be changed while all else stays as it was: "
                f"{'; '.join(wrong)}{also}. Restart the daemon, or change less at once"
            )


class ReloadTables(Reload):
    """For a daemon that serves the tables of ``floor``."""

    def __init__(
        self,
        configuration: Configuration,
        file: Path | None,
        tell: Callable[[ReloadHealth, int], None],
        journal: Journal,
        floor: Floor,
    ) -> None:
        super().__init__(configuration, file, tell)
        self._journal = journal
        self._floor = floor

    async def _take_over(self, after: Configuration) -> ReloadHealth:
        """Raises :class:`NotTakenOverError`."""
        found, floor = changes(self.now, after), self._floor
        if self._journal.failed is not None:
            raise NotTakenOverError(
                f"the journal cannot be written: {self._journal.failed}. Reload when it can"
            )
        async with AsyncExitStack() as held:
            for table in (*found.changed, *found.removed):
                held.callback(floor.api.release, table)
                await floor.api.hold(table)
            self._ready(after, found)
            waiting = self._waiting(after, found)
            applied = apply_changes(self.now, after, waiting)
            await self._check(applied, waiting, serves=True)
            made = changes(self.now, applied)
            await self._move(applied, made)
        self.now = applied
        return _told(found, made, waiting)

    def _ready(self, after: Configuration, found: Changes) -> None:
        """Make the key for face-down cards, where these are the first. Raises
        :class:`NotTakenOverError`.
        """
        if found.added or found.changed:
            try:
                self._floor.ready_for(msgspec.structs.replace(self.now, table=after.table))
            except (KeyFileError, ValueError) as error:
                raise NotTakenOverError(str(error)) from None

    def _waiting(self, after: Configuration, found: Changes) -> dict[str, str]:
        """The tables that cannot be touched now, and what to do. Raises
        :class:`NotTakenOverError`.
        """
        places = self._floor.places
        waiting = {
            table: OPEN
            for table in (*found.changed, *found.removed)
            if places[table].runner.table.is_open
        }
        waiting |= {
            table: OTHER_TOPICS
            for table, keys in found.changed.items()
            if "simulated" in keys and table not in waiting
        }
        for table in after.table:
            if table.id in waiting or table.id not in {*found.added, *found.changed}:
                continue
            try:
                self._floor.attempt(table)
            except UnrestorableStateError as error:
                waiting[table.id] = str(error)
            except JournalUnusableError as error:
                raise NotTakenOverError(f"{error}. Reload when it can be read") from None
            except Exception as error:
                raise self._failed(error) from None
        return waiting

    async def _move(self, applied: Configuration, made: Changes) -> None:
        """End, place and place anew. What concerns other tables happens in one turn of the event
        loop, so that nobody sees half of it.
        """
        leaving, coming = (*made.changed, *made.removed), (*made.changed, *made.added)
        if not leaving and not coming:
            return
        floor = self._floor
        places, api = floor.places, floor.api
        site = applied.site.id
        settings = {table.id: table for table in applied.table}
        floor.publisher.tell(api.late(math.inf, leaving))
        await floor.stop_reading(leaving)
        await floor.publisher.expect(
            {table: Topics(site, settings[table].simulated) for table in made.added}
        )
        ending = [places[table].runner for table in leaving]
        floor.upkeep.flush(ending)
        for runner in ending:
            runner.end()  # what it would take now, whoever follows would not know
        for runner in ending:
            await runner.drain()
        before = {table: [*api.retained(table)] for table in leaving}
        removed = {table: places[table].topics for table in made.removed}
        floor.upkeep.tell_configuration(applied)
        for table in leaving:
            api.leave(table)
        for table in made.removed:
            del places[table]
        for table in coming:
            places[table] = floor.place(settings[table])
            api.join(table)
        floor.runners[:] = (place.runner for place in places.values())
        for table in coming:
            floor.read(table)
        floor.publisher.reload(removed, coming, before)


def _told(found: Changes, made: Changes, waiting: dict[str, str]) -> ReloadHealth:
    """``found``: what differs in the file; ``made``: what of it was taken over."""
    return ReloadHealth(
        time="",
        added=made.added,
        removed=made.removed,
        changed=made.changed,
        waiting=waiting,
        restart=found.restart,
        others=found.others,
    )


def _simulated(configuration: Configuration) -> bool:
    return all(table.simulated for table in configuration.table)
