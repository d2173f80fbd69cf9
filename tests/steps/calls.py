"""What a table said when nobody was called to a round without a result: all that it says now, but
for that alert, the number that its events take, and the word ``waiting`` for it.
"""

from __future__ import annotations

from typing import Any

from controller.tables.table import UNRESOLVED

Fields = dict[str, Any]


def unseen(alert: Fields | None) -> bool:
    """Whether it is open, and nobody has acknowledged it."""
    return alert is not None and "acknowledged" not in alert


class Uncalled:
    """One run, step by step."""

    def __init__(self) -> None:
        self._left: list[int] = []
        """The numbers of the events that were left out."""

    def then(self, told: Fields) -> Fields:
        """What was said to one input."""
        events = told["events"]
        if events != "refused":
            self._left += [each["seq"] for each in events if each.get("alert") == UNRESOLVED]
            events = [self._numbered(each) for each in events if each.get("alert") != UNRESOLVED]
        retained = {k: v for k, v in told["retained"].items() if k != f"alert/{UNRESOLVED}"}
        retained["state"] = self._state(retained["state"])
        if not any(unseen(body) for topic, body in retained.items() if topic.startswith("alert/")):
            takes = retained["state"].get("takes", [])
            retained["state"]["takes"] = [each for each in takes if each != "alert.acknowledge"]
        if retained["result"] is not None:
            retained["result"] = self._numbered(retained["result"])
        return {**told, "events": events, "retained": retained}

    def _state(self, state: Fields) -> Fields:
        alerts, status, shown = state["alerts"], state["status"], state["shown"]
        if UNRESOLVED in alerts and status == "waiting" and not shown["asks"]:
            status = "closed" if shown["phase"] == "closed" else "open"
        alerts = [each for each in alerts if each != UNRESOLVED]
        return self._numbered({**state, "alerts": alerts, "status": status})

    def _numbered(self, fields: Fields) -> Fields:
        """With the numbers that events had without those that were left out."""
        numbers = {
            name: fields[name] - sum(left <= fields[name] for left in self._left)
            for name in ("seq", "replaces")
            if isinstance(fields.get(name), int)
        }
        return {**fields, **numbers}
