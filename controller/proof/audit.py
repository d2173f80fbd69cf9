"""The audit: derives the readings and events in a journal again from its bytes and commands.

The bytes of each device go through a new watch and codec and must result in the stored readings;
the readings and commands go through a new table and game and must result in the stored events. What
cannot be derived is counted and reported.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import msgspec
from msgspec.structs import replace

from common import randomness
from common.chain.schema import Entry
from common.confidential.bodies import is_locked, is_sealed
from common.contract.commands import Command, CommandRefused
from common.contract.notation import read_input, write
from common.contract.refusals import RejectedError
from common.contract.times import parse_utc
from common.readings import DAEMON_READINGS, AnyReading, LinkLost, Reading
from controller.journal.setup import Boot, TableStart
from controller.proof.audit_record import AuditFindings, AuditRecord
from controller.proof.content_digest import content_digest
from controller.proof.findings import (
    LOST,
    NO_BEGINNING,
    OTHER_KEY,
    SEALED,
    Audit,
)
from controller.proof.listener import EntryListener
from controller.proof.live import LiveFile, Saved
from controller.proof.pieces import Lead
from controller.proof.reading_numbers import ReadingNumbers
from controller.proof.segment import BrokenSegmentError
from controller.proof.signatures import Signatures
from controller.proof.table_replay import TableReplay, TableReplays
from controller.proof.verdict import Verdict
from controller.proof.verify import verify
from controller.tables.card_secrecy import is_counted
from controller.tables.device_links import OUTAGE_REASON, RESTART_REASON
from controller.tables.saved_state import UnrestorableStateError

Unseal = Callable[[bytes], bytes]

NEW_FILE_REASONS = ("aside", "restored")
"""Reasons of states in a file that continues another one, in which they were derived."""


def _is_own(replay: TableReplay, reading: LinkLost) -> bool:
    """Return True if a table whose state is sealed may have made this reading itself. How many it
    made cannot be known, since the devices in its state cannot be read.
    """
    return replay.why in (SEALED, OTHER_KEY) and reading.reason in (RESTART_REASON, OUTAGE_REASON)


class Auditor(EntryListener):
    """Receives the entries in order, and derives them. ``unseal`` opens sealed bodies, ``rows`` are
    the rows of the table ``saved``.
    """

    def __init__(
        self, journal: Path, unseal: Unseal | None = None, rows: Sequence[Saved] = ()
    ) -> None:
        self._record = AuditRecord(str(journal))
        self._tables = TableReplays(self._record)
        self._numbers = ReadingNumbers(self._record)
        self._signatures = Signatures()
        self._unseal = unseal
        self._why_sealed = SEALED if unseal is None else OTHER_KEY
        self._rows = {row.table: row for row in rows}
        self._seam_tables: frozenset[str] | None = None
        """The tables of the run at whose seam this auditor began; None if it did not."""

    @property
    def audit(self) -> Audit:
        """The findings since the last :meth:`pop_findings`."""
        return self._record.audit

    def on_entry(self, entry: Entry) -> None:
        """Audit the next entry. Its content may be anything: only the chain shows whether it was
        altered.
        """
        self.audit.entries += 1
        run = self._record.run(entry)
        if run is not None:
            run.entries += 1
        replay = self._tables.of(entry)
        try:
            if entry.kind == "boot":
                self._numbers.latest = {}
                self._on_boot(entry)
            else:
                self._process(entry, self._unsealed(entry), replay)
        except Exception as error:
            what = (
                str(error)
                if isinstance(error, ValueError)
                else f"the software failed on it ({type(error).__name__})"
            )
            self._record.differs(entry, f"cannot be derived: {what}", None)
            self._tables.give_up(replay, "an entry before could not be read")
        if self._seam_tables is not None and entry.boot != self._tables.present_boot:
            self.sound = False  # the entry is from a run before the seam
        if (row := self._rows.get(entry.table)) is not None and row.position == entry.position:
            self._check_saved(entry, row)

    def end(self) -> None:
        """Report the derived events that never came."""
        for replay in self._tables.replays.values():
            if replay.due_events:
                self._tables.report_missing(replay, None)

    def begin(self, lead: Lead) -> None:
        """Begin at the start of a day, with the stored states of the tables and with decoders that
        have received the preceding bytes. Raises ``ValueError`` and
        :class:`UnrestorableStateError`.
        """
        first, *states = lead.of
        self._tables.set_up(first, msgspec.json.decode(first.body, type=Boot), lead.fragments)
        for entry in lead.before:
            replay = self._tables.replays.get(entry.table)
            if replay is not None and entry.kind == "bytes" and entry.boot == first.boot:
                replay.warm_up(self._unsealed(entry), self._why_sealed)
        for entry in states:
            replay = self._tables.replays.get(entry.table)
            if replay is not None and entry.kind == "state":
                self._start_from(replay, self._unsealed(entry))
        self._seam_tables = frozenset(self._tables.replays)
        self.pop_findings()

    def state_digest(self) -> bytes:
        """Return a digest of the present state; a random one if its content is unknown."""
        try:
            return content_digest(self._tables.state())
        except TypeError:
            return randomness.token_bytes(32)

    def pop_findings(self) -> AuditFindings:
        """Return the findings since the last call."""
        return self._record.pop_findings()

    def add(self, found: AuditFindings) -> None:
        """Add what another process has found in later entries."""
        self._record.add(found)

    def conclude(self, chain: Verdict) -> Audit:
        """Return all findings. ``chain``: the verdict on the entries themselves."""
        return self._record.conclude(chain)

    def _start_from(self, replay: TableReplay, body: bytes) -> None:
        """Start a table from the state that was stored as the day began."""
        if is_sealed(body):
            self._tables.give_up(replay, self._why_sealed)
            return
        saved = bytes(msgspec.json.decode(body, type=TableStart).saved)
        if is_locked(saved):
            self._tables.give_up(replay, SEALED)
        else:
            replay.begin(saved)
            self._tables.saved[replay.setup.id] = saved

    def _unsealed(self, entry: Entry) -> bytes:
        if not is_sealed(entry.body):
            return entry.body
        if self._unseal is not None:
            try:
                return self._unseal(entry.body)
            except ValueError:
                pass  # sealed for another key; the chain shows whether it was altered
        self.audit.sealed += 1
        return entry.body

    def _check_saved(self, entry: Entry, row: Saved) -> None:
        """Compare the stored state with the derived one."""
        derived = self._tables.derived_state(entry.table)
        if is_locked(row.state):
            self.audit.notes.append(
                f"the saved state of table {entry.table} is locked; it can be proved once a daemon "
                "has continued with it"
            )
        elif derived is None:
            self.audit.notes.append(f"the saved state of table {entry.table} could not be derived")
        elif derived != row.state:
            self._record.differs(
                entry,
                "the saved state of the table (table saved) does not follow",
                derived,
                row.state,
            )

    def _process(self, entry: Entry, body: bytes, replay: TableReplay | None) -> None:
        if replay is not None and entry.kind != "event" and replay.due_events:
            self._tables.report_missing(replay, entry)
        match entry.kind:
            case "state":
                self._on_state(entry, body, replay)
            case "bytes":
                if replay is not None:
                    replay.on_bytes(body, self._why_sealed)
            case "input":
                self._on_input(entry, body, replay)
            case "event":
                self._on_event(entry, replay)

    def _on_boot(self, entry: Entry) -> None:
        boot = msgspec.json.decode(entry.body, type=Boot)
        if (problem := self._signatures.boot(boot)) is not None:
            self._record.differs(entry, problem, None)
        self.audit.site_keys = self._signatures.site_keys
        if boot.continues and entry.boot in self._record.runs:
            # else it only repeats them, for a new day or file
            if boot.tables != self._tables.setups:
                self._tables.change_tables(entry, boot)
            return
        for replay in self._tables.replays.values():
            self.audit.unheard += sum(
                len(readings) for readings in replay.derived_readings.values()
            )
        if entry.boot in self._record.runs:
            self.sound = False  # two runs with one name: no daemon writes that
        fragments = frozenset({entry.boot}) if boot.continues else frozenset[str]()
        self._tables.set_up(entry, boot, fragments)

    def _on_state(self, entry: Entry, body: bytes, replay: TableReplay | None) -> None:
        self._numbers.latest.pop(entry.table, None)
        if replay is None:
            return
        if is_sealed(body):
            self._tables.give_up(replay, self._why_sealed)
            return
        start = msgspec.json.decode(body, type=TableStart)
        saved = None if (content := bytes(start.saved)) == b"null" else content
        if saved is not None and is_locked(saved):
            self._tables.give_up(replay, SEALED)
            return
        derived = self._tables.derived_state(entry.table)
        if self._seam_tables is not None and entry.table not in self._seam_tables:
            self.sound = False  # its state may follow from entries before the seam
        if start.why not in NEW_FILE_REASONS and derived is not None and derived != saved:
            self._record.differs(
                entry, "the table continued from another state than its own", derived, saved
            )
        if start.why == "reload":  # the decoders of its devices start again
            self._tables.end_replay(replay, entry)
            replay = TableReplay(replay.site, replay.boot, replay.setup, whole=True)
            self._tables.replays[entry.table] = replay
        if start.why == "lost":
            for device in replay.watches:
                replay.stop_deriving(device, LOST)
        if start.why == "day" and replay.table is not None:
            return
        try:
            replay.begin(saved)
        except (ValueError, UnrestorableStateError) as error:
            self._record.differs(entry, f"the table cannot be restored: {error}", None)
            return
        assert replay.table is not None
        if start.why in NEW_FILE_REASONS and saved is not None:
            self._tables.saved[entry.table] = saved
        lost = [reading for reading in replay.table.gap(0.0) if isinstance(reading, LinkLost)]
        replay.gaps = 0 if start.why in ("day", *NEW_FILE_REASONS) else len(lost)

    def _on_input(self, entry: Entry, body: bytes, replay: TableReplay | None) -> None:
        self._numbers.check_number(entry, body, replay.table if replay else None)
        if is_sealed(body):
            self.audit.readings += 1
            self._record.unproved(self._why_sealed)
            self._tables.give_up(replay, self._why_sealed)
            return
        item = read_input(body)
        if (
            replay is not None
            and isinstance(item, LinkLost)
            and (replay.gaps or _is_own(replay, item))
        ):
            replay.gaps = max(0, replay.gaps - 1)  # made by the table itself after a gap
        elif isinstance(item, DAEMON_READINGS):
            pass  # an observation of the daemon, which follows from nothing in the journal
        elif isinstance(item, Reading):
            self._on_reading(entry, item, body, replay)
        elif isinstance(item, Command):
            self._on_command(entry, item, replay)
        if replay is None or replay.table is None:
            return
        try:
            replay.due_events = deque(
                write(event)
                for event in replay.table.handle(item, entry.time, entry.mono_ns).events
            )
        except RejectedError as refusal:
            self._record.differs(entry, f"the rules refuse this command: {refusal}", None)
            return
        self._tables.saved[entry.table] = replay.table.snapshot()

    def _on_command(self, entry: Entry, command: Command, replay: TableReplay | None) -> None:
        if not isinstance(command, CommandRefused):
            self.audit.commands += 1
            if run := self._record.run(entry):
                run.commands += 1
        if replay is None:
            return
        problem = self._signatures.problem(
            command, replay.setup, parse_utc(entry.time), replay.table
        )
        if problem is not None:
            self._record.differs(entry, problem, None)
        elif command.signed and not isinstance(command, CommandRefused):
            self.audit.signed += 1

    def _on_reading(
        self, entry: Entry, reading: AnyReading, body: bytes, replay: TableReplay | None
    ) -> None:
        self.audit.readings += 1
        if run := self._record.run(entry):
            run.readings += 1
        watch = replay.watches.get(reading.device) if replay is not None else None
        if replay is None or watch is None:
            self._record.unproved(
                self._tables.why_not(entry)
                if replay is None
                else replay.underivable.get(reading.device, NO_BEGINNING)
            )
            return
        readings = replay.derived_readings[reading.device]
        derived = readings.popleft() if readings else None
        if reading.reading is None and is_counted(reading) and entry.table in self._numbers.latest:
            self._record.differs(entry, "the reading has no number", None)
        elif reading.reading is not None:  # added by the table
            body = write(replace(reading, reading=None))
        if derived == body:
            self.audit.proved_readings += 1
            return
        self._record.differs(
            entry, f"this reading of {reading.device} does not follow from its bytes", derived
        )
        replay.stop_deriving(reading.device, "a reading before did not follow")

    def _on_event(self, entry: Entry, replay: TableReplay | None) -> None:
        self.audit.events += 1
        if run := self._record.run(entry):
            run.events += 1
        self._numbers.check_references(entry)
        if replay is None or replay.table is None:
            self._record.count(entry, proved=0)
            self._record.unproved(self._tables.why_not(entry) if replay is None else replay.why)
            return
        derived = replay.due_events.popleft() if replay.due_events else None
        self._record.count(entry, proved=derived == entry.body)
        if derived == entry.body:
            self.audit.proved_events += 1
            return
        self._record.differs(entry, "this event does not follow from its input", derived)
        self._tables.give_up(replay, "an event before did not follow")


def audit(
    journal: Path,
    unseal: Unseal | None = None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    key: str | None = None,
    jobs: int = 1,
) -> Audit:
    """Verify the chain, and derive everything in it again. ``unseal`` opens sealed bodies; ``key``:
    the public key to trust; ``jobs``: the number of processes for a large journal.
    """
    auditor = Auditor(journal, unseal, _rows(journal))
    return auditor.conclude(verify(journal, key, each=auditor, progress=progress, jobs=jobs))


def _rows(journal: Path) -> list[Saved]:
    try:
        with closing(LiveFile(journal)) as live:
            return live.saved()
    except BrokenSegmentError:
        return []  # verify reports it
