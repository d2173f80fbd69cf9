"""The interface of a serving daemon of a pair to the part that holds the lease."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from common.contract.retained import Alert
from common.contract.topics import Topics
from common.device_health import State
from common.log import structlog
from common.people.people_file import PeopleFile
from controller.configuration.settings import Configuration
from controller.mqtt.node_alert import node_alert
from controller.mqtt.publisher import Publisher
from controller.mqtt.served_table import ServedTable

UNREADY_ALERT_ID = "standby-unready"
"""Id of the alert that no other daemon of the pair could take over."""
DIFFERENT_ALERT_ID = "standby-different"
"""Id of the alert that the two machines of a pair differ."""
RETAINED_TOPICS = ("info", "state", "result", "history")
"""Retained topics of a table, besides its alerts."""


class Duty:
    """A daemon that serves, as its :class:`Pair` sees it. ``configuration`` returns the one in
    force; ``changed`` is called when an alert has changed.
    """

    def __init__(
        self,
        *,
        site: str,
        publisher: Publisher,
        places: Mapping[str, ServedTable],
        alerts: dict[str, Alert],
        people: PeopleFile | None,
        configuration: Callable[[], Configuration],
        changed: Callable[[], None],
    ) -> None:
        self.people = people
        """The file of the people in force."""
        self.configuration = configuration
        self._site = site
        self._publisher = publisher
        self._places = places
        self._alerts = alerts
        self._changed = changed
        self._log = structlog.get_logger()

    def connected(self) -> bool:
        """Return True if there is a connection to the broker."""
        return self._publisher.health().connected

    def unanswered(self) -> float:
        """Return the seconds for which the broker has acknowledged none of the pending events."""
        return self._publisher.outbox.unacknowledged_seconds

    def devices(self) -> dict[str, State]:
        """Return the state of each device, by ``table/device``."""
        return {
            f"{table}/{name}": device.health().state
            for table, place in self._places.items()
            for name, device in place.devices.items()
        }

    def hasten(self) -> None:
        """Connect to the broker now."""
        self._publisher.reconnect_now()

    def abandon(self, tables: Mapping[str, bool]) -> None:
        """Clear the retained topics of tables that only the other daemon of the pair has: they are
        not served now.
        """
        for table, simulated in tables.items():
            topics = Topics(self._site, simulated)
            self._publisher.abandon(table, [topics.table(table, leaf) for leaf in RETAINED_TOPICS])
        self._log.error("tables of the other daemon are served by nobody", tables=sorted(tables))

    def differ(self, message: str | None) -> None:
        """Raise or clear the alert that the two machines of the pair differ."""
        if message is None:
            self._alerts.pop(DIFFERENT_ALERT_ID, None)
            self._log.info("the two machines are alike")
        else:
            self._alerts[DIFFERENT_ALERT_ID] = node_alert(
                DIFFERENT_ALERT_ID,
                "standby.different",
                f"the two machines of the pair differ: {message}. Make them the same",
                "warning",
            )
            self._log.warning("the two machines differ", what=message, alert=DIFFERENT_ALERT_ID)
        self._changed()

    def alert(self, why: str | None) -> None:
        """Raise or clear the alert that the other daemon could not take over."""
        if why is None:
            self._alerts.pop(UNREADY_ALERT_ID, None)
            self._log.info("another daemon could take the tables over")
        else:
            message = f"{why}. If this daemon ends, the tables are not served until that is fixed"
            self._alerts[UNREADY_ALERT_ID] = node_alert(
                UNREADY_ALERT_ID, "standby.unready", message, "warning"
            )
            self._log.warning(
                "no other daemon could take the tables over", reason=why, alert=UNREADY_ALERT_ID
            )
        self._changed()
