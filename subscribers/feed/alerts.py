"""A service's open alerts, each retained on a topic ``alert/<id>``. Pure: the caller publishes."""

from __future__ import annotations

import msgspec

from common.contract.retained import Alert


class OpenAlerts:
    """``open``: by id. ``changed``: ids whose topic must be published again."""

    def __init__(self) -> None:
        self.open: dict[str, Alert] = {}
        self.changed: set[str] = set()

    def put(self, alert: Alert) -> None:
        """Raise an alert, or replace it."""
        self.open[alert.alert] = alert
        self.changed.add(alert.alert)

    def clear(self, name: str) -> bool:
        """Close an alert. Return whether it was open."""
        was_open = self.open.pop(name, None) is not None
        if was_open:
            self.changed.add(name)
        return was_open

    def body(self, name: str) -> bytes:
        """Return the retained body of an alert's topic; empty if it is not open."""
        alert = self.open.get(name)
        return b"" if alert is None else msgspec.json.encode(alert)

    def take_changed(self) -> set[str]:
        """Return the ids to publish, and forget them."""
        changed, self.changed = self.changed, set()
        return changed
