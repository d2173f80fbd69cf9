"""One gaming table at work: readings and commands go in one at a time, are stored, and only then
shown.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

import msgspec

from controller.confidential.boxes import CardCipher, UnopenedBoxError
from controller.contract.commands import AnyCommand, CommandRefused, DeviceCommand
from controller.contract.events import AnyEvent
from controller.contract.notation import Input, historical, write
from controller.contract.orders import ChainLink, Recall
from controller.contract.refusals import RejectedError
from controller.contract.sealed import Opened
from controller.contract.times import utc
from controller.journal.journal import Journal
from controller.journal.mono import age_ns, now_ns
from controller.journal.schema import JournalFullError, JournalUnusableError, Kind, Record
from controller.journal.setup import HandOver, Why, table_start
from controller.tables.after_restore import told_first
from controller.tables.byte_trace import ByteTrace, Sent
from controller.tables.stages import Stages
from controller.tables.table import OUTAGE, RESTART, Snapshot, Table
from controller.tables.tally import Tally
from devices.calls import AnyCall
from devices.log import structlog
from devices.readings import AnyReading, Reading

PATIENCE = 5.0
"""Seconds to wait until a person's command is stored."""
MARK = 20
"""Bytes by which the historical mark and its comma lengthen an event."""
REASON = 1024
"""Characters of a stored reason; a command holds no longer text."""
COARSE = 4096
"""Where cards are face down, byte counts are published only in multiples of this."""


class Moment(NamedTuple):
    """When an input was read."""

    utc: float
    """Seconds since 1970."""
    mono_ns: int

    @classmethod
    def now(cls) -> Moment:
        """The present moment."""
        return cls(time.time(), now_ns())


class _Taken(msgspec.Struct):
    """What one chunk of a device, or one command, led to, and what the table knows after it."""

    records: list[Record] = []
    events: list[AnyEvent] = []
    traces: list[ByteTrace] = []
    snapshot: Snapshot | None = None


class NotStoredError(RejectedError):
    """A command was taken and may still be stored, but not within the time that a person waits."""


def remembered(journal: Journal, table: str, cipher: CardCipher | None) -> bytes | None:
    """The last saved state of a table. One that cannot be decrypted is passed on as it is: the
    table then begins anew, and reports it.
    """
    saved = journal.last_saved(table)
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

    ``make`` gives the table as the journal knows it; it is called again if the table has run ahead
    of what could be stored. ``clock`` stamps the runner's own events. ``changed`` is called when
    there is something new to publish. ``cipher`` is needed where cards are face down. ``why`` the
    table is taken up. Raises ``ValueError`` if the cipher is missing.
    """

    def __init__(
        self,
        make: Callable[[], Table],
        journal: Journal,
        clock: Callable[[], float],
        changed: Callable[[], None],
        cipher: CardCipher | None = None,
        stages: Stages | None = None,
        why: Why = "boot",
    ) -> None:
        self.clock = clock
        self.before: Callable[[], None] = lambda: None
        """Called before each input: what no longer holds by then, the table must know first."""
        self.lost = 0
        """Readings not taken, because too much waited for the disk."""
        self.tally = Tally()
        """What happened since the start, as far as it is stored."""
        self._make = make
        self._journal = journal
        self._changed = changed
        self._stages = stages or Stages()
        self._read: Moment | None = None
        self._since: deque[float] = deque()
        self._latest: asyncio.Future[int] | None = None
        self._overrun = False
        self._ended = False
        self._traces: dict[str, ByteTrace] = {}
        self.table = make()
        if self.table.face_down and cipher is None:
            raise ValueError(
                f"table {self.table.id}: cards are dealt face down, and there is no key to seal "
                "them; configure one"
            )
        self._cipher = cipher if self.table.face_down else None
        self.retained = self.table.retained()
        """The retained topics' bodies; nothing that is not stored."""
        self._log = structlog.get_logger().bind(table=self.table.id)
        self._note_state(why, remembered(journal, self.table.id, self._cipher))
        self.take(self._gap())

    @property
    def oldest_pending_seconds(self) -> float:
        """Seconds that the oldest input has waited to be stored; 0 if none waits."""
        return time.monotonic() - self._since[0] if self._since else 0.0

    def end(self) -> None:
        """Store nothing from here on: another runner goes on with the table, or nobody does."""
        self._ended = True

    async def idle(self) -> None:
        """Wait until everything is stored."""
        while self._latest is not None and not self._latest.done():
            await asyncio.wait([self._latest])

    async def settled(self) -> bool:
        """Wait until what was taken by now is stored. Returns whether it is, within the time that a
        person waits.
        """
        latest = self._latest
        if latest is None or latest.done():
            return True
        done, _ = await asyncio.wait([latest], timeout=PATIENCE)
        return bool(done)

    def take(self, readings: Sequence[AnyReading], *, noted: bool = False) -> None:
        """Take what a device said in one chunk. It is stored together, with the state it led to.
        ``noted``: it comes of what was last noted, and has the time of that; anything else has its
        own, or the table's time would go back.
        """
        self.before()
        if self._overrun and not self._since and self._journal.failed is None:
            self._take_up()
        moment = (noted and self._read) or Moment.now()
        taken = _Taken()
        for reading in readings:
            if not self._overrun and (why := self._journal.refuses(len(taken.records) + 1)):
                self._lose(why)
            if self._overrun:
                self.lost += 1
            else:
                self._step(reading, moment, taken)
        self._store(taken)

    def note(self, device: str, call: AnyCall) -> None:
        """Keep what a device sent, which was read just now. It is stored with its reading, or by
        :meth:`flush`.
        """
        self._read = Moment.now()
        trace = self._traces.get(device)
        if trace is None:
            trace = self._traces[device] = ByteTrace(device, compact=self._cipher is None)
        trace.note(call)

    def flush(self) -> None:
        """Store what the devices sent that led to nothing."""
        for trace in self._traces.values():
            if (
                not self._overrun
                and (body := trace.take()) is not None
                and self._note_entry("bytes", body) is None
            ):
                trace.lose()

    def sent(self) -> dict[str, Sent]:
        """Bytes that each device sent since the last call; rounded where cards are face down, since
        codes differ in length.
        """
        coarse = 1 if self._cipher is None else COARSE
        sent = {device: trace.sent() for device, trace in self._traces.items()}
        return {
            device: each._replace(all=each.all // coarse * coarse) for device, each in sent.items()
        }

    def new_day(self) -> None:
        """Store what the table knows, so that its day can be derived without the days before."""
        if not self._overrun and self.table.sound:
            self._note_state("day", self.table.saved())

    def halt(self, reason: str | None) -> None:
        """The journal cannot be written, or can be again: publish that at once, which needs no
        disk.
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
        elif not self._since:
            self._take_up()
        self._changed()

    async def follow(self, command: AnyCommand) -> None:
        """Follow a command and wait until it is stored. Raises :class:`RejectedError` with the
        reason for the person, and :class:`NotStoredError` where it may be stored later.
        """
        stored = self._command(command)
        if stored is None:
            raise RejectedError("journal_full")
        try:
            async with asyncio.timeout(PATIENCE):
                await asyncio.shield(stored)
        except TimeoutError:
            raise NotStoredError("not_stored_yet") from None
        except JournalUnusableError as error:
            raise RejectedError("not_stored", reason=str(error)) from None

    def keep(self, refused: CommandRefused) -> None:
        """Store that a known person was refused, unless the journal does not take it now."""
        usable = not self._overrun and self._journal.failed is None
        if usable and self._journal.refuses(1) is None:
            self._command(refused)

    def unsent(self, command: DeviceCommand, why: str) -> None:
        """Record that a command to a device was taken but could not be sent."""
        if self._overrun:
            self.lost += 1
        else:
            self._command(msgspec.structs.replace(command, at=self.clock(), unsent=why[:REASON]))

    def recall(self, wanted: Recall, room: int) -> tuple[msgspec.Raw, ...]:
        """Events that are stored, marked historical, oldest first: as many as go into ``room``
        bytes, but one at least.
        """
        find = self._journal.events_onward if wanted.onward else self._journal.events_of
        found = find(self.table.id, wanted.boot, wanted.first - 1, wanted.limit)
        if wanted.to is not None and not wanted.onward:
            found = [entry for entry in found if entry.seq <= wanted.to]
        fitting = [
            entry
            for entry, all_ in zip(
                found, accumulate(len(entry.body) + MARK for entry in found), strict=True
            )
            if all_ <= room
        ]
        return tuple(msgspec.Raw(historical(entry.body)) for entry in fitting or found[:1])

    def chain(self, wanted: Recall) -> tuple[ChainLink, ...]:
        """The entries of the journal that a recall asks for, as the file has them."""
        return tuple(
            ChainLink(head.position, head.hash.hex())
            for head in self._journal.reckoned(wanted.positions)
        )

    def _command(self, command: AnyCommand) -> asyncio.Future[int] | None:
        self.before()
        taken = _Taken()
        if not self._overrun:
            self._step(command, Moment.now(), taken)
        return self._store(taken)

    def _step(self, given: Input, moment: Moment, taken: _Taken) -> None:
        now, mono_ns = utc(moment.utc), moment.mono_ns
        table, before = self.table, self.table.seq
        trace = self._traces.get(given.device) if isinstance(given, Reading) else None
        try:
            given = table.numbered(given)
            events, confidential = table.take(given, now, mono_ns)
            body = write(given)
            reading = given.reading if isinstance(given, Reading) else None
            record = Record(
                table=table.id,
                boot=table.boot,
                seq=table.seq,
                time=now,
                mono_ns=mono_ns,
                given=self._sealed("input", before, now, body, reading) if confidential else body,
                events=tuple(write(event) for event in events),
                before=(
                    (("bytes", self._sealed("bytes", before, now, sent)),)
                    if trace is not None and (sent := trace.take()) is not None
                    else ()
                ),
            )
            snapshot = table.snapshot()
        except RejectedError:
            raise
        except Exception:  # a defect; the table may know more than can be stored of it
            if trace is not None:
                trace.lose()
            self._store(taken)  # what was decided before it
            self._go_back()
            raise
        taken.records.append(record)
        taken.events += events
        taken.snapshot = snapshot
        if trace is not None:
            taken.traces.append(trace)

    def _store(self, taken: _Taken) -> asyncio.Future[int] | None:
        """Store what was taken, together, with what the table knows after it. None: there is
        nothing, or the journal does not take it.
        """
        records = taken.records
        if not records or self._ended:
            return None
        try:
            saved = self._locked(msgspec.json.encode(taken.snapshot))
            records[-1] = msgspec.structs.replace(records[-1], saved=saved)
            stored = self._journal.append(*records)
        except (JournalFullError, JournalUnusableError) as error:
            for trace in taken.traces:
                trace.lose()
            self.lost += len(records)
            self._lose(str(error))
            return None
        except Exception:
            for trace in taken.traces:
                trace.lose()
            self._go_back()
            raise
        mono_ns = records[-1].mono_ns if any(record.events for record in records) else None
        if mono_ns is not None:
            self._stages.decided.add(age_ns(mono_ns))
        self._since.append(time.monotonic())
        self._latest = stored
        stored.add_done_callback(partial(self._stored, mono_ns, taken.events))
        return stored

    def _lose(self, why: str) -> None:
        """Take nothing more until the table is rebuilt from the journal."""
        self._overrun = True
        self._log.error("readings are being lost", reason=why)

    def _stored(
        self, mono_ns: int | None, events: list[AnyEvent], stored: asyncio.Future[int]
    ) -> None:
        self._since.popleft()
        if stored.cancelled() or stored.exception() is not None:
            return
        self.tally.count(events)
        if mono_ns is not None:
            self._stages.committed.add(age_ns(mono_ns))
        if self._since:
            self._changed()
        else:
            self._take_up()

    def _go_back(self) -> None:
        """Rebuild the table as the journal knows it: at once, or when everything pending is
        stored.
        """
        if self._since:
            self._overrun = True
            return
        halted = self.table.halted
        self.table = self._make()
        self.table.halted = halted

    def _take_up(self) -> None:
        """If all is stored, publish what the table knows; if it knows more than that,
        rebuild it.
        """
        if self._since:
            return
        if self._overrun:
            try:
                self.table, saved = (
                    self._make(),
                    remembered(self._journal, self.table.id, self._cipher),
                )
            except (
                JournalUnusableError
            ) as error:  # tried again at the next reading; the journal finds out what is wrong
                self._log.error("table cannot be taken up", reason=str(error))
                return
            self._log.warning("readings were lost", count=self.lost)
            self._overrun = False
            self.retained = self.table.retained()
            self._note_state("lost", saved)
            self.take(self._gap(OUTAGE))
        else:
            self.retained = self.table.retained()
        self._changed()

    def _gap(self, reason: str = RESTART) -> list[AnyReading]:
        """What the table missed, and before that the backup that it goes on from."""
        at, id = self.clock(), self.table.id  # noqa: A001
        first = [told_first(point, id, at, time.time()) for point in self._journal.all_untold(id)]
        return [*first, *self.table.gap(at, reason)]

    def take_over(self, point: HandOver) -> None:
        """Go on with the table that another daemon has had meanwhile."""
        self.take([told_first(point, self.table.id, self.clock(), time.time())])

    def _note_state(self, why: Why, saved: bytes | None) -> None:
        self._note_entry("state", table_start(why, saved))

    def _note_entry(self, kind: Kind, body: bytes) -> asyncio.Future[int] | None:
        """Store an entry that is not an input. Nobody waits for it; None: it was not taken."""
        if self._ended:
            return None
        table, now = self.table, utc(time.time())
        record = Record(
            table=table.id,
            boot=table.boot,
            seq=table.seq,
            time=now,
            mono_ns=now_ns(),
            before=((kind, self._sealed(kind, table.seq, now, body)),),
        )
        try:
            stored = self._journal.append(record)
        except (JournalFullError, JournalUnusableError):
            return None
        stored.add_done_callback(lambda future: future.cancelled() or future.exception())
        self._latest = stored
        return stored

    def _sealed(
        self, kind: Kind, seq: int, now: str, body: bytes, reading: int | None = None
    ) -> bytes:
        """The body of an entry. Where cards are face down, only surveillance can read it."""
        if self._cipher is None:
            return body
        return self._cipher.seal(
            Opened(self.table.id, self.table.boot, seq, now, kind, msgspec.Raw(body)), reading
        )

    def _locked(self, saved: bytes) -> bytes:
        """What the table remembers. Where cards are face down, only this daemon can read it."""
        return saved if self._cipher is None else self._cipher.lock(saved)
