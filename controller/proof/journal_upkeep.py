"""The upkeep of the journal, so that it can be proved: stores bytes that led to no reading, starts
and seals days, signs checkpoints, and reads the file back from the disk.

The tables never wait for it. A failure raises an alert, and is retried.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from math import ceil
from pathlib import Path
from typing import Literal

from nacl.signing import SigningKey

from common import clock
from common.chain.hand_over import Tenure
from common.chain.schema import JournalUnusableError, Record
from common.contract.node import Checkpoint
from common.contract.retained import Alert
from common.contract.times import format_utc
from common.log import structlog
from controller.configuration.settings import Configuration
from controller.journal.file import is_fully_checked
from controller.journal.journal import Journal
from controller.journal.read_back import ReadBack
from controller.journal.setup import PeopleSetup, RemovedDay, boot
from controller.proof.checkpoint_signer import CheckpointSigner
from controller.proof.pace import EndedError, Throttle
from controller.proof.sealing import counted_until_now, remove, seal
from controller.proof.segment import BrokenSegmentError
from controller.proof.timekeeper import Timekeeper
from controller.tables.byte_trace import FLUSH_INTERVAL_SECONDS
from controller.tables.runner import TableRunner

MIN_FREE_BYTES = 1 << 30
"""Bytes that must be free on the journal's disk. Below this an alert is raised, long before nothing
can be stored.
"""

FLUSH_BATCH_TABLES = 10
"""Tables whose bytes are flushed in one turn of the event loop, and committed together. All of a
thousand at once would hold up a result for some 200 ms.
"""
DAY_BATCH_TABLES = 50
"""Tables that begin their day in one turn of the event loop."""

END_CHECK_INTERVAL_SECONDS = 30.0
"""Seconds between two checks of the newest entries: at most those between two checkpoints."""

READ_BACK_RETRY_SECONDS = 600.0
"""Seconds until the next try after the journal could not be read back."""


class JournalUpkeep:
    """The upkeep for one daemon. ``alerts``: the dictionary for its alerts; ``changed`` is called
    after each change of them. ``people``: the people in force at the start; ``standby``: the lease
    under which a daemon of a pair serves.
    """

    def __init__(
        self,
        *,
        configuration: Configuration,
        run: str,
        journal: Journal,
        alerts: dict[str, Alert],
        changed: Callable[[], None],
        people: PeopleSetup | None = None,
        standby: Tenure | None = None,
    ) -> None:
        self._journal = journal
        self._run = run
        self._pace = Throttle()
        self._people = people
        self._standby = standby
        self._keep_days = configuration.journal.keep_days
        self._alerts = alerts
        self._changed = changed
        self._checkpoint_signer = CheckpointSigner(
            Path(configuration.journal.path), run, configuration.journal.key_credential
        )
        self._timekeeper = Timekeeper(
            journal.latest("boot"), journal.latest(), counted_until_now(journal.path)
        )
        self._clock: str | None = None
        self._sealing: str | None = None
        self._unread: str | None = None
        self._foreign: str | None = None
        self._foreign_write = asyncio.Event()
        """Set when another program has written to the journal."""
        self._flood: str | None = None
        self._flooding: set[str] = set()
        self._failed = False
        """Whether the journal was failing at the last check."""
        self._room: str | None = None
        self._today = format_utc(clock.wall())[:10]
        self._read_whole = is_fully_checked(journal.path)
        self.verified: float | None = clock.wall() if self._read_whole else None
        """When the whole journal was last read without a finding, in seconds since 1970."""
        self.sealed = clock.wall()
        """When all days that are over were last sealed; initially the start."""
        self._log = structlog.get_logger()
        self._checkpoint_signer.detect_cut(
            journal.id,
            journal.checkpoint(),
            lambda position: journal.ask(lambda reader: reader.hash_at(position)),
        )
        self._configuration = configuration
        self._check_clock()
        self._append_boot(continues=False)
        self._update_alerts()

    def record_people(self, people: PeopleSetup) -> None:
        """Store the people in force from here on. If it raises ``JournalFullError`` or
        ``JournalUnusableError``, they are not in force.
        """
        before, self._people = self._people, people
        try:
            self._append_boot(continues=True)
        except BaseException:
            self._people = before
            raise

    def record_configuration(self, configuration: Configuration) -> None:
        """Store the tables and their settings from here on. Raises ``JournalUnusableError``."""
        self._configuration = configuration
        self._append_boot(continues=True, reloaded=True)

    @property
    def signer(self) -> SigningKey | None:
        """The key that signs checkpoints, if it is usable."""
        return self._checkpoint_signer.signer

    @property
    def doubt(self) -> str | None:
        """Why the wall clock is not believed, or None."""
        return self._timekeeper.doubt

    def checkpoint(self) -> Checkpoint:
        """Sign the present end of the journal's chain."""
        self._journal.check_foreign_writes(self._foreign_write.set)
        made = self._checkpoint_signer.checkpoint(self._journal.id, self._journal.checkpoint())
        self._update_alerts()
        return made

    def flush(self, runners: Iterable[TableRunner]) -> None:
        """Store the bytes of devices that are not stored yet."""
        for runner in runners:
            runner.flush()

    async def run(self, runners: Sequence[TableRunner], acknowledged: Callable[[], int]) -> None:
        """Flush each table and call :meth:`check` once a minute, and seal days, until cancelled.
        ``runners`` may change meanwhile; ``acknowledged`` returns the position up to which the
        journal is published.
        """
        try:
            async with asyncio.TaskGroup() as group:
                sealing: asyncio.Task[None] | None = None
                while True:
                    if sealing is None or sealing.done():  # a long day takes hours
                        sealing = group.create_task(self._seal(acknowledged()), name="sealing")
                    await self._flush_in_turns(runners)
                    self.check(runners)
        finally:
            self._pace.end()

    async def _flush_in_turns(self, runners: Sequence[TableRunner]) -> None:
        """Flush each table once, a few at a time, evenly spread over a minute."""
        turns = max(1, ceil(len(runners) / FLUSH_BATCH_TABLES))
        for turn in range(turns):
            await clock.sleep(FLUSH_INTERVAL_SECONDS / turns)
            self.flush(runners[turn::turns])

    def check(self, runners: Sequence[TableRunner]) -> None:
        """Check the disk and the clocks, and begin a new day if it is due."""
        self.check_room(runners)
        doubted = self._clock is not None
        self._timekeeper.update()
        self._check_clock()
        is_new_day = (today := format_utc(clock.wall())[:10]) != self._today
        if is_new_day or doubted != (self._clock is not None):
            self._today = today
            self.flush(runners)  # bytes of the day, or clock, before
            self._append_boot(continues=True)
        if is_new_day:
            self._new_day(runners)
        self._update_alerts()

    def _new_day(self, runners: Sequence[TableRunner]) -> None:
        """Begin a new day at a few tables at a time, so that the others are served in between."""
        for runner in runners[:DAY_BATCH_TABLES]:
            runner.new_day()
        if rest := runners[DAY_BATCH_TABLES:]:
            asyncio.get_running_loop().call_soon(self._new_day, rest)

    def _check_clock(self) -> None:
        """Set the alert's text when a doubt about the clock begins, and keep it while it lasts."""
        doubt = self._timekeeper.doubt
        if doubt is None or self._clock is None:
            self._clock = doubt and (
                "the clock is not believed, and no day is sealed or removed until it is: "
                f"{doubt}. Set it right, and let chrony or systemd-timesyncd keep it synchronised; "
                "after a day without a step it is believed too"
            )

    def check_room(self, runners: Iterable[TableRunner]) -> None:
        """Raise an alert if a device floods the journal, or if the disk is nearly full; it names
        the device that sends most.
        """
        sent = {
            f"device {device} of table {runner.table.id}": each
            for runner in runners
            for device, each in runner.byte_counts().items()
        }
        rates = {
            name: f"{name}: {each.received} bytes in the last minute" for name, each in sent.items()
        }
        most = max(sent, key=lambda name: sent[name].received, default=None)
        failed, self._failed = self._failed, self._journal.failed is not None
        if not failed and not self._failed:  # otherwise the disk may be the cause
            self._report_floods({name: rates[name] for name, each in sent.items() if each.dropped})
        try:
            tight = shutil.disk_usage(self._journal.path.parent).free < MIN_FREE_BYTES
        except OSError:  # the journal reports a missing disk
            tight = False
        room = (
            f"less than {MIN_FREE_BYTES >> 20} MiB are free on the journal's disk, and when it is "
            "full nothing is published: free some space"
        )
        room += (
            f". Most comes from {rates[most]}" if most is not None and sent[most].received else ""
        )
        # reported once, with its value at that time
        self._room = (self._room or room) if tight else None
        self._update_alerts()

    def _report_floods(self, floods: dict[str, str]) -> None:
        """Report the devices that flood the journal and how much each sends; again when the set of
        devices changes.
        """
        if floods.keys() == self._flooding:
            return
        self._flooding = set(floods)
        flood = (
            "more bytes arrive than can be stored, and the readings from them cannot be proved "
            "until the next start: "
        )
        self._flood = flood + "; ".join(sorted(floods.values())) if floods else None

    async def read_back(self) -> None:
        """Read the whole journal back at intervals, until cancelled, and have a damaged file
        replaced. If it was only partly checked at the start, the first check begins at once.
        """
        reading = self._reading()
        every = self._configuration.journal.read_back_every
        due = every if self._read_whole else 0.0
        try:
            while True:
                await clock.sleep(due)
                read = self._journal.failed is None  # reported elsewhere
                if read:
                    await self._read_back(reading)
                due = (
                    every if read and self._unread is None else min(every, READ_BACK_RETRY_SECONDS)
                )
        finally:
            reading.stop()

    async def watch(self) -> None:
        """Check the newest entries of the journal at intervals, until cancelled. If another program
        has written to it, which each checkpoint detects, report that, and read all of it back at
        once.
        """
        reading = self._reading()
        whole: asyncio.Task[None] | None = None
        try:
            async with asyncio.TaskGroup() as group:
                while True:
                    if self._journal.failed is None:
                        await self._read_end(reading)
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(END_CHECK_INTERVAL_SECONDS):
                            await self._foreign_write.wait()
                    if self._foreign_write.is_set():
                        self._foreign_write.clear()
                        self._report_foreign_write()
                        if whole is None or whole.done():
                            whole = group.create_task(self._read_back(self._reading()))
        finally:
            reading.stop()

    def _reading(self) -> ReadBack:
        return ReadBack(self._journal.path, self._journal.open_reader)

    def _report_foreign_write(self) -> None:
        self._foreign = (
            f"another program wrote to {self._journal.path} at {format_utc(clock.wall())}: only "
            "the daemon may. Find out which one, and run `novamas verify` on the journal; the "
            "alert ends with the next start of the daemon"
        )
        self._update_alerts()

    async def _read_end(self, reading: ReadBack) -> None:
        journal = self._journal.id
        try:
            damage = await asyncio.to_thread(reading.broken_end, journal)
        except Exception:  # reported when the whole file is read back
            return
        if damage is not None:
            self._log.error("journal damaged on the disk", reason=damage)
            self._journal.report_damage(journal, damage)

    async def _read_back(self, reading: ReadBack) -> None:
        journal, begun = self._journal.id, clock.monotonic()
        try:
            damage = await asyncio.to_thread(reading.damage, journal)
        except Exception as error:
            self._unread = (
                f"the journal cannot be read back from the disk: {_reason(error)}."
                " Copy it, check the disk, and run `novamas verify` on it"
            )
        else:
            self._unread = None
            if damage is None:
                self.verified = clock.wall()
                self._log.info("journal read back", seconds=round(clock.monotonic() - begun, 1))
            else:
                self._log.error("journal damaged on the disk", reason=damage)
                self._journal.report_damage(journal, damage)
        self._update_alerts()

    async def _seal(self, acknowledged: int) -> None:
        key = self._checkpoint_signer.signer
        if key is None or self._journal.failed is not None or self._timekeeper.doubt is not None:
            return  # reported elsewhere
        now, counted = format_utc(clock.wall()), self._timekeeper.counted
        try:
            done = await asyncio.to_thread(
                seal,
                self._journal.path,
                key,
                self._run,
                now,
                counted,
                acknowledged,
                self._keep_days,
                self._journal.open_reader,
                self._pace,
            )
            if done.cut:
                self._journal.remove_through(done.cut)
            if done.due:
                recorded = self._append_boot(continues=True, removed=done.due)
                async with asyncio.timeout(FLUSH_INTERVAL_SECONDS):
                    await asyncio.shield(recorded)  # on the disk before anything is removed
                await asyncio.to_thread(remove, self._journal.path, done.due)
                for each in done.due:
                    self._log.info("sealed day removed", segment=each.segment, sha256=each.sha256)
        except EndedError:
            return  # the daemon stops
        except TimeoutError:
            return  # the journal cannot be written: reported elsewhere
        except Exception as error:  # also a bug: the tables continue, and sealing is retried
            self._sealing = (
                "a day of the journal cannot be sealed, and nothing is removed until "
                f"it can: {_reason(error)}"
            )
        else:
            self._sealing, self.sealed = None, clock.wall()
        self._update_alerts()

    def _append_boot(
        self, *, continues: bool, removed: tuple[RemovedDay, ...] = (), reloaded: bool = False
    ) -> asyncio.Future[int]:
        body = boot(
            self._configuration,
            self._checkpoint_signer.key,
            continues=continues,
            clock=self._timekeeper.clock(),
            removed=removed,
            people=self._people,
            reloaded=reloaded,
            standby=self._standby,
        )
        now = format_utc(clock.wall())
        record = Record(
            table="",
            boot=self._run,
            seq=0,
            time=now,
            mono_ns=clock.mono_ns(),
            before=(("boot", body),),
        )
        return self._journal.append(record)

    def _update_alerts(self) -> None:
        signer = self._checkpoint_signer
        unsigned = (
            signer.trouble and f"checkpoints are not signed, and no day is sealed: {signer.trouble}"
        )
        conditions: dict[str, tuple[str, Literal["warning", "fault"], str | None]] = {
            "journal-key": ("journal.key", "fault", unsigned),
            "journal-key-changed": ("journal.key_changed", "warning", signer.changed),
            "journal-cut": ("journal.cut", "fault", signer.cut),
            "journal-foreign": ("journal.foreign", "fault", self._foreign),
            "journal-clock": ("journal.clock", "warning", self._clock),
            "journal-seal": ("journal.seal", "warning", self._sealing),
            "journal-read-back": ("journal.read_back", "fault", self._unread),
            "journal-room": ("journal.room", "warning", self._room),
            "device-flood": ("device.flood", "warning", self._flood),
            "journal-checkpoint": ("journal.checkpoint", "warning", signer.not_kept),
        }
        before = {name: alert.detail for name in conditions if (alert := self._alerts.get(name))}
        for name, (what, severity, detail) in conditions.items():
            if detail is None:
                self._alerts.pop(name, None)
            elif before.get(name) != detail:
                self._log.error("alert", alert=name, reason=detail)
                self._alerts[name] = Alert(
                    alert=name,
                    what=what,
                    severity=severity,
                    raised=format_utc(clock.wall()),
                    detail=detail,
                )
        if before != {
            name: alert.detail for name in conditions if (alert := self._alerts.get(name))
        }:
            self._changed()


def _reason(error: Exception) -> str:
    """Return the text of an expected error, or the representation of a bug."""
    return (
        str(error)
        if isinstance(error, (OSError, sqlite3.Error, JournalUnusableError, BrokenSegmentError))
        else repr(error)
    )
