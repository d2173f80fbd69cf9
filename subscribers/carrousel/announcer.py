"""Publishes the statements and alerts of the jackpots, and replaces statements of other clients."""

from __future__ import annotations

from collections.abc import Mapping

from common import clock
from subscribers.carrousel.alerting import AlertReporter
from subscribers.carrousel.runtime import JackpotRuntime
from subscribers.carrousel.statement_of_state import ControllerRun, encode_state
from subscribers.carrousel.status import ControllerStatus
from subscribers.feed.connection import ServiceConnection

MIN_STATEMENT_INTERVAL_SECONDS = 0.02
"""Minimum interval between two statements of a jackpot."""
MAX_IDLE_SECONDS = 1.0
"""Maximum time until the writer checks again whether something is due."""
CORRECTION_INTERVAL_SECONDS = 1.0
"""Minimum interval between two replacements of another client's statement or alerts."""
FOREIGN_STATE_CLEAR_SECONDS = 60.0
"""Time without another client's statement after which its alert is cleared."""
FOREIGN_STATE_ALERT_ID = "state-foreign"
"""Id of the alert about another client's statement."""


class Announcer:
    """Publishes the committed state of every jackpot."""

    def __init__(
        self,
        *,
        run: ControllerRun,
        status: ControllerStatus,
        jackpots: Mapping[str, JackpotRuntime],
        alerts: AlertReporter,
        connection: ServiceConnection,
    ) -> None:
        self._run, self._status, self._jackpots = run, status, jackpots
        self._alerts, self._connection = alerts, connection

    def until_due(self) -> float:
        """Return the seconds until something must be published even without new events."""
        if not self._connection.up:
            return MAX_IDLE_SECONDS
        due = min(map(self._due, self._jackpots.values()))
        return max(0.0, min(MAX_IDLE_SECONDS, due - clock.monotonic()))

    def publish(self) -> None:
        """Publish the state of jackpots that changed, or whose keepalive is due, and alerts."""
        connection, now = self._connection, clock.monotonic()
        if not connection.up:
            return
        for jackpot in self._jackpots.values():
            if now >= self._due(jackpot):
                jackpot.changed, jackpot.published_at = False, now
                statement = self._encode(jackpot)
                jackpot.echoes.add(jackpot.topic("state"), statement)
                jackpot.last_statement = statement
                # the keepalive republishes it; each statement is expected back once
                connection.retain(jackpot.topic("state"), statement, republished=False)
            for name in jackpot.alerts.take_changed():
                connection.retain(jackpot.topic(f"alert/{name}"), jackpot.alerts.body(name))

    def last_statements(self) -> dict[str, bytes]:
        """Return the statements with which the controller ends, by topic."""
        statements = {
            jackpot.topic("state"): self._encode(jackpot) for jackpot in self._jackpots.values()
        }
        for jackpot in self._jackpots.values():
            topic = jackpot.topic("state")
            jackpot.echoes.add(topic, statements[topic])
        return statements

    def on_statement(self, jackpot: JackpotRuntime, body: bytes, *, retained: bool) -> None:
        """Handle a jackpot's statement delivered by the broker: one of this controller, or a
        foreign one, which is replaced. A retained one of a previous run is replaced by the next
        statement.
        """
        if retained or jackpot.echoes.remove(jackpot.topic("state"), body):
            return
        now = clock.monotonic()
        if FOREIGN_STATE_ALERT_ID not in jackpot.alerts.open:
            detail = (
                "another client publishes statements of this jackpot; each is replaced. Check who "
                "may publish on its topics"
            )
            self._alerts.report(
                jackpot, FOREIGN_STATE_ALERT_ID, "state_foreign", detail, fault=True
            )
        jackpot.foreign_seen_at = now
        if now - jackpot.corrected_at >= CORRECTION_INTERVAL_SECONDS:
            self._replace(jackpot)

    def on_alert(self, jackpot: JackpotRuntime, name: str, body: bytes, *, retained: bool) -> None:
        """Handle a jackpot's alert delivered by the broker. One of a previous run or of another
        client is replaced, but not faster than at intervals: a second controller of the same
        ledger replaces it in turn.
        """
        if retained and self._status.books is None:
            jackpot.former_alerts.add(name)
        elif body == jackpot.alerts.body(name):
            jackpot.foreign_alerts.discard(name)
        else:
            jackpot.foreign_alerts.add(name)
            self._replace_alerts(jackpot, clock.monotonic())

    def correct(self, now: float) -> None:
        """Replace foreign statements and alerts that were not replaced yet. ``now``: monotonic."""
        for jackpot in self._jackpots.values():
            self._replace_alerts(jackpot, now)
            if jackpot.foreign_seen_at > jackpot.corrected_at:
                self._replace(jackpot)
            if now - jackpot.foreign_seen_at > FOREIGN_STATE_CLEAR_SECONDS:
                jackpot.alerts.clear(FOREIGN_STATE_ALERT_ID)

    def _replace_alerts(self, jackpot: JackpotRuntime, now: float) -> None:
        if now - jackpot.alerts_corrected_at >= CORRECTION_INTERVAL_SECONDS:
            for name in sorted(jackpot.foreign_alerts):
                jackpot.alerts_corrected_at = now
                self._connection.retain(jackpot.topic(f"alert/{name}"), jackpot.alerts.body(name))
            jackpot.foreign_alerts.clear()

    def _replace(self, jackpot: JackpotRuntime) -> None:
        jackpot.corrected_at = clock.monotonic()
        jackpot.publish_soon()
        self._status.work.set()

    def _due(self, jackpot: JackpotRuntime) -> float:
        """Return the monotonic time at which the next statement of a jackpot is due."""
        interval = MIN_STATEMENT_INTERVAL_SECONDS if jackpot.changed else self._run.keepalive
        return jackpot.published_at + interval

    def _encode(self, jackpot: JackpotRuntime) -> bytes:
        books = self._status.books
        meter, position = (0, 0) if books is None else (books.meter(jackpot.id), books.position)
        state = self._status.state_of(jackpot.id)
        return encode_state(
            self._run, jackpot.settings, state, meter, position, clock.wall(), self._status.why
        )
