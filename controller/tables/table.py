"""One gaming table: a pure state machine that turns inputs, one at a time, into events."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from common.contract.commands import (
    AnyCommand,
    Command,
    CommandRefused,
    DeviceCommand,
    ResultCorrect,
    RoundConfirm,
    Signer,
)
from common.contract.commands import RoundVoid as VoidOrder
from common.contract.events import (
    AlertCleared,
    AlertRaised,
    AnyEvent,
    ClockStepped,
)
from common.contract.notation import Input
from common.contract.refusals import RejectedError
from common.contract.retained import (
    About,
)
from common.contract.shown import LinkedJackpot
from common.people.two_persons import CommandSubject
from common.readings import (
    ClockBound,
    ClockStep,
    DeviceIdentity,
    DeviceParameter,
    DeviceReport,
    JackpotStanding,
    JournalRestore,
    LinkLost,
    WheelLog,
)
from controller.games.game import Game
from controller.games.rounds import GameState
from controller.tables.card_secrecy import CARDLESS_INPUTS, is_counted, may_reveal
from controller.tables.device_claims import DeviceClaims, obsolete_alerts
from controller.tables.device_links import (
    RESTART_REASON,
    allow,
    command_event,
    link_alert,
    link_events,
)
from controller.tables.facts import TableFacts
from controller.tables.own_commands import OWN_COMMANDS, CommandContext, on_own_command
from controller.tables.preview import affected_rounds
from controller.tables.restored import readings_after, restored_event
from controller.tables.saved_state import (
    FOREIGN_STATE_REASON,
    NO_TIME_BOUND,
    Snapshot,
    UnrestorableStateError,
    read_head,
    read_saved,
)
from controller.tables.table_alerts import (
    former_witness_alerts,
    unresolved_alert,
)
from controller.tables.topics import UNRESOLVED_ALERT_ID, TableTopics
from controller.tables.wheel_logs import follow as follow_logs
from controller.tables.witness_memory import WitnessMemory
from controller.tables.witnesses import Witnesses, contradicted, follow, on_witness

FAULT_ALERT_ID = "table-fault"
"""Id of the alert raised when the game failed on a reading. The table gives no results until the
daemon is restarted.
"""

ANEW_ALERT_ID = "table-anew"
"""Id of the alert raised when the table could not restore its state and started from scratch;
cleared at the next restart.
"""


CLAIMS = (DeviceReport, DeviceParameter, WheelLog)
"""Readings in which a device states something about itself."""


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
    table may not give results now. ``unsigned``: the site accepts unsigned commands. ``node``: the
    id of the daemon, for its topics. ``witnesses``: its second witnesses, whose readings never
    reach the game; ``requested``: those that are asked about each round by its number.
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
        node: str = "",
        witnesses: Witnesses = MappingProxyType({}),
        requested: frozenset[str] = frozenset(),
    ) -> None:
        self.site, self.id, self.game_id, self.decree = site, id, game_id, decree
        self.boot, self.simulated = boot, simulated
        self.seq = 0
        self.readings = 0
        """Readings numbered so far at a table with cards, including those before this boot."""
        self.time_bound: float | None = NO_TIME_BOUND
        """Seconds by which the times of events may be wrong; None: unknown."""
        self.halted: str | None = None
        self.garbage: dict[str, int] = {}
        self._game = game
        self._about = about
        self._witnesses, self._requested = witnesses, requested
        self._state = game.begin()
        self._time = ""
        self._facts = TableFacts()
        self._claims = DeviceClaims(self._facts, about.devices)
        self._fault: str | None = None
        self._pending_events: list[AnyEvent] = []
        self._checked_entries: Any = None
        """The entries for which unresolved rounds were last determined."""
        names = {"site": site, "table": id, "game": game_id, "decree": decree, "boot": boot}
        self._topics = TableTopics(
            names={**names, "simulated": simulated},
            node=node,
            game=game,
            about=about,
            facts=self._facts,
            unsigned=unsigned,
            witnesses=witnesses,
        )
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
        state, facts, witnesses = self._state, self._facts, self._witnesses
        before = state
        if dealt := self._game.face_down:
            item = self.numbered(item)
        if isinstance(item, OWN_COMMANDS):
            own_events = [*self._on_own_command(item)]
        elif isinstance(item, DeviceIdentity):
            own_events = self._claims.on_identity(item)
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
            own_events = [*link_events(item, time, facts, self.garbage, face_down=dealt)]
            if isinstance(item, CLAIMS) and not dealt:
                own_events += self._claims.on_claim(item, _last_settled(state))
            own_events += on_witness(item, facts, witnesses, self._requested) if witnesses else ()
            state, game_events = self._on_reading(item)
        game_events = follow(game_events, item.at, facts, witnesses) if witnesses else game_events
        session, logs = state.session if facts.open else 0, facts.wheel_logs
        facts.wheel_logs = follow_logs(logs, item, game_events, session) if logs else logs
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
        return self._claims.check(identity)[0] is None

    def preview(self, command: AnyCommand) -> CommandSubject:
        """Return the round that a command affects, without changing the table. Raises
        :class:`RejectedError` if the command would be refused.
        """
        if not isinstance(command, ResultCorrect | RoundConfirm | VoidOrder):
            return CommandSubject()
        return affected_rounds(
            command,
            self._on_command,
            self._facts,
            session=self.session if self.is_open else 0,
            seq_at_start=self._seq_at_start,
        )

    @property
    def is_open(self) -> bool:
        """True if a session is open."""
        return self._facts.open

    @property
    def session(self) -> int:
        """Number of the open session, else of the last one; 0: no session yet."""
        return self._topics.view(self._state).shown.session

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
            for device in sorted({*self._facts.devices, *self._about.devices})
        ]
        if self.linked is not None:
            unknown = JackpotStanding(at=at, jackpot=self.linked, in_play=False, why="unheard")
        elif self.jackpot is not None:  # the table is no longer linked
            unknown = JackpotStanding(at=at, jackpot=self.jackpot.jackpot, in_play=None)
        else:
            return [*lost]
        return [*lost, unknown]

    def retained(self) -> dict[str, bytes | None]:
        """Return the body of each retained topic; None clears the retained message.

        Call it when a record is appended, and publish the bodies once that record is committed.
        """
        return self._topics.bodies(
            self._state, seq=self.seq, time=self._time, fault=self._fault, halted=self.halted
        )

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
            open=self._facts.open,
            devices=self._facts.devices.copy(),
            alerts=self._facts.alerts.copy(),
            result=self._facts.result,
            holds=self._facts.result_events.copy(),
            staff=self._facts.staff,
            identities=self._facts.identities,
            parameters=self._facts.parameters or msgspec.UNSET,
            witnessed=self._facts.witnessed if self._witnesses else msgspec.UNSET,
            wheel_logs=self._facts.wheel_logs or msgspec.UNSET,
            time_bound=msgspec.UNSET if self.time_bound == NO_TIME_BOUND else self.time_bound,
        )

    def _restore(self, body: bytes, *, over: bool) -> None:
        """Restore a saved state. Raises ``ValueError`` with the reason if it cannot be used.
        ``over``: do not insist on an open session.
        """
        head = read_head(body)
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
        saved, self._state = read_saved(
            body,
            head,
            table=self.id,
            state_type=self._game.state_type,
            face_down=self.face_down,
            over=over,
        )
        facts = self._facts
        self._time, self.time_bound = saved.time, saved.time_bound
        facts.restore(saved, self._about.devices, face_down=self.face_down)
        # A restart ends a fault; a device that is no longer configured cannot be missing.
        obsolete = {
            FAULT_ALERT_ID,
            ANEW_ALERT_ID,
            *(link_alert(device) for device in saved.devices.keys() - facts.devices.keys()),
            *obsolete_alerts(saved, facts),
            *former_witness_alerts(saved.alerts, self._witnesses),
        }
        self._pending_events = [
            AlertCleared(alert=alert)
            for alert, open_ in saved.alerts.items()
            if open_ and alert in obsolete
        ]

    # One input

    def _on_own_command(self, command: Any) -> Iterable[AnyEvent]:
        context = CommandContext(
            self._facts,
            self._about,
            self._witnesses,
            self._game,
            self.session,
            self._fault,
            self.halted,
        )
        return on_own_command(command, context)

    def _on_command(self, command: Any) -> tuple[Any, tuple[AnyEvent, ...]]:
        if stopped := self._fault or self.halted:
            raise RejectedError("table_in_fault", reason=stopped)
        try:
            state, events = self._game.step(self._state, command)
        except RejectedError:
            raise
        except Exception as error:  # a bug: reject the command
            raise RejectedError("game_failed", error=_describe_bug(self._game, error)) from error
        return state, events

    def _on_reading(self, reading: Any) -> tuple[Any, tuple[AnyEvent, ...]]:
        if self._fault or reading.device in self._witnesses:
            return self._state, ()
        try:
            if self._witnesses:
                reading = contradicted(self._facts.witnessed, reading)
            state, events = self._game.step(self._state, reading)
        except Exception as error:  # a bug: freeze the state and derive nothing from later readings
            self._fault = (
                f"the game failed on a reading ({_describe_bug(self._game, error)}); restart the "
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

    def _on_restore(self, restore: JournalRestore) -> tuple[Any, list[AnyEvent]]:
        """Start from scratch after a restore, or after another daemon served the table, and skip
        all session numbers that may have been used. Whether a session continued there, and with
        which results, is unknown.
        """
        shown = self._topics.view(self._state).shown
        last = max(shown.session, restore.session) + restore.jump
        if self._game.face_down:
            self.readings = readings_after(restore, self.readings)
        raised = self._state.alerts
        self._facts.witnessed = WitnessMemory(ended_at=restore.at)
        event = restored_event(restore, self._state, shown, is_open=self.is_open, last=last)
        cleared = (AlertCleared(alert=each) for each in raised if self._facts.alerts.get(each))
        begun: GameState = self._game.begin()
        return replace(begun, session=last), [event, *cleared]

    def _update_unresolved_alert(self, state: GameState) -> Iterable[AnyEvent]:
        """Raise or clear the alert for unresolved rounds, if they may have changed."""
        entries = state.entries
        if entries is self._checked_entries:
            return ()
        self._checked_entries = entries
        if not state.unresolved_rounds and not self._facts.alerts.get(UNRESOLVED_ALERT_ID):
            return ()  # nearly always: the view need not be made before the result is stored
        shown = self._topics.view(state).shown
        return unresolved_alert(shown, self._facts.alerts, self._game.settled_by)

    def _is_confidential(self, before: Any, item: Input, events: tuple[AnyEvent, ...]) -> bool:
        """True if an input is for surveillance only. ``before``: the state before it; ``events``:
        the game's events. True in doubt, as when the game fails on it.
        """
        if not self._game.face_down or isinstance(item, CARDLESS_INPUTS):
            return False
        if self._fault or may_reveal(item):
            return True
        try:
            return self._game.confidential(before, item, events)
        except Exception:  # a bug
            return True

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
        event = self._facts.prepare(event)
        self._facts.apply(event)
        return event


def _last_settled(state: GameState) -> tuple[int, int]:
    """Return the session, and its last round with an outcome; 0: none."""
    return state.session, state.entries[-1].round if state.entries else 0


def _describe_bug(game: Game, error: Exception) -> str:
    """Describe a bug as far as it may be published: the text of the error may name a card."""
    return type(error).__name__ if game.face_down else repr(error)
