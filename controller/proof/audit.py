"""The audit: derives again everything that the journal says was concluded, from what it says was
given.

The bytes of each device go through a new watch and codec and must give the stored readings; the
readings and commands go through a new table and game and must give the stored events. What cannot
be derived is counted and reported.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import msgspec
from msgspec.structs import replace

from controller.confidential.bodies import is_locked, is_sealed
from controller.contract.commands import Command, CommandRefused
from controller.contract.notation import read_input, write
from controller.contract.refusals import RejectedError
from controller.contract.retained import About
from controller.contract.times import parse_utc
from controller.games.games import make_game
from controller.journal.schema import Entry
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
from controller.proof.live import LiveFile, Saved
from controller.proof.pieces import Lead
from controller.proof.references import ReadingRange, named_by, number_in
from controller.proof.segment import BrokenSegmentError
from controller.proof.signatures import Signatures
from controller.proof.verdict import Verdict
from controller.proof.verify import EntryListener, verify
from controller.tables.table import (
    OUTAGE_REASON,
    RESTART_REASON,
    Snapshot,
    Table,
    UnrestorableStateError,
    is_counted,
)
from devices import randomness
from devices.calls import CallsMissed, LinkOpened, apply_call, read_calls
from devices.drivers import driver
from devices.readings import DAEMON_READINGS, AnyReading, LinkLost, Reading
from devices.watch import Watch

Unseal = Callable[[bytes], bytes]

NEW_FILE_REASONS = ("aside", "restored")
"""Why a table's states begin in a file that continues another one, in which they were derived."""


class _TableReplay:
    """One table of one run, as it is derived. ``handed``: the run took the tables over from another
    daemon.
    """

    def __init__(
        self, site: str, boot: str, setup: TableSetup, *, whole: bool, handed: bool = False
    ) -> None:
        self.site, self.boot, self.setup, self.handed = site, boot, setup, handed
        self.table: Table | None = None
        self.why = NO_BEGINNING
        self.gaps = 0
        self.due: deque[bytes] = deque()
        self.said: dict[str, deque[bytes]] = {}
        self.watches: dict[str, Watch | None] = {}
        self.cold: dict[str, str] = {}
        self.opened: set[str] = set()
        """Devices whose decoder began at a seam."""
        for device in setup.devices:
            found = driver(device.driver)
            codec = found.make(device.id, msgspec.convert(device.options, found.options))
            self.watches[device.id] = Watch(codec, device.id, device.stale_after) if whole else None
            self.said[device.id] = deque()

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
        """All on which it depends what is derived."""
        table = self.table
        return [
            self.site,
            self.boot,
            self.setup,
            self.why,
            self.gaps,
            self.due,
            self.said,
            self.cold,
            self.watches,
            None if table is None else (table.saved(), table.seq, table.sound),
        ]

    def chill(self, device: str, why: str) -> None:
        """From here on, what this device sends cannot be derived."""
        self.watches[device] = None
        self.cold[device] = why
        self.said.setdefault(device, deque()).clear()


def _is_own(room: _TableReplay, given: LinkLost) -> bool:
    """Whether a table whose state is sealed made this reading itself: how many devices it had then
    is unreadable.
    """
    return room.why in (SEALED, OTHER_KEY) and given.reason in (RESTART_REASON, OUTAGE_REASON)


class AuditFindings(msgspec.Struct, frozen=True):
    """What an auditor has found in some entries. ``tables``: for each table, its events and how
    many were derived; ``spans``: the readings that its events name.
    """

    audit: Audit
    tables: dict[str, tuple[int, int]]
    spans: dict[str, ReadingRange]


class Auditor(EntryListener):
    """Takes the entries in order."""

    def __init__(
        self, journal: Path, unseal: Unseal | None = None, rows: Sequence[Saved] = ()
    ) -> None:
        self.audit = Audit(journal=str(journal), chain=Verdict(journal=str(journal)))
        self._unseal = unseal
        self._why_sealed = SEALED if unseal is None else OTHER_KEY
        self._rooms: dict[str, _TableReplay] = {}
        self._setups: tuple[TableSetup, ...] = ()
        """The tables of the present run, as last set up."""
        self._runs: dict[str, AuditedRun] = {}
        self._saved: dict[str, Snapshot | bytes] = {}  # what each table knows, as derived
        self._unset: dict[str, str] = {}  # by table the run in which this software cannot set it up
        self._rows = {row.table: row for row in rows}
        self._signatures = Signatures()
        self._tables: dict[str, tuple[int, int]] = {}
        """For each table, its events and how many were derived."""
        self._spans: dict[str, ReadingRange] = {}
        self._latest: dict[str, int] = {}
        """For each table, the number of its latest reading since a boot or a day began."""
        self._present = ""
        """The present run."""
        self._guessed: frozenset[str] | None = None
        """The tables of the run in which this one began at a seam."""

    def on_entry(self, entry: Entry) -> None:
        """Take the next entry. Its content may be anything: only the chain shows whether it was
        written so.
        """
        self.audit.entries += 1
        run = self._run(entry)
        if run is not None:
            run.entries += 1
        room = self._rooms.get(entry.table)
        if room is not None and room.boot != entry.boot:
            room = None
        try:
            if entry.kind == "boot":
                self._latest = {}
                self._boot(entry)
            else:
                self._take(entry, self._opened(entry), room)
        except Exception as error:
            what = (
                str(error)
                if isinstance(error, ValueError)
                else f"the software failed on it ({type(error).__name__})"
            )
            self._differs(entry, f"cannot be derived: {what}", None)
            self._give_up(room, "an entry before could not be read")
        if self._guessed is not None and entry.boot != self._present:
            self.sound = False  # of a run before the seam
        if (row := self._rows.get(entry.table)) is not None and row.position == entry.position:
            self._hold(entry, row)

    def end(self) -> None:
        """There are no more entries."""
        for room in self._rooms.values():
            if room.due:
                self._missing(room, None)

    def begin(self, lead: Lead) -> None:
        """Begin at a day's start: with the stored states of the tables, and with decoders that have
        received the earlier bytes. Raises ``ValueError`` and :class:`UnrestorableStateError`.
        """
        first, *states = lead.of
        self._set_up(first, msgspec.json.decode(first.body, type=Boot), lead.fragments)
        for entry in lead.before:
            room = self._rooms.get(entry.table)
            if room is not None and entry.kind == "bytes" and entry.boot == first.boot:
                self._warm_up(self._opened(entry), room)
        for entry in states:
            room = self._rooms.get(entry.table)
            if room is not None and entry.kind == "state":
                self._know(room, self._opened(entry))
        self._guessed = frozenset(self._rooms)
        self.pop_findings()

    def state_digest(self) -> bytes:
        """The present state; not comparable if it is unknown."""
        try:
            rooms = [room.state() for room in self._rooms.values()]
            saved = [self._known(table) for table in self._rooms]
            return content_digest([self._present, rooms, saved, self._unset])
        except TypeError:
            return randomness.token_bytes(32)

    def pop_findings(self) -> AuditFindings:
        """Findings since the last call."""
        told = AuditFindings(self.audit, self._tables, self._spans)
        self.audit = Audit(journal=told.audit.journal, chain=told.audit.chain)
        self._tables, self._spans = {}, {}
        self._runs = {
            boot: AuditedRun(
                boot=boot, software=run.software, python=run.python, since="", first=run.first
            )
            for boot, run in self._runs.items()
        }
        self.audit.runs = list(self._runs.values())
        return told

    def add(self, found: AuditFindings) -> None:
        """Add what another has found in the entries that follow."""
        self.audit.add(found.audit)
        for table, (events, derived) in found.tables.items():
            known = self._tables.get(table, (0, 0))
            self._tables[table] = known[0] + events, known[1] + derived
        for table, span in found.spans.items():
            self._spans.setdefault(table, ReadingRange()).add(span)

    def conclude(self, chain: Verdict) -> Audit:
        """Everything that was found. ``chain``: whether the entries are those that were written."""
        self.audit.chain = chain
        self.audit.unkept = sum(len(span.below) for span in self._spans.values())
        self.audit.unproved_tables = [
            table for table, (events, proved) in self._tables.items() if events and not proved
        ]
        return self.audit

    def _warm_up(self, body: bytes, room: _TableReplay) -> None:
        """Feed a decoder the bytes before the seam, as if the link had been opened then."""
        if not is_sealed(body):
            device, calls = read_calls(body)
            watch = room.watches.get(device)
            if watch is not None and device not in room.opened:
                room.opened.add(device)
                if not isinstance(calls[0], LinkOpened):
                    watch.opened(calls[0].at)
        self._bytes(body, room)
        for said in room.said.values():
            said.clear()

    def _know(self, room: _TableReplay, body: bytes) -> None:
        """Have a table know what was stored as the day began."""
        if is_sealed(body):
            self._give_up(room, self._why_sealed)
            return
        told = bytes(msgspec.json.decode(body, type=TableStart).saved)
        if is_locked(told):
            self._give_up(room, SEALED)
        else:
            room.begin(told)
            self._saved[room.setup.id] = told

    def _known(self, table: str) -> bytes | None:
        """The state of a table, as derived and as saved."""
        known = self._saved.get(table)
        return msgspec.json.encode(known) if isinstance(known, Snapshot) else known

    def _opened(self, entry: Entry) -> bytes:
        if not is_sealed(entry.body):
            return entry.body
        if self._unseal is not None:
            try:
                return self._unseal(entry.body)
            except ValueError:
                pass  # for another key; that it was changed the chain would tell
        self.audit.sealed += 1
        return entry.body

    def _hold(self, entry: Entry, row: Saved) -> None:
        """Compare the stored state with the derived one."""
        derived = self._known(entry.table)
        if is_locked(row.state):
            self.audit.notes.append(
                f"what is saved of table {entry.table} is locked; it is proved when a daemon has "
                "gone on with it"
            )
        elif derived is None:
            self.audit.notes.append(f"what is saved of table {entry.table} could not be derived")
        elif derived != row.state:
            self._differs(
                entry,
                "what is saved of the table (table saved) does not follow",
                derived,
                row.state,
            )

    def _take(self, entry: Entry, body: bytes, room: _TableReplay | None) -> None:
        if room is not None and entry.kind != "event" and room.due:
            self._missing(room, entry)
        match entry.kind:
            case "state":
                self._state(entry, body, room)
            case "bytes":
                self._bytes(body, room)
            case "input":
                self._input(entry, body, room)
            case "event":
                self._event(entry, room)

    def _boot(self, entry: Entry) -> None:
        boot = msgspec.json.decode(entry.body, type=Boot)
        if (wrong := self._signatures.boot(boot)) is not None:
            self._differs(entry, wrong, None)
        self.audit.site_keys = self._signatures.site_keys
        if boot.continues and entry.boot in self._runs:
            if boot.tables != self._setups:  # otherwise repeated, for a day or a file that begins
                self._change(entry, boot)
            return
        for room in self._rooms.values():
            self.audit.unheard += sum(len(said) for said in room.said.values())
        if entry.boot in self._runs:
            self.sound = False  # two runs of one name, which no daemon writes
        fragments = frozenset({entry.boot}) if boot.continues else frozenset[str]()
        self._set_up(entry, boot, fragments)

    def _set_up(self, entry: Entry, boot: Boot, fragments: frozenset[str]) -> None:
        """Set up the tables of a run. ``fragments``: runs whose beginning is not kept."""
        self._present = entry.boot
        self._runs[entry.boot] = run = AuditedRun(
            boot=entry.boot,
            software=boot.software,
            python=boot.python,
            since=entry.time,
            first=entry.position,
            entries=1,
        )
        self.audit.runs.append(run)
        self._rooms = {}
        self._setups = boot.tables
        for setup in boot.tables:
            self._place(entry, boot, setup, whole=entry.boot not in fragments)

    def _change(self, entry: Entry, boot: Boot) -> None:
        """The set of tables changes here, or their setup; unchanged ones continue."""
        self._setups = boot.tables
        there = {setup.id: setup for setup in boot.tables}
        for table, room in [*self._rooms.items()]:
            if there.get(table) != room.setup:
                self._leave(room, entry)
                del self._rooms[table]
        for setup in boot.tables:
            if setup.id not in self._rooms:
                self._place(entry, boot, setup, whole=True)

    def _leave(self, room: _TableReplay, entry: Entry) -> None:
        """End a room: it has no further entries."""
        if room.due:
            self._missing(room, entry)
        self.audit.unheard += sum(len(said) for said in room.said.values())

    def _place(self, entry: Entry, boot: Boot, setup: TableSetup, *, whole: bool) -> None:
        handed = boot.standby is not None and boot.standby.before is not None
        try:
            self._rooms[setup.id] = _TableReplay(
                boot.site, entry.boot, setup, whole=whole, handed=handed
            )
        except (KeyError, ValueError) as error:
            self._unset[setup.id] = entry.boot
            self.audit.notes.append(
                f"table {setup.id} of run {entry.boot} cannot be set up by this software: {error}"
            )

    def _state(self, entry: Entry, body: bytes, room: _TableReplay | None) -> None:
        self._latest.pop(entry.table, None)
        if room is None:
            return
        if is_sealed(body):
            self._give_up(room, self._why_sealed)
            return
        begun = msgspec.json.decode(body, type=TableStart)
        saved = None if (told := bytes(begun.saved)) == b"null" else told
        if saved is not None and is_locked(saved):
            self._give_up(room, SEALED)
            return
        derived = self._known(entry.table)
        if self._guessed is not None and entry.table not in self._guessed:
            self.sound = False  # it may have been known before the seam
        if begun.why not in NEW_FILE_REASONS and derived is not None and derived != saved:
            self._differs(
                entry, "the table continued from another state than its own", derived, saved
            )
        if begun.why == "reload":  # with its devices, whose decoders start again
            self._leave(room, entry)
            room = _TableReplay(room.site, room.boot, room.setup, whole=True)
            self._rooms[entry.table] = room
        if begun.why == "lost":
            for device in room.watches:
                room.chill(device, LOST)
        if begun.why == "day" and room.table is not None:
            return
        try:
            room.begin(saved)
        except (ValueError, UnrestorableStateError) as error:
            self._differs(entry, f"the table cannot be taken up: {error}", None)
            return
        assert room.table is not None
        if begun.why in NEW_FILE_REASONS and saved is not None:
            self._saved[entry.table] = saved
        lost = [given for given in room.table.gap(0.0) if isinstance(given, LinkLost)]
        room.gaps = 0 if begun.why in ("day", *NEW_FILE_REASONS) else len(lost)

    def _bytes(self, body: bytes, room: _TableReplay | None) -> None:
        if room is None:
            return
        if is_sealed(body):
            for device in room.watches:
                room.chill(device, self._why_sealed)
            return
        device, calls = read_calls(body)
        watch = room.watches.get(device)
        if watch is None:
            return
        for call in calls:
            if isinstance(call, CallsMissed):
                room.chill(device, LOST)
                return
            room.said[device] += (write(reading) for reading in apply_call(watch, call))

    def _input(self, entry: Entry, body: bytes, room: _TableReplay | None) -> None:
        self._number(entry, body, room)
        if is_sealed(body):
            self.audit.readings += 1
            self._unproved(self._why_sealed)
            self._give_up(room, self._why_sealed)
            return
        given = read_input(body)
        if room is not None and isinstance(given, LinkLost) and (room.gaps or _is_own(room, given)):
            room.gaps = max(
                0, room.gaps - 1
            )  # reported by the table itself, which was unattended for a while
        elif isinstance(given, DAEMON_READINGS):
            pass  # an observation of the daemon: it follows from nothing in the journal
        elif isinstance(given, Reading):
            self._reading(entry, given, body, room)
        elif isinstance(given, Command):
            self._command(entry, given, room)
        if room is None or room.table is None:
            return
        try:
            room.due = deque(
                write(event) for event in room.table.handle(given, entry.time, entry.mono_ns).events
            )
        except RejectedError as refusal:
            self._differs(entry, f"the rules refuse this command: {refusal}", None)
            return
        self._saved[entry.table] = room.table.snapshot()

    def _number(self, entry: Entry, body: bytes, room: _TableReplay | None) -> None:
        """Hold the number of a reading against those before it, by which events name it."""
        number, latest = number_in(entry.body), self._latest.get(entry.table)
        table = room.table if room is not None else None
        if table is not None and table.face_down:
            latest = table.readings
        if is_sealed(entry.body) and not is_sealed(body) and number_in(body) != number:
            self._differs(entry, "the number beside the box is not that of its reading", None)
        if number is None:
            return
        if latest is not None and number != latest + 1:
            what = f"the reading has the number {number}, and the one before it {latest}"
            self._differs(entry, what, None)
        self._latest[entry.table] = number
        self._spans.setdefault(entry.table, ReadingRange()).add_reading(number)

    def _named(self, entry: Entry) -> None:
        """Hold the readings that an event names against those that there are."""
        numbers = named_by(entry.body)
        if not numbers:
            return
        self.audit.named += len(numbers)
        self._spans.setdefault(entry.table, ReadingRange()).add_references(numbers)
        latest = self._latest.get(entry.table)
        if latest is not None and max(numbers) > latest:
            what = f"it names reading {max(numbers)}, and its table had taken {latest}"
            self._differs(entry, what, None)

    def _command(self, entry: Entry, given: Command, room: _TableReplay | None) -> None:
        if not isinstance(given, CommandRefused):
            self.audit.commands += 1
            if run := self._run(entry):
                run.commands += 1
        if room is None:
            return
        wrong = self._signatures.flaw(given, room.setup, parse_utc(entry.time), room.table)
        if wrong is not None:
            self._differs(entry, wrong, None)
        elif given.signed and not isinstance(given, CommandRefused):
            self.audit.signed += 1

    def _reading(
        self, entry: Entry, given: AnyReading, body: bytes, room: _TableReplay | None
    ) -> None:
        self.audit.readings += 1
        if run := self._run(entry):
            run.readings += 1
        watch = room.watches.get(given.device) if room is not None else None
        if room is None or watch is None:
            self._unproved(
                self._why_no_room(entry)
                if room is None
                else room.cold.get(given.device, NO_BEGINNING)
            )
            return
        said = room.said[given.device]
        derived = said.popleft() if said else None
        if given.reading is None and is_counted(given) and entry.table in self._latest:
            self._differs(entry, "the reading has no number", None)
        elif given.reading is not None:  # its table gave it the number
            body = write(replace(given, reading=None))
        if derived == body:
            self.audit.proved_readings += 1
            return
        self._differs(
            entry, f"this reading of {given.device} does not follow from its bytes", derived
        )
        room.chill(given.device, "a reading before did not follow")

    def _event(self, entry: Entry, room: _TableReplay | None) -> None:
        self.audit.events += 1
        if run := self._run(entry):
            run.events += 1
        self._named(entry)
        if room is None or room.table is None:
            self._count(entry, proved=0)
            self._unproved(self._why_no_room(entry) if room is None else room.why)
            return
        derived = room.due.popleft() if room.due else None
        self._count(entry, proved=derived == entry.body)
        if derived == entry.body:
            self.audit.proved_events += 1
            return
        self._differs(entry, "this event does not follow from its input", derived)
        self._give_up(room, "an event before did not follow")

    def _missing(self, room: _TableReplay, entry: Entry | None) -> None:
        derived = room.due.popleft()
        self._note(
            Difference(
                position=entry.position if entry else 0,
                time=entry.time if entry else "",
                table=room.setup.id,
                boot=room.boot,
                what="an event follows from the input before, and is not there",
                derived=_text(derived),
                found=None,
            )
        )
        self._give_up(room, "an event before was missing")

    def _give_up(self, room: _TableReplay | None, why: str) -> None:
        """Derive nothing more of this table until its next stored state."""
        if room is not None:
            room.table, room.why = None, why
            room.due.clear()
            self._saved.pop(room.setup.id, None)

    def _differs(
        self, entry: Entry, what: str, derived: bytes | None, found: bytes | None = None
    ) -> None:
        if run := self._run(entry):
            run.differences += 1
        self._note(
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

    def _note(self, difference: Difference) -> None:
        self.audit.note(difference)

    def _run(self, entry: Entry) -> AuditedRun | None:
        return self._runs.get(entry.boot)

    def _count(self, entry: Entry, *, proved: int) -> None:
        events, derived = self._tables.get(entry.table, (0, 0))
        self._tables[entry.table] = events + 1, derived + proved

    def _why_no_room(self, entry: Entry) -> str:
        return NO_SETUP if self._unset.get(entry.table) == entry.boot else NO_BEGINNING

    def _unproved(self, why: str) -> None:
        self.audit.unproved[why] = self.audit.unproved.get(why, 0) + 1


def audit(
    journal: Path,
    unseal: Unseal | None = None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    key: str | None = None,
    jobs: int = 1,
) -> Audit:
    """Verify the chain, and derive everything in it again. ``unseal`` opens what is sealed;
    ``key``: the public key to trust; ``jobs``: how many processes may share a large journal.
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
