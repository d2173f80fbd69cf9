"""The kernel's statement about the machine's clock: ``adjtimex(2)``, which only reads."""

from __future__ import annotations

import ctypes
import struct
from functools import cache

import msgspec

TIME_ERROR = 5
"""The return value of adjtimex(2) while the clock is undisciplined, and after it was set.
"""
STA_NANO = 0x2000
"""The bit of ``status`` that is set if ``offset`` is in nanoseconds, not microseconds."""
_TIMEX = struct.Struct("@Illlli")
"""The beginning of ``struct timex``: modes, offset, freq, maxerror, esterror and status."""
_TIMEX_BYTES = 512
"""More than the size of ``struct timex`` on any machine."""
_Timex = ctypes.c_char * _TIMEX_BYTES


class KernelClock(msgspec.Struct, frozen=True):
    """The kernel's statement. ``offset``: seconds by which the clock is still being corrected;
    ``greatest`` and ``estimated``: its maximum and its probable error in seconds. The kernel raises
    ``greatest`` by 500 microseconds each second, until the program that controls the clock lowers
    it.
    """

    synchronised: bool
    offset: float
    greatest: float
    estimated: float


def read_kernel_clock() -> KernelClock | None:
    """Read the kernel's statement; None if unknown, or if the process may not ask."""
    timex = _Timex()  # all zero: reads, sets nothing
    try:
        state = _libc().adjtimex(timex)
    except (OSError, AttributeError):
        return None
    return None if state < 0 else kernel_clock(state, timex.raw)


@cache
def _libc() -> ctypes.CDLL:
    """Load the C library once: this is read every second."""
    return ctypes.CDLL(None)


def kernel_clock(state: int, timex: bytes) -> KernelClock:
    """Decode a ``struct timex``; ``state``: the return value of the call."""
    _, offset, _, greatest, estimated, status = _TIMEX.unpack_from(timex)
    return KernelClock(
        synchronised=state != TIME_ERROR,
        offset=offset / (1e9 if status & STA_NANO else 1e6),
        greatest=greatest / 1e6,
        estimated=estimated / 1e6,
    )
