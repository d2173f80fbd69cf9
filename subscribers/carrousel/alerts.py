"""Alerts that stand until a person clears them: raised, acknowledged and cleared, as the ledger has
them.
"""

from __future__ import annotations

from msgspec.structs import replace

from controller.contract.jackpot import JackpotAlertAcknowledge, JackpotAlertClear
from controller.contract.retained import Alert
from subscribers.carrousel.facts import Alerted
from subscribers.carrousel.ledger_state import JackpotLedgerState, RefusedError


def alerted(state: JackpotLedgerState, fact: Alerted) -> JackpotLedgerState:
    """With an alert that was raised, or that is open anew."""
    alert = Alert(
        alert=fact.alert,
        what=f"jackpot.{fact.what}",
        severity="fault" if fact.fault else "warning",
        raised=fact.time,
        detail=fact.detail,
    )
    return replace(state, alerts={**state.alerts, fact.alert: alert})


def acknowledged(
    state: JackpotLedgerState, order: JackpotAlertAcknowledge, time: str
) -> JackpotLedgerState:
    """With an alert that a person has seen. Raises :class:`RefusedError`."""
    alert = _standing(state, order.alert)
    if alert.acknowledged_by is not None:
        raise RefusedError(
            "acknowledged_already",
            alert=order.alert,
            by=alert.acknowledged_by,
            at=alert.acknowledged or "",
        )
    seen = replace(alert, acknowledged_by=order.by, acknowledged_role=order.role, acknowledged=time)
    return replace(state, alerts={**state.alerts, order.alert: seen})


def cleared(state: JackpotLedgerState, order: JackpotAlertClear) -> JackpotLedgerState:
    """Without an alert that a person says is settled. Raises :class:`RefusedError`."""
    _standing(state, order.alert)
    left = {name: alert for name, alert in state.alerts.items() if name != order.alert}
    return replace(state, alerts=left)


def _standing(state: JackpotLedgerState, name: str) -> Alert:
    found = state.alerts.get(name)
    if found is None:
        raise RefusedError("alert_not_kept", alert=name, alerts=tuple(state.alerts))
    return found
