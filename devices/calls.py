"""What a watch was told, call by call: enough to come to the same readings again.

The supervisor tells its watch nothing but these calls, and hands each on to whoever keeps them. An
empty arrival, a silence, is kept only if something was due: all others change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from devices.readings import AnyReading, escape, unescape
from devices.watch import CodecDefectError, Watch

Step = Callable[[], list[AnyReading]]


class Call(msgspec.Struct, frozen=True, array_like=True):
    """The base of all calls; in JSON an array: ``["lost", 12.5, "unplugged"]``. ``at``: the
    device's clock, in seconds.
    """

    at: float


class Opened(Call, frozen=True, array_like=True, tag="opened"):
    """The link was opened."""


class Heard(Call, frozen=True, array_like=True):
    """Bytes arrived, or none: a silence in which something may be due."""

    data: bytes


class Lost(Call, frozen=True, array_like=True, tag="lost"):
    """The link was closed, or could not be opened."""

    reason: str


class Missed(Call, frozen=True, array_like=True, tag="missed"):
    """Calls with so many bytes were not kept: what follows cannot be derived until the device
    begins anew.
    """

    bytes: int


AnyCall = Opened | Heard | Lost | Missed


class _Written(Call, frozen=True, array_like=True, tag="heard"):
    """:class:`Heard` as it is stored: its bytes as :func:`devices.readings.escape` writes them."""

    data: str


class _Calls(msgspec.Struct, frozen=True):
    device: str
    calls: list[Opened | _Written | Lost | Missed]


def write_calls(device: str, calls: Sequence[AnyCall]) -> bytes:
    """The body of a ``bytes`` entry of the journal: the calls to one device's watch since the entry
    before.
    """
    written = [
        _Written(call.at, escape(call.data)) if isinstance(call, Heard) else call for call in calls
    ]
    return msgspec.json.encode(_Calls(device, written))


def read_calls(body: bytes) -> tuple[str, list[AnyCall]]:
    """Device and calls of a ``bytes`` entry. Raises ``msgspec.ValidationError`` and
    ``msgspec.DecodeError``.
    """
    read = msgspec.json.decode(body, type=_Calls)
    return read.device, [
        Heard(call.at, unescape(call.data)) if isinstance(call, _Written) else call
        for call in read.calls
    ]


def matters(watch: Watch, call: AnyCall) -> bool:
    """Whether the call can change anything: all do, but a silence in which nothing is due."""
    if not isinstance(call, Heard) or call.data:
        return True
    deadline = watch.deadline
    return deadline is not None and deadline <= call.at


def steps(watch: Watch, call: AnyCall) -> tuple[Step, ...]:
    """What a call does to a watch, in steps: what one of them breaks does not keep back
    the next.
    """
    match call:
        case Opened():
            return (partial(watch.opened, call.at),)
        case Heard():
            return partial(watch.tick, call.at), partial(watch.hear, call.data, call.at)
        case Lost():
            return partial(watch.tick, call.at), partial(watch.lost, call.at, call.reason)
    return ()


def readings(watch: Watch, call: AnyCall) -> list[AnyReading]:
    """What the watch says to a call, defects of its codec left out."""
    said: list[AnyReading] = []
    for step in steps(watch, call):
        try:
            said += step()
        except CodecDefectError as defect:
            said += defect.readings
    return said
