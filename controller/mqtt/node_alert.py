"""Makes the alerts that concern every table of the node."""

from __future__ import annotations

from typing import Literal

from common import clock
from common.contract.retained import Alert
from common.contract.times import format_utc


def node_alert(
    alert: str, what: str, detail: str, severity: Literal["warning", "fault"] = "fault"
) -> Alert:
    """Return an alert that is raised now."""
    return Alert(
        alert=alert, what=what, severity=severity, raised=format_utc(clock.wall()), detail=detail
    )
