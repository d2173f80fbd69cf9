"""What is called otherwise than at the commit that was recorded: the one table that explains every
difference.

Both functions work on JSON values. What was not renamed they give back as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.steps.outcomes import flat

GIVEN: Mapping[str, Mapping[str, str]] = {
    "hand.act": {"stands": "valid"},
    "deal.error": {"stands": "valid"},
}
"""By type of command: field then -> field now."""

TOLD: Mapping[str, Mapping[str, str]] = {
    "hand.decided": {"valid": "stands"},
    "award.qualified": {"valid": "stands"},
}
"""By type of event: field now -> field then."""

SHOWN: Mapping[str, str] = {"to_act": "speaks", "statuses": "stands"}
"""What the retained state shows: field now -> field then."""

WHATS: Mapping[str, str] = {"deal_shown_by_player": "deal_bared"}
"""Irregularities, now -> then."""


def given_now(line: dict[str, Any]) -> dict[str, Any]:
    """An input as it was recorded, in the words of this checkout."""
    return renamed(line, GIVEN.get(line["type"], {}))


def told_then(told: Any) -> Any:
    """What a table of this checkout says, in the words of the recording."""
    told = flat(told)
    events = told["events"]
    if events != "refused":
        events = [event_then(event) for event in events]
    retained = {
        topic: shown_then(body) if topic == "state" else body
        for topic, body in told["retained"].items()
    }
    return {**told, "events": events, "retained": retained}


def event_then(event: dict[str, Any]) -> dict[str, Any]:
    """An event. Of a bet it was said that it does not lie, not that it is withdrawn."""
    event = renamed(event, TOLD.get(event["type"], {}))
    if event["type"] == "bet.placed" and event.pop("withdrawn", False):
        event["lies"] = False
    if event["type"] == "irregularity":
        event["what"] = WHATS.get(event["what"], event["what"])
    return event


def shown_then(state: dict[str, Any]) -> dict[str, Any]:
    """The retained state."""
    return {**state, "shown": renamed(state["shown"], SHOWN)}


def renamed(fields: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The same fields, under these names where they have one here."""
    return {names.get(name, name): value for name, value in fields.items()}
