"""Alerts of a table: those that a person has seen, and the one for unresolved rounds."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from common.contract.commands import AlertAcknowledge, DeviceService, Role
from common.contract.events import AlertAcknowledged, AlertCleared, AlertRaised, AnyEvent
from common.contract.refusals import RejectedError
from common.contract.retained import Alert
from common.contract.shown import AnyShown
from controller.tables import parameters, wheel_logs
from controller.tables.identities import identity_alert
from controller.tables.topics import UNRESOLVED_ALERT_ID
from controller.tables.witness_memory import WITNESS_DISAGREES, WITNESS_SILENT


def acknowledge(
    command: AlertAcknowledge, alerts: Mapping[str, Alert | None]
) -> Iterable[AnyEvent]:
    """Yield the event of a person who has seen an alert. One that nothing else settles if all is
    right ends with it. Raises :class:`RejectedError`.
    """
    alert = alerts.get(command.alert)
    if alert is None:
        named = tuple(alert for alert, open_ in alerts.items() if open_)
        if not named:
            raise RejectedError("alerts_none", alert=command.alert)
        raise RejectedError("alert_unknown", alert=command.alert, alerts=named)
    if alert.acknowledged_by is not None:
        raise RejectedError(
            "acknowledged_already",
            alert=command.alert,
            by=alert.acknowledged_by,
            at=alert.acknowledged or "",
        )
    yield AlertAcknowledged(alert=command.alert, by=command.by, role=command.role)
    if alert.what == WITNESS_DISAGREES:
        yield AlertCleared(alert=command.alert)


def former_witness_alerts(
    alerts: Mapping[str, Alert | None], witnesses: Collection[str]
) -> Iterable[str]:
    """Yield the ids of the alerts of devices that are no witnesses any more."""
    for id_, alert in alerts.items():
        whats = (WITNESS_DISAGREES, WITNESS_SILENT)
        if alert is not None and alert.what in whats and alert.device not in witnesses:
            yield id_


def settled_by_service(
    command: DeviceService, alerts: Mapping[str, Alert | None]
) -> Iterable[AnyEvent]:
    """Clear the alerts that work on a device settles: about changed parameters, about the log
    of a wheel, and about the identity of a device that was replaced.
    """
    yield from parameters.cleared_by_service(command.device, alerts)
    yield from wheel_logs.cleared_by_service(command.device, alerts)
    alert = identity_alert(command.device)
    if command.work == "replaced" and alerts.get(alert) is not None:
        yield AlertCleared(alert=alert)


def unresolved_alert(
    shown: AnyShown, alerts: Mapping[str, Alert | None], settled_by: Mapping[str, tuple[Role, ...]]
) -> Iterable[AnyEvent]:
    """Raise or clear the alert for rounds that have no result but may still get one."""
    rounds = shown.unresolved
    called = alerts.get(UNRESOLVED_ALERT_ID)
    if rounds == (called.rounds if called else ()):
        return
    if rounds:
        yield AlertRaised(
            session=shown.session,
            alert=UNRESOLVED_ALERT_ID,
            what="round.unresolved",
            severity="warning",
            rounds=rounds,
            settled_by=settled_by,
        )
    else:
        yield AlertCleared(session=shown.session, alert=UNRESOLVED_ALERT_ID)
