"""One gaming table: a pure state machine that turns inputs, one at a time, into events."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeGuard

import msgspec
from msgspec.structs import replace

from common.confidential.bodies import is_locked
from common.contract.commands import (
    AlertAcknowledge,
    AnyCommand,
    Command,
    CommandRefused,
    DeviceCommand,
    DeviceService,
    Duty,
    ResultCorrect,
    RoundConfirm,
    Signer,
    StaffOff,
    StaffOn,
    tag_of,
)
from common.contract.commands import RoundVoid as VoidOrder
from common.contract.events import (
    AlertAcknowledged,
    AlertCleared,
    AlertRaised,
    AnyEvent,
    ClockStepped,
    DataLate,
    DeviceServiced,
    DeviceState,
    JournalRestored,
    ResultCorrected,
    RoundResult,
    RoundVoid,
    SessionClosed,
    SessionOpened,
    StaffArrived,
    StaffLeft,
)
from common.contract.json_bodies import Stored, read_body, read_own_body
from common.contract.notation import Input
from common.contract.refusals import RejectedError
from common.contract.retained import (
    About,
    Alert,
    DeviceLink,
    History,
    Info,
    ShoeTopic,
    State,
    Status,
)
from common.contract.shown import FROM_A_SHOE, AnyShown, LinkedJackpot
from common.errors import NovamasError
from common.people.two_persons import CommandSubject
from common.readings import (
    DAEMON_READINGS,
    AnyReading,
    CardDrawn,
    ClockBound,
    ClockStep,
    DeviceIdentity,
    DeviceRefused,
    DeviceReport,
    JackpotStanding,
    JournalRestore,
    LinkGap,
    LinkGarbage,
    LinkLate,
    LinkLost,
    LinkUnintelligible,
    Reading,
    ShoeFault,
    ShoeReset,
    ShufflerState,
)
from controller.games.game import Game
from controller.games.rounds import GameState
from controller.tables.device_links import allow, command_event, link_alert, link_state
from controller.tables.identities import (
    Identities,
    KnownDevice,
    apply_service,
    identity_alert,
    on_identity,
    service_event,
)
from controller.tables.staff import Staff, staff_after, staff_event

FAULT_ALERT_ID = "table-fault"
"""Id of the alert raised when the game failed on a reading. The table gives no results until the
daemon is restarted.
"""

ANEW_ALERT_ID = "table-anew"
"""Id of the alert raised when the table could not restore its state and started from scratch;
cleared at the next restart.
"""

UNRESOLVED_ALERT_ID = "round-unresolved"
"""Id of the alert for rounds without a result. It is raised again when the set of such rounds
changes, and cleared with the last one.
"""

RESTART_REASON = "restart"
"""Reason for marking every device as lost when a table is resumed; raises no separate alert."""

OUTAGE_REASON = "the journal could not be written"
"""Reason for marking every device as lost when the table missed input that could not be stored."""

MAX_CORRECTABLE_RESULTS = 20
"""Number of latest results that a correction can refer to."""

MAX_TRACKED_ROUNDS = 256
"""Number of latest rounds whose last event is tracked. A command that waits for a second signature
about an older round expires.
"""

FOREIGN_STATE_REASON = "what was saved is not of this release"
"""Reason for starting from scratch when the saved state cannot be read and no session was open."""

NO_TIME_BOUND = 0.0
"""Time bound of events whose times are as accurate as the site requires; left out of the events."""

RESULT_FIELDS = ("number", "winner", "dice")
"""Command fields in which a person enters a result."""

POSSIBLY_REVEALING_READINGS = (
    LinkGarbage,
    LinkGap,
    DeviceReport,
    DeviceRefused,
    LinkUnintelligible,
    ShoeFault,
    ShoeReset,
    ShufflerState,
)
"""Readings whose frame, byte count or detail (the device's own words) may reveal a card that no
game has seen yet.
"""


def is_counted(item: Input) -> TypeGuard[AnyReading]:
    """True for readings that get a number at a table with cards: readings of a device, but not of
    its link, so that a replay yields the same numbers.
    """
    return (
        isinstance(item, Reading)
        and not isinstance(item, DAEMON_READINGS)
        and not str(item.__struct_config__.tag).startswith("link.")
    )


CARDLESS_INPUTS = (DeviceCommand, ClockStep, ClockBound, JournalRestore)
"""Inputs that cannot name a card."""

MAX_READINGS_PER_SESSION = 1000
"""Upper bound for the readings numbered in one session, for skipping numbers after a restore."""


class UnrestorableStateError(NovamasError):
    """The saved session is open and belongs to another game, decree or release. The message names
    the remedy.
    """


class _SavedHead(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a saved state that every release can read."""

    game: str
    decree: str
    open: bool
    boot: str = ""
    seq: Stored = 0
    readings: Stored = 0


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """The complete state of a table at one moment. Encoded as JSON, it is the saved state."""

    game: str
    decree: str
    state: Any
    boot: str
    seq: int
    readings: int
    time: str
    open: bool
    devices: dict[str, DeviceLink]
    alerts: dict[str, Alert | None]
    result: RoundResult | ResultCorrected | None
    holds: dict[int, tuple[str, int]]
    staff: Staff = {}
    identities: Identities = {}
    time_bound: float | msgspec.UnsetType | None = msgspec.UNSET
    """Omitted where times are as accurate as the site requires, as earlier releases did."""


class _SavedState(msgspec.Struct, frozen=True, kw_only=True):
    game: str
    decree: str
    state: msgspec.Raw
    boot: str
    seq: Stored
    readings: Stored = 0
    time: str
    open: bool
    devices: dict[str, DeviceLink]
    alerts: dict[str, Alert | None]
    result: RoundResult | ResultCorrected | None
    holds: dict[int, tuple[str, int]] = {}
    staff: dict[Duty, tuple[str, ...]] = {}
    identities: dict[str, KnownDevice] = {}
    time_bound: float | None = NO_TIME_BOUND


class InputResult(NamedTuple):
    """Result of one input: its events, and whether the input is for surveillance only."""

    events: list[AnyEvent]
    confidential: bool


class Table:
    """Table ``id`` of ``site``, with one game under one decree. Pure: no clock, no I/O.

    ``about`` names its devices and fills the topic ``info``. ``saved`` is an earlier :meth:`saved`:
    the table resumes that session and round; pass it the readings of :meth:`gap` next. If another
    game or release saved the state, the table starts from scratch and raises an alert; if a session
    was open, it raises :class:`UnrestorableStateError` instead, unless the state is ``over``
    (another daemon has served the table since). ``halted`` is set by the daemon: the reason why the
    table may not give results now. ``unsigned``: the site accepts unsigned commands.
    """

    def __init__(
        self,
        site: str,
        id: str,  # noqa: A002 - it is the table's id
        game_id: str,
        decree: str,
        game: Game,
        boot: str,
        simulated: bool = False,
        saved: bytes | None = None,
        about: About = About(),  # noqa: B008 - frozen
        unsigned: bool = False,
        *,
        over: bool = False,
    ) -> None:
        self.site, self.id, self.game_id, self.decree, self.boot, self.simulated = (
            site,
            id,
            game_id,
            decree,
            boot,
            simulated,
        )
        self.seq = 0
        self.readings = 0
        """Readings numbered so far at a table with cards, including those before this boot."""
        self.time_bound: float | None = NO_TIME_BOUND
        """Seconds by which the times of events may be wrong; None: unknown."""
        self.halted: str | None = None
        self.garbage: dict[str, int] = {}
        self._game = game
        self._about = about
        self._unsigned = unsigned
        self._state = game.begin()
        self._time = ""
        self._open = False
        self._devices: dict[str, DeviceLink] = {}
        self._alerts: dict[str, Alert | None] = {}
        self._result: RoundResult | ResultCorrected | None = None
        self._result_events: dict[int, tuple[str, int]] = {}
        """By round of the session: ``boot`` and ``seq`` of the event with its result."""
        self._last_events: dict[int, int] = {}
        """By round of the session: ``seq`` of the last event about it since this object exists."""
        self._staff: Staff = {}
        self._identities: Identities = {}
        self._fault: str | None = None
        self._pending_events: list[AnyEvent] = []
        self._checked_entries: Any = None
        """The entries for which unresolved rounds were last determined."""
        self._common_fields: dict[str, Any] = {
            "site": site,
            "table": id,
            "game": game_id,
            "decree": decree,
            "boot": boot,
            "simulated": simulated,
        }
        self._game_commands: tuple[Any, tuple[str, ...]] = (None, ())
        """Cache: a state, and the commands that the game accepts in it."""
        self._shown: tuple[Any, AnyShown] | None = None
        """Cache: a state, and its view."""
        self._body_cache: dict[str, tuple[Any, bytes]] = {}
        """Cache by retained topic: the object that the body derives from, and the body."""
        if saved is not None:
            try:
                self._restore(saved, over=over)
            except ValueError as error:
                hidden = game.face_down and isinstance(error, msgspec.MsgspecError)
                detail = FOREIGN_STATE_REASON if hidden else str(error)
                self._pending_events = [
                    AlertRaised(
                        alert=ANEW_ALERT_ID, what="table.anew", severity="warning", detail=detail
                    )
                ]
        self._seq_at_start = self.seq
        """``seq`` of the last event before this object existed."""

    def handle(self, item: Input, time: str, mono_ns: int) -> InputResult:
        """Process one reading or command received at ``time`` (UTC) and ``mono_ns``.

        Raises :class:`RejectedError` for a refused command; the table is then unchanged.
        """
        own_events: list[AnyEvent] = []
        game_events: tuple[AnyEvent, ...] = ()
        state = before = self._state
        if dealt := self._game.face_down:
            item = self.numbered(item)
        if isinstance(item, AlertAcknowledge):
            own_events = [self._on_acknowledge(item)]
        elif isinstance(item, StaffOn | StaffOff):
            stopped = self._fault or self.halted
            arrival = staff_event(item, self._staff, is_open=self._open, stopped=stopped)
            own_events = [replace(arrival, session=self._show(self._state).session)]
        elif isinstance(item, DeviceService):
            own_events = self._on_service(item)
        elif isinstance(item, DeviceIdentity):
            own_events = self._on_identity(item)
        elif isinstance(item, CommandRefused):
            pass  # only journalled
        elif isinstance(item, ClockBound):
            self.time_bound = item.bound
        elif isinstance(item, ClockStep):
            own_events = [ClockStepped(step=item.step)]
        elif isinstance(item, JournalRestore):
            state, own_events = self._on_restore(item)
        elif isinstance(item, DeviceCommand):
            own_events = [command_event(item, self._about.devices, self.halted)]
        elif isinstance(item, Command):
            state, game_events = self._on_command(item)
        else:
            own_events = [*self._on_link(item, time)]
            if isinstance(item, DeviceReport) and not dealt:
                own_events += self._on_identity(item)
            state, game_events = self._on_reading(item)
        confidential = self._is_confidential(before, item, game_events)
        game_events = (*game_events, *self._update_unresolved_alert(state))
        if isinstance(item, Command) and item.signed:
            signers = tuple(Signer(id=s.id, name=s.name, role=s.role) for s in item.signed)
            own_events = [replace(event, signed_by=signers) for event in own_events]
            game_events = tuple(replace(event, signed_by=signers) for event in game_events)
        due, self._pending_events = self._pending_events, []
        first = isinstance(item, JournalRestore)  # the restore precedes all other events
        events = [*own_events, *due, *game_events] if first else [*due, *own_events, *game_events]
        if events or state != before:
            self._time, self._state = time, state
        self.readings += dealt and is_counted(item)
        return InputResult([self._number(event, time, mono_ns) for event in events], confidential)

    def numbered(self, item: Input) -> Input:
        """Return the input as the journal stores it. At a table with cards a reading gets the
        number by which events refer to it; they must not refer to its frame, which would reveal the
        card.
        """
        if self.face_down and is_counted(item):
            return replace(item, reading=self.readings + 1)
        return item

    @property
    def face_down(self) -> bool:
        """True if the game deals cards face down."""
        return self._game.face_down

    def allow(self, command: DeviceCommand) -> None:
        """Raise :class:`RejectedError` if this role, table or moment does not allow a command to a
        device. The game is not consulted.
        """
        allow(command, self._about.devices, self.halted)

    def is_known(self, identity: DeviceIdentity) -> bool:
        """True if this identity is already known: processing it would emit nothing."""
        return self._check_identity(identity)[0] is None

    def preview(self, command: AnyCommand) -> CommandSubject:
        """Return the round that a command affects, without changing the table. Raises
        :class:`RejectedError` if the command would be refused.

        A device counts as having seen a result if the round could be confirmed without entering it.
        """
        if not isinstance(command, ResultCorrect | RoundConfirm | VoidOrder):
            return CommandSubject()
        _, events = self._on_command(command)
        about = CommandSubject(
            session=self.session if self._open else 0,
            rounds=tuple(
                (number, self._last_events.get(number, self._seq_at_start))
                for number in sorted({event.round for event in events if event.round})
            ),
        )
        if isinstance(command, VoidOrder):
            voided = {event.round for event in events if isinstance(event, RoundVoid)}
            return replace(about, has_result=not voided.isdisjoint(self._result_events))
        if isinstance(command, ResultCorrect):
            return about
        entered = next(
            (each for name in RESULT_FIELDS if (each := getattr(command, name)) is not None), None
        )
        if entered is None:
            return about
        try:
            _, unaided = self._on_command(replace(command, number=None, winner=None, dice=None))
        except RejectedError:
            return about
        return replace(
            about, seen=entered if _outcomes_of(unaided) == _outcomes_of(events) else None
        )

    @property
    def is_open(self) -> bool:
        """True if a session is open."""
        return self._open

    @property
    def session(self) -> int:
        """Number of the open session, else of the last one; 0: no session yet."""
        return self._show(self._state).session

    @property
    def sound(self) -> bool:
        """True if the game has not failed, so that :meth:`saved` is complete."""
        return self._fault is None and not self._pending_events

    @property
    def linked(self) -> str | None:
        """Id of the jackpot that the configuration links to the table."""
        return self._about.jackpot

    @property
    def jackpot(self) -> LinkedJackpot | None:
        """The linked jackpot, as the game knows it."""
        found: LinkedJackpot | None = self._state.jackpot
        return found

    def gap(self, at: float, reason: str = RESTART_REASON) -> list[LinkLost | JackpotStanding]:
        """Return the readings to process after a restart or an outage: one for each device, and one
        for the jackpot, whose state is unknown.

        They are ordinary inputs: the game handles the gap, and the journal records it.
        """
        lost = [
            LinkLost(at=at, device=device, reason=reason)
            for device in sorted({*self._devices, *self._about.devices})
        ]
        return [*lost, *self._jackpot_unknown(at)]

    def _jackpot_unknown(self, at: float) -> Iterable[JackpotStanding]:
        """Report that the jackpot's state is unknown, or that the table is no longer linked."""
        if self.linked is not None:
            yield JackpotStanding(at=at, jackpot=self.linked, in_play=False, why="unheard")
        elif self.jackpot is not None:
            yield JackpotStanding(at=at, jackpot=self.jackpot.jackpot, in_play=None)

    def retained(self) -> dict[str, bytes | None]:
        """Return the body of each retained topic; None clears the retained message.

        Call it when a record is appended, and publish the bodies once that record is committed.
        """
        names, encode = self._common_fields, msgspec.json.encode
        shown = self._show(self._state)
        state = State(
            **names,
            status=self._status(shown),
            seq=self.seq,
            time=self._time,
            fault=self._fault or self.halted,
            devices=self._devices,
            alerts=tuple(alert for alert, open_ in self._alerts.items() if open_),
            shown=shown,
            staff={**self._staff},
            takes=self._accepted_commands(),
            unsigned=self._unsigned,
        )
        entries = self._state.entries
        return {
            "info": self._body("info", self._about, lambda: Info(**names, about=self._about)),
            "state": encode(state),
            "result": self._body("result", self._result, lambda: self._result),
            "history": self._body(
                "history",
                entries or shown.session,  # the history of a session begins without entries
                lambda: History(
                    **names, session=shown.session, results=self._game.history(self._state)
                ),
            ),
            **(
                {"shoe": encode(ShoeTopic(**names, shoe=shown.shoe))}
                if isinstance(shown, FROM_A_SHOE)
                else {}
            ),
            **{
                f"alert/{alert}": encode(open_) if open_ else None
                for alert, open_ in self._alerts.items()
            },
        }

    def _show(self, state: Any) -> AnyShown:
        """Return the view of a state."""
        if self._shown is None or self._shown[0] is not state:
            self._shown = (state, self._game.show(state))
        return self._shown[1]

    def _accepted_commands(self) -> tuple[str, ...]:
        """Return the commands that the table accepts now: none while nothing can be stored, and
        none of the game's after the game has failed.
        """
        if self.halted:
            return ()
        if self._game_commands[0] is not self._state:
            self._game_commands = (self._state, self._game.takes(self._state))
        unseen = any(open_ and not open_.acknowledged_by for open_ in self._alerts.values())
        works = self._open and not self._fault
        return (
            *(() if self._fault else self._game_commands[1]),
            *((tag_of(AlertAcknowledge),) if unseen else ()),
            *((tag_of(StaffOn),) if works else ()),
            *((tag_of(StaffOff),) if works and self._staff else ()),
            *((tag_of(DeviceService),) if self._about.devices else ()),
        )

    def _body(self, topic: str, source: Any, make: Callable[[], Any]) -> bytes:
        """Return the body of a topic, encoded again only if ``source`` is another object."""
        known = self._body_cache.get(topic)
        if known is None or known[0] is not source:
            known = self._body_cache[topic] = (source, msgspec.json.encode(make()))
        return known[1]

    def saved(self) -> bytes:
        """Return the encoded state from which a table can resume after a restart."""
        return msgspec.json.encode(self.snapshot())

    def snapshot(self) -> Snapshot:
        """Return the current state, not encoded; later inputs do not change it."""
        return Snapshot(
            game=self.game_id,
            decree=self.decree,
            state=self._state,
            boot=self.boot,
            seq=self.seq,
            readings=self.readings,
            time=self._time,
            open=self._open,
            devices=self._devices.copy(),
            alerts=self._alerts.copy(),
            result=self._result,
            holds=self._result_events.copy(),
            staff=self._staff,
            identities=self._identities,
            time_bound=msgspec.UNSET if self.time_bound == NO_TIME_BOUND else self.time_bound,
        )

    def _restore(self, body: bytes, *, over: bool) -> None:
        """Restore a saved state. Raises ``ValueError`` with the reason if it cannot be used.
        ``over``: do not insist on an open session.
        """
        if is_locked(body):
            raise ValueError(
                "its saved state is locked with another key; see the log of the daemon"
            )
        head = read_body(body, _SavedHead)
        self.readings = head.readings
        self.seq = head.seq if head.boot == self.boot else 0  # also for another game
        if (head.game, head.decree) != (self.game_id, self.decree):
            was = f"before this it was a table of {head.game} under {head.decree}"
            if head.open and not over:
                raise UnrestorableStateError(
                    f"table {self.id}: {was}, and its session is open; set game and decree back "
                    "and close the session first"
                )
            raise ValueError(was)
        try:
            saved = read_own_body(body, _SavedState)
            state = bytes(saved.state)
            self._state = read_own_body(
                _drop_frames(state) if self.face_down else state, self._game.state_type
            )
        except ValueError:
            if head.open and not over:
                raise UnrestorableStateError(
                    f"table {self.id}: its open session was saved by another release, and this one "
                    "cannot continue it: start that release again, close the session, then start "
                    "this one"
                ) from None
            raise ValueError(FOREIGN_STATE_REASON) from None
        self._time, self._open, self._alerts, self._result = (
            saved.time,
            saved.open,
            saved.alerts,
            saved.result,
        )
        if self.face_down and isinstance(self._result, RoundResult):
            self._result = replace(self._result, frames=())
        self._result_events, self._staff = saved.holds, saved.staff
        self.time_bound = saved.time_bound
        known = self._about.devices or saved.devices
        self._devices = {device: link for device, link in saved.devices.items() if device in known}
        self._identities = {
            device: each for device, each in saved.identities.items() if device in known
        }
        # A restart ends a fault; a device that is no longer configured cannot be missing.
        obsolete = {
            FAULT_ALERT_ID,
            ANEW_ALERT_ID,
            *(link_alert(device) for device in saved.devices.keys() - self._devices.keys()),
            *(identity_alert(each) for each in saved.identities.keys() - self._identities.keys()),
        }
        self._pending_events = [
            AlertCleared(alert=alert)
            for alert, open_ in saved.alerts.items()
            if open_ and alert in obsolete
        ]

    # One input

    def _on_command(self, command: Any) -> tuple[Any, tuple[AnyEvent, ...]]:
        if stopped := self._fault or self.halted:
            raise RejectedError("table_in_fault", reason=stopped)
        try:
            state, events = self._game.step(self._state, command)
        except RejectedError:
            raise
        except Exception as error:  # a bug: reject the command
            raise RejectedError("game_failed", error=self._describe_bug(error)) from error
        return state, events

    def _on_reading(self, reading: Any) -> tuple[Any, tuple[AnyEvent, ...]]:
        if self._fault:
            return self._state, ()
        try:
            state, events = self._game.step(self._state, reading)
        except Exception as error:  # a bug: freeze the state and derive nothing from later readings
            self._fault = (
                f"the game failed on a reading ({self._describe_bug(error)}); restart the "
                "daemon, and decide the round in progress"
            )
            return self._state, (
                AlertRaised(
                    alert=FAULT_ALERT_ID,
                    what="table.fault",
                    device=reading.device or None,
                    detail=self._fault,
                ),
            )
        return state, events

    def _describe_bug(self, error: Exception) -> str:
        """Describe a bug as far as it may be published: the text of the error may name a card."""
        return type(error).__name__ if self._game.face_down else repr(error)

    def _on_link(self, reading: Any, time: str) -> Iterable[AnyEvent]:
        """Yield the table's own events for a reading of a link."""
        device = reading.device
        if isinstance(reading, LinkGarbage):
            self.garbage[device] = self.garbage.get(device, 0) + reading.bytes
        elif isinstance(reading, LinkLate):
            yield DataLate(device=device, frames=reading.frames, silence=reading.silence)
        elif (link := link_state(reading)) is not None:
            state, detail = link
            if self._game.face_down and isinstance(reading, LinkUnintelligible):
                detail = "no frame among its bytes"  # their number may depend on a card
            was, alert = self._devices.get(device), link_alert(device)
            if was and was.state == state and (state != "lost" or was.detail == detail):
                return  # unchanged
            self._devices[device] = DeviceLink(state, time, detail)
            yield DeviceState(device=device, state=state, detail=detail)
            if state == "open":
                if (
                    (current_alert := self._alerts.get(alert)) and current_alert.what != "link.open"
                ):  # not at a start, and not again after a restart
                    yield AlertRaised(
                        alert=alert,
                        what="link.open",
                        severity="warning",
                        device=device,
                        detail=detail,
                    )
            elif state != "up" and detail != RESTART_REASON:
                yield AlertRaised(alert=alert, what=f"link.{state}", device=device, detail=detail)
            elif state == "up" and self._alerts.get(alert):
                yield AlertCleared(alert=alert)

    def _check_identity(
        self, reading: DeviceIdentity | DeviceReport
    ) -> tuple[KnownDevice | None, list[AnyEvent]]:
        if reading.device not in self._about.devices:
            return None, []
        alerted = self._alerts.get(identity_alert(reading.device)) is not None
        return on_identity(reading, self._identities, alerted=alerted)

    def _on_identity(self, reading: DeviceIdentity | DeviceReport) -> list[AnyEvent]:
        """Process an identity that a device reports. At a table with face-down cards only the
        link's identity counts: a report of the device may be about a card.
        """
        known, events = self._check_identity(reading)
        if known is not None:
            self._identities = {**self._identities, reading.device: known}
        return events

    def _on_restore(self, restore: JournalRestore) -> tuple[Any, list[AnyEvent]]:
        """Start from scratch after a restore, or after another daemon served the table, and skip
        all session numbers that may have been used. Whether a session continued there, and with
        which results, is unknown.
        """
        shown = self._show(self._state)
        last = max(shown.session, restore.session) + restore.jump
        if self._game.face_down:
            self.readings = (
                max(self.readings, restore.read) + MAX_READINGS_PER_SESSION * restore.jump
            )
        current, raised = self._state.current, self._state.alerts
        event = JournalRestored(
            journal=restore.journal,
            position=restore.position,
            hash=restore.hash,
            since=restore.since,
            restored=restore.restored,
            source=restore.source,
            instance=restore.instance,
            term=restore.term,
            next_session=last + 1,
            was_open=shown.session if self._open else None,
            in_progress=None if current is None else shown.round,
            unresolved=shown.unresolved,
        )
        cleared = (AlertCleared(alert=each) for each in raised if self._alerts.get(each))
        begun: GameState = self._game.begin()
        return replace(begun, session=last), [event, *cleared]

    def _on_service(self, command: DeviceService) -> list[AnyEvent]:
        """Add a line to the maintenance log. A replacement clears the alert about the identity."""
        event = service_event(command, self._about.devices, self.halted)
        alert = identity_alert(command.device)
        settled = command.work == "replaced" and self._alerts.get(alert) is not None
        session = self._show(self._state).session
        return [
            replace(event, session=session),
            *((AlertCleared(alert=alert),) if settled else ()),
        ]

    def _update_unresolved_alert(self, state: Any) -> Iterable[AnyEvent]:
        """Raise or clear the alert for rounds that have no result but may still get one."""
        entries = state.entries
        if entries is self._checked_entries:
            return
        self._checked_entries = entries
        shown = self._show(state)
        rounds = shown.unresolved
        called = self._alerts.get(UNRESOLVED_ALERT_ID)
        if rounds == (called.rounds if called else ()):
            return
        if rounds:
            yield AlertRaised(
                session=shown.session,
                alert=UNRESOLVED_ALERT_ID,
                what="round.unresolved",
                severity="warning",
                rounds=rounds,
                settled_by=self._game.settled_by,
            )
        else:
            yield AlertCleared(session=shown.session, alert=UNRESOLVED_ALERT_ID)

    def _on_acknowledge(self, command: AlertAcknowledge) -> AnyEvent:
        alert = self._alerts.get(command.alert)
        if alert is None:
            named = tuple(alert for alert, open_ in self._alerts.items() if open_)
            if not named:
                raise RejectedError("alerts_none", alert=command.alert)
            raise RejectedError("alert_unknown", alert=command.alert, alerts=named)
        if alert.acknowledged_by is not None:
            raise RejectedError(
                "acknowledged_already",
                alert=command.alert,
                by=alert.acknowledged_by,
                at=alert.acknowledged or "",
            )
        return AlertAcknowledged(alert=command.alert, by=command.by, role=command.role)

    def _is_confidential(self, before: Any, item: Input, events: tuple[AnyEvent, ...]) -> bool:
        """True if an input is for surveillance only. ``before``: the state before it; ``events``:
        the game's events. True in doubt, as when the game fails on it.
        """
        if not self._game.face_down or isinstance(item, CARDLESS_INPUTS):
            return False
        if self._fault or isinstance(item, (*POSSIBLY_REVEALING_READINGS, CommandRefused)):
            return True
        if isinstance(item, CardDrawn) and item.card is None and item.frame is not None:
            return True  # the reader could not name it, but its codes may be known to someone
        try:
            return self._game.confidential(before, item, events)
        except Exception:  # a bug
            return True

    # Effects of an event on the table

    def _number(self, event: AnyEvent, time: str, mono_ns: int) -> AnyEvent:
        """Number the event, and update the parts of the state that derive from it."""
        self.seq += 1
        event = replace(
            event,
            site=self.site,
            table=self.id,
            game=self.game_id,
            decree=self.decree,
            boot=self.boot,
            seq=self.seq,
            time=time,
            mono_ns=mono_ns,
            simulated=self.simulated,
        )
        if self.time_bound != NO_TIME_BOUND:
            event = replace(event, time_bound=self.time_bound)
        if isinstance(event, ResultCorrected):
            boot, seq = self._result_events.get(event.round, (None, None))
            event = replace(event, replaces=seq, replaces_boot=boot)
        if isinstance(event, SessionOpened):
            self._result_events, self._last_events = {}, {}
        self._track_round(event.round)
        if isinstance(event, RoundResult | ResultCorrected):
            self._track_result(event)
        match event:
            case JournalRestored():
                self._open, self._staff, self._result, self._result_events = False, {}, None, {}
            case SessionOpened() | SessionClosed():
                self._open, self._staff = isinstance(event, SessionOpened), {}
            case StaffArrived() | StaffLeft():
                self._staff = staff_after(self._staff, event)
            case DeviceServiced():
                link = self._devices.get(event.device)
                there = link is not None and link.state != "lost"
                self._identities = apply_service(self._identities, event, is_open=there)
            case RoundResult() if self._is_latest(event):
                self._result = event
            case ResultCorrected() | RoundVoid() if self._result and (
                event.session,
                event.round,
            ) == _round_key(self._result):
                self._result = event if isinstance(event, ResultCorrected) else None
            case AlertRaised():
                self._alerts[event.alert] = Alert(
                    alert=event.alert,
                    what=event.what,
                    severity=event.severity,
                    raised=time,
                    device=event.device,
                    detail=event.detail,
                    rounds=event.rounds,
                    settled_by=event.settled_by,
                )
            case AlertAcknowledged() if alert := self._alerts.get(event.alert):
                self._alerts[event.alert] = replace(
                    alert, acknowledged_by=event.by, acknowledged_role=event.role, acknowledged=time
                )
            case AlertCleared():
                self._alerts[event.alert] = None
        return event

    def _track_round(self, round_: int) -> None:
        """Track the last event about a round."""
        if round_:
            others = [each for each in self._last_events.items() if each[0] != round_]
            self._last_events = dict([*others, (round_, self.seq)][-MAX_TRACKED_ROUNDS:])

    def _track_result(self, event: RoundResult | ResultCorrected) -> None:
        """Track the event that holds the result of a round."""
        others = [
            (number, held) for number, held in self._result_events.items() if number != event.round
        ]
        self._result_events = dict(
            [*others, (event.round, (self.boot, self.seq))][-MAX_CORRECTABLE_RESULTS:]
        )

    def _is_latest(self, event: RoundResult) -> bool:
        """False for a late confirmation of an earlier round."""
        return self._result is None or _round_key(event) >= _round_key(self._result)

    def _status(self, shown: AnyShown) -> Status:
        if self._fault or self.halted:
            return "fault"
        known = {*self._devices, *self._about.devices}
        if any(
            self._devices[device].state != "up" if device in self._devices else True
            for device in known
        ):
            return "stale"
        if shown.asks or self._alerts.get(UNRESOLVED_ALERT_ID):
            return "waiting"
        return "open" if self._open else "closed"


def _drop_frames(state: bytes) -> bytes:
    """Remove card frames from a state saved by a release that stored them as evidence."""

    def without(part: Any) -> Any:
        if isinstance(part, dict):
            frame_types = {"frame": dict, "frames": list}
            return {
                key: without(value)
                for key, value in part.items()
                if not isinstance(value, frame_types.get(key, ()))
            }
        return [without(each) for each in part] if isinstance(part, list) else part

    return msgspec.json.encode(without(msgspec.json.decode(state)))


def _outcomes_of(events: Iterable[AnyEvent]) -> list[Any]:
    return [event.outcome for event in events if isinstance(event, RoundResult)]


def _round_key(event: RoundResult | ResultCorrected) -> tuple[int, int]:
    return event.session, event.round
