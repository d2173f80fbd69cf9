"""What is true of a table beside its game: it follows from the events of the table alone."""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from common.contract.events import (
    AlertAcknowledged,
    AlertCleared,
    AlertRaised,
    AnyEvent,
    DeviceServiced,
    JournalRestored,
    ResultCorrected,
    RoundResult,
    RoundVoid,
    SessionClosed,
    SessionOpened,
    StaffArrived,
    StaffLeft,
)
from common.contract.retained import Alert, DeviceLink
from controller.tables.identities import Identities, apply_service
from controller.tables.parameters import Parameters, accept_present
from controller.tables.saved_state import SavedState
from controller.tables.staff import Staff, staff_after
from controller.tables.wheel_logs import WheelLedgers
from controller.tables.witness_memory import WitnessMemory

RESULTS = (RoundResult, ResultCorrected)
"""Events that state the result of a round."""
MAX_CORRECTABLE_RESULTS = 20
"""Number of latest results that a correction can refer to."""

MAX_TRACKED_ROUNDS = 256
"""Number of latest rounds whose last event is tracked. A command that waits for a second signature
about an older round expires.
"""


class TableFacts:
    """Session, devices, staff, alerts and results of a table."""

    def __init__(self) -> None:
        self.open = False
        """True if a session is open."""
        self.devices: dict[str, DeviceLink] = {}
        self.alerts: dict[str, Alert | None] = {}
        """By id; None for an alert that was cleared."""
        self.result: RoundResult | ResultCorrected | None = None
        """The latest result of the session."""
        self.result_events: dict[int, tuple[str, int]] = {}
        """By round of the session: ``boot`` and ``seq`` of the event with its result."""
        self.last_events: dict[int, int] = {}
        """By round of the session: ``seq`` of the last event about it since this object exists."""
        self.staff: Staff = {}
        self.identities: Identities = {}
        self.parameters: Parameters = {}
        self.witnessed = WitnessMemory()
        """What its second witnesses have reported, if it has any."""
        self.wheel_logs: WheelLedgers = {}

    def restore(self, saved: SavedState, devices: Collection[str], *, face_down: bool) -> None:
        """Take over a saved state. ``devices``: those that are configured; if there are none, the
        saved ones stay. No result of a table with ``face_down`` cards keeps frames.
        """
        self.open, self.alerts, self.result = saved.open, saved.alerts, saved.result
        if face_down and isinstance(self.result, RoundResult):
            self.result = replace(self.result, frames=())
        self.result_events, self.staff = saved.holds, saved.staff
        self.witnessed = saved.witnessed
        known = devices or saved.devices
        self.devices = {device: link for device, link in saved.devices.items() if device in known}
        self.identities = {
            device: each for device, each in saved.identities.items() if device in known
        }
        self.parameters = {
            device: each for device, each in saved.parameters.items() if device in known
        }
        self.wheel_logs = {
            device: each for device, each in saved.wheel_logs.items() if device in known
        }

    def prepare(self, event: AnyEvent) -> AnyEvent:
        """Return an event with what it refers to: a correction names the result it replaces."""
        if isinstance(event, ResultCorrected):
            boot, seq = self.result_events.get(event.round, (None, None))
            return replace(event, replaces=seq, replaces_boot=boot)
        return event

    def apply(self, event: AnyEvent) -> None:
        """Apply a numbered event."""
        if isinstance(event, SessionOpened):
            self.result_events, self.last_events = {}, {}
        self._track_round(event.round, event.seq)
        if isinstance(event, RESULTS):
            self._track_result(event)
        match event:
            case JournalRestored():
                self.open, self.staff, self.result, self.result_events = False, {}, None, {}
            case SessionOpened() | SessionClosed():
                self.open, self.staff = isinstance(event, SessionOpened), {}
            case StaffArrived() | StaffLeft():
                self.staff = staff_after(self.staff, event)
            case DeviceServiced():
                link = self.devices.get(event.device)
                there = link is not None and link.state != "lost"
                self.identities = apply_service(self.identities, event, is_open=there)
                self.parameters = accept_present(self.parameters, event.device)
            case RoundResult() if self._is_latest(event):
                self.result = event
            case ResultCorrected() | RoundVoid() if self.result and (
                event.session,
                event.round,
            ) == _round_key(self.result):
                self.result = event if isinstance(event, ResultCorrected) else None
            case AlertRaised():
                self.alerts[event.alert] = Alert(
                    alert=event.alert,
                    what=event.what,
                    severity=event.severity,
                    raised=event.time,
                    device=event.device,
                    detail=event.detail,
                    rounds=event.rounds,
                    settled_by=event.settled_by,
                )
            case AlertAcknowledged() if alert := self.alerts.get(event.alert):
                self.alerts[event.alert] = replace(
                    alert,
                    acknowledged_by=event.by,
                    acknowledged_role=event.role,
                    acknowledged=event.time,
                )
            case AlertCleared():
                self.alerts[event.alert] = None

    def _track_round(self, round_: int, seq: int) -> None:
        """Track the last event about a round."""
        if round_:
            self.last_events.pop(round_, None)  # the latest round is the last key
            self.last_events[round_] = seq
            if len(self.last_events) > MAX_TRACKED_ROUNDS:
                del self.last_events[next(iter(self.last_events))]

    def _track_result(self, event: RoundResult | ResultCorrected) -> None:
        """Track the event that holds the result of a round."""
        others = [
            (number, held) for number, held in self.result_events.items() if number != event.round
        ]
        self.result_events = dict(
            [*others, (event.round, (event.boot, event.seq))][-MAX_CORRECTABLE_RESULTS:]
        )

    def _is_latest(self, event: RoundResult) -> bool:
        """False for a late confirmation of an earlier round."""
        return self.result is None or _round_key(event) >= _round_key(self.result)


def _round_key(event: RoundResult | ResultCorrected) -> tuple[int, int]:
    return event.session, event.round
