"""The tables of the present run, which are derived again."""

from __future__ import annotations

from collections import deque

import msgspec

from common.chain.schema import Entry
from common.confidential.bodies import is_sealed
from common.contract.notation import write
from common.contract.retained import About
from common.extensions import loaded_record
from controller.games.games import make_game
from controller.journal.setup import Boot, TableSetup
from controller.proof.audit_record import AuditRecord
from controller.proof.findings import LOST, NO_BEGINNING, NO_SETUP, AuditedRun
from controller.tables.saved_state import Snapshot
from controller.tables.table import Table
from controller.tables.witnesses import witness_seconds
from devices.calls import CallsMissed, LinkOpened, apply_call, read_calls
from devices.drivers import driver
from devices.watch import Watch


class TableReplay:
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
            witnesses=witness_seconds(
                {device.id: device.answers_within for device in setup.devices},
                setup.keypad_answers_within,
            ),
            requested=frozenset(device.id for device in setup.devices if device.requested),
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

    def warm_up(self, body: bytes, why_sealed: str) -> None:
        """Pass bytes before the seam to their decoder, as if the link had been opened then."""
        if not is_sealed(body):
            device, calls = read_calls(body)
            watch = self.watches.get(device)
            if watch is not None and device not in self.opened:
                self.opened.add(device)
                if not isinstance(calls[0], LinkOpened):
                    watch.opened(calls[0].at)
        self.on_bytes(body, why_sealed)
        for readings in self.derived_readings.values():
            readings.clear()

    def on_bytes(self, body: bytes, why_sealed: str) -> None:
        """Derive the readings in bytes of a device. ``why_sealed``: why sealed ones cannot be."""
        if is_sealed(body):
            for device in self.watches:
                self.stop_deriving(device, why_sealed)
            return
        device, calls = read_calls(body)
        watch = self.watches.get(device)
        if watch is None:
            return
        derived = self.derived_readings[device]
        for call in calls:
            if isinstance(call, CallsMissed):
                self.stop_deriving(device, LOST)
                return
            if readings := apply_call(watch, call):
                derived += map(write, readings)


class TableReplays:
    """The replays of the tables of the present run."""

    def __init__(self, record: AuditRecord) -> None:
        self.replays: dict[str, TableReplay] = {}
        self.setups: tuple[TableSetup, ...] = ()
        """The tables of the present run, as last set up."""
        self.present_boot = ""
        """The present run."""
        self.saved: dict[str, Snapshot | bytes] = {}
        """What each table knows, as derived."""
        self.unsupported: dict[str, str] = {}
        """By table, the run in which this software cannot set it up."""
        self._record = record

    def of(self, entry: Entry) -> TableReplay | None:
        """Return the replay of the table of an entry, if the entry is of the present run."""
        replay = self.replays.get(entry.table)
        return None if replay is None or replay.boot != entry.boot else replay

    def state(self) -> list[object]:
        """Return everything on which the derived entries depend."""
        replays = [replay.state() for replay in self.replays.values()]
        saved = [self.derived_state(table) for table in self.replays]
        return [self.present_boot, replays, saved, self.unsupported]

    def set_up(self, entry: Entry, boot: Boot, fragments: frozenset[str]) -> None:
        """Set up the tables of a run. ``fragments``: runs whose beginning is not stored."""
        self.present_boot = entry.boot
        self._record.runs[entry.boot] = run = AuditedRun(
            boot=entry.boot,
            software=boot.software,
            python=boot.python,
            since=entry.time,
            first=entry.position,
            entries=1,
        )
        self._record.audit.runs.append(run)
        self._note_extensions(run, boot)
        self.replays = {}
        self.setups = boot.tables
        for setup in boot.tables:
            self._add_replay(entry, boot, setup, whole=entry.boot not in fragments)

    def change_tables(self, entry: Entry, boot: Boot) -> None:
        """Change the set of tables, or their setup. Unchanged tables continue."""
        self.setups = boot.tables
        if (run := self._record.runs.get(entry.boot)) is not None:
            self._note_extensions(run, boot)
        there = {setup.id: setup for setup in boot.tables}
        for table, replay in [*self.replays.items()]:
            if there.get(table) != replay.setup:
                self.end_replay(replay, entry)
                del self.replays[table]
        for setup in boot.tables:
            if setup.id not in self.replays:
                self._add_replay(entry, boot, setup, whole=True)

    def _note_extensions(self, run: AuditedRun, boot: Boot) -> None:
        """Note the drivers from outside that a run used, and whether they are loaded here."""
        for used in boot.extensions:
            if used in run.extensions:
                continue
            run.extensions.append(used)
            here = loaded_record("drivers", used.name)
            if here is None:
                self._record.audit.notes.append(
                    f"run {run.boot} decoded with the extension {used}; it is not loaded here, so "
                    "nothing of its devices can be derived. Install that version, and audit with "
                    f"--extension {used.name}"
                )
            elif here != used:
                self._record.audit.notes.append(
                    f"run {run.boot} decoded with the extension {used}; here is {here.package} "
                    f"{here.version}, sha256 {here.digest}, and a difference may come from that"
                )

    def _add_replay(self, entry: Entry, boot: Boot, setup: TableSetup, *, whole: bool) -> None:
        handed = boot.standby is not None and boot.standby.before is not None
        try:
            self.replays[setup.id] = TableReplay(
                boot.site, entry.boot, setup, whole=whole, handed=handed
            )
        except (KeyError, ValueError) as error:
            self.unsupported[setup.id] = entry.boot
            self._record.audit.notes.append(
                f"table {setup.id} of run {entry.boot} cannot be set up by this software: {error}"
            )

    def end_replay(self, replay: TableReplay, entry: Entry) -> None:
        """End a replay, which has no further entries."""
        if replay.due_events:
            self.report_missing(replay, entry)
        self._record.audit.unheard += sum(map(len, replay.derived_readings.values()))

    def report_missing(self, replay: TableReplay, entry: Entry | None) -> None:
        """Report a derived event that did not come before this entry, or before the end."""
        derived = replay.due_events.popleft()
        self._record.missing(replay.setup.id, replay.boot, derived, entry)
        self.give_up(replay, "an event before was missing")

    def give_up(self, replay: TableReplay | None, why: str) -> None:
        """Derive nothing more of this table until its next stored state."""
        if replay is not None:
            replay.table, replay.why = None, why
            replay.due_events.clear()
            self.saved.pop(replay.setup.id, None)

    def derived_state(self, table: str) -> bytes | None:
        """Return the derived state of a table as it would be saved, or None."""
        known = self.saved.get(table)
        return msgspec.json.encode(known) if isinstance(known, Snapshot) else known

    def why_not(self, entry: Entry) -> str:
        """Return why an entry has no replay."""
        return NO_SETUP if self.unsupported.get(entry.table) == entry.boot else NO_BEGINNING
