"""Results of wheels that happen now, for what acts on them outside this system: old displays and
lights. What waited anywhere, is repeated, or belongs to an earlier round is not live.
"""

from __future__ import annotations

import msgspec

from common import clock
from common.contract.retained import State
from common.contract.times import parse_utc
from common.log import structlog
from common.readings import Number
from subscribers.feed.floor import Floor
from subscribers.feed.wheel_result import WheelResult

MAX_AGE_SECONDS = 5.0
"""Maximum difference between the time of a live event and the clock of this machine: nothing may
act on data that waited for longer. So the clocks of both machines must agree.
"""
NOT_CURRENT = ("stale", "fault")
"""Values of ``status`` with which a number must not be shown as current."""


class _LiveOutcome(msgspec.Struct, frozen=True):
    family: str
    number: Number | None = None


class _LiveEvent(msgspec.Struct, frozen=True):
    type: str
    table: str
    boot: str
    seq: int
    time: str
    session: int = 0
    round: int = 0
    historical: bool = False
    simulated: bool = False
    outcome: _LiveOutcome | None = None


def current_state(floor: Floor, table: str) -> State | None:
    """Return the table's state if what it shows is true now, else None."""
    state = floor.known[table].state
    if floor.outdated[table] is not None or state is None or state.status in NOT_CURRENT:
        return None
    return state


class LiveResults:
    """Finds the live results among the events of a floor's tables."""

    def __init__(self, floor: Floor) -> None:
        self._floor = floor
        self._latest: dict[str, _LiveEvent] = {}
        """The last live event of each table."""

    def on_event(self, table: str, body: bytes) -> WheelResult | None:
        """Handle an event of a table, before the floor does. Return the result if it is live."""
        try:
            event = msgspec.json.decode(body, type=_LiveEvent)
            age = clock.wall() - parse_utc(event.time)
        except (ValueError, RecursionError):
            return None
        known = self._floor.known[table]
        if event.table != table or event.simulated != known.simulated:
            return None
        outcome = event.outcome if event.type == "round.result" else None
        reason = self._reason(table, event, age)
        if reason is None:
            self._latest[table] = event
        elif outcome is not None:
            structlog.get_logger().warning(
                "result not live: not acted on", table=table, round=event.round, reason=reason
            )
        if reason is not None or outcome is None or outcome.number is None:
            return None
        place = event.session, event.round
        return WheelResult(table, event.boot, event.seq, *place, outcome.family, outcome.number)

    def _reason(self, table: str, event: _LiveEvent, age: float) -> str | None:
        """Return why an event is not live, or None."""
        if event.historical:
            return "it is historical"
        if abs(age) > MAX_AGE_SECONDS:
            return f"its time differs by {age:.1f} s from the clock of this machine"
        state = current_state(self._floor, table)
        if state is None or state.boot != event.boot:
            return "the table is not current"
        place = event.session, event.round
        latest_places = [(state.shown.session, state.shown.round)]
        latest = self._latest.get(table)
        if latest is not None and latest.boot == event.boot:
            if event.seq <= latest.seq:
                return "it is repeated"
            latest_places.append((latest.session, latest.round))
        return "it belongs to an earlier round" if place < max(latest_places) else None
