"""Runs blocking calls in threads, so that the event loop never waits for a device. A simulated
world runs them as steps of its own (:func:`use`).
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar
from weakref import WeakKeyDictionary

MAX_CONCURRENT_OPENS = 128
"""Maximum number of links being opened at once in one event loop. With this, a thousand hosts that
do not answer are each tried within half a minute.
"""

Result = TypeVar("Result")


def _start_thread(run: Callable[[], None], name: str) -> None:
    # A daemon thread: if it hangs in the operating system, the process can still exit.
    threading.Thread(target=run, name=name, daemon=True).start()


_start: Callable[[Callable[[], None], str], None] = _start_thread

_opening: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


@contextmanager
def use(start: Callable[[Callable[[], None], str], None]) -> Iterator[None]:
    """Let ``start`` run the work of :func:`in_thread` until the end of the ``with`` block."""
    global _start
    before, _start = _start, start
    try:
        yield
    finally:
        _start = before


def opening_slot() -> asyncio.Semaphore:
    """Return the event loop's semaphore to hold while a link is opened."""
    return _opening.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(MAX_CONCURRENT_OPENS))


async def in_thread(work: Callable[[], Result], name: str) -> Result:
    """Run ``work`` in a new thread; return its result or raise its exception. If cancelled, wait
    until it has ended: a port must not be opened or written to after its owner has closed it.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Result] = loop.create_future()

    def run() -> None:
        try:
            result = work()
        except BaseException as error:  # raised where the result is awaited
            _post(loop, done.set_exception, error)
        else:
            _post(loop, done.set_result, result)

    _start(run, name)
    try:
        return await asyncio.shield(done)
    except asyncio.CancelledError:
        await asyncio.wait([done])
        if not done.cancelled():
            done.exception()  # mark it as retrieved
        raise


def _post(loop: asyncio.AbstractEventLoop, callback: Callable[..., None], value: object) -> None:
    with suppress(RuntimeError):  # the loop is closed
        loop.call_soon_threadsafe(callback, value)
