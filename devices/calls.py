"""The calls made to a watch, as data. Replaying them reproduces the readings.

The supervisor changes its watch through these calls only, and passes each one on to be stored. An
empty arrival (silence) is stored only if something was due; otherwise it changes nothing.

The body of a ``bytes`` entry names the device and has either ``calls``, a list, or ``packed``: the
same list as JSON, compressed by zlib (RFC 1950), in base64. In the packed form, consecutive
arrivals are one ``run``, with all their bytes, the size of each arrival, and the whole microseconds
between them. Decoding gives exactly the encoded calls. Where cards are face down, the plain form is
written, whose length depends only on the number of bytes.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from math import floor
from typing import Annotated

import msgspec

from common.readings import AnyReading, escape, unescape
from devices.watch import CodecDefectError, Watch

CLOCK_DIGITS = 4
"""Decimal digits of the devices' clock: tenths of a millisecond. A byte takes ten of them at 9600
baud, and the shortest time that decides whether a reading is late is a thousand. More digits would
only store the jitter of this machine, at twice the size.
"""
TICKS_PER_SECOND: int = 10**CLOCK_DIGITS
MIN_PACKED_BYTES = 256
"""Minimum size of a list of calls to be compressed; for less, base64 leaves no gain."""
PACKING_WINDOW_BITS, PACKING_MEMORY_LEVEL = 12, 5
"""A window of 4 KB finds the lines that repeat. That of 32 KB, zlib's default, packs no better, and
to clear its memory takes ten times as long as to pack a minute of a wheel.
"""
MAX_UNPACKED_BYTES = 1 << 25
"""Maximum size of an unpacked list of calls: twice what a trace can hold."""


def clock_time(seconds: float) -> float:
    """Round a time down to the resolution of the devices' clock."""
    return floor(seconds * TICKS_PER_SECOND) / TICKS_PER_SECOND


class Call(msgspec.Struct, frozen=True, array_like=True):
    """Base of all calls. In JSON an array: ``["lost", 12.5, "unplugged"]``. ``at`` is seconds on
    the device's clock.
    """

    at: float


class LinkOpened(Call, frozen=True, array_like=True):
    """The link was opened. ``kept``: the first bytes may have been kept for any time, as on every
    real link. Older releases did not account for this, so in their journals it is False.
    """

    kept: bool = False


class BytesReceived(Call, frozen=True, array_like=True, gc=False):
    """Bytes arrived. Empty: a silence after which something may be due.

    ``since``: set if this process was not scheduled for a while: the bytes arrived at an unknown
    time from then to ``at``. ``kept``: they may have lain unread for too long to be live.
    """

    data: bytes
    since: float | None = None
    kept: bool = False


class LinkClosed(Call, frozen=True, array_like=True, tag="lost"):
    """The link was closed, or could not be opened."""

    reason: str


class CallsMissed(Call, frozen=True, array_like=True, tag="missed"):
    """Calls with this many bytes were not stored. Readings cannot be reproduced until the device
    restarts.
    """

    bytes: int


AnyCall = LinkOpened | BytesReceived | LinkClosed | CallsMissed


class _StoredOpenedLegacy(Call, frozen=True, array_like=True, tag="opened"):
    """:class:`LinkOpened` without ``kept``, as older releases stored it."""


class _StoredOpened(Call, frozen=True, array_like=True, tag="connected"):
    """:class:`LinkOpened` with ``kept``, as stored."""


class _StoredBytes(Call, frozen=True, array_like=True, tag="heard"):
    """:class:`BytesReceived` as stored; the bytes in the form of
    :func:`common.readings.escape`.
    """

    data: str


class _StoredDelayedBytes(Call, frozen=True, array_like=True, tag="delayed"):
    """:class:`BytesReceived` with ``since``, as stored."""

    data: str
    since: float


class _StoredKeptBytes(Call, frozen=True, array_like=True, tag="kept"):
    """:class:`BytesReceived` with ``kept``, as stored."""

    data: str


class _StoredRun(Call, frozen=True, array_like=True, tag="run"):
    """Several :class:`BytesReceived` without ``since`` and ``kept``, as stored: all their bytes as
    in :class:`_StoredBytes`, the size of each, and the microseconds between them.
    """

    data: str
    sizes: list[Annotated[int, msgspec.Meta(ge=0)]]
    pauses: list[int]


_StoredSingleCall = (
    _StoredOpenedLegacy
    | _StoredOpened
    | _StoredBytes
    | _StoredDelayedBytes
    | _StoredKeptBytes
    | LinkClosed
    | CallsMissed
)
_StoredCall = _StoredRun | _StoredSingleCall


class _Body(msgspec.Struct, frozen=True, omit_defaults=True):
    """Has either ``calls`` or ``packed``."""

    device: str
    calls: list[_StoredCall] | None = None
    packed: bytes | None = None


def write_calls(device: str, calls: Sequence[AnyCall], *, compact: bool = False) -> bytes:
    """Encode the body of a ``bytes`` entry of the journal: the calls to one device's watch since
    the previous entry. ``compact``: in as few bytes as possible.
    """
    if not compact:
        return msgspec.json.encode(_Body(device, [_to_stored(call) for call in calls]))
    stored = _to_stored_runs(calls)
    listed = msgspec.json.encode(stored)
    if len(listed) < MIN_PACKED_BYTES:
        return msgspec.json.encode(_Body(device, stored))
    return msgspec.json.encode(_Body(device, packed=_packed(listed)))


def _packed(listed: bytes) -> bytes:
    packer = zlib.compressobj(wbits=PACKING_WINDOW_BITS, memLevel=PACKING_MEMORY_LEVEL)
    return packer.compress(listed) + packer.flush()


def read_calls(body: bytes) -> tuple[str, list[AnyCall]]:
    """Decode a ``bytes`` entry into device and calls. Raises ``msgspec.ValidationError`` or
    ``msgspec.DecodeError``.
    """
    read = msgspec.json.decode(body, type=_Body)
    stored = read.calls
    if stored is None:
        stored = msgspec.json.decode(_unpacked(read.packed), type=list[_StoredCall])
    elif read.packed is not None:
        raise msgspec.ValidationError("the entry has both `calls` and `packed`")
    calls: list[AnyCall] = []
    for call in stored:
        calls += _run_to_calls(call) if isinstance(call, _StoredRun) else (_from_stored(call),)
    return read.device, calls


def _unpacked(packed: bytes | None) -> bytes:
    """Decompress a list of calls. Raises ``msgspec.ValidationError`` if the bytes are not exactly
    one compressed list.
    """
    if packed is None:
        raise msgspec.ValidationError("the entry has neither `calls` nor `packed`")
    unpacking = zlib.decompressobj()
    try:
        listed = unpacking.decompress(packed, MAX_UNPACKED_BYTES)
    except zlib.error as error:
        raise msgspec.ValidationError(f"`packed` cannot be decompressed: {error}") from None
    if not unpacking.eof or unpacking.unused_data:
        raise msgspec.ValidationError("`packed` is cut off, too long, or has bytes after its end")
    return listed


def _to_stored_runs(calls: Sequence[AnyCall]) -> list[_StoredCall]:
    """Convert calls to their stored form, with consecutive arrivals as runs."""
    stored: list[_StoredCall] = []
    run: list[BytesReceived] = []
    times: list[int] = []
    for call in calls:
        # an arrival can be part of a run if nothing of it is lost by that; written out here because
        # a result waits for the many arrivals before it
        if (
            isinstance(call, BytesReceived)
            and call.since is None
            and not call.kept
            and type(call.data) is bytes
            and (micros := round(call.at * 1e6)) / 1e6 == call.at
        ):
            run.append(call)
            times.append(micros)
            continue
        if run:
            stored.append(_to_stored_run(run, times))
            run, times = [], []
        stored.append(_to_stored(call))
    if run:
        stored.append(_to_stored_run(run, times))
    return stored


def _to_stored_run(run: Sequence[BytesReceived], times: Sequence[int]) -> _StoredCall:
    """Convert consecutive arrivals. ``times``: of each, in microseconds."""
    if len(run) == 1:
        return _to_stored(run[0])
    data = escape(b"".join([call.data for call in run]))
    pauses = [later - earlier for earlier, later in pairwise(times)]
    return _StoredRun(run[0].at, data, [len(call.data) for call in run], pauses)


def _to_stored(call: AnyCall) -> _StoredCall:
    match call:
        case LinkOpened():
            return _StoredOpened(call.at) if call.kept else _StoredOpenedLegacy(call.at)
        case BytesReceived():
            data = escape(call.data)
            if call.kept:
                return _StoredKeptBytes(call.at, data)
            if call.since is not None:
                return _StoredDelayedBytes(call.at, data, call.since)
            return _StoredBytes(call.at, data)
    return call


def _from_stored(call: _StoredSingleCall) -> AnyCall:
    match call:
        case _StoredBytes():
            return BytesReceived(call.at, unescape(call.data))
        case _StoredOpenedLegacy():
            return LinkOpened(call.at)
        case _StoredOpened():
            return LinkOpened(call.at, kept=True)
        case _StoredDelayedBytes():
            return BytesReceived(call.at, unescape(call.data), call.since)
        case _StoredKeptBytes():
            return BytesReceived(call.at, unescape(call.data), kept=True)
    return call


def _run_to_calls(run: _StoredRun) -> list[AnyCall]:
    """Expand a run. Raises ``msgspec.ValidationError`` if its parts do not match."""
    data = unescape(run.data)
    if sum(run.sizes) != len(data) or len(run.pauses) != len(run.sizes) - 1:
        raise msgspec.ValidationError("the bytes, sizes and pauses of a run do not match")
    ends = accumulate(run.sizes)
    try:
        times = [micros / 1e6 for micros in accumulate(run.pauses, initial=round(run.at * 1e6))]
    except OverflowError:
        raise msgspec.ValidationError("a time in a run is out of range") from None
    return [
        BytesReceived(at, data[end - size : end])
        for at, size, end in zip(times, run.sizes, ends, strict=True)
    ]


def changes_watch(watch: Watch, call: AnyCall) -> bool:
    """Return whether a call can change the watch. Only a silence in which nothing is due cannot."""
    if not isinstance(call, BytesReceived) or call.data:
        return True
    deadline = watch.deadline
    return deadline is not None and deadline <= call.at


def apply_call(
    watch: Watch, call: AnyCall, on_defect: Callable[[CodecDefectError], None] = lambda _: None
) -> list[AnyReading]:
    """Apply a call to a watch and return the readings. ``on_defect`` gets each exception of the
    codec; the steps after it are still executed.
    """
    if isinstance(call, LinkOpened):
        return watch.opened(call.at, kept=call.kept)
    if isinstance(call, CallsMissed):
        return []
    at = call.at
    since = call.since if isinstance(call, BytesReceived) else None
    try:
        produced = watch.tick(at if since is None else since)
    except CodecDefectError as defect:
        produced = defect.readings
        on_defect(defect)
    try:
        if isinstance(call, BytesReceived):
            produced += watch.receive(call.data, at, since, kept=call.kept)
        else:
            produced += watch.lost(at, call.reason)
    except CodecDefectError as defect:
        produced += defect.readings
        on_defect(defect)
    return produced
