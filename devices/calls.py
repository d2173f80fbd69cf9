"""What a watch was told, call by call: enough to come to the same readings again.

The supervisor tells its watch nothing but these calls, and hands each on to whoever keeps them. An empty arrival, a silence,
is kept only if something was due: all others change nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec

from devices.readings import AnyReading, unescape
from devices.watch import CodecDefect, Watch

Step = Callable[[], list[AnyReading]]


class Call(msgspec.Struct, frozen=True, array_like=True):
    """The base of all calls; in JSON an array: ``["heard", 12.5, "*X;2"]``. ``at``: the device's clock, in seconds."""

    at: float


class Opened(Call, frozen=True, array_like=True, tag="opened"):
    """The link was opened."""


class Heard(Call, frozen=True, array_like=True, tag="heard"):
    """Bytes arrived, written as :func:`devices.readings.escape` does, or none."""

    data: str


class Lost(Call, frozen=True, array_like=True, tag="lost"):
    """The link was closed, or could not be opened."""

    reason: str


class Missed(Call, frozen=True, array_like=True, tag="missed"):
    """Calls with so many bytes were not kept: what follows cannot be derived until the device begins anew."""

    bytes: int


AnyCall = Opened | Heard | Lost | Missed


def matters(watch: Watch, call: AnyCall) -> bool:
    """Whether the call can change anything: all do, but a silence in which nothing is due."""
    if not isinstance(call, Heard) or call.data:
        return True
    deadline = watch.deadline
    return deadline is not None and deadline <= call.at


def steps(watch: Watch, call: AnyCall) -> tuple[Step, ...]:
    """What a call does to a watch, in steps: what one of them breaks does not keep back the next."""
    match call:
        case Opened():
            return (partial(watch.opened, call.at),)
        case Heard():
            return partial(watch.tick, call.at), partial(watch.feed, unescape(call.data), call.at)
        case Lost():
            return partial(watch.tick, call.at), partial(watch.lost, call.at, call.reason)
    return ()


def readings(watch: Watch, call: AnyCall) -> list[AnyReading]:
    """What the watch says to a call, defects of its codec left out."""
    said: list[AnyReading] = []
    for step in steps(watch, call):
        try:
            said += step()
        except CodecDefect as defect:
            said += defect.readings
    return said
