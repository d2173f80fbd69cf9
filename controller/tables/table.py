"""One gaming table: every input goes through it, one at a time, and comes out as events."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeGuard

import msgspec
from msgspec.structs import replace

from controller.confidential.boxes import is_locked
from controller.contract.commands import (
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
from controller.contract.commands import RoundVoid as VoidOrder
from controller.contract.events import (
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
from controller.contract.json_bodies import Stored, read_body, read_whole
from controller.contract.notation import Input
from controller.contract.refusals import RejectedError
from controller.contract.retained import (
    About,
    Alert,
    DeviceLink,
    History,
    Info,
    ShoeTopic,
    State,
    Status,
)
from controller.contract.shown import FROM_A_SHOE, AnyShown, LinkedJackpot
from controller.games.game import Game
from controller.games.moves import Remembered
from controller.people.two_persons import Standing
from controller.tables.device_links import allow, commanded, link_alert, link_state
from controller.tables.identities import (
    Identities,
    Known,
    identified,
    identity_alert,
    serviced,
)
from controller.tables.identities import after as after_service
from controller.tables.staff import Staff, after, staffed
from devices.errors import NovamasError
from devices.readings import (
    OF_THE_DAEMON,
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

FAULT = "table-fault"
"""The alert that the game failed on a reading: no results until the daemon is started again."""

ANEW = "table-anew"
"""The alert that the table could not continue where it was and has begun anew; cleared at the next
restart.
"""

UNRESOLVED = "round-unresolved"
"""The alert that calls a person to a round without a result: raised anew whenever there is another
such round or one less, and cleared with the last one.
"""

RESTART = "restart"
"""Why every device counts as lost when a table is resumed; it raises no alert of its own."""

OUTAGE = "the journal could not be written"
"""Why every device counts as lost when a table has missed what could not be stored."""

CORRECTABLE = 20
"""Latest results whose event a correction can name."""

TOUCHED = 256
"""Latest rounds of which the number of the last event is kept. Of an older one, what waits for a
second person is over.
"""

NOT_OURS = "what was saved is not of this release"
"""Why a table begins anew whose session is closed."""

TIMES_HOLD = 0.0
"""The bound of times that are as good as the site asks: events do not carry it."""

TOLD = ("number", "winner", "dice")
"""The fields in which a person says what a result is."""

UNJUDGED = (
    LinkGarbage,
    LinkGap,
    DeviceReport,
    DeviceRefused,
    LinkUnintelligible,
    ShoeFault,
    ShoeReset,
    ShufflerState,
)
"""Readings of which a frame, a count of bytes or a detail, the device's own words, may show a card
that no game has seen.
"""


def is_counted(given: Input) -> TypeGuard[AnyReading]:
    """Whether a table at which cards are dealt gives this its next number: a reading of a device,
    but none of the link, so that a replay gives the same numbers.
    """
    return (
        isinstance(given, Reading)
        and not isinstance(given, OF_THE_DAEMON)
        and not str(given.__struct_config__.tag).startswith("link.")
    )


OPEN = (DeviceCommand, ClockStep, ClockBound, JournalRestore)
"""Inputs that can name no card."""

READINGS = 1000
"""How many readings may have been numbered for each session that may have been opened."""


class UnrestorableStateError(NovamasError):
    """The table has an open session of another game, decree or release. The message says so, and
    what to do.
    """


class _Head(msgspec.Struct, frozen=True, kw_only=True):
    """What every release saves of a table."""

    game: str
    decree: str
    open: bool
    boot: str = ""
    seq: Stored = 0
    readings: Stored = 0


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """What a table knows at one moment; in JSON, what is saved of it."""

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
    """Left out where times are as good as the site asks, as other releases did."""


class _Saved(msgspec.Struct, frozen=True, kw_only=True):
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
    identities: dict[str, Known] = {}
    time_bound: float | None = TIMES_HOLD


class Taken(NamedTuple):
    """What one input led to. ``confidential``: the input is for surveillance alone."""

    events: list[AnyEvent]
    confidential: bool


class Table:
    """Table ``id`` of ``site``, with one game under one decree. No clock, no input or output.

    ``about`` names its devices and fills the topic ``info``. ``saved`` is what :meth:`saved` gave
    before: the table goes on in the same session and round; take the readings of :meth:`gap` next.
    If another game or release saved it otherwise, the table begins anew and says so; but it raises
    :class:`UnrestorableStateError` rather than drop an open session, unless that is ``over``,
    because another daemon had the table since. ``halted`` is set by the daemon: why the table may
    not give results at present. ``unsigned``: the site accepts the risk of commands that nobody
    signed.
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
        """Where cards are dealt, how many readings it has counted, also before this boot."""
        self.time_bound: float | None = TIMES_HOLD
        """Seconds by which the times of events may be wrong; None: nobody knows."""
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
        self._holds: dict[int, tuple[str, int]] = {}
        """By round of the session: ``boot`` and ``seq`` of the event that holds its result."""
        self._touched: dict[int, int] = {}
        """By round of the session: the last event about it since this object was made."""
        self._staff: Staff = {}
        self._identities: Identities = {}
        self._fault: str | None = None
        self._due: list[AnyEvent] = []
        self._judged: Any = None
        """The outcomes of the state in which unresolved rounds were last looked for."""
        self._names: dict[str, Any] = {
            "site": site,
            "table": id,
            "game": game_id,
            "decree": decree,
            "boot": boot,
            "simulated": simulated,
        }
        self._takes: tuple[Any, tuple[str, ...]] = (None, ())
        """What the game takes, and the state that this derives from."""
        self._bodies: dict[str, tuple[Any, bytes]] = {}
        """By retained topic its latest body, and what that derives from."""
        if saved is not None:
            try:
                self._restore(saved, over=over)
            except ValueError as error:
                hidden = game.face_down and isinstance(error, msgspec.MsgspecError)
                detail = NOT_OURS if hidden else str(error)
                self._due = [
                    AlertRaised(alert=ANEW, what="table.anew", severity="warning", detail=detail)
                ]
        self._taken_up = self.seq
        """The last event before this object was made."""

    def take(self, given: Input, time: str, mono_ns: int) -> Taken:
        """Take one reading or command that came at ``time`` (UTC) and ``mono_ns``, and give what
        follows from it.

        Raises :class:`RejectedError` for a command that is not followed; nothing has changed then.
        """
        own: list[AnyEvent] = []
        of_game: tuple[AnyEvent, ...] = ()
        state = before = self._state
        if dealt := self._game.face_down:
            given = self.numbered(given)
        if isinstance(given, AlertAcknowledge):
            own = [self._acknowledged(given)]
        elif isinstance(given, StaffOn | StaffOff):
            stopped = self._fault or self.halted
            said_of_staff = staffed(given, self._staff, is_open=self._open, stopped=stopped)
            own = [replace(said_of_staff, session=self._game.show(self._state).session)]
        elif isinstance(given, DeviceService):
            own = self._serviced(given)
        elif isinstance(given, DeviceIdentity):
            own = self._identified(given)
        elif isinstance(given, CommandRefused):
            pass  # it is kept, and nothing follows from it
        elif isinstance(given, ClockBound):
            self.time_bound = given.bound
        elif isinstance(given, ClockStep):
            own = [ClockStepped(step=given.step)]
        elif isinstance(given, JournalRestore):
            state, own = self._begin_after(given)
        elif isinstance(given, DeviceCommand):
            own = [commanded(given, self._about.devices, self.halted)]
        elif isinstance(given, Command):
            state, of_game = self._command(given)
        else:
            own = [*self._link(given, time)]
            if isinstance(given, DeviceReport) and not dealt:
                own += self._identified(given)
            state, of_game = self._reading(given)
        confidential = self._confidential(before, given, of_game)
        of_game = (*of_game, *self._call(state))
        if isinstance(given, Command) and given.signed:
            signers = tuple(Signer(id=s.id, name=s.name, role=s.role) for s in given.signed)
            own = [replace(event, signed_by=signers) for event in own]
            of_game = tuple(replace(event, signed_by=signers) for event in of_game)
        due, self._due = self._due, []
        first = isinstance(given, JournalRestore)  # all that follows is said after it
        said = [*own, *due, *of_game] if first else [*due, *own, *of_game]
        if said or state != before:
            self._time, self._state = time, state
        self.readings += dealt and is_counted(given)
        return Taken([self._note(event, time, mono_ns) for event in said], confidential)

    def numbered(self, given: Input) -> Input:
        """An input as the table takes it now, which is how the journal stores it: a reading where
        cards are dealt has its number, by which events name it. Nothing else may say what was
        read: a frame would tell a card.
        """
        if self.face_down and is_counted(given):
            return replace(given, reading=self.readings + 1)
        return given

    @property
    def face_down(self) -> bool:
        """Whether the game deals cards face down."""
        return self._game.face_down

    def allow(self, given: DeviceCommand) -> None:
        """Reject a command to a device that this role, this table or this moment does not allow.
        The game has no say in it.
        """
        allow(given, self._about.devices, self.halted)

    def knows(self, given: DeviceIdentity) -> bool:
        """Whether nothing follows from what is told of a device's identity: it is known."""
        return self._identity(given)[0] is None

    def standing(self, given: AnyCommand) -> Standing:
        """What is known of the round that a command is about. Nothing changes. Raises
        :class:`RejectedError` if the command would be refused.

        A device saw a result if a person who vouches for it need not say which it is.
        """
        if not isinstance(given, ResultCorrect | RoundConfirm | VoidOrder):
            return Standing()
        _, events = self._command(given)
        about = Standing(
            session=self.session if self._open else 0,
            rounds=tuple(
                (number, self._touched.get(number, self._taken_up))
                for number in sorted({event.round for event in events if event.round})
            ),
        )
        if isinstance(given, VoidOrder):
            voided = {event.round for event in events if isinstance(event, RoundVoid)}
            return replace(about, has_result=not voided.isdisjoint(self._holds))
        if isinstance(given, ResultCorrect):
            return about
        told = next((each for name in TOLD if (each := getattr(given, name)) is not None), None)
        if told is None:
            return about
        try:
            _, unsaid = self._command(replace(given, number=None, winner=None, dice=None))
        except RejectedError:
            return about
        return replace(about, seen=told if _outcomes(unsaid) == _outcomes(events) else None)

    @property
    def is_open(self) -> bool:
        """Whether a session is open."""
        return self._open

    @property
    def session(self) -> int:
        """The number of the session that is open, or else of the last one; 0: none."""
        return self._game.show(self._state).session

    @property
    def sound(self) -> bool:
        """Whether the game has not failed, so that :meth:`saved` is complete."""
        return self._fault is None and not self._due

    @property
    def linked(self) -> str | None:
        """The id of the jackpot that the configuration links the table with."""
        return self._about.jackpot

    @property
    def jackpot(self) -> LinkedJackpot | None:
        """The jackpot that the table is linked with, as its game knows it."""
        found: LinkedJackpot | None = getattr(self._state, "jackpot", None)
        return found

    def gap(self, at: float, reason: str = RESTART) -> list[LinkLost | JackpotStanding]:
        """The readings to :meth:`take` after a restart, or any time in which the table missed
        readings; one per device, and one of its jackpot: nothing was heard of it yet.

        They are inputs like any other: the game sees that it has missed something, and the journal
        shows it.
        """
        lost = [
            LinkLost(at=at, device=device, reason=reason)
            for device in sorted({*self._devices, *self._about.devices})
        ]
        return [*lost, *self._unheard(at)]

    def _unheard(self, at: float) -> Iterable[JackpotStanding]:
        """That nothing was heard of the jackpot; or that the table is no longer linked with one."""
        if self.linked is not None:
            yield JackpotStanding(at=at, jackpot=self.linked, in_play=False, why="unheard")
        elif self.jackpot is not None:
            yield JackpotStanding(at=at, jackpot=self.jackpot.jackpot, in_play=None)

    def retained(self) -> dict[str, bytes | None]:
        """The body of each retained topic of the table; None clears the retained message.

        Publish what it was when a record was appended only after that record is committed.
        """
        names, encode = self._names, msgspec.json.encode
        shown = self._game.show(self._state)
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
            takes=self._taken(),
            unsigned=self._unsigned,
        )
        entries = getattr(self._state, "entries", self._state)
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

    def _taken(self) -> tuple[str, ...]:
        """The commands that the table takes as it stands: none while nothing can be stored, and
        none of the game's once the game has failed.
        """
        if self.halted:
            return ()
        if self._takes[0] is not self._state:
            self._takes = (self._state, self._game.takes(self._state))
        unseen = any(open_ and not open_.acknowledged_by for open_ in self._alerts.values())
        works = self._open and not self._fault
        return (
            *(() if self._fault else self._takes[1]),
            *((tag_of(AlertAcknowledge),) if unseen else ()),
            *((tag_of(StaffOn),) if works else ()),
            *((tag_of(StaffOff),) if works and self._staff else ()),
            *((tag_of(DeviceService),) if self._about.devices else ()),
        )

    def _body(self, topic: str, source: Any, make: Callable[[], Any]) -> bytes:
        """The body of a topic that derives from ``source`` alone: it is made anew only where that
        is another.
        """
        known = self._bodies.get(topic)
        if known is None or known[0] is not source:
            known = self._bodies[topic] = (source, msgspec.json.encode(make()))
        return known[1]

    def saved(self) -> bytes:
        """Everything that the table needs to continue after a restart."""
        return msgspec.json.encode(self.snapshot())

    def snapshot(self) -> Snapshot:
        """The same, not encoded: what the table knows now, however it goes on."""
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
            holds=self._holds.copy(),
            staff=self._staff,
            identities=self._identities,
            time_bound=msgspec.UNSET if self.time_bound == TIMES_HOLD else self.time_bound,
        )

    def _restore(self, body: bytes, *, over: bool) -> None:
        """Restore the saved state. Raises ``ValueError`` with the reason if the table cannot
        continue from there; ``over``: also where its session was open.
        """
        if is_locked(body):
            raise ValueError(
                "its saved state is locked with another key; see the log of the daemon"
            )
        head = read_body(body, _Head)
        self.readings = head.readings
        self.seq = head.seq if head.boot == self.boot else 0  # also where the game is another one
        if (head.game, head.decree) != (self.game_id, self.decree):
            was = f"before this it was a table of {head.game} under {head.decree}"
            if head.open and not over:
                raise UnrestorableStateError(
                    f"table {self.id}: {was}, and its session is open; set game and decree back "
                    "and close the session first"
                )
            raise ValueError(was)
        try:
            saved = read_whole(body, _Saved)
            state = bytes(saved.state)
            self._state = read_whole(
                _without_frames(state) if self.face_down else state, self._game.state_type
            )
        except ValueError:
            if head.open and not over:
                raise UnrestorableStateError(
                    f"table {self.id}: its open session was saved by another release, and this one "
                    "cannot go on with it: start that release again, close the session, then start "
                    "this one"
                ) from None
            raise ValueError(NOT_OURS) from None
        self._time, self._open, self._alerts, self._result = (
            saved.time,
            saved.open,
            saved.alerts,
            saved.result,
        )
        if self.face_down and isinstance(self._result, RoundResult):
            self._result = replace(self._result, frames=())
        self._holds, self._staff = saved.holds, saved.staff
        self.time_bound = saved.time_bound
        known = self._about.devices or saved.devices
        self._devices = {
            device: standing for device, standing in saved.devices.items() if device in known
        }
        self._identities = {
            device: each for device, each in saved.identities.items() if device in known
        }
        # A restart ends a fault, and a device that is no longer configured cannot be
        # missing.
        gone = {
            FAULT,
            ANEW,
            *(link_alert(device) for device in saved.devices.keys() - self._devices.keys()),
            *(identity_alert(each) for each in saved.identities.keys() - self._identities.keys()),
        }
        self._due = [
            AlertCleared(alert=alert)
            for alert, open_ in saved.alerts.items()
            if open_ and alert in gone
        ]

    # One input

    def _command(self, given: Any) -> tuple[Any, tuple[AnyEvent, ...]]:
        if stopped := self._fault or self.halted:
            raise RejectedError("table_in_fault", reason=stopped)
        try:
            state, said = self._game.step(self._state, given)
        except RejectedError:
            raise
        except Exception as error:  # a defect: reject the command
            raise RejectedError("game_failed", error=self._told(error)) from error
        return state, said

    def _reading(self, given: Any) -> tuple[Any, tuple[AnyEvent, ...]]:
        if self._fault:
            return self._state, ()
        try:
            state, said = self._game.step(self._state, given)
        except (
            Exception
        ) as error:  # a defect: what the game knows stands, nothing is derived from what came after
            self._fault = (
                f"the game failed on a reading ({self._told(error)}); restart the "
                "daemon, and decide the round in progress"
            )
            return self._state, (
                AlertRaised(
                    alert=FAULT, what="table.fault", device=given.device or None, detail=self._fault
                ),
            )
        return state, said

    def _told(self, error: Exception) -> str:
        """A defect, as far as it may be published: its text may hold a card."""
        return type(error).__name__ if self._game.face_down else repr(error)

    def _link(self, given: Any, time: str) -> Iterable[AnyEvent]:
        """The table's own events for a link's reading."""
        device = given.device
        if isinstance(given, LinkGarbage):
            self.garbage[device] = self.garbage.get(device, 0) + given.bytes
        elif isinstance(given, LinkLate):
            yield DataLate(device=device, frames=given.frames, silence=given.silence)
        elif (link := link_state(given)) is not None:
            state, detail = link
            if self._game.face_down and isinstance(given, LinkUnintelligible):
                detail = "no frame among its bytes"  # their number may depend on a card
            was, alert = self._devices.get(device), link_alert(device)
            if was and was.state == state and (state != "lost" or was.detail == detail):
                return  # said before
            self._devices[device] = DeviceLink(state, time, detail)
            yield DeviceState(device=device, state=state, detail=detail)
            if state == "open":
                if (
                    told := self._alerts.get(alert)
                ) and told.what != "link.open":  # not at a start, and not again after a restart
                    yield AlertRaised(
                        alert=alert,
                        what="link.open",
                        severity="warning",
                        device=device,
                        detail=detail,
                    )
            elif state != "up" and detail != RESTART:
                yield AlertRaised(alert=alert, what=f"link.{state}", device=device, detail=detail)
            elif state == "up" and self._alerts.get(alert):
                yield AlertCleared(alert=alert)

    def _identity(
        self, given: DeviceIdentity | DeviceReport
    ) -> tuple[Known | None, list[AnyEvent]]:
        if given.device not in self._about.devices:
            return None, []
        alerted = self._alerts.get(identity_alert(given.device)) is not None
        return identified(given, self._identities, alerted=alerted)

    def _identified(self, given: DeviceIdentity | DeviceReport) -> list[AnyEvent]:
        """What is to be said of a device that tells which it is. At a table with face-down cards
        only the link is heard: a report may be about a card.
        """
        known, events = self._identity(given)
        if known is not None:
            self._identities = {**self._identities, given.device: known}
        return events

    def _begin_after(self, given: JournalRestore) -> tuple[Any, list[AnyEvent]]:
        """Begin anew after a backup was restored, or another daemon had the table, with numbers
        that nobody has been told. Whether a session went on, and with which results, the table
        cannot know.
        """
        shown = self._game.show(self._state)
        last = max(shown.session, given.session) + given.jump
        if self._game.face_down:
            self.readings = max(self.readings, given.read) + READINGS * given.jump
        current = getattr(self._state, "current", None)
        raised = getattr(self._state, "alerts", ())
        event = JournalRestored(
            journal=given.journal,
            position=given.position,
            hash=given.hash,
            since=given.since,
            restored=given.restored,
            source=given.source,
            instance=given.instance,
            term=given.term,
            next_session=last + 1,
            was_open=shown.session if self._open else None,
            in_progress=None if current is None else shown.round,
            unresolved=tuple(getattr(shown, "unresolved", ())),
        )
        cleared = (AlertCleared(alert=each) for each in raised if self._alerts.get(each))
        begun: Remembered = self._game.begin()
        return replace(begun, session=last), [event, *cleared]

    def _serviced(self, given: DeviceService) -> list[AnyEvent]:
        """A line of the maintenance log. It settles the alert that a device was replaced."""
        event = serviced(given, self._about.devices, self.halted)
        alert = identity_alert(given.device)
        settled = given.work == "replaced" and self._alerts.get(alert) is not None
        session = self._game.show(self._state).session
        return [
            replace(event, session=session),
            *((AlertCleared(alert=alert),) if settled else ()),
        ]

    def _call(self, state: Any) -> Iterable[AnyEvent]:
        """Call a person to the rounds that have no result and may still get one; end the call when
        there is none any more.
        """
        entries = getattr(state, "entries", state)
        if entries is self._judged:
            return
        self._judged = entries
        shown = self._game.show(state)
        rounds = tuple(getattr(shown, "unresolved", ()))
        called = self._alerts.get(UNRESOLVED)
        if rounds == (called.rounds if called else ()):
            return
        if rounds:
            yield AlertRaised(
                session=shown.session,
                alert=UNRESOLVED,
                what="round.unresolved",
                severity="warning",
                rounds=rounds,
                settled_by=self._game.settled_by,
            )
        else:
            yield AlertCleared(session=shown.session, alert=UNRESOLVED)

    def _acknowledged(self, given: AlertAcknowledge) -> AnyEvent:
        alert = self._alerts.get(given.alert)
        if alert is None:
            named = tuple(alert for alert, open_ in self._alerts.items() if open_)
            if not named:
                raise RejectedError("alerts_none", alert=given.alert)
            raise RejectedError("alert_unknown", alert=given.alert, alerts=named)
        if alert.acknowledged_by is not None:
            raise RejectedError(
                "acknowledged_already",
                alert=given.alert,
                by=alert.acknowledged_by,
                at=alert.acknowledged or "",
            )
        return AlertAcknowledged(alert=given.alert, by=given.by, role=given.role)

    def _confidential(self, before: Any, given: Input, events: tuple[AnyEvent, ...]) -> bool:
        """Whether an input is for surveillance alone: ``before``, the state that it was taken in,
        ``events``, what the game said to it. In doubt it is, as where the game fails on it.
        """
        if not self._game.face_down or isinstance(given, OPEN):
            return False
        if self._fault or isinstance(given, (*UNJUDGED, CommandRefused)):
            return True
        if isinstance(given, CardDrawn) and given.card is None and given.frame is not None:
            return True  # the reader could not name it; whoever knows its codes may
        try:
            return self._game.confidential(before, given, events)
        except Exception:  # a defect
            return True

    # What the table keeps from its events

    def _note(self, event: AnyEvent, time: str, mono_ns: int) -> AnyEvent:
        """Number the event, and keep what the retained topics show of it."""
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
        if self.time_bound != TIMES_HOLD:
            event = replace(event, time_bound=self.time_bound)
        if isinstance(event, ResultCorrected):
            boot, seq = self._holds.get(event.round, (None, None))
            event = replace(event, replaces=seq, replaces_boot=boot)
        if isinstance(event, SessionOpened):
            self._holds, self._touched = {}, {}
        self._touch(event.round)
        if isinstance(event, RoundResult | ResultCorrected):
            self._hold(event)
        match event:
            case JournalRestored():
                self._open, self._staff, self._result, self._holds = False, {}, None, {}
            case SessionOpened() | SessionClosed():
                self._open, self._staff = isinstance(event, SessionOpened), {}
            case StaffArrived() | StaffLeft():
                self._staff = after(self._staff, event)
            case DeviceServiced():
                link = self._devices.get(event.device)
                there = link is not None and link.state != "lost"
                self._identities = after_service(self._identities, event, there=there)
            case RoundResult() if self._is_latest(event):
                self._result = event
            case ResultCorrected() | RoundVoid() if self._result and (
                event.session,
                event.round,
            ) == _round(self._result):
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

    def _touch(self, round_: int) -> None:
        """Remember which event was the last one about a round."""
        if round_:
            others = [each for each in self._touched.items() if each[0] != round_]
            self._touched = dict([*others, (round_, self.seq)][-TOUCHED:])

    def _hold(self, event: RoundResult | ResultCorrected) -> None:
        """Remember the event that holds the result of a round."""
        others = [(number, held) for number, held in self._holds.items() if number != event.round]
        self._holds = dict([*others, (event.round, (self.boot, self.seq))][-CORRECTABLE:])

    def _is_latest(self, event: RoundResult) -> bool:
        """A round that was confirmed late does not take the place of a later one."""
        return self._result is None or _round(event) >= _round(self._result)

    def _status(self, shown: AnyShown) -> Status:
        if self._fault or self.halted:
            return "fault"
        known = {*self._devices, *self._about.devices}
        if any(
            self._devices[device].state != "up" if device in self._devices else True
            for device in known
        ):
            return "stale"
        if shown.asks or self._alerts.get(UNRESOLVED):
            return "waiting"
        return "open" if self._open else "closed"


def _without_frames(state: bytes) -> bytes:
    """What a release saved whose cards had frames as their evidence, without them."""

    def without(part: Any) -> Any:
        if isinstance(part, dict):
            told = {"frame": dict, "frames": list}
            return {
                key: without(value)
                for key, value in part.items()
                if not isinstance(value, told.get(key, ()))
            }
        return [without(each) for each in part] if isinstance(part, list) else part

    return msgspec.json.encode(without(msgspec.json.decode(state)))


def _outcomes(events: Iterable[AnyEvent]) -> list[Any]:
    return [event.outcome for event in events if isinstance(event, RoundResult)]


def _round(event: RoundResult | ResultCorrected) -> tuple[int, int]:
    return event.session, event.round
