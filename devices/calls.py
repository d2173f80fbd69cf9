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


class Opened(Call, frozen=True, array_like=True):
    """The link was opened. ``kept``: what arrives first may have been kept for any time, as on
    every real link; older releases did not judge so, and their journals do not say so.
    """

    kept: bool = False


class Heard(Call, frozen=True, array_like=True):
    """Bytes arrived. Empty: a silence after which something may be due.

    ``since``: set if we were not scheduled for a while: they may have arrived at any time from then
    to ``at``, and lay unread. ``kept``: they may have lain unread for too long to be live.
    """

    data: bytes
    since: float | None = None
    kept: bool = False


class Lost(Call, frozen=True, array_like=True, tag="lost"):
    """The link was closed, or could not be opened."""

    reason: str


class Missed(Call, frozen=True, array_like=True, tag="missed"):
    """Calls with this many bytes were not stored. Readings cannot be derived again until the device
    starts anew.
    """

    bytes: int


AnyCall = Opened | Heard | Lost | Missed


class _Opened(Call, frozen=True, array_like=True, tag="opened"):
    """:class:`Opened` as stored by older releases, without ``kept``."""


class _Connected(Call, frozen=True, array_like=True, tag="connected"):
    """:class:`Opened` with ``kept``, as stored."""


class _Written(Call, frozen=True, array_like=True, tag="heard"):
    """:class:`Heard` as stored: the bytes are written by :func:`devices.readings.escape`."""

    data: str


class _Delayed(Call, frozen=True, array_like=True, tag="delayed"):
    """:class:`Heard` with ``since``, as stored."""

    data: str
    since: float


class _Kept(Call, frozen=True, array_like=True, tag="kept"):
    """:class:`Heard` with ``kept``, as stored."""

    data: str


_Stored = _Opened | _Connected | _Written | _Delayed | _Kept | Lost | Missed


class _Calls(msgspec.Struct, frozen=True):
    device: str
    calls: list[_Stored]


def write_calls(device: str, calls: Sequence[AnyCall]) -> bytes:
    """Encode the body of a ``bytes`` entry of the journal: the calls to one device's watch since
    the last entry.
    """
    return msgspec.json.encode(_Calls(device, [_written(call) for call in calls]))


def read_calls(body: bytes) -> tuple[str, list[AnyCall]]:
    """Decode a ``bytes`` entry into device and calls. Raises ``msgspec.ValidationError`` or
    ``msgspec.DecodeError``.
    """
    read = msgspec.json.decode(body, type=_Calls)
    return read.device, [_read(call) for call in read.calls]


def _written(call: AnyCall) -> _Stored:
    match call:
        case Opened():
            return _Connected(call.at) if call.kept else _Opened(call.at)
        case Heard():
            data = escape(call.data)
            if call.kept:
                return _Kept(call.at, data)
            if call.since is not None:
                return _Delayed(call.at, data, call.since)
            return _Written(call.at, data)
    return call


def _read(call: _Stored) -> AnyCall:
    match call:
        case _Opened():
            return Opened(call.at)
        case _Connected():
            return Opened(call.at, kept=True)
        case _Written():
            return Heard(call.at, unescape(call.data))
        case _Delayed():
            return Heard(call.at, unescape(call.data), call.since)
        case _Kept():
            return Heard(call.at, unescape(call.data), kept=True)
    return call


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
            return (partial(watch.opened, call.at, kept=call.kept),)
        case Heard():
            looked = call.at if call.since is None else call.since
            return (
                partial(watch.tick, looked),
                partial(watch.hear, call.data, call.at, call.since, kept=call.kept),
            )
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
