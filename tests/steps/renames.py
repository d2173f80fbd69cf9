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

LINKED = {"shown": ("jackpot_standing",), "settings": ("out_of_play",), "about": ("jackpot",)}
"""What is told of the jackpot that a table may be linked with, and was not then. None of these
tables is.
"""

WITH_FRAMES = frozenset({"roulette-french", "roulette-american", "boule", "fortune-wheel", "craps"})
"""Games of a wheel or of dice."""


def given_now(line: dict[str, Any]) -> dict[str, Any]:
    """An input as it was recorded, in the words of this checkout."""
    return renamed(line, GIVEN.get(line["type"], {}))


def told_then(told: Any) -> Any:
    """What a table of this checkout says, in the words of the recording."""
    told = without_evidence(flat(told))
    events = told["events"]
    if events != "refused":
        events = [event_then(event) for event in events]
    retained = {
        topic: shown_then(body)
        if topic == "state"
        else shoe_then(body)
        if topic == "shoe"
        else {**body, "about": unlinked("about", body["about"])}
        if topic == "info"
        else body
        for topic, body in told["retained"].items()
    }
    return {**told, "events": events, "retained": retained}


def without_evidence(told: dict[str, Any]) -> dict[str, Any]:
    """Without the evidence of dealt cards: it was their frames, and is the numbers of readings."""
    if told["retained"]["state"]["game"] in WITH_FRAMES:
        return told
    retained, events = told["retained"], told["events"]
    if retained["result"] is not None:
        retained = {**retained, "result": unproved(retained["result"])}
    if events != "refused":
        events = [unproved(event) for event in events]
    return {**told, "events": events, "retained": retained}


def unproved(event: dict[str, Any]) -> dict[str, Any]:
    """An event without its evidence."""
    if event["type"] == "data.late":
        return event  # it counts frames
    return {name: value for name, value in event.items() if name not in ("frames", "readings")}


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
    shown = renamed(unlinked("shown", state["shown"]), SHOWN)
    shown["settings"] = unlinked("settings", shown["settings"])
    return {**state, "shown": shoe_then(shown) if "shoe" in shown else shown}


def unlinked(part: str, told: dict[str, Any]) -> dict[str, Any]:
    """This part of what is told, without what is of a jackpot."""
    return {name: value for name, value in told.items() if name not in LINKED[part]}


def shoe_then(told: dict[str, Any]) -> dict[str, Any]:
    """What was told of a shoe: not yet from which round on it is dealt."""
    counts = told["shoe"] and {
        name: value for name, value in told["shoe"].items() if name != "first_round"
    }
    return {**told, "shoe": counts}


def renamed(fields: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The same fields, under these names where they have one here."""
    return {names.get(name, name): value for name, value in fields.items()}
