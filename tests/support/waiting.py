"""Waiting of tests: for a condition, with one generous deadline."""

from __future__ import annotations

import asyncio
import select
import subprocess
import time
from collections.abc import Callable
from typing import Any

import pytest

TIMEOUT_SECONDS = 60.0
"""Generous, for a starved machine: no test asserts anything about it."""


def until(
    description: str,
    condition: Callable[[], Any],
    diagnosis: Callable[[], str] = lambda: "",
    timeout: float = TIMEOUT_SECONDS,
) -> Any:
    """Wait for a condition and return its value. It is checked once more after the deadline: this
    process may have slept over it. Between checks most of the processor is left to the rest.
    """
    end = time.monotonic() + timeout
    while True:
        begin = time.monotonic()
        if found := condition():
            return found
        if begin >= end:
            pytest.fail(f"timeout after {timeout:g} s: {description}\n{diagnosis()}")
        time.sleep(max(0.01, min(0.05, 4 * (time.monotonic() - begin))))


async def until_async(condition: Callable[[], Any]) -> None:
    """Wait in an event loop until a condition holds."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while not condition():  # noqa: ASYNC110 - the condition has no notification
            await asyncio.sleep(0.005)


def next_line(process: subprocess.Popen[Any], on_idle: Callable[[], object]) -> Any:
    """Return the next line that a process prints, calling ``on_idle`` until it comes. Only for a
    process that prints one line at a time: a second one may hide in the buffer of the first.
    """
    assert process.stdout is not None
    while not select.select([process.stdout], [], [], 0.2)[0]:
        on_idle()
    return process.stdout.readline()
