"""Runs one table: processes readings and commands one at a time, stores them, and only then
publishes the result.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import msgspec

from common import clock
from common.chain.hand_over import HandOver
from common.chain.schema import JournalFullError, JournalUnusableError, Kind, Record
from common.confidential.boxes import CardCipher, UnopenedBoxError
from common.contract.commands import AnyCommand, CommandRefused, DeviceCommand
from common.contract.events import AnyEvent
from common.contract.notation import Input, write
from common.contract.refusals import RejectedError
from common.contract.times import format_utc
from common.log import structlog
from common.readings import AnyReading, Reading
from controller.journal.journal import Journal
from controller.journal.setup import StartReason, table_start
from controller.tables.after_restore import restore_reading, unreported
from controller.tables.byte_trace import ByteCounts, ByteTrace
from controller.tables.device_links import OUTAGE_REASON, RESTART_REASON
from controller.tables.saved_state import Snapshot
from controller.tables.sealing import TableSealer
from controller.tables.stages import EventCounters, Stages
from controller.tables.stored_events import StoredEvents
from controller.tables.table import Table
from devices.calls import AnyCall

STORE_TIMEOUT_SECONDS = 5.0
"""Maximum seconds that a person waits for a command to be stored."""
MAX_REASON_CHARACTERS = 1024
"""Maximum characters of a stored reason; texts in commands are shorter."""
COARSE_COUNT_BYTES = 4096
"""Granularity, in bytes, of the published byte counts at tables with face-down cards."""


class ReadTime(msgspec.Struct, frozen=True, gc=False):
    """When an input was read, on both clocks."""

    utc: float
    """Seconds since 1970."""
    mono_ns: int

    @classmethod
    def now(cls) -> ReadTime:
        """Return the present moment."""
        return cls(clock.wall(), clock.mono_ns())


class _InputBatch(msgspec.Struct):
    """Result of one chunk from a device, or of one command, with the table's state after it."""

    records: list[Record] = []
    events: list[AnyEvent] = []
    traces: list[ByteTrace] = []
    snapshot: Snapshot | None = None


class NotStoredError(RejectedError):
    """A command was accepted and may still be stored, but not within the time a person waits."""


def last_state(journal: Journal, table: str, cipher: CardCipher | None) -> bytes | None:
    """Return the last saved state of a table. One that cannot be decrypted is returned as it is;
    the table then starts from scratch and reports it.
    """
    saved = journal.saved_state(table)
    if saved is None or cipher is None:
        return saved
    try:
        return cipher.unlock(saved)
    except UnopenedBoxError as error:
        structlog.get_logger().error(
            "table cannot go on where it was", table=table, reason=str(error)
        )
        return saved


class TableRunner:
    """A table and the journal behind it.

    ``make`` builds the table from the journal; it is called again if the table has got ahead of
    what could be stored. ``clock`` stamps the runner's own events. ``changed`` is called when there
    is something new to publish. ``cipher`` is required where cards are face down; ``ValueError`` is
    raised without it. ``why``: the reason for starting, stored in the journal.
    """

    def __init__(
        self,
        make: Callable[[], Table],
        journal: Journal,
        clock: Callable[[], float],
        changed: Callable[[], None],
        cipher: CardCipher | None = None,
        stages: Stages | None = None,
        why: StartReason = "boot",
    ) -> None:
        self.clock = clock
        self.before_input: Callable[[], None] = lambda: None
        """Called before each input, to report state that has expired by then."""
        self.after_stored: Callable[[Sequence[AnyEvent]], None] = lambda _: None
        """Called with the events of each input once they are stored."""
        self.lost_readings = 0
        """Readings dropped because too much waited for the disk."""
        self.counters = EventCounters()
        """Counters of the stored events since the start."""
        self._make = make
        self._journal = journal
        self._changed = changed
        self._stages = stages or Stages()
        self._read: ReadTime | None = None
        self._pending_since: deque[float] = deque()
        self._last_append: asyncio.Future[int] | None = None
        self._behind = False
        self._stopped = False
        self._traces: dict[str, ByteTrace] = {}
        self.table = make()
        if self.table.face_down and cipher is None:
            raise ValueError(
                f"table {self.table.id}: cards are dealt face down, and there is no key to seal "
                "them; configure one"
            )
        self._cipher = cipher if self.table.face_down else None
        self._sealer = TableSealer(self._cipher)
        self.stored = StoredEvents(journal, self.table.id)
        self.retained = self.table.retained()
        """Bodies of the retained topics, from stored state only."""
        self._log = structlog.get_logger().bind(table=self.table.id)
        self._store_state(why, last_state(journal, self.table.id, self._cipher))
        self.on_readings(self._gap_readings())

    @property
    def oldest_pending_seconds(self) -> float:
        """Seconds that the oldest input has waited to be stored; 0 if none waits."""
        return clock.monotonic() - self._pending_since[0] if self._pending_since else 0.0

    def end(self) -> None:
        """Store nothing more: another runner, or none, serves the table from now on."""
        self._stopped = True

    async def drain(self) -> None:
        """Wait until everything is stored."""
        while self._last_append is not None and not self._last_append.done():
            await asyncio.wait([self._last_append])

    async def wait_stored(self) -> bool:
        """Wait until everything processed so far is stored. Return False if that takes longer than
        a person waits.
        """
        latest = self._last_append
        if latest is None or latest.done():
            return True
        done, _ = await asyncio.wait([latest], timeout=STORE_TIMEOUT_SECONDS)
        return bool(done)

    def on_readings(self, readings: Sequence[AnyReading], *, noted: bool = False) -> None:
        """Process the readings of one chunk from a device. They are stored together with the state
        that they lead to. ``noted``: the readings come from the bytes last passed to
        :meth:`on_bytes` and have their time; other readings have the present time, so that the
        table's time never goes back.
        """
        self.before_input()
        if self._behind and not self._pending_since and self._journal.failed is None:
            self._publish_stored()
        read_at = (noted and self._read) or ReadTime.now()
        now, batch = format_utc(read_at.utc), _InputBatch()
        for reading in readings:
            if not self._behind and (why := self._journal.refuses(len(batch.records) + 1)):
                self._start_dropping(why)
            if self._behind:
                self.lost_readings += 1
            else:
                self._step(reading, now, read_at.mono_ns, batch)
        self._store(batch)

    def on_bytes(self, device: str, call: AnyCall) -> None:
        """Buffer bytes that a device has just sent. They are stored with their reading, or by
        :meth:`flush`.
        """
        self._read = ReadTime.now()
        trace = self._traces.get(device)
        if trace is None:
            trace = self._traces[device] = ByteTrace(device, compact=self._cipher is None)
        trace.add(call)

    def flush(self) -> None:
        """Store the buffered bytes that led to no reading."""
        for trace in self._traces.values():
            if (
                not self._behind
                and (body := trace.pop_entry()) is not None
                and self._store_entry("bytes", body) is None
            ):
                trace.mark_lost()

    def byte_counts(self) -> dict[str, ByteCounts]:
        """Return the counts of bytes of each device since the last call. They are rounded where
        cards are face down, since card codes differ in length.
        """
        coarse = 1 if self._cipher is None else COARSE_COUNT_BYTES
        counts = {device: trace.pop_counts() for device, trace in self._traces.items()}
        return {
            device: count._replace(received=count.received // coarse * coarse)
            for device, count in counts.items()
        }

    def new_day(self) -> None:
        """Store the state of the table, so that a day can be replayed without the days before."""
        if not self._behind and self.table.sound:
            self._store_state("day", self.table.saved())

    def halt(self, reason: str | None) -> None:
        """Publish at once, without the disk, that the journal cannot be written (``reason``), or
        can be again (None).
        """
        self.table.halted = reason
        if reason is not None:
            state = msgspec.json.decode(self.retained["state"] or b"{}", type=dict[str, Any])
            self.retained = {
                **self.retained,
                "state": msgspec.json.encode(
                    {**state, "status": "fault", "fault": reason, "takes": ()}
                ),
            }
        elif not self._pending_since:
            self._publish_stored()
        self._changed()

    async def execute(self, command: AnyCommand) -> None:
        """Execute a command and wait until it is stored. Raises :class:`RejectedError` with the
        reason to show, and :class:`NotStoredError` if it may still be stored later.
        """
        stored = self._command(command)
        if stored is None:
            raise RejectedError("journal_full")
        try:
            async with asyncio.timeout(STORE_TIMEOUT_SECONDS):
                await asyncio.shield(stored)
        except TimeoutError:
            raise NotStoredError("not_stored_yet") from None
        except JournalUnusableError as error:
            raise RejectedError("not_stored", reason=str(error)) from None

    def store_refusal(self, refused: CommandRefused) -> None:
        """Store that the command of a known person was refused, if the journal accepts it."""
        usable = not self._behind and self._journal.failed is None
        if usable and self._journal.refuses(1) is None:
            self._command(refused)

    def record_unsent(self, command: DeviceCommand, why: str) -> None:
        """Store that a command to a device was accepted but could not be sent."""
        if self._behind:
            self.lost_readings += 1
        else:
            self._command(
                msgspec.structs.replace(
                    command, at=self.clock(), unsent=why[:MAX_REASON_CHARACTERS]
                )
            )

    def _command(self, command: AnyCommand) -> asyncio.Future[int] | None:
        self.before_input()
        batch = _InputBatch()
        if not self._behind:
            read_at = ReadTime.now()
            self._step(command, format_utc(read_at.utc), read_at.mono_ns, batch)
        return self._store(batch)

    def _step(self, item: Input, now: str, mono_ns: int, batch: _InputBatch) -> None:
        table, before = self.table, self.table.seq
        trace = self._traces.get(item.device) if isinstance(item, Reading) else None
        try:
            item = table.numbered(item)
            events, confidential = table.handle(item, now, mono_ns)
            body = write(item)
            reading = item.reading if isinstance(item, Reading) else None
            record = Record(
                table=table.id,
                boot=table.boot,
                seq=table.seq,
                time=now,
                mono_ns=mono_ns,
                input=self._sealer.seal(table, "input", before, now, body, reading)
                if confidential
                else body,
                events=tuple(map(write, events)),
                before=(
                    (("bytes", self._sealer.seal(table, "bytes", before, now, sent)),)
                    if trace is not None and (sent := trace.pop_entry()) is not None
                    else ()
                ),
            )
            snapshot = table.snapshot()
        except RejectedError:
            raise
        except Exception:  # a bug: the table may know more than can be stored
            if trace is not None:
                trace.mark_lost()
            self._store(batch)  # inputs before the failed one
            self._rebuild()
            raise
        batch.records.append(record)
        batch.events += events
        batch.snapshot = snapshot
        if trace is not None:
            batch.traces.append(trace)

    def _store(self, batch: _InputBatch) -> asyncio.Future[int] | None:
        """Store a batch together, with the table's state after it. Return None if it is empty or
        the journal does not accept it.
        """
        records = batch.records
        if not records or self._stopped:
            return None
        try:
            saved = msgspec.json.encode(batch.snapshot)
            if self._cipher is not None:
                saved = self._cipher.lock(saved)
            records[-1] = msgspec.structs.replace(records[-1], saved=saved)
            stored = self._journal.append(*records)
        except (JournalFullError, JournalUnusableError) as error:
            for trace in batch.traces:
                trace.mark_lost()
            self.lost_readings += len(records)
            self._start_dropping(str(error))
            return None
        except Exception:
            for trace in batch.traces:
                trace.mark_lost()
            self._rebuild()
            raise
        self._pending_since.append(clock.monotonic())
        mono_ns = records[-1].mono_ns
        if batch.events:
            self._stages.decided.add(clock.mono_age_ns(mono_ns))
        self._last_append = stored
        stored.add_done_callback(partial(self._on_stored, mono_ns, batch.events))
        return stored

    def _start_dropping(self, why: str) -> None:
        """Drop readings until the table is rebuilt from the journal."""
        self._behind = True
        self._log.error("readings are being lost", reason=why)

    def _on_stored(self, mono_ns: int, events: list[AnyEvent], stored: asyncio.Future[int]) -> None:
        self._pending_since.popleft()
        if stored.cancelled() or stored.exception() is not None:
            return
        if events:
            age_ns = clock.mono_age_ns(mono_ns)
            self.counters.count(events)
            self._stages.committed.add(age_ns)
            self.after_stored(events)
        if self._pending_since:
            self._changed()
        else:
            self._publish_stored()

    def _rebuild(self) -> None:
        """Rebuild the table from the journal: now, or when everything pending is stored."""
        if self._pending_since:
            self._behind = True
            return
        halted = self.table.halted
        self.table = self._make()
        self.table.halted = halted

    def _publish_stored(self) -> None:
        """If everything is stored, update the retained topics; if the table is ahead of the
        journal, rebuild it first.
        """
        if self._pending_since:
            return
        if self._behind:
            try:
                self.table, saved = (
                    self._make(),
                    last_state(self._journal, self.table.id, self._cipher),
                )
            except JournalUnusableError as error:  # retried at the next reading
                self._log.error("table cannot be taken up", reason=str(error))
                return
            self._log.warning("readings were lost", count=self.lost_readings)
            self._behind = False
            self.retained = self.table.retained()
            self._store_state("lost", saved)
            self.on_readings(self._gap_readings(OUTAGE_REASON))
        else:
            self.retained = self.table.retained()
        self._changed()

    def _gap_readings(self, reason: str = RESTART_REASON) -> list[AnyReading]:
        """Return the readings for the time that the table missed: first restores and hand-overs."""
        at, id = self.clock(), self.table.id  # noqa: A001
        first = [
            restore_reading(point, id, at, clock.wall()) for point in unreported(self._journal, id)
        ]
        return [*first, *self.table.gap(at, reason)]

    def take_over(self, point: HandOver) -> None:
        """Resume a table that another daemon has served meanwhile."""
        self.on_readings([restore_reading(point, self.table.id, self.clock(), clock.wall())])

    def _store_state(self, why: StartReason, saved: bytes | None) -> None:
        self._store_entry("state", table_start(why, saved))

    def _store_entry(self, kind: Kind, body: bytes) -> asyncio.Future[int] | None:
        """Store an entry that is not an input, without waiting. Return None if not accepted."""
        if self._stopped:
            return None
        table, now = self.table, format_utc(clock.wall())
        record = Record(
            table=table.id,
            boot=table.boot,
            seq=table.seq,
            time=now,
            mono_ns=clock.mono_ns(),
            before=((kind, self._sealer.seal(table, kind, table.seq, now, body)),),
        )
        try:
            stored = self._journal.append(record)
        except (JournalFullError, JournalUnusableError):
            return None
        self._last_append = stored
        return stored
