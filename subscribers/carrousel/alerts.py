"""Alerts that stay open until a person clears them, as part of the ledger's state: raise,
acknowledge, clear.
"""

from __future__ import annotations

from msgspec.structs import replace

from common.contract.jackpot import JackpotAlertAcknowledge, JackpotAlertClear
from common.contract.retained import Alert
from subscribers.carrousel.facts import AlertRecorded
from subscribers.carrousel.ledger_state import JackpotLedgerState, OrderRefusedError


def raise_alert(state: JackpotLedgerState, fact: AlertRecorded) -> JackpotLedgerState:
    """Return the state with a new alert, or with an existing one open again."""
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
    """Return the state with an alert acknowledged by a person. Raises
    :class:`OrderRefusedError`.
    """
    alert = _find_alert(state, order.alert)
    if alert.acknowledged_by is not None:
        raise OrderRefusedError(
            "acknowledged_already",
            alert=order.alert,
            by=alert.acknowledged_by,
            at=alert.acknowledged or "",
        )
    acknowledged = replace(
        alert, acknowledged_by=order.by, acknowledged_role=order.role, acknowledged=time
    )
    return replace(state, alerts={**state.alerts, order.alert: acknowledged})


def clear_alert(state: JackpotLedgerState, order: JackpotAlertClear) -> JackpotLedgerState:
    """Return the state without an alert that a person cleared. Raises
    :class:`OrderRefusedError`.
    """
    _find_alert(state, order.alert)
    others = {name: alert for name, alert in state.alerts.items() if name != order.alert}
    return replace(state, alerts=others)


def _find_alert(state: JackpotLedgerState, name: str) -> Alert:
    alert = state.alerts.get(name)
    if alert is None:
        raise OrderRefusedError("alert_not_kept", alert=name, alerts=tuple(state.alerts))
    return alert
