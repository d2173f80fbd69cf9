"""Keeps the people in force up to date with the people file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from common import clock
from common.chain.schema import JournalFullError, JournalUnusableError
from common.contract.node import PeopleHealth
from common.contract.retained import Alert
from common.contract.times import format_utc
from common.log import structlog
from common.people.people_file import PeopleFile, PeopleInForce
from controller.configuration.settings import Configuration
from controller.journal.setup import PeopleSetup
from controller.mqtt.node_alert import node_alert
from controller.mqtt.outgoing import OutgoingMessage
from controller.mqtt.served_table import ServedTable
from controller.mqtt.tables_api import TablesApi
from controller.proof.journal_upkeep import JournalUpkeep

READ_INTERVAL_SECONDS = 1.0
"""Seconds between two looks at the file."""
PEOPLE_ALERT_ID = "people"
"""Id of the alert for a rejected people file."""


class PeopleWatch:
    """Applies changes of the people ``file``, and reports commands that got no second signature in
    time.

    ``offered`` returns the people file of the other daemon of a pair if it is newer; ``changed`` is
    called when an alert has changed, ``health_due`` when the health has.
    """

    def __init__(
        self,
        *,
        configuration: Configuration,
        file: PeopleFile | None,
        api: TablesApi,
        places: Mapping[str, ServedTable],
        upkeep: JournalUpkeep,
        alerts: dict[str, Alert],
        offered: Callable[[PeopleFile], PeopleInForce | None],
        changed: Callable[[], None],
        health_due: Callable[[], None],
    ) -> None:
        self._configuration = configuration
        self._file = file
        self._api = api
        self._places = places
        self._upkeep = upkeep
        self._alerts = alerts
        self._offered = offered
        self._changed = changed
        self._health_due = health_due
        self._health: PeopleHealth | None = None
        self._log = structlog.get_logger()

    async def run(self, file: PeopleFile, send: Callable[[list[OutgoingMessage]], None]) -> None:
        """Look at the file once a second, until cancelled. ``send`` publishes messages now."""
        while True:
            await clock.sleep(READ_INTERVAL_SECONDS)
            newer = await asyncio.to_thread(file.read_newer) or self._offered(file)
            if newer is not None:
                self._apply(file, newer)
            self.report()
            send(self._api.commands.expired_replies(clock.wall()))

    def _apply(self, file: PeopleFile, newer: PeopleInForce) -> None:
        """Put a people file in force, after it is stored in the journal."""
        try:
            self._upkeep.record_people(_setup(self._configuration, newer))
        except (JournalFullError, JournalUnusableError) as error:
            self._log.error("people cannot be taken over yet", reason=str(error))
            return
        file.put_in_force(newer)
        for place in self._places.values():
            if place.gate is not None:
                place.gate.people = newer.people
        self._log.info("people taken over", number=newer.people.head.number, sha256=newer.sha256)

    def health(self) -> PeopleHealth | None:
        """Return the part of the retained ``health`` about the people in force; None if commands
        need no signature.
        """
        return self._health

    def report(self) -> None:
        """Report the people file in force, and raise or clear the alert of a rejected file."""
        file, before = self._file, self._health
        if file is None:
            return
        in_force = file.in_force
        since = (
            before.since
            if before and before.sha256 == in_force.sha256
            else format_utc(clock.wall())
        )
        health = PeopleHealth(
            number=in_force.people.head.number,
            sha256=in_force.sha256,
            since=since,
            persons=sum(person.revoked is None for person in in_force.people.persons),
            trouble=file.trouble,
        )
        if health == before:
            return
        self._health = health
        self._health_due()
        if file.trouble is None:
            self._alerts.pop(PEOPLE_ALERT_ID, None)
        else:
            message = f"{file.trouble}. Number {health.number} remains in force"
            self._alerts[PEOPLE_ALERT_ID] = node_alert(PEOPLE_ALERT_ID, "people.refused", message)
            self._log.error("people file refused", reason=file.trouble, alert=PEOPLE_ALERT_ID)
        self._changed()


def adopt_offered(
    file: PeopleFile | None, offered: Callable[[PeopleFile], PeopleInForce | None]
) -> None:
    """Start with the people file of the other daemon of a pair if it is newer."""
    if file is not None and (newer := offered(file)) is not None:
        file.put_in_force(newer)
        structlog.get_logger().warning(
            "people file of the other daemon", number=newer.people.head.number
        )


def people_setup(configuration: Configuration, file: PeopleFile | None) -> PeopleSetup | None:
    """Return the journal's record of who may act; None if anyone may."""
    if file is not None:
        return _setup(configuration, file.in_force)
    people = configuration.people
    return None if people is None else PeopleSetup(required=people.required)


def _setup(configuration: Configuration, in_force: PeopleInForce) -> PeopleSetup:
    """Return the journal's record of the people file in force."""
    people = configuration.people
    assert people is not None
    return PeopleSetup(
        file=in_force.text,
        key=people.key,
        required=people.required,
        two_persons=people.two_persons,
        may=people.may,
    )
