"""The calls made to a watch, as data. Replaying them gives the same readings again.

The supervisor changes its watch through these calls only, and passes each one on to be stored. An
empty arrival (silence) is stored only if something was due; otherwise it changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from devices.readings import AnyReading, escape, unescape
from devices.watch import CodecDefectError, Watch

Step = Callable[[], list[AnyReading]]


class Call(msgspec.Struct, frozen=True, array_like=True):
    """Base of all calls. In JSON an array: ``["lost", 12.5, "unplugged"]``. ``at`` is seconds on
    the device's clock.
    """

    at: float


class Opened(Call, frozen=True, array_like=True, tag="opened"):
    """The link was opened."""


class Heard(Call, frozen=True, array_like=True):
    """Bytes arrived. Empty: a silence after which something may be due."""

    data: bytes


class Lost(Call, frozen=True, array_like=True, tag="lost"):
    """The link was closed, or could not be opened."""

    reason: str


class Missed(Call, frozen=True, array_like=True, tag="missed"):
    """Calls with this many bytes were not stored. Readings cannot be derived again until the device
    starts anew.
    """

    bytes: int


AnyCall = Opened | Heard | Lost | Missed


class _Written(Call, frozen=True, array_like=True, tag="heard"):
    """:class:`Heard` as stored: the bytes are written by :func:`devices.readings.escape`."""

    data: str


class _Calls(msgspec.Struct, frozen=True):
    device: str
    calls: list[Opened | _Written | Lost | Missed]


def write_calls(device: str, calls: Sequence[AnyCall]) -> bytes:
    """Encode the body of a ``bytes`` entry of the journal: the calls to one device's watch since
    the last entry.
    """
    written = [
        _Written(call.at, escape(call.data)) if isinstance(call, Heard) else call for call in calls
    ]
    return msgspec.json.encode(_Calls(device, written))


def read_calls(body: bytes) -> tuple[str, list[AnyCall]]:
    """Decode a ``bytes`` entry into device and calls. Raises ``msgspec.ValidationError`` or
    ``msgspec.DecodeError``.
    """
    read = msgspec.json.decode(body, type=_Calls)
    return read.device, [
        Heard(call.at, unescape(call.data)) if isinstance(call, _Written) else call
        for call in read.calls
    ]


def matters(watch: Watch, call: AnyCall) -> bool:
    """Whether the call can change anything. Only a silence in which nothing is due cannot."""
    if not isinstance(call, Heard) or call.data:
        return True
    deadline = watch.deadline
    return deadline is not None and deadline <= call.at


def steps(watch: Watch, call: AnyCall) -> tuple[Step, ...]:
    """The steps of one call. If one step raises, the next must still be taken."""
    match call:
        case Opened():
            return (partial(watch.opened, call.at),)
        case Heard():
            return partial(watch.tick, call.at), partial(watch.hear, call.data, call.at)
        case Lost():
            return partial(watch.tick, call.at), partial(watch.lost, call.at, call.reason)
    return ()


def readings(watch: Watch, call: AnyCall) -> list[AnyReading]:
    """The readings that a call produces. Defects of the codec are left out."""
    produced: list[AnyReading] = []
    for step in steps(watch, call):
        try:
            produced += step()
        except CodecDefectError as defect:
            produced += defect.readings
    return produced
