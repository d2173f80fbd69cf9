"""The notation of inputs and events: one JSON object on a line. ``novamas play`` reads it and the
journal stores it.
"""

from __future__ import annotations

import difflib
from functools import cache

import msgspec

from controller.contract.commands import (
    COMMANDS,
    AnyCommand,
    Command,
    CommandRefused,
    DeviceCommand,
)
from controller.contract.events import AnyEvent
from controller.contract.json_bodies import ENDLESS, read_body
from devices.readings import READINGS, AnyReading, Reading
from devices.sections import explain_validation_error

Input = AnyReading | AnyCommand

_KINDS: tuple[type[Reading | Command], ...] = (
    *READINGS,
    *COMMANDS,
    DeviceCommand,
    CommandRefused,
)
KINDS = {str(kind.__struct_config__.tag): kind for kind in _KINDS}
"""The types of a line, by the value of ``type``."""

_encoder = msgspec.json.Encoder()


@cache
def _inputs() -> msgspec.json.Decoder[Input]:
    """Made when first used: of all these types it takes long, and the daemon reads none."""
    return msgspec.json.Decoder(Input)


@cache
def _events() -> msgspec.json.Decoder[AnyEvent]:
    return msgspec.json.Decoder(AnyEvent)


def read_input(line: bytes | str) -> Input:
    """Read one reading or command. Raises ``ValueError`` that names the field, what is wrong
    with it and what it expects.
    """
    try:
        return _inputs().decode(line)
    except RecursionError:
        raise ValueError(ENDLESS) from None
    except msgspec.ValidationError as error:
        given = read_body(line, object)
        name = str(given.get("type")) if isinstance(given, dict) else ""
        if name in KINDS:
            raise msgspec.ValidationError(explain_validation_error(error, KINDS[name])) from None
        near = difflib.get_close_matches(name, KINDS, n=1)
        raise msgspec.ValidationError(
            f"{error}{f'; did you mean {near[0]}?' if near else ''}"
        ) from None


def read_event(line: bytes | str) -> AnyEvent:
    """Read one event. Raises ``ValueError`` that names the field and what is wrong."""
    try:
        return _events().decode(line)
    except RecursionError:
        raise ValueError(ENDLESS) from None


def historical(line: bytes) -> bytes:
    """The line of an event that is told again, marked so. All else stays as it was written, also by
    another release. Raises ``ValueError`` where it is no JSON object.
    """
    fields = read_body(line, dict[str, msgspec.Raw])
    return msgspec.json.encode({**fields, "historical": True})


def write(message: Input | AnyEvent) -> bytes:
    """Write a reading, command or event as a line, without the line end."""
    return _encoder.encode(message)
