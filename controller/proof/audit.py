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
from common.contract.retained import About
from common.contract.times import parse_utc
from common.readings import DAEMON_READINGS, AnyReading, LinkLost, Reading
from controller.games.games import make_game
from controller.journal.setup import Boot, TableSetup, TableStart
from controller.proof.content_digest import content_digest
from controller.proof.findings import (
    LOST,
    NO_BEGINNING,
    NO_SETUP,
    OTHER_KEY,
    SEALED,
    Audit,
    AuditedRun,
    Difference,
)
from controller.proof.listener import EntryListener
from controller.proof.live import LiveFile, Saved
from controller.proof.pieces import Lead
from controller.proof.references import ReadingRange, named_by, number_in
from controller.proof.segment import BrokenSegmentError
from controller.proof.signatures import Signatures
from controller.proof.verdict import Verdict
from controller.proof.verify import verify
from controller.tables.table import (
    OUTAGE_REASON,
    RESTART_REASON,
    Snapshot,
    Table,
    UnrestorableStateError,
    is_counted,
)
from devices.calls import CallsMissed, LinkOpened, apply_call, read_calls
from devices.drivers import driver
from devices.watch import Watch

Unseal = Callable[[bytes], bytes]

NEW_FILE_REASONS = ("aside", "restored")
"""Reasons of states in a file that continues another one, in which they were derived."""


class _TableReplay:
    """One table of one run, which is derived again. ``whole``: the beginning of the run is stored,
    so its bytes can be decoded; ``handed``: the run took the tables over from another daemon.

    ``table``: None while nothing can be derived, for the reason ``why``. ``gaps``: the number of
    readings that the table itself still reports for the time that it missed. ``due_events`` and
    ``derived_readings``: derived entries that have not come yet. ``watches``: None for a device
    whose bytes cannot be decoded, for its reason in ``underivable``.
    """

    def __init__(
        self, site: str, boot: str, setup: TableSetup, *, whole: bool, handed: bool = False
    ) -> None:
        self.site, self.boot, self.setup, self.handed = site, boot, setup, handed
        self.table: Table | None = None
        self.why = NO_BEGINNING
        self.gaps = 0
        self.due_events: deque[bytes] = deque()
        self.derived_readings: dict[str, deque[bytes]] = {}
        self.watches: dict[str, Watch | None] = {}
        self.underivable: dict[str, str] = {}
        self.opened: set[str] = set()
        """Devices whose decoder began at a seam."""
        for device in setup.devices:
            found = driver(device.driver)
            codec = found.make(device.id, msgspec.convert(device.options, found.options))
            self.watches[device.id] = Watch(codec, device.id, device.stale_after) if whole else None
            self.derived_readings[device.id] = deque()

    def begin(self, saved: bytes | None) -> None:
        """Start the table from its stored state. Raises ``ValueError`` and
        :class:`UnrestorableStateError`.
        """
        setup = self.setup
        self.table = Table(
            site=self.site,
            id=setup.id,
            game_id=setup.game,
            decree=setup.decree,
            game=make_game(setup.game, setup.decree, setup.settings),
            boot=self.boot,
            simulated=setup.simulated,
            saved=saved,
            about=About(
                devices={device.id: device.driver for device in setup.devices},
                jackpot=setup.jackpot,
            ),
            over=self.handed,
        )

    def state(self) -> list[object]:
        """Return everything on which the derived entries depend."""
        table = self.table
        return [
            self.site,
            self.boot,
            self.setup,
            self.why,
            self.gaps,
            self.due_events,
            self.derived_readings,
            self.underivable,
            self.watches,
            None if table is None else (table.saved(), table.seq, table.sound),
        ]

    def stop_deriving(self, device: str, why: str) -> None:
        """Derive no more readings of this device."""
        self.watches[device] = None
        self.underivable[device] = why
        self.derived_readings.setdefault(device, deque()).clear()


def _is_own(replay: _TableReplay, reading: LinkLost) -> bool:
    """Return True if a table whose state is sealed may have made this reading itself. How many it
    made cannot be known, since the devices in its state cannot be read.
    """
    return replay.why in (SEALED, OTHER_KEY) and reading.reason in (RESTART_REASON, OUTAGE_REASON)


class AuditFindings(msgspec.Struct, frozen=True):
    """The findings of an auditor in some entries. ``tables``: for each table, the number of its
    events and of those derived; ``spans``: the readings that its events name.
    """

    audit: Audit
    tables: dict[str, tuple[int, int]]
    spans: dict[str, ReadingRange]


class Auditor(EntryListener):
    """Receives the entries in order, and derives them. ``unseal`` opens sealed bodies, ``rows`` are
    the rows of the table ``saved``.
    """

    def __init__(
        self, journal: Path, unseal: Unseal | None = None, rows: Sequence[Saved] = ()
    ) -> None:
        self.audit = Audit(journal=str(journal), chain=Verdict(journal=str(journal)))
        self._unseal = unseal
        self._why_sealed = SEALED if unseal is None else OTHER_KEY
        self._replays: dict[str, _TableReplay] = {}
        self._setups: tuple[TableSetup, ...] = ()
        """The tables of the present run, as last set up."""
        self._runs: dict[str, AuditedRun] = {}
        self._saved: dict[str, Snapshot | bytes] = {}  # what each table knows, as derived
        self._unsupported: dict[
            str, str
        ] = {}  # by table the run in which this software cannot set it up
        self._rows = {row.table: row for row in rows}
        self._signatures = Signatures()
        self._tables: dict[str, tuple[int, int]] = {}
        """By table, the number of its events and of those derived."""
        self._reading_ranges: dict[str, ReadingRange] = {}
        self._latest_numbers: dict[str, int] = {}
        """By table, the number of its latest reading since a boot or a day began."""
        self._present_boot = ""
        """The present run."""
        self._seam_tables: frozenset[str] | None = None
        """The tables of the run at whose seam this auditor began; None if it did not."""

    def on_entry(self, entry: Entry) -> None:
        """Audit the next entry. Its content may be anything: only the chain shows whether it was
        altered.
        """
        self.audit.entries += 1
        run = self._run(entry)
        if run is not None:
            run.entries += 1
        replay = self._replays.get(entry.table)
        if replay is not None and replay.boot != entry.boot:
            replay = None
        try:
            if entry.kind == "boot":
                self._latest_numbers = {}
                self._on_boot(entry)
            else:
                self._process(entry, self._unsealed(entry), replay)
        except Exception as error:
            what = (
                str(error)
                if isinstance(error, ValueError)
                else f"the software failed on it ({type(error).__name__})"
            )
            self._differs(entry, f"cannot be derived: {what}", None)
            self._give_up(replay, "an entry before could not be read")
        if self._seam_tables is not None and entry.boot != self._present_boot:
            self.sound = False  # the entry is from a run before the seam
        if (row := self._rows.get(entry.table)) is not None and row.position == entry.position:
            self._check_saved(entry, row)

    def end(self) -> None:
        """Report the derived events that never came."""
        for replay in self._replays.values():
            if replay.due_events:
                self._report_missing(replay, None)

    def begin(self, lead: Lead) -> None:
        """Begin at the start of a day, with the stored states of the tables and with decoders that
        have received the preceding bytes. Raises ``ValueError`` and
        :class:`UnrestorableStateError`.
        """
        first, *states = lead.of
        self._set_up(first, msgspec.json.decode(first.body, type=Boot), lead.fragments)
        for entry in lead.before:
            replay = self._replays.get(entry.table)
            if replay is not None and entry.kind == "bytes" and entry.boot == first.boot:
                self._warm_up(self._unsealed(entry), replay)
        for entry in states:
            replay = self._replays.get(entry.table)
            if replay is not None and entry.kind == "state":
                self._start_from(replay, self._unsealed(entry))
        self._seam_tables = frozenset(self._replays)
        self.pop_findings()

    def state_digest(self) -> bytes:
        """Return a digest of the present state; a random one if its content is unknown."""
        try:
            replays = [replay.state() for replay in self._replays.values()]
            saved = [self._derived_state(table) for table in self._replays]
            return content_digest([self._present_boot, replays, saved, self._unsupported])
        except TypeError:
            return randomness.token_bytes(32)

    def pop_findings(self) -> AuditFindings:
        """Return the findings since the last call."""
        findings = AuditFindings(self.audit, self._tables, self._reading_ranges)
        self.audit = Audit(journal=findings.audit.journal, chain=findings.audit.chain)
        self._tables, self._reading_ranges = {}, {}
        self._runs = {
            boot: AuditedRun(
                boot=boot, software=run.software, python=run.python, since="", first=run.first
            )
            for boot, run in self._runs.items()
        }
        self.audit.runs = list(self._runs.values())
        return findings

    def add(self, found: AuditFindings) -> None:
        """Add what another process has found in later entries."""
        self.audit.add(found.audit)
        for table, (events, derived) in found.tables.items():
            known = self._tables.get(table, (0, 0))
            self._tables[table] = known[0] + events, known[1] + derived
        for table, span in found.spans.items():
            self._reading_ranges.setdefault(table, ReadingRange()).add(span)

    def conclude(self, chain: Verdict) -> Audit:
        """Return all findings. ``chain``: the verdict on the entries themselves."""
        self.audit.chain = chain
        self.audit.unkept = sum(len(span.below) for span in self._reading_ranges.values())
        self.audit.unproved_tables = [
            table for table, (events, proved) in self._tables.items() if events and not proved
        ]
        return self.audit

    def _warm_up(self, body: bytes, replay: _TableReplay) -> None:
        """Pass bytes before the seam to their decoder, as if the link had been opened then."""
        if not is_sealed(body):
            device, calls = read_calls(body)
            watch = replay.watches.get(device)
            if watch is not None and device not in replay.opened:
                replay.opened.add(device)
                if not isinstance(calls[0], LinkOpened):
                    watch.opened(calls[0].at)
        self._on_bytes(body, replay)
        for readings in replay.derived_readings.values():
            readings.clear()

    def _start_from(self, replay: _TableReplay, body: bytes) -> None:
        """Start a table from the state that was stored as the day began."""
        if is_sealed(body):
            self._give_up(replay, self._why_sealed)
            return
        saved = bytes(msgspec.json.decode(body, type=TableStart).saved)
        if is_locked(saved):
            self._give_up(replay, SEALED)
        else:
            replay.begin(saved)
            self._saved[replay.setup.id] = saved

    def _derived_state(self, table: str) -> bytes | None:
        """Return the derived state of a table as it would be saved, or None."""
        known = self._saved.get(table)
        return msgspec.json.encode(known) if isinstance(known, Snapshot) else known

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
        derived = self._derived_state(entry.table)
        if is_locked(row.state):
            self.audit.notes.append(
                f"the saved state of table {entry.table} is locked; it can be proved once a daemon "
                "has continued with it"
            )
        elif derived is None:
            self.audit.notes.append(f"the saved state of table {entry.table} could not be derived")
        elif derived != row.state:
            self._differs(
                entry,
                "the saved state of the table (table saved) does not follow",
                derived,
                row.state,
            )

    def _process(self, entry: Entry, body: bytes, replay: _TableReplay | None) -> None:
        if replay is not None and entry.kind != "event" and replay.due_events:
            self._report_missing(replay, entry)
        match entry.kind:
            case "state":
                self._on_state(entry, body, replay)
            case "bytes":
                self._on_bytes(body, replay)
            case "input":
                self._on_input(entry, body, replay)
            case "event":
                self._on_event(entry, replay)

    def _on_boot(self, entry: Entry) -> None:
        boot = msgspec.json.decode(entry.body, type=Boot)
        if (problem := self._signatures.boot(boot)) is not None:
            self._differs(entry, problem, None)
        self.audit.site_keys = self._signatures.site_keys
        if boot.continues and entry.boot in self._runs:
            if boot.tables != self._setups:  # else it only repeats them, for a new day or file
                self._change_tables(entry, boot)
            return
        for replay in self._replays.values():
            self.audit.unheard += sum(
                len(readings) for readings in replay.derived_readings.values()
            )
        if entry.boot in self._runs:
            self.sound = False  # two runs with one name: no daemon writes that
        fragments = frozenset({entry.boot}) if boot.continues else frozenset[str]()
        self._set_up(entry, boot, fragments)

    def _set_up(self, entry: Entry, boot: Boot, fragments: frozenset[str]) -> None:
        """Set up the tables of a run. ``fragments``: runs whose beginning is not stored."""
        self._present_boot = entry.boot
        self._runs[entry.boot] = run = AuditedRun(
            boot=entry.boot,
            software=boot.software,
            python=boot.python,
            since=entry.time,
            first=entry.position,
            entries=1,
        )
        self.audit.runs.append(run)
        self._replays = {}
        self._setups = boot.tables
        for setup in boot.tables:
            self._add_replay(entry, boot, setup, whole=entry.boot not in fragments)

    def _change_tables(self, entry: Entry, boot: Boot) -> None:
        """Change the set of tables, or their setup. Unchanged tables continue."""
        self._setups = boot.tables
        there = {setup.id: setup for setup in boot.tables}
        for table, replay in [*self._replays.items()]:
            if there.get(table) != replay.setup:
                self._end_replay(replay, entry)
                del self._replays[table]
        for setup in boot.tables:
            if setup.id not in self._replays:
                self._add_replay(entry, boot, setup, whole=True)

    def _end_replay(self, replay: _TableReplay, entry: Entry) -> None:
        """End a replay, which has no further entries."""
        if replay.due_events:
            self._report_missing(replay, entry)
        self.audit.unheard += sum(len(readings) for readings in replay.derived_readings.values())

    def _add_replay(self, entry: Entry, boot: Boot, setup: TableSetup, *, whole: bool) -> None:
        handed = boot.standby is not None and boot.standby.before is not None
        try:
            self._replays[setup.id] = _TableReplay(
                boot.site, entry.boot, setup, whole=whole, handed=handed
            )
        except (KeyError, ValueError) as error:
            self._unsupported[setup.id] = entry.boot
            self.audit.notes.append(
                f"table {setup.id} of run {entry.boot} cannot be set up by this software: {error}"
            )

    def _on_state(self, entry: Entry, body: bytes, replay: _TableReplay | None) -> None:
        self._latest_numbers.pop(entry.table, None)
        if replay is None:
            return
        if is_sealed(body):
            self._give_up(replay, self._why_sealed)
            return
        start = msgspec.json.decode(body, type=TableStart)
        saved = None if (content := bytes(start.saved)) == b"null" else content
        if saved is not None and is_locked(saved):
            self._give_up(replay, SEALED)
            return
        derived = self._derived_state(entry.table)
        if self._seam_tables is not None and entry.table not in self._seam_tables:
            self.sound = False  # its state may follow from entries before the seam
        if start.why not in NEW_FILE_REASONS and derived is not None and derived != saved:
            self._differs(
                entry, "the table continued from another state than its own", derived, saved
            )
        if start.why == "reload":  # the decoders of its devices start again
            self._end_replay(replay, entry)
            replay = _TableReplay(replay.site, replay.boot, replay.setup, whole=True)
            self._replays[entry.table] = replay
        if start.why == "lost":
            for device in replay.watches:
                replay.stop_deriving(device, LOST)
        if start.why == "day" and replay.table is not None:
            return
        try:
            replay.begin(saved)
        except (ValueError, UnrestorableStateError) as error:
            self._differs(entry, f"the table cannot be restored: {error}", None)
            return
        assert replay.table is not None
        if start.why in NEW_FILE_REASONS and saved is not None:
            self._saved[entry.table] = saved
        lost = [reading for reading in replay.table.gap(0.0) if isinstance(reading, LinkLost)]
        replay.gaps = 0 if start.why in ("day", *NEW_FILE_REASONS) else len(lost)

    def _on_bytes(self, body: bytes, replay: _TableReplay | None) -> None:
        if replay is None:
            return
        if is_sealed(body):
            for device in replay.watches:
                replay.stop_deriving(device, self._why_sealed)
            return
        device, calls = read_calls(body)
        watch = replay.watches.get(device)
        if watch is None:
            return
        for call in calls:
            if isinstance(call, CallsMissed):
                replay.stop_deriving(device, LOST)
                return
            replay.derived_readings[device] += (
                write(reading) for reading in apply_call(watch, call)
            )

    def _on_input(self, entry: Entry, body: bytes, replay: _TableReplay | None) -> None:
        self._check_number(entry, body, replay)
        if is_sealed(body):
            self.audit.readings += 1
            self._unproved(self._why_sealed)
            self._give_up(replay, self._why_sealed)
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
            self._differs(entry, f"the rules refuse this command: {refusal}", None)
            return
        self._saved[entry.table] = replay.table.snapshot()

    def _check_number(self, entry: Entry, body: bytes, replay: _TableReplay | None) -> None:
        """Check that the number of a reading, by which events name it, follows the one before."""
        number, latest = number_in(entry.body), self._latest_numbers.get(entry.table)
        table = replay.table if replay is not None else None
        if table is not None and table.face_down:
            latest = table.readings
        if is_sealed(entry.body) and not is_sealed(body) and number_in(body) != number:
            self._differs(entry, "the number beside the box is not that of its reading", None)
        if number is None:
            return
        if latest is not None and number != latest + 1:
            what = f"the reading has the number {number}, and the one before it {latest}"
            self._differs(entry, what, None)
        self._latest_numbers[entry.table] = number
        self._reading_ranges.setdefault(entry.table, ReadingRange()).add_reading(number)

    def _check_references(self, entry: Entry) -> None:
        """Check that the readings that an event names exist."""
        numbers = named_by(entry.body)
        if not numbers:
            return
        self.audit.named += len(numbers)
        self._reading_ranges.setdefault(entry.table, ReadingRange()).add_references(numbers)
        latest = self._latest_numbers.get(entry.table)
        if latest is not None and max(numbers) > latest:
            what = f"it names reading {max(numbers)}, and the last one of its table was {latest}"
            self._differs(entry, what, None)

    def _on_command(self, entry: Entry, command: Command, replay: _TableReplay | None) -> None:
        if not isinstance(command, CommandRefused):
            self.audit.commands += 1
            if run := self._run(entry):
                run.commands += 1
        if replay is None:
            return
        problem = self._signatures.problem(
            command, replay.setup, parse_utc(entry.time), replay.table
        )
        if problem is not None:
            self._differs(entry, problem, None)
        elif command.signed and not isinstance(command, CommandRefused):
            self.audit.signed += 1

    def _on_reading(
        self, entry: Entry, reading: AnyReading, body: bytes, replay: _TableReplay | None
    ) -> None:
        self.audit.readings += 1
        if run := self._run(entry):
            run.readings += 1
        watch = replay.watches.get(reading.device) if replay is not None else None
        if replay is None or watch is None:
            self._unproved(
                self._why_no_replay(entry)
                if replay is None
                else replay.underivable.get(reading.device, NO_BEGINNING)
            )
            return
        readings = replay.derived_readings[reading.device]
        derived = readings.popleft() if readings else None
        if reading.reading is None and is_counted(reading) and entry.table in self._latest_numbers:
            self._differs(entry, "the reading has no number", None)
        elif reading.reading is not None:  # added by the table
            body = write(replace(reading, reading=None))
        if derived == body:
            self.audit.proved_readings += 1
            return
        self._differs(
            entry, f"this reading of {reading.device} does not follow from its bytes", derived
        )
        replay.stop_deriving(reading.device, "a reading before did not follow")

    def _on_event(self, entry: Entry, replay: _TableReplay | None) -> None:
        self.audit.events += 1
        if run := self._run(entry):
            run.events += 1
        self._check_references(entry)
        if replay is None or replay.table is None:
            self._count(entry, proved=0)
            self._unproved(self._why_no_replay(entry) if replay is None else replay.why)
            return
        derived = replay.due_events.popleft() if replay.due_events else None
        self._count(entry, proved=derived == entry.body)
        if derived == entry.body:
            self.audit.proved_events += 1
            return
        self._differs(entry, "this event does not follow from its input", derived)
        self._give_up(replay, "an event before did not follow")

    def _report_missing(self, replay: _TableReplay, entry: Entry | None) -> None:
        derived = replay.due_events.popleft()
        self._record(
            Difference(
                position=entry.position if entry else 0,
                time=entry.time if entry else "",
                table=replay.setup.id,
                boot=replay.boot,
                what="an event follows from the input before, and is not there",
                derived=_text(derived),
                found=None,
            )
        )
        self._give_up(replay, "an event before was missing")

    def _give_up(self, replay: _TableReplay | None, why: str) -> None:
        """Derive nothing more of this table until its next stored state."""
        if replay is not None:
            replay.table, replay.why = None, why
            replay.due_events.clear()
            self._saved.pop(replay.setup.id, None)

    def _differs(
        self, entry: Entry, what: str, derived: bytes | None, found: bytes | None = None
    ) -> None:
        if run := self._run(entry):
            run.differences += 1
        self._record(
            Difference(
                position=entry.position,
                time=entry.time,
                table=entry.table,
                boot=entry.boot,
                what=what,
                derived=None if derived is None else _text(derived),
                found=_text(entry.body if found is None else found),
            )
        )

    def _record(self, difference: Difference) -> None:
        self.audit.note(difference)

    def _run(self, entry: Entry) -> AuditedRun | None:
        return self._runs.get(entry.boot)

    def _count(self, entry: Entry, *, proved: int) -> None:
        events, derived = self._tables.get(entry.table, (0, 0))
        self._tables[entry.table] = events + 1, derived + proved

    def _why_no_replay(self, entry: Entry) -> str:
        return NO_SETUP if self._unsupported.get(entry.table) == entry.boot else NO_BEGINNING

    def _unproved(self, why: str) -> None:
        self.audit.unproved[why] = self.audit.unproved.get(why, 0) + 1


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


def _text(body: bytes) -> str:
    return body.decode("utf-8", "backslashreplace")
