"""The clocks of this machine, and sleeping: the only place where the program asks what time it is.

A simulated world puts its own :class:`Source` in place of the machine's (:func:`use`). Timeouts and
timers of asyncio (``asyncio.timeout``, ``loop.call_later``, ``loop.time``) follow the event loop,
whose time such a world owns as well.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from common.mono import MONO_WRAP

_STARTED_NS = time.monotonic_ns()


async def _sleep(seconds: float) -> None:
    import asyncio  # not at the top: most programs that read a clock run no event loop

    await asyncio.sleep(seconds)


class Source(NamedTuple):
    """Where the functions of this module read. The default is the machine.

    ``monotonic`` is also the time of the event loop, and ``monotonic_ns`` the same in nanoseconds.
    """

    wall: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic
    monotonic_ns: Callable[[], int] = time.monotonic_ns
    boottime_ns: Callable[[], int] = partial(time.clock_gettime_ns, time.CLOCK_BOOTTIME)
    uptime_ns: Callable[[], int] = lambda: time.monotonic_ns() - _STARTED_NS
    thread_time: Callable[[], float] = time.thread_time
    sleep: Callable[[float], Coroutine[Any, Any, None]] = _sleep
    block: Callable[[float], None] = time.sleep


_source = Source()


@contextmanager
def use(source: Source) -> Iterator[None]:
    """Read from ``source`` in all threads until the end of the ``with`` block."""
    global _source
    before, _source = _source, source
    try:
        yield
    finally:
        _source = before


def wall() -> float:
    """Return the wall time: seconds since 1970. It can be set, and go back."""
    return _source.wall()


def now() -> datetime:
    """Return the wall time as a datetime in UTC."""
    return datetime.fromtimestamp(wall(), UTC)


def monotonic() -> float:
    """Return seconds that never go back, and do not count while the machine is suspended."""
    return _source.monotonic()


def monotonic_ns() -> int:
    """Return :func:`monotonic` in nanoseconds."""
    return _source.monotonic_ns()


def boottime() -> float:
    """Return seconds that never go back, and count while the machine is suspended."""
    return _source.boottime_ns() / 1e9


def boottime_ns() -> int:
    """Return :func:`boottime` in nanoseconds."""
    return _source.boottime_ns()


def uptime_ns() -> int:
    """Return the nanoseconds of :func:`monotonic` since this program started."""
    return _source.uptime_ns()


def mono_ns() -> int:
    """Return the present ``mono_ns``: nanoseconds since this program started, modulo 2^53."""
    return uptime_ns() % MONO_WRAP


def mono_age_ns(moment: int) -> int:
    """Return the nanoseconds since ``moment``, a ``mono_ns`` of this program."""
    return (uptime_ns() - moment) % MONO_WRAP


def thread_time() -> float:
    """Return the CPU time of this thread in seconds."""
    return _source.thread_time()


def sleep(seconds: float) -> Coroutine[Any, Any, None]:
    """Let the event loop run other tasks for ``seconds``. To be awaited."""
    return _source.sleep(seconds)


def block(seconds: float) -> None:
    """Stop this thread for ``seconds``. Not for the thread of an event loop: see :func:`sleep`."""
    _source.block(seconds)
