"""The saved state of a table, from which it resumes after a restart."""

from __future__ import annotations

from typing import Any

import msgspec

from common.confidential.bodies import is_locked
from common.contract.commands import Duty
from common.contract.events import ResultCorrected, RoundResult
from common.contract.json_bodies import Stored, read_body, read_own_body
from common.contract.retained import Alert, DeviceLink
from common.errors import NovamasError
from controller.tables.identities import Identities, KnownDevice
from controller.tables.parameters import KnownParameters, Parameters
from controller.tables.staff import Staff
from controller.tables.wheel_logs import WheelLedger, WheelLedgers
from controller.tables.witness_memory import WitnessMemory

FOREIGN_STATE_REASON = "what was saved is not of this release"
"""Reason for starting from scratch when the saved state cannot be read and no session was open."""

NO_TIME_BOUND = 0.0
"""Time bound of events whose times are as accurate as the site requires; left out of the events."""


class UnrestorableStateError(NovamasError):
    """The saved session is open and belongs to another game, decree or release. The message names
    the remedy.
    """


class SavedHead(msgspec.Struct, frozen=True, kw_only=True):
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
    parameters: Parameters | msgspec.UnsetType = msgspec.UNSET
    """Omitted while no device has stated any, as in earlier releases."""
    witnessed: WitnessMemory | msgspec.UnsetType = msgspec.UNSET
    """Omitted at a table without a second witness."""
    wheel_logs: WheelLedgers | msgspec.UnsetType = msgspec.UNSET
    """Omitted until the log of a wheel was read, as in earlier releases."""
    time_bound: float | msgspec.UnsetType | None = msgspec.UNSET
    """Omitted where times are as accurate as the site requires, as earlier releases did."""


class SavedState(msgspec.Struct, frozen=True, kw_only=True):
    """A saved state as it is read: that of an earlier release lacks fields."""

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
    parameters: dict[str, KnownParameters] = {}
    witnessed: WitnessMemory = WitnessMemory()
    wheel_logs: dict[str, WheelLedger] = {}
    time_bound: float | None = NO_TIME_BOUND


def read_head(body: bytes) -> SavedHead:
    """Read the part of a saved state that every release can read. Raises ``ValueError``."""
    if is_locked(body):
        raise ValueError("its saved state is locked with another key; see the log of the daemon")
    return read_body(body, SavedHead)


def read_saved(
    body: bytes, head: SavedHead, *, table: str, state_type: Any, face_down: bool, over: bool
) -> tuple[SavedState, Any]:
    """Read a saved state, and the game's state in it. Raises ``ValueError`` with the reason if it
    cannot be used, and :class:`UnrestorableStateError` if its session is open, unless the state is
    ``over``.
    """
    try:
        saved = read_own_body(body, SavedState)
        state = bytes(saved.state)
        return saved, read_own_body(_drop_frames(state) if face_down else state, state_type)
    except ValueError:
        if head.open and not over:
            raise UnrestorableStateError(
                f"table {table}: its open session was saved by another release, and this one "
                "cannot continue it: start that release again, close the session, then start "
                "this one"
            ) from None
        raise ValueError(FOREIGN_STATE_REASON) from None


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
