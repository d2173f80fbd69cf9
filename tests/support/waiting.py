"""How a test waits: for a condition, with one generous deadline."""

from __future__ import annotations

import asyncio
import select
import subprocess
import time
from collections.abc import Callable
from typing import Any

import pytest

PATIENCE = 60.0
"""Seconds after which a test gives up waiting for what should come at once, also on a starved
machine. Nothing is asserted of it.
"""


def until(
    what: str,
    condition: Callable[[], Any],
    trouble: Callable[[], str] = lambda: "",
    patience: float = PATIENCE,
) -> Any:
    """Wait for a condition and return its value. It is checked once more after the deadline: we may
    have slept over it. One that takes long to check leaves most of the processor to what it waits
    for.
    """
    end = time.monotonic() + patience
    while True:
        begin = time.monotonic()
        if found := condition():
            return found
        if begin >= end:
            pytest.fail(f"waited {patience:g} s in vain: {what}\n{trouble()}")
        time.sleep(max(0.01, min(0.05, 4 * (time.monotonic() - begin))))


async def until_async(condition: Callable[[], Any]) -> None:
    """Wait in an event loop until a condition holds."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 - what is waited for notifies nobody
            await asyncio.sleep(0.005)


def next_line(process: subprocess.Popen[Any], again: Callable[[], object]) -> Any:
    """The next line that a process prints; until then ``again`` is called now and then. Only for a
    process that prints one line at a time: a second one may hide in the buffer of the first.
    """
    assert process.stdout is not None
    while not select.select([process.stdout], [], [], 0.2)[0]:
        again()
    return process.stdout.readline()
