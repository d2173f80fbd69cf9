"""The signals that stop the daemon, and those that reload its configuration."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from common.command_line import has_terminal, stop_signals
from controller.service.ending import STOP_TIMEOUT_SECONDS, Deadline


@contextmanager
def handled_signals(
    deadline: Deadline, stop: asyncio.Event, reload_requested: asyncio.Event
) -> Iterator[None]:
    """Handle signals while the context lasts. SIGTERM, SIGINT and the closing of the controlling
    terminal, except under ``nohup``, start the ``deadline`` and set ``stop``; any other SIGHUP sets
    ``reload_requested``.
    """
    loop = asyncio.get_running_loop()

    def on_stop(*_: object) -> None:
        deadline.within(STOP_TIMEOUT_SECONDS)  # first, and outside the loop, which may be stuck
        loop.call_soon_threadsafe(stop.set)

    on_terminal = signal.SIGHUP in stop_signals() and has_terminal()

    def on_hang_up(*_: object) -> None:
        if on_terminal and not has_terminal():
            on_stop()
            return
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(reload_requested.set)

    previous_handlers = {
        number: signal.signal(number, on_stop) for number in (signal.SIGTERM, signal.SIGINT)
    }
    previous_handlers[signal.SIGHUP] = signal.signal(signal.SIGHUP, on_hang_up)
    try:
        yield
    finally:
        for number, handler in previous_handlers.items():
            signal.signal(number, handler)
