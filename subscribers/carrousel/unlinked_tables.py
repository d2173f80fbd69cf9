"""Reports tables that play for one of the jackpots although no authorisation names them, and their
stakes and awards, which are never recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from common.contract.topics import Topics
from subscribers.carrousel.alerting import AlertReporter
from subscribers.carrousel.runtime import JackpotRuntime
from subscribers.carrousel.status import ControllerStatus
from subscribers.carrousel.table_feed import Routes
from subscribers.carrousel.unlinked import describe_stake_or_award, jackpot_in_info
from subscribers.feed.connection import ServiceConnection


class UnlinkedTables:
    """``routes``: where the handlers of their events are added."""

    def __init__(
        self,
        *,
        site: str,
        status: ControllerStatus,
        jackpots: Mapping[str, JackpotRuntime],
        alerts: AlertReporter,
        connection: ServiceConnection,
        routes: Routes,
    ) -> None:
        self._site, self._status, self._jackpots = site, status, jackpots
        self._alerts, self._connection, self._routes = alerts, connection, routes
        self._claims: dict[tuple[bool, str], JackpotRuntime | None] = {}
        """By whether a table is simulated, and its name: the jackpot that it claims to play for."""

    def on_info(self, simulated: bool, name: str, body: bytes) -> None:
        """Handle the info of a table that no authorisation names."""
        jackpot = self._jackpots.get(jackpot_in_info(body) or "")
        if jackpot is not None and jackpot.settings.simulated != simulated:
            jackpot = None
        before = self._claims.get((simulated, name))
        if before is jackpot:
            return
        alert = f"{name}-not-authorised"
        if before is not None:
            before.alerts.clear(alert)
        self._claims[simulated, name] = jackpot
        topic = Topics(self._site, simulated).table(name, "event")
        if jackpot is None:
            self._routes.pop(topic, None)
        else:
            self._routes[topic] = partial(self._on_event, jackpot, name)
            self._connection.listen(topic)
            detail = (
                f"{name} plays for this jackpot, but no authorisation names it. Its stakes do not "
                "count: give them back, and correct its configuration or this one"
            )
            self._alerts.report(jackpot, alert, "not_authorised", detail)
        self._status.work.set()

    def _on_event(self, jackpot: JackpotRuntime, name: str, body: bytes) -> None:
        event = describe_stake_or_award(body)
        if event is not None:
            detail = f"{name}: {event}: the table is not authorised"
            self._alerts.report(jackpot, f"{name}-refused", "refused", detail)
            self._status.work.set()
