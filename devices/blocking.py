"""What may block runs in a thread of its own, so that the event loop never waits for a device."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar
from weakref import WeakKeyDictionary

MAX_CONCURRENT_OPENS = 128
"""Links of one event loop that are being opened at once. A thousand hosts that do not answer are
each tried within half a minute.
"""

Result = TypeVar("Result")

_opening: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


def opening_slot() -> asyncio.Semaphore:
    """Held while a link is opened."""
    return _opening.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(MAX_CONCURRENT_OPENS))


async def in_thread(work: Callable[[], Result], name: str) -> Result:
    """The result of ``work``, or its exception. If cancelled, first waits until it has ended: a
    port must not be opened or written to behind the back of whoever closes it.
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

    # A daemon thread: one that hangs in the operating system must not keep the process from ending.
    threading.Thread(target=run, name=name, daemon=True).start()
    try:
        return await asyncio.shield(done)
    except asyncio.CancelledError:
        await asyncio.wait([done])
        if not done.cancelled():
            done.exception()  # nobody else will ask for it
        raise


def _post(loop: asyncio.AbstractEventLoop, callback: Callable[..., None], value: object) -> None:
    with suppress(RuntimeError):  # the loop is closed; nobody is waiting
        loop.call_soon_threadsafe(callback, value)
