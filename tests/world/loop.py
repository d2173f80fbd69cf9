"""The event loops of a simulated world: virtual time, and processes that can freeze and die.

One :class:`WorldLoop` runs everything. When nothing is ready, its time jumps to the next timer: an
hour passes in as long as its work takes, and the same seed gives the same run. Each process has an
event loop of its own (:class:`ProcessLoop`), which the world's runs for it; so it has its own time,
its own tasks, and what the program keeps for each event loop. What a program does in a thread
(``run_in_executor``) is a callback after a drawn delay.

A callback belongs to the process in whose context it was made. A callback of a process that is
frozen waits until it thaws, and one of a process that was killed is never run.

Descriptors are numbers of connections in memory (``ends.py``); the kernel's have no place here.
"""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Executor
from contextvars import Context, copy_context
from heapq import heapify, heappop, heappush
from itertools import count
from math import inf
from typing import Any, TypeVar, TypeVarTuple, Unpack

from tests.world.ends import End
from tests.world.errors import WorldStuckError
from tests.world.process import PROCESS, Machine, Process, context_of

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

FIRST_DESCRIPTOR = 1 << 20
"""No descriptor of the kernel is as large."""
TIMER_SECONDS = 1e-9
"""Timers that are due within this time are due now: the clocks of machines are rounded."""


class _Callback(asyncio.TimerHandle):
    """A callback of the loop ``owner``. ``local``: when it is due by the clock of its machine,
    which does not run while the machine is suspended, and may run faster or slower than the
    world's.
    """

    __slots__ = ("args", "call", "context", "local", "owner", "valid")

    def __init__(
        self,
        owner: _Loop,
        call: Callable[..., object],
        args: tuple[Any, ...],
        context: Context | None,
        local: float = -inf,
    ) -> None:
        # not that of asyncio's: this one is made a hundred thousand times in an hour
        self.owner, self.call, self.args, self.local = owner, call, args, local
        self.context = copy_context() if context is None else context
        self.valid = True

    def __repr__(self) -> str:
        return f"<{self.call!r} of {self.owner.process}>"

    def cancel(self) -> None:
        """See :class:`asyncio.Handle`."""
        self.valid = False
        self.call, self.args = _nothing, ()

    def cancelled(self) -> bool:
        """See :class:`asyncio.Handle`."""
        return not self.valid

    def when(self) -> float:
        """Return the time of the process at which it is due."""
        return self.local


def _nothing() -> None:
    """Replaces what a cancelled callback held."""


class _Loop(asyncio.BaseEventLoop):
    """What both kinds have in common. ``process`` is None for the world's own."""

    world: WorldLoop
    process: Process | None

    get_debug = staticmethod(bool)
    """Never: each future asks, and this answers without a call of Python."""

    def owner(self, context: Context | None) -> _Loop:
        """Return the loop of the process to which a context belongs; None: the present one."""
        del context
        return self

    def clock(self) -> float:
        """Return the time of its own machine."""
        raise NotImplementedError

    def call_soon(
        self,
        callback: Callable[[Unpack[Ts]], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.Handle:
        """See :class:`asyncio.AbstractEventLoop`."""
        handle = _Callback(self.owner(context), callback, args, context)
        self.world.ready.append(handle)
        return handle

    def call_soon_threadsafe(
        self,
        callback: Callable[[Unpack[Ts]], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.Handle:
        """See :class:`asyncio.AbstractEventLoop`. There is one thread."""
        return self.call_soon(callback, *args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[[Unpack[Ts]], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """See :class:`asyncio.AbstractEventLoop`."""
        timer = _Callback(self.owner(context), callback, args, context, when)
        self.world.push(timer)
        return timer

    def call_later(
        self,
        delay: float,
        callback: Callable[[Unpack[Ts]], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """See :class:`asyncio.AbstractEventLoop`."""
        owner = self.owner(context)
        timer = _Callback(owner, callback, args, context, owner.clock() + delay)
        self.world.push(timer)
        return timer

    def run_in_executor(
        self, _executor: Executor | None, func: Callable[[Unpack[Ts]], T], *args: *Ts
    ) -> asyncio.Future[T]:
        """Run ``func`` after the time that a thread would take, all at once."""
        done: asyncio.Future[T] = self.create_future()
        process = PROCESS.get()
        wait = 0.0 if process is None else process.machine.disk_seconds
        self.call_later(self.world.delay() + wait, _resolve, done, func, args)
        return done

    def add_reader(self, fd: Any, callback: Callable[[Unpack[Ts]], Any], *args: *Ts) -> None:
        """See :class:`asyncio.AbstractEventLoop`. ``fd``: an :class:`End` or its number."""
        handle = _Callback(self.owner(None), callback, args, None)
        self.world.watch(fd, self.world.readers, handle)

    def add_writer(self, fd: Any, callback: Callable[[Unpack[Ts]], Any], *args: *Ts) -> None:
        """See :meth:`add_reader`."""
        handle = _Callback(self.owner(None), callback, args, None)
        self.world.watch(fd, self.world.writers, handle)

    def remove_reader(self, fd: Any) -> bool:
        """See :class:`asyncio.AbstractEventLoop`."""
        return _ignore(self.world.readers, fd)

    def remove_writer(self, fd: Any) -> bool:
        """See :class:`asyncio.AbstractEventLoop`."""
        return _ignore(self.world.writers, fd)


class ProcessLoop(_Loop):
    """The event loop of one process."""

    process: Process

    def __init__(self, world: WorldLoop, process: Process) -> None:
        super().__init__()
        self.world, self.process = world, process
        process.clock = self.clock

    def clock(self) -> float:
        """Return the time of its machine, without suspensions."""
        machine, now = self.process.machine, self.world.now
        return now if machine.is_exact else machine.monotonic(now)

    time = clock

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        """Report to the world what nobody has caught."""
        self.world.call_exception_handler(context)


class WorldLoop(_Loop):
    """``delay`` draws the seconds that work in a thread takes. ``now``: seconds since the beginning
    of the world.

    Its own methods can also be called by the code of a process, whose loop they lead to.
    """

    process: None

    def __init__(self, delay: Callable[[], float]) -> None:
        super().__init__()
        self.now = 0.0
        self.world, self.process, self.delay = self, None, delay
        self.ready: deque[_Callback] = deque()
        """Callbacks that are due."""
        self.readers: dict[int, _Callback] = {}
        self.writers: dict[int, _Callback] = {}
        """What waits for a descriptor."""
        self._timers: list[tuple[float, int, _Callback]] = []
        self._numbers = count()
        self._descriptors = count(FIRST_DESCRIPTOR)
        self._ends: dict[int, End] = {}
        self._arrived: dict[int, None] = {}
        """Descriptors that may be readable."""
        self._loops: dict[Process, ProcessLoop] = {}
        self._running: _Loop = self
        self._stopped = False

    def of(self, process: Process) -> ProcessLoop:
        """Return the event loop of a process."""
        if (loop := self._loops.get(process)) is None:
            loop = self._loops[process] = ProcessLoop(self, process)
        return loop

    def pair(self) -> tuple[End, End]:
        """Return the ends of a new connection: the world's, and that of the running process."""
        ours = End(self, next(self._descriptors), None)
        theirs = End(self, next(self._descriptors), PROCESS.get())
        ours.peer, theirs.peer = theirs, ours
        self._ends[ours.fileno()], self._ends[theirs.fileno()] = ours, theirs
        return ours, theirs

    def on_arrival(self, end: End) -> None:
        """Bytes or the end of the connection have arrived there."""
        if (number := end.fileno()) in self.readers:
            self._arrived[number] = None

    def on_emptied(self, number: int) -> None:
        """All bytes that had arrived at an open connection are read."""
        self._arrived.pop(number, None)

    def forget(self, number: int) -> None:
        """An end was closed."""
        self._ends.pop(number, None)

    def watch(self, fd: Any, waiting: dict[int, _Callback], handle: _Callback) -> None:
        """Call ``handle`` whenever a descriptor is ready."""
        _ignore(waiting, fd)
        number = _number(fd)
        end = self._ends[number]
        waiting[number] = handle
        if waiting is self.readers and end.is_readable:
            self._arrived[number] = None

    def push(self, timer: _Callback) -> None:
        """Put a timer where it is due."""
        process = timer.owner.process
        is_exact = process is None or process.machine.is_exact
        due = timer.local if is_exact else self._due(timer)
        heappush(self._timers, (due, next(self._numbers), timer))

    def owner(self, context: Context | None) -> _Loop:
        """See :class:`_Loop`."""
        process = PROCESS.get() if context is None else context.get(PROCESS)
        return self if process is None else self.of(process)

    def clock(self) -> float:
        """Return the time of the world."""
        return self.now

    def time(self) -> float:
        """Return the time that the running process sees: its machine's, without suspensions."""
        process = self._running.process
        if process is None or process.machine.is_exact:
            return self.now
        return process.machine.monotonic(self.now)

    def create_task(
        self, coro: Any, *, name: object = None, context: Context | None = None
    ) -> asyncio.Task[Any]:
        """See :class:`asyncio.AbstractEventLoop`."""
        owner = self.owner(context)
        if owner is self:
            return super().create_task(coro, name=name, context=context)
        return owner.create_task(coro, name=name, context=context)

    def kill(self, process: Process) -> None:
        """End a process at once: none of its callbacks will run."""
        process.alive, process.held = False, True
        process.waiting.clear()
        process.kept += list(asyncio.all_tasks(self.of(process)))
        for waiting in (self.readers, self.writers):
            for number in [n for n, each in waiting.items() if each.owner.process is process]:
                _ignore(waiting, number)
        for end in [end for end in self._ends.values() if end.owner is process]:
            end.close()
        process.release()

    def freeze(self, process: Process, seconds: float) -> None:
        """Run no callback of the process for that time."""
        until = self.now + seconds
        if until > process.frozen_until:
            if not process.held:
                process.on_freeze()
            process.frozen_until, process.held = until, True
            self.call_at(until, self._thaw, process, context=Context())

    def suspend(self, machine: Machine, seconds: float) -> None:
        """Suspend a machine for that time: its programs stand still, and so does their time."""
        if machine.asleep_until > self.now:
            return
        machine.asleep_until, machine.is_exact = self.now + seconds, False
        slept_since = machine.boottime(self.now)
        self.call_at(self.now + seconds, self._resume, machine, slept_since, context=Context())
        for process in machine.processes:
            if process.alive:
                self.freeze(process, seconds)

    def _resume(self, machine: Machine, slept_since: float) -> None:
        machine.suspended += machine.boottime(self.now) - slept_since

    def drift(self, machine: Machine, rate: float) -> None:
        """Let the clock of a machine count ``rate`` seconds in one of the world from now on."""
        machine.set_rate(rate, self.now)
        timers, self._timers = self._timers, []
        for due, number, timer in timers:
            process = timer.owner.process
            if process is not None and process.machine is machine:
                due = self._due(timer)
            self._timers.append((due, number, timer))
        heapify(self._timers)

    def _due(self, timer: _Callback) -> float:
        """Return the time of the world at which a timer is due."""
        local = timer.local
        if (process := timer.owner.process) is None or process.machine.is_exact:
            return local
        due = process.machine.reaches(local)
        # rounded: a program that looked now would wait again
        return due + TIMER_SECONDS if process.machine.monotonic(due) < local else due

    def _thaw(self, process: Process) -> None:
        if process.alive and process.frozen_until <= self.now:
            process.held = False
            self.call_soon(process.on_thaw, context=context_of(process))
            for handle in process.waiting:
                if handle.local > -inf:
                    self.push(handle)  # a loop looks at its descriptors before its timers
                else:
                    self.ready.append(handle)
            process.waiting.clear()

    def run_until_time(self, end: float) -> None:
        """Run the world until that time."""
        self.call_at(end, self.stop, context=Context())
        self.run_forever()

    def stop(self) -> None:
        """See :class:`asyncio.AbstractEventLoop`."""
        self._stopped = True

    def run_forever(self) -> None:
        """See :class:`asyncio.AbstractEventLoop`."""
        self._stopped = False
        hooks = sys.get_asyncgen_hooks()
        sys.set_asyncgen_hooks(finalizer=self._close_generator)
        self._running = self
        asyncio._set_running_loop(self)
        try:
            while not self._stopped:
                self._run_ready()
        finally:
            self._running = self
            asyncio._set_running_loop(None)
            sys.set_asyncgen_hooks(*hooks)

    def close(self) -> None:
        """See :class:`asyncio.AbstractEventLoop`."""
        for loop in self._loops.values():
            loop.close()
        self.ready.clear()
        self._timers.clear()
        self.readers.clear()
        self.writers.clear()
        super().close()

    def _run_ready(self) -> None:
        """Run what is ready, or let the time jump to what will be."""
        ready, timers = self.ready, self._timers
        if self._arrived or self.writers:
            self._look_at_descriptors()
        if not ready:
            while timers and not timers[0][2].valid:
                heappop(timers)
            if not timers:
                raise WorldStuckError("nothing will ever happen again: no timer, no byte")
            if timers[0][0] > self.now:
                self.now = timers[0][0]
        now = self.now
        while timers and timers[0][0] <= now:
            timer = heappop(timers)[2]
            if timer.valid:
                process = timer.owner.process
                if process is None or process.machine.is_exact or self._is_due(timer):
                    ready.append(timer)
        running = self._running
        for _ in range(len(ready)):
            handle = ready.popleft()
            if not handle.valid:
                continue
            owner = handle.owner
            if (process := owner.process) is not None and process.held:
                process.postpone(handle)
                continue
            if owner is not running:
                running = self._running = owner
                asyncio._set_running_loop(owner)
            try:
                handle.context.run(handle.call, *handle.args)
            except (SystemExit, KeyboardInterrupt):
                raise
            except BaseException as error:
                owner.call_exception_handler(
                    {"message": f"exception in a callback of {process}", "exception": error}
                )

    def _is_due(self, handle: _Callback) -> bool:
        """Return whether a callback is due. A timer whose machine was suspended is set again."""
        process = handle.owner.process
        assert process is not None
        if process.machine.reaches(handle.local) <= self.now + TIMER_SECONDS:
            return True
        self.push(handle)
        return False

    def _look_at_descriptors(self) -> None:
        for number in sorted(self._arrived) if len(self._arrived) > 1 else list(self._arrived):
            handle, end = self.readers.get(number), self._ends.get(number)
            if handle is None or end is None or not end.is_readable:
                del self._arrived[number]
            elif handle.owner.process is None or not handle.owner.process.held:
                self.ready.append(handle)
        if not self.writers:
            return
        for number, handle in sorted(self.writers.items()):
            end = self._ends.get(number)
            if (
                end is not None
                and end.is_writable
                and (handle.owner.process is None or not handle.owner.process.held)
            ):
                self.ready.append(handle)

    def _close_generator(self, generator: AsyncGenerator[Any, Any]) -> None:
        self._running.create_task(generator.aclose())


def _number(fd: Any) -> int:
    return fd if isinstance(fd, int) else fd.fileno()


def _ignore(waiting: dict[int, _Callback], fd: Any) -> bool:
    """Wait no longer for a descriptor. Return whether anything did."""
    if (handle := waiting.pop(_number(fd), None)) is not None:
        handle.cancel()
    return handle is not None


def _resolve(done: asyncio.Future[T], func: Callable[..., T], args: tuple[Any, ...]) -> None:
    if done.cancelled():
        return
    try:
        result = func(*args)
    except BaseException as error:
        done.set_exception(error)
    else:
        done.set_result(result)
