"""Alerts that stand until a person clears them: raised, acknowledged and cleared, as the ledger has
them.
"""

from __future__ import annotations

from msgspec.structs import replace

from controller.contract.jackpot import JackpotAlertAcknowledge, JackpotAlertClear
from controller.contract.retained import Alert
from subscribers.carrousel.facts import AlertRaised
from subscribers.carrousel.ledger_state import JackpotLedgerState, OrderRefusedError


def raise_alert(state: JackpotLedgerState, fact: AlertRaised) -> JackpotLedgerState:
    """With an alert that was raised, or that is open anew."""
    alert = Alert(
        alert=fact.alert,
        what=f"jackpot.{fact.what}",
        severity="fault" if fact.fault else "warning",
        raised=fact.time,
        detail=fact.detail,
    )
    return replace(state, alerts={**state.alerts, fact.alert: alert})


def acknowledge_alert(
    state: JackpotLedgerState, order: JackpotAlertAcknowledge, time: str
) -> JackpotLedgerState:
    """With an alert that a person has seen. Raises :class:`OrderRefusedError`."""
    alert = _find_alert(state, order.alert)
    if alert.acknowledged_by is not None:
        raise OrderRefusedError(
            "acknowledged_already",
            alert=order.alert,
            by=alert.acknowledged_by,
            at=alert.acknowledged or "",
        )
    seen = replace(alert, acknowledged_by=order.by, acknowledged_role=order.role, acknowledged=time)
    return replace(state, alerts={**state.alerts, order.alert: seen})


def clear_alert(state: JackpotLedgerState, order: JackpotAlertClear) -> JackpotLedgerState:
    """Without an alert that a person says is settled. Raises :class:`OrderRefusedError`."""
    _find_alert(state, order.alert)
    left = {name: alert for name, alert in state.alerts.items() if name != order.alert}
    return replace(state, alerts=left)


def _find_alert(state: JackpotLedgerState, name: str) -> Alert:
    found = state.alerts.get(name)
    if found is None:
        raise OrderRefusedError("alert_not_kept", alert=name, alerts=tuple(state.alerts))
    return found
