"""Waiting with a bound: what ends the wait, and what is left of it."""

from __future__ import annotations

import asyncio

import pytest

from common.wakeup import Wakeup
from tests.support.waiting import TIMEOUT_SECONDS


async def test_a_wait_ends_when_it_is_set() -> None:
    wakeup = Wakeup()
    waiting = asyncio.create_task(wakeup.wait(TIMEOUT_SECONDS))
    await asyncio.sleep(0)
    assert not waiting.done()
    wakeup.set()
    wakeup.set()  # before the task has run
    assert await waiting


async def test_what_was_set_before_ends_the_wait_until_it_is_cleared() -> None:
    wakeup = Wakeup()
    wakeup.set()
    assert await wakeup.wait(None)
    assert await wakeup.wait(TIMEOUT_SECONDS)
    wakeup.clear()
    assert not await wakeup.wait(0.0)


async def test_a_wait_ends_with_its_time() -> None:
    wakeup = Wakeup()
    assert not await wakeup.wait(0.001)
    waiting = asyncio.create_task(wakeup.wait(TIMEOUT_SECONDS))
    await asyncio.sleep(0)
    wakeup.set()
    assert await waiting


async def test_a_wait_can_be_cancelled() -> None:
    wakeup = Wakeup()
    waiting = asyncio.create_task(wakeup.wait(None))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    wakeup.set()
    assert await wakeup.wait(None)
