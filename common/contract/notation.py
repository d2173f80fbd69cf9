"""The notation of inputs and events: one JSON object per line, as in scripts of ``novamas play``
and in the journal.
"""

from __future__ import annotations

import difflib
from functools import cache

import msgspec

from common.contract.commands import (
    COMMANDS,
    AnyCommand,
    Command,
    CommandRefused,
    DeviceCommand,
)
from common.contract.events import AnyEvent
from common.contract.json_bodies import read_body
from common.plain_errors import NESTED_TOO_DEEPLY, describe
from common.readings import READINGS, AnyReading, Reading

Input = AnyReading | AnyCommand

_KINDS: tuple[type[Reading | Command], ...] = (
    *READINGS,
    *COMMANDS,
    DeviceCommand,
    CommandRefused,
)
KINDS = {str(kind.__struct_config__.tag): kind for kind in _KINDS}
"""The type of a line by its ``type``."""

_encoder = msgspec.json.Encoder()


@cache
def _inputs() -> msgspec.json.Decoder[Input]:
    """Build the decoder on first use: this is slow for a union of this size, and the daemon does
    not need it.
    """
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
        raise ValueError(NESTED_TOO_DEEPLY) from None
    except msgspec.ValidationError as error:
        body = read_body(line, object)
        name = str(body.get("type")) if isinstance(body, dict) else ""
        if name in KINDS:
            raise msgspec.ValidationError(describe(error, KINDS[name])) from None
        near = difflib.get_close_matches(name, KINDS, n=1)
        raise msgspec.ValidationError(
            f"{describe(error)}{f'; did you mean {near[0]}?' if near else ''}"
        ) from None


def read_event(line: bytes | str) -> AnyEvent:
    """Read one event. Raises ``ValueError`` that names the field and what is wrong."""
    try:
        return _events().decode(line)
    except RecursionError:
        raise ValueError(NESTED_TOO_DEEPLY) from None


def mark_historical(line: bytes) -> bytes:
    """Return the line of an event marked as historical. All else is kept as written, even by
    another release. Raises ``ValueError`` if it is not a JSON object.
    """
    fields = read_body(line, dict[str, msgspec.Raw])
    return msgspec.json.encode({**fields, "historical": True})


def write(message: Input | AnyEvent) -> bytes:
    """Write a reading, command or event as a line, without the line end."""
    return _encoder.encode(message)
