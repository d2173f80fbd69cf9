"""The kernel's statement about the machine's clock: ``adjtimex(2)``, which only reads."""

from __future__ import annotations

import ctypes
import struct

import msgspec

TIME_ERROR = 5
"""The return value of adjtimex(2) while the clock is undisciplined, and after it was set.
"""
STA_NANO = 0x2000
"""The bit of ``status`` that says that ``offset`` is in nanoseconds, else in microseconds."""
_TIMEX = struct.Struct("@Illlli")
"""The beginning of ``struct timex``: modes, offset, freq, maxerror, esterror and status."""
_TIMEX_BYTES = 512
"""Bytes; more than ``struct timex`` takes on any machine."""


class KernelClock(msgspec.Struct, frozen=True):
    """``offset``: seconds by which the clock is still being corrected; ``greatest`` and
    ``estimated``: seconds by which it is wrong at most, and probably. The kernel adds 500
    microseconds to ``greatest`` each second, until who keeps the clock says less.
    """

    synchronised: bool
    offset: float
    greatest: float
    estimated: float


def read_kernel_clock() -> KernelClock | None:
    """The kernel's present statement; None: unknown, or not permitted to ask."""
    timex = ctypes.create_string_buffer(_TIMEX_BYTES)  # all zero: it only asks
    try:
        state = ctypes.CDLL(None).adjtimex(timex)
    except (OSError, AttributeError):
        return None
    return None if state < 0 else kernel_clock(state, timex.raw)


def kernel_clock(state: int, timex: bytes) -> KernelClock:
    """The content of a ``struct timex``; ``state``: what the call returned with it."""
    _, offset, _, greatest, estimated, status = _TIMEX.unpack_from(timex)
    return KernelClock(
        synchronised=state != TIME_ERROR,
        offset=offset / (1e9 if status & STA_NANO else 1e6),
        greatest=greatest / 1e6,
        estimated=estimated / 1e6,
    )
