"""Ending tasks of asyncio."""

from __future__ import annotations

import asyncio

from common.tasks import end_tasks


async def test_a_task_whose_library_loses_the_cancellation_ends() -> None:
    answers: list[asyncio.Future[None]] = []

    async def ask_for_ever() -> None:
        while True:
            answers.append(asyncio.get_running_loop().create_future())
            await asyncio.wait_for(answers[-1], 60.0)

    asking = asyncio.create_task(ask_for_ever())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    answers[0].set_result(None)  # in the same turn of the loop as the cancellation
    await end_tasks(asking)
    assert asking.cancelled()
    assert len(answers) == 2, "the first cancellation was not lost, so nothing was shown"


async def test_tasks_that_have_ended_are_no_trouble() -> None:
    async def fail() -> None:
        raise ValueError

    failed = asyncio.create_task(fail())
    await asyncio.wait([failed])
    await end_tasks(failed)
    await end_tasks()
    assert isinstance(failed.exception(), ValueError)
