"""Reloads the configuration of a running daemon: tables and their devices are added, changed and
removed while all other tables keep running. An invalid configuration changes nothing.

A changed table ends as at a stop and starts again in the same run of the daemon; the numbers of its
events continue. While its session is open it remains unchanged. A daemon that waits in a pair has
started no table yet, and applies all changes.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TypeVar

import msgspec

from common import clock
from common.chain.schema import JournalUnusableError
from common.confidential.key_file import KeyFileError
from common.contract.node import ReloadHealth
from common.contract.times import format_utc
from common.contract.topics import Topics
from common.errors import NovamasError, error_fields
from common.log import structlog
from common.places import format_path
from controller.configuration.changes import Changes, apply_changes, changes
from controller.configuration.checks import flaws
from controller.configuration.file import load
from controller.configuration.settings import Configuration, ConfigurationError, TableConfig
from controller.configuration.table_checks import deals_face_down
from controller.journal.journal import Journal
from controller.mqtt.publisher import Publisher
from controller.mqtt.served_table import ServedTable
from controller.mqtt.tables_api import TablesApi
from controller.proof.journal_upkeep import JournalUpkeep
from controller.service.keys import card_cipher
from controller.service.systemd_notify import notify
from controller.tables.runner import TableRunner
from controller.tables.saved_state import UnrestorableStateError

SESSION_OPEN = "its session is open: close the session, then reload again"
OTHER_TOPICS = (
    "`simulated` gives it other topics: remove the table and reload, then add it and reload"
)


_Argument = TypeVar("_Argument")
_Result = TypeVar("_Result")


class NotTakenOverError(NovamasError):
    """Nothing of a configuration was applied. The message gives the reason and the remedy."""


class ServedFloor(msgspec.Struct, frozen=True):
    """The tables of a running daemon, and the parts that depend on them.

    ``ready_for`` raises :class:`KeyFileError` if a key is missing; ``attempt`` builds a table
    without side effects; ``place`` starts a table and journals that; ``read`` starts reading its
    devices, until ``stop_reading``.
    """

    places: dict[str, ServedTable]
    runners: list[TableRunner]
    api: TablesApi
    publisher: Publisher
    upkeep: JournalUpkeep
    ready_for: Callable[[Configuration], None]
    attempt: Callable[[TableConfig], None]
    place: Callable[[TableConfig], ServedTable]
    read: Callable[[str], None]
    stop_reading: Callable[[Collection[str]], Awaitable[None]]


class Reload:
    """Reload of a daemon that has started no table yet. It runs ``configuration``, read from
    ``file``. ``report`` is called with the outcome of each reload, and the time when reading the
    file began (monotonic clock, nanoseconds). ``last``: the outcome of the reload before, if any.
    """

    def __init__(
        self,
        *,
        configuration: Configuration,
        file: Path | None,
        report: Callable[[ReloadHealth, int], None],
        last: ReloadHealth | None = None,
    ) -> None:
        self.now = configuration
        """The configuration in force."""
        self._file = file
        self._report = report
        self._last = last
        self._log = structlog.get_logger()

    def health(self) -> ReloadHealth | None:
        """Return the part of the retained ``health`` about the last reload; None before the
        first.
        """
        return self._last

    async def run(self, reload_requested: asyncio.Event) -> None:
        """Read the file whenever ``reload_requested`` is set, until cancelled. A request during a
        reload leads to one more reload. If a reload is cancelled, the request remains set for the
        successor.
        """
        while True:
            await reload_requested.wait()
            reload_requested.clear()
            if self._file is not None:
                try:
                    await self._reload(self._file)
                except asyncio.CancelledError:
                    reload_requested.set()
                    raise

    async def _reload(self, file: Path) -> None:
        start = clock.monotonic_ns()
        notify("RELOADING=1", f"MONOTONIC_USEC={start // 1000}")
        read_at = format_utc(clock.wall())
        try:
            configuration = await self._in_thread(load, file)
            outcome = await self._apply(configuration)
        except (ConfigurationError, NotTakenOverError) as error:
            self._log.error("configuration not taken over", reason=str(error))
            outcome = ReloadHealth(time=read_at, trouble=str(error))
        else:
            outcome = msgspec.structs.replace(outcome, time=read_at)
            fields = {
                key: value for key in outcome.__struct_fields__ if (value := getattr(outcome, key))
            }
            self._log.info("configuration taken over", **fields)
        self._last = outcome
        self._report(outcome, start)

    async def _apply(self, after: Configuration) -> ReloadHealth:
        """Put a configuration in force. Raises :class:`NotTakenOverError`."""
        differences, applied = changes(self.now, after), apply_changes(self.now, after)
        await self._check(applied)
        if any(map(deals_face_down, applied.table)):
            try:
                card_cipher(applied)  # creates a missing key
            except (KeyFileError, ValueError) as error:
                raise NotTakenOverError(str(error)) from None
        self.now = applied
        return _outcome(differences, differences, {})

    async def _in_thread(
        self, check: Callable[[_Argument], _Result], argument: _Argument
    ) -> _Result:
        """Check or load a configuration in a thread, so that bugs in it do not end the tables.
        Raises :class:`ConfigurationError` and :class:`NotTakenOverError`.
        """
        try:
            return await asyncio.to_thread(check, argument)
        except ConfigurationError:
            raise
        except Exception as error:
            raise self._log_bug(error) from None

    def _log_bug(self, error: Exception) -> NotTakenOverError:
        """Log a bug, which must not end the tables. The text of the error may name a card."""
        fields = error_fields(error, confidential=True)
        self._log.error("defect: the daemon failed on a configuration", **fields)
        return NotTakenOverError(
            f"the daemon failed on it ({type(error).__name__}); its log says where"
        )

    async def _check(
        self, applied: Configuration, waiting: Mapping[str, str] = {}, *, serves: bool = False
    ) -> None:
        """Check the configuration that would be in force: new tables, with all other settings
        unchanged. Raises :class:`NotTakenOverError`.
        """
        errors = [
            f"{format_path(at)}: {message}" for at, message in await self._in_thread(flaws, applied)
        ]
        if not applied.table:
            errors.append("no table would be left: stop the daemon instead")
        elif serves and _simulated(applied) != _simulated(self.now):
            errors.append(
                "the daemon's own topics are among the simulated ones only if all tables are"
            )
        if errors:
            also = "".join(f"; {table}: {why}" for table, why in waiting.items())
            raise NotTakenOverError(
                "the tables cannot be changed with all other settings unchanged: "
                f"{'; '.join(errors)}{also}. Restart the daemon, or change less at once"
            )


class ReloadTables(Reload):
    """Reload of a daemon that serves the tables of ``floor``."""

    def __init__(
        self,
        *,
        configuration: Configuration,
        file: Path | None,
        report: Callable[[ReloadHealth, int], None],
        last: ReloadHealth | None,
        journal: Journal,
        floor: ServedFloor,
    ) -> None:
        super().__init__(configuration=configuration, file=file, report=report, last=last)
        self._journal = journal
        self._floor = floor

    async def _apply(self, after: Configuration) -> ReloadHealth:
        """Apply the changes of the tables. Raises :class:`NotTakenOverError`."""
        differences, floor = changes(self.now, after), self._floor
        if self._journal.failed is not None:
            raise NotTakenOverError(
                f"the journal cannot be written: {self._journal.failed}. Reload when it can"
            )
        async with AsyncExitStack() as held:
            for table in (*differences.changed, *differences.removed):
                held.callback(floor.api.commands.resume, table)
                await floor.api.commands.pause(table)
            self._create_key(after, differences)
            waiting = self._unchangeable(after, differences)
            applied = apply_changes(self.now, after, waiting)
            await self._check(applied, waiting, serves=True)
            applied_changes = changes(self.now, applied)
            await self._replace_tables(applied, applied_changes)
        self.now = applied
        return _outcome(differences, applied_changes, waiting)

    def _create_key(self, after: Configuration, differences: Changes) -> None:
        """Create the key for face-down cards if these are the first. Raises
        :class:`NotTakenOverError`.
        """
        if differences.added or differences.changed:
            try:
                self._floor.ready_for(msgspec.structs.replace(self.now, table=after.table))
            except (KeyFileError, ValueError) as error:
                raise NotTakenOverError(str(error)) from None

    def _unchangeable(self, after: Configuration, differences: Changes) -> dict[str, str]:
        """Return the tables that cannot be changed now, and the remedy. Raises
        :class:`NotTakenOverError`.
        """
        places = self._floor.places
        waiting = {
            table: SESSION_OPEN
            for table in (*differences.changed, *differences.removed)
            if places[table].runner.table.is_open
        }
        waiting |= {
            table: OTHER_TOPICS
            for table, keys in differences.changed.items()
            if "simulated" in keys and table not in waiting
        }
        for table in after.table:
            if table.id in waiting or table.id not in {*differences.added, *differences.changed}:
                continue
            try:
                self._floor.attempt(table)
            except UnrestorableStateError as error:
                waiting[table.id] = str(error)
            except JournalUnusableError as error:
                raise NotTakenOverError(f"{error}. Reload when it can be read") from None
            except Exception as error:
                raise self._log_bug(error) from None
        return waiting

    async def _replace_tables(self, applied: Configuration, applied_changes: Changes) -> None:
        """Stop, start and restart tables. The parts that concern other tables change in one turn of
        the event loop, so that no intermediate state is visible.
        """
        stopping, starting = (
            (*applied_changes.changed, *applied_changes.removed),
            (*applied_changes.changed, *applied_changes.added),
        )
        if not stopping and not starting:
            return
        floor = self._floor
        places, api = floor.places, floor.api
        site = applied.site.id
        settings = {table.id: table for table in applied.table}
        floor.publisher.send_now(api.commands.expired_replies(math.inf, stopping))
        await floor.stop_reading(stopping)
        await floor.publisher.await_claims(
            {table: Topics(site, settings[table].simulated) for table in applied_changes.added}
        )
        ending = [places[table].runner for table in stopping]
        floor.upkeep.flush(ending)
        for runner in ending:
            runner.end()  # an input from now on would be unknown to the next runner
        for runner in ending:
            await runner.drain()
        old_retained = {table: [*api.retained(table)] for table in stopping}
        removed = {table: places[table].topics for table in applied_changes.removed}
        floor.upkeep.record_configuration(applied)
        for table in stopping:
            api.detach(table)
        for table in applied_changes.removed:
            del places[table]
        for table in starting:
            places[table] = floor.place(settings[table])
            api.attach(table)
        floor.runners[:] = (place.runner for place in places.values())
        for table in starting:
            floor.read(table)
        floor.publisher.reload(removed, starting, old_retained)


def _outcome(
    differences: Changes, applied_changes: Changes, waiting: dict[str, str]
) -> ReloadHealth:
    """Build the outcome. ``differences``: differences in the file; ``applied_changes``: those that
    were applied.
    """
    return ReloadHealth(
        time="",
        added=applied_changes.added,
        removed=applied_changes.removed,
        changed=applied_changes.changed,
        waiting=waiting,
        restart=differences.restart,
        others=differences.others,
    )


def _simulated(configuration: Configuration) -> bool:
    return all(table.simulated for table in configuration.table)
