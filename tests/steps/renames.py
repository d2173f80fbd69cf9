"""Renames since the recorded commit: the only table of intended differences.

Both functions work on JSON values and return unchanged names that are not listed. A rename can be
deleted from here once no commit before it is compared any more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Fields = dict[str, Any]

COMMANDS: Mapping[str, Mapping[str, str]] = {}
"""By type of command: its field then, and now."""

EVENTS: Mapping[str, Mapping[str, str]] = {}
"""By type of event: its field now, and then."""

IRREGULARITIES: Mapping[str, str] = {}
"""The names of irregularities: now, and then."""

SHOWN: Mapping[str, str] = {}
"""Fields of ``shown`` in the retained state: now, and then."""


def given_now(line: Fields) -> Fields:
    """A recorded input in the words of this checkout."""
    return _renamed(line, COMMANDS.get(line["type"], {}))


def output_then(output: Fields) -> Fields:
    """The output of a table of this checkout in the words of the recorded commit."""
    events, retained = output["events"], output["retained"]
    events = [_irregularity(_renamed(event, EVENTS.get(event["type"], {}))) for event in events]
    state = retained["state"]
    state = {**state, "shown": _renamed(state["shown"], SHOWN)}
    return {**output, "events": events, "retained": {**retained, "state": state}}


def _irregularity(event: Fields) -> Fields:
    if event["type"] != "irregularity":
        return event
    return {**event, "what": IRREGULARITIES.get(event["what"], event["what"])}


def _renamed(fields: Fields, names: Mapping[str, str]) -> Fields:
    return {names.get(name, name): value for name, value in fields.items()}
