"""A device that says the readings of a script, one line each: a profile for the daemon, and the
lines.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec

from common.readings import Reading

_KINDS = {
    "wheel": "wheel",
    "card": "shoe",
    "shoe": "shoe",
    "dice": "dice",
    "shuffler": "shuffler",
    "slot": "slot",
}
"""The first part of a reading's name -> the kind of device that says it."""


HELLO = b"here\r\n"
"""Its first report, which proves that it is connected."""


def content(given: Reading) -> dict[str, Any]:
    """The fields of a reading, without source and time."""
    told: dict[str, Any] = msgspec.to_builtins(given)
    return {name: value for name, value in told.items() if name not in ("at", "device", "frame")}


def line(said: Sequence[dict[str, Any]], given: Reading) -> str:
    """The bytes that the device sends for a reading."""
    return f"reading {said.index(content(given))}\r\n"


def profile(said: Sequence[dict[str, Any]], usual: str) -> str:
    """A profile of a device that can say these; ``usual``: its kind if it says nothing."""
    kind = next((_KINDS[str(event["type"]).partition(".")[0]] for event in said), usual)
    head = f"""name = "script"
kind = "{kind}"
title = "Readings of a script"
source = "tests/scripts"

[[message]]
name = "here"
match = "here"
"""
    return head + "".join(_message(number, each) for number, each in enumerate(said))


def _message(number: int, said: dict[str, Any]) -> str:
    kind = str(said["type"])
    told = ", ".join(
        f"{name} = {json.dumps('{nothing}' if value is None else value)}"
        for name, value in said.items()
        if name != "type" and (value is not None or name == "card")
    )
    twice = "twice = false\n" if kind in ("wheel.number", "wheel.cell", "dice.read") else ""
    return f"""
[[message]]
name = "reading {number}"
match = "reading {number}"

[[message.say]]
reading = "{kind}"
with = {{ {told} }}
{twice}"""
