"""``python -m tests.daemon.faults FAULT run CONFIG``: the daemon with a defect in it, which strikes
at SIGUSR1.

All of the daemon is real and at work until then; what is added to it is one of the faults below.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn

import structlog

from common.broker.failures import Disconnected
from controller.cli import main
from controller.journal.writer import JournalWriter
from controller.mqtt.publisher import Publisher
from controller.proof import journal_upkeep
from controller.proof.journal_upkeep import JournalUpkeep
from controller.service import daemon, signals
from controller.service.health import HealthPublisher
from controller.service.watchdog import Watchdog
from devices.device import DeviceSupervisor

STRUCK = threading.Event()
TAKEN = "the event loop is taken"

TASKS: dict[str, tuple[type, str]] = {
    "publisher": (Publisher, "run"),
    "reader": (Publisher, "_read"),
    "sender": (Publisher, "_send"),
    "device": (DeviceSupervisor, "run"),
    "health": (HealthPublisher, "run"),
    "watchdog": (Watchdog, "run"),
    "journal upkeep": (JournalUpkeep, "run"),
    "read back": (JournalUpkeep, "read_back"),
}
"""The daemon's essential tasks, and where each is implemented."""


async def struck() -> None:
    while not STRUCK.is_set():  # noqa: ASYNC110 - it is set by a signal handler
        await asyncio.sleep(0.01)


def dies(task: str, end: Callable[[], None]) -> None:
    """The task does its work until the fault strikes; then it ends so."""
    kind, name = TASKS[task]
    real = getattr(kind, name)

    async def mortal(*arguments: Any) -> None:
        work = asyncio.create_task(real(*arguments))
        try:
            await struck()
            end()
        finally:
            work.cancel()

    setattr(kind, name, mortal)


def raises() -> NoReturn:
    raise OverflowError("Python int too large to convert to SQLite INTEGER")


def returns() -> None:
    """Without a word."""


def is_cancelled() -> NoReturn:
    raise asyncio.CancelledError


ENDS = {"raises": raises, "returns": returns, "is cancelled": is_cancelled}


def soon(*limits: str) -> None:
    """The daemon waits for less long than it would."""
    for limit in limits:
        module = signals if hasattr(signals, limit) else daemon
        assert hasattr(module, limit), limit
        setattr(module, limit, 1.0)


def writer_dies() -> None:
    """The journal's thread ends at the next thing that it is to store."""
    real = JournalWriter._collect

    def collect(writer: JournalWriter, wait: float | None) -> Any:
        found = real(writer, wait)
        if STRUCK.is_set():
            raises()
        return found

    setattr(JournalWriter, "_collect", collect)  # noqa: B010 - a method is replaced


def connection_is_lost_at_the_same_moment() -> None:
    """The publisher is cancelled just when its connection ends: a group of tasks then forgets that
    it was cancelled.
    """
    dies("health", raises)

    async def send(publisher: Publisher, connection: Any) -> None:
        try:
            await real(publisher, connection)
        except asyncio.CancelledError:
            raise Disconnected("at the same moment") from None

    real = Publisher._send
    setattr(Publisher, "_send", send)  # noqa: B010 - a method is replaced


def a_task_will_not_end() -> None:
    """One task swallows its cancellation."""
    real = JournalUpkeep.run

    async def run(*arguments: Any) -> None:
        work = asyncio.create_task(real(*arguments))
        while True:
            with suppress(asyncio.CancelledError):
                await asyncio.shield(work)

    setattr(JournalUpkeep, "run", run)  # noqa: B010 - a method is replaced
    soon("STOP_TIMEOUT_SECONDS", "FAILURE_TIMEOUT_SECONDS")


def one_dies_and_another_will_not() -> None:
    a_task_will_not_end()
    dies("health", raises)


def no_day_can_be_sealed() -> None:
    """A number overflows, in work that no table waits for."""

    def seal(*_: object) -> None:
        raise OverflowError("days=-999999999; must have magnitude <= 999999999")

    setattr(journal_upkeep, "seal", seal)  # noqa: B010 - a function is replaced


def nothing_goes_on() -> None:
    """The event loop is taken, and never given back."""

    def takes() -> None:
        structlog.get_logger().warning(TAKEN)
        while True:
            pass

    dies("health", takes)
    soon("STOP_TIMEOUT_SECONDS")


FAULTS: dict[str, Callable[[], None]] = {
    **{f"{task} {how}": partial(dies, task, end) for task in TASKS for how, end in ENDS.items()},
    "writer raises": writer_dies,
    "lost and cancelled": connection_is_lost_at_the_same_moment,
    "will not end": a_task_will_not_end,
    "will not end, and health raises": one_dies_and_another_will_not,
    "nothing goes on": nothing_goes_on,
    "no day can be sealed": no_day_can_be_sealed,
}

if __name__ == "__main__":
    fault = sys.argv.pop(1)
    signal.signal(signal.SIGUSR1, lambda *_: STRUCK.set())
    FAULTS[fault]()
    sys.exit(main())
