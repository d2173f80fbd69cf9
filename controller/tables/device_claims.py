"""What the devices at a table claim about themselves: identities, parameters, a log of results."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from common.contract.events import AnyEvent
from common.readings import DeviceIdentity, DeviceParameter, DeviceReport, WheelLog
from controller.tables.facts import TableFacts
from controller.tables.identities import KnownDevice, identity_alert, on_identity
from controller.tables.parameters import change_alert, limit_alert, on_parameter
from controller.tables.saved_state import SavedState
from controller.tables.wheel_logs import log_alert, on_log


class DeviceClaims:
    """The claims of the configured ``devices``; what is known of them is in ``facts``."""

    def __init__(self, facts: TableFacts, devices: Collection[str]) -> None:
        self._facts = facts
        self._devices = devices

    def check(
        self, reading: DeviceIdentity | DeviceReport
    ) -> tuple[KnownDevice | None, list[AnyEvent]]:
        """Return the new state of a device that reports an identity, or None if it is unchanged,
        and the events.
        """
        if reading.device not in self._devices:
            return None, []
        alerted = self._facts.alerts.get(identity_alert(reading.device)) is not None
        return on_identity(reading, self._facts.identities, alerted=alerted)

    def on_identity(self, reading: DeviceIdentity | DeviceReport) -> list[AnyEvent]:
        """Process an identity. At a table with face-down cards only the link's identity counts: a
        report of the device may be about a card.
        """
        known, events = self.check(reading)
        if known is not None:
            self._facts.identities = {**self._facts.identities, reading.device: known}
        return events

    def on_claim(
        self, reading: DeviceReport | DeviceParameter | WheelLog, settled: tuple[int, int]
    ) -> list[AnyEvent]:
        """Process what a device states in its own protocol. ``settled``: the session and its last
        round with an outcome.
        """
        if isinstance(reading, DeviceReport):
            return self.on_identity(reading)
        if reading.device not in self._devices:
            return []
        facts = self._facts
        if isinstance(reading, WheelLog):
            facts.wheel_logs, events = on_log(reading, facts.wheel_logs, facts.alerts, settled)
            return events
        known, events = on_parameter(reading, facts.parameters, facts.alerts)
        if events:
            facts.parameters = {**facts.parameters, reading.device: known}
        return events


def obsolete_alerts(saved: SavedState, facts: TableFacts) -> Iterator[str]:
    """Yield the alerts of devices that are no longer configured."""
    for device in saved.identities.keys() - facts.identities.keys():
        yield identity_alert(device)
    for device in saved.parameters.keys() - facts.parameters.keys():
        yield limit_alert(device)
        yield change_alert(device)
    for device in saved.wheel_logs.keys() - facts.wheel_logs.keys():
        yield log_alert(device)
