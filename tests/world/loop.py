"""The event loop of a simulated world: virtual time, and processes that can freeze and die.

The world runs on one event loop whose selector never waits: when nothing is ready, the time jumps
to the next timer. So an hour passes in as long as its work takes, and the same seed gives the same
run. Descriptors are real, with both ends in this process; what the program does in a thread
(``run_in_executor``) is a callback after a drawn delay.

Each callback belongs to the process in whose context it was made. A callback of a process that is
frozen waits until it thaws, and one of a process that was killed is never run.
"""

from __future__ import annotations

import asyncio
import os
import selectors
import socket
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, copy_context
from heapq import heapify, heappush
from typing import Any

from tests.world.errors import WorldStuckError
from tests.world.process import PROCESS, Machine, Process


class _Handle(asyncio.Handle):
    __slots__ = ()

    def _run(self) -> None:
        if _may_run(self):
            super()._run()


class _TimerHandle(asyncio.TimerHandle):
    """``local``: when it is due by the clock of its machine, which does not run while the machine
    is suspended, and may run faster or slower than the world's.
    """

    __slots__ = ("local",)

    def __init__(self, when: float, callback: Any, args: Any, loop: Any, context: Context) -> None:
        self.local = when
        super().__init__(when, callback, args, loop, context)
        self.place()

    def place(self) -> None:
        """Set the time of the world at which it is due."""
        machine = machine_of(self._context)  # type: ignore[attr-defined]
        self._when: float = self.local if machine is None else machine.reaches(self.local)
        if machine is not None and machine.monotonic(self._when) < self.local:
            self._when += TIMER_SECONDS  # rounded: a program that looks now would wait again

    def when(self) -> float:
        """Return the time of the process at which it is due."""
        return self.local

    def _run(self) -> None:
        before = self._when
        self.place()
        if self._when > before + TIMER_SECONDS:  # its machine was suspended
            self._loop._push(self)  # type: ignore[attr-defined]
        elif _may_run(self):
            super()._run()


TIMER_SECONDS = 1e-9
"""Timers that are due within this time are due now: the clocks of machines are rounded."""


def machine_of(context: Context) -> Machine | None:
    """Return the machine on which the code of a context runs; None: the world itself."""
    process = context.get(PROCESS)
    return None if process is None else process.machine


def _may_run(handle: Any) -> bool:
    """Return whether a callback may run now. One of a frozen process is kept for later."""
    process: Process | None = handle._context.get(PROCESS)
    if process is None:
        return True
    if process.alive and (process.frozen_until > handle._loop.now or process.waiting):
        process.waiting.append(handle)
        return False
    return process.alive


def _owner(key: selectors.SelectorKey) -> Process | None:
    """Return the process that waits for a descriptor."""
    handle = next(handle for handle in key.data if handle is not None)
    process: Process | None = handle._context.get(PROCESS)
    return process


def _is_awake(key: selectors.SelectorKey, now: float) -> bool:
    """Return whether the process that waits for a descriptor can look at it now."""
    process = _owner(key)
    return process is None or (
        process.alive and process.frozen_until <= now and not process.waiting
    )


class _Selector(selectors.DefaultSelector):
    """Never waits; lets the time jump instead."""

    loop: WorldLoop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """See :class:`selectors.BaseSelector`."""
        ready = [found for found in super().select(0) if _is_awake(found[0], self.loop.now)]
        if ready:
            return sorted(ready, key=lambda found: found[0].fd)
        if timeout is None:
            raise WorldStuckError("nothing will ever happen again: no timer, no byte on its way")
        self.loop.now += max(timeout, 0.0)
        return []


class WorldLoop(asyncio.SelectorEventLoop):
    """``delay`` draws the seconds that work in a thread takes. ``now``: seconds since the beginning
    of the world.
    """

    def __init__(self, delay: Callable[[], float]) -> None:
        selector = _Selector()
        selector.loop = self
        self.now = 0.0
        self._delay = delay
        super().__init__(selector)
        self._selector: _Selector = selector

    def time(self) -> float:
        """Return the time that the running process sees: its machine's, without suspensions."""
        process = PROCESS.get()
        return self.now if process is None else process.machine.monotonic(self.now)

    def call_at(  # type: ignore[override] # typeshed types the arguments of the callback
        self,
        when: float,
        callback: Callable[..., object],
        *args: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """See :class:`asyncio.AbstractEventLoop`."""
        timer = _TimerHandle(
            when, callback, args, self, copy_context() if context is None else context
        )
        self._push(timer)
        return timer

    def _push(self, timer: asyncio.TimerHandle) -> None:
        # as in BaseEventLoop, which offers no way to choose the class
        heappush(self._scheduled, timer)  # type: ignore[attr-defined]
        timer._scheduled = True  # type: ignore[attr-defined]

    def call_later(  # type: ignore[override] # as above
        self,
        delay: float,
        callback: Callable[..., object],
        *args: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """See :class:`asyncio.AbstractEventLoop`."""
        context = copy_context() if context is None else context
        machine = machine_of(context)
        now = self.now if machine is None else machine.monotonic(self.now)
        return self.call_at(now + delay, callback, *args, context=context)

    def call_soon(  # type: ignore[override] # as above
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """See :class:`asyncio.AbstractEventLoop`."""
        handle = _Handle(callback, args, self, context)
        self._ready.append(handle)  # type: ignore[attr-defined]
        return handle

    call_soon_threadsafe = call_soon  # type: ignore[assignment] # there is one thread

    def run_in_executor(  # type: ignore[override] # as above
        self, _executor: object, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        """Run ``func`` after the time that a thread would take, all at once."""
        done: asyncio.Future[Any] = self.create_future()
        self.call_later(self._delay(), _resolve, done, func, *args)
        return done

    def kill(self, process: Process) -> None:
        """End a process at once: none of its callbacks will run."""
        process.alive = False
        process.waiting.clear()
        process.kept += list(asyncio.all_tasks(self))
        for key in list(self._selector.get_map().values()):
            if _owner(key) is process:
                self._selector.unregister(key.fd)
                _shut_down(key.fd)
        process.release()

    def freeze(self, process: Process, seconds: float) -> None:
        """Run no callback of the process for that time."""
        until = self.now + seconds
        if until > process.frozen_until:
            process.frozen_until = until
            self.call_at(until, self._thaw, process, context=Context())

    def suspend(self, machine: Machine, seconds: float) -> None:
        """Suspend a machine for that time: its programs stand still, and so does their time."""
        if machine.asleep_until > self.now:
            return
        machine.asleep_until = self.now + seconds
        for process in machine.processes:
            if process.alive:
                self.freeze(process, seconds)
        slept_since = machine.boottime(self.now)
        self.call_at(self.now + seconds, self._resume, machine, slept_since, context=Context())

    def _resume(self, machine: Machine, slept_since: float) -> None:
        machine.suspended += machine.boottime(self.now) - slept_since

    def drift(self, machine: Machine, rate: float) -> None:
        """Let the clock of a machine count ``rate`` seconds in one of the world from now on."""
        machine.set_rate(rate, self.now)
        timers: list[_TimerHandle] = self._scheduled  # type: ignore[attr-defined]
        for timer in timers:
            timer.place()
        heapify(timers)

    def _thaw(self, process: Process) -> None:
        if process.alive and process.frozen_until <= self.now:
            waiting, process.waiting = process.waiting, deque()
            self._ready.extend(waiting)  # type: ignore[attr-defined]

    def run_until_time(self, end: float) -> None:
        """Run the world until that time."""
        self.call_at(end, self.stop, context=Context())
        self.run_forever()


def _shut_down(fd: int) -> None:
    """End a connection as the operating system does for a program that was killed. The number stays
    taken, since objects of the program still hold it.
    """
    with socket.socket(fileno=os.dup(fd)) as end, suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)


def _resolve(done: asyncio.Future[Any], func: Callable[..., Any], *args: Any) -> None:
    if done.cancelled():
        return
    try:
        result = func(*args)
    except BaseException as error:
        done.set_exception(error)
    else:
        done.set_result(result)
