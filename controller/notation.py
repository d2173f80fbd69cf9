"""The one notation for inputs and events: a JSON object on a line.

``novamas play`` reads it, the journal stores it, tests are written in it.
"""

from __future__ import annotations

import msgspec

from controller.commands import AnyCommand
from controller.events import AnyEvent
from devices.readings import AnyReading

Input = AnyReading | AnyCommand

_inputs: msgspec.json.Decoder[Input] = msgspec.json.Decoder(Input)
_events: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)
_encoder = msgspec.json.Encoder()


def read_input(line: bytes | str) -> Input:
    """One reading or command. Raises ``ValueError`` that says what is wrong and at which field."""
    return _inputs.decode(line)


def read_event(line: bytes | str) -> AnyEvent:
    """One event. Raises ``ValueError`` that says what is wrong and at which field."""
    return _events.decode(line)


def write(message: Input | AnyEvent) -> bytes:
    """The line of a reading, command or event, without its line end."""
    return _encoder.encode(message)
