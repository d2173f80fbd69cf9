"""Waiting commands: which waits for which, and for how long."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from controller.mqtt.intake import (
    CLIENT_RATE,
    MAX_QUEUED,
    MAX_QUEUES_PER_TABLE,
    MAX_TOTAL_QUEUED,
    TABLE_RATE,
    CommandQueues,
    RateLimit,
)
from tests.support.waiting import TIMEOUT_SECONDS, until_async

Put = Callable[[CommandQueues[str]], Awaitable[None]]


class Answers:
    """Records the answers; one table's answers can be delayed."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.slow: asyncio.Event | None = None
        self.three = asyncio.Event()

    async def __call__(self, message: str) -> None:
        if message.startswith("slow") and self.slow is not None:
            await self.slow.wait()
        self.told.append(message)
        if len(self.told) == 3:
            self.three.set()


async def with_intake(put: Put, answers: Answers) -> None:
    async with asyncio.TaskGroup() as group:
        await put(CommandQueues(group, answers))


def test_a_rate_limit_allows_a_burst_and_then_so_many_a_second() -> None:
    pace = RateLimit(10.0, 3)
    assert [round(pace.wait(100.0), 6) for _ in range(6)] == [0.0, 0.0, 0.0, 0.1, 0.2, 0.3]
    assert not pace.is_rested(100.4)
    assert pace.is_rested(100.6)
    assert [round(pace.wait(200.0), 6) for _ in range(4)] == [0.0, 0.0, 0.0, 0.1]


async def test_commands_of_a_client_are_answered_in_order() -> None:
    answers = Answers()

    async def put(made: CommandQueues[str]) -> None:
        for number in range(10):
            assert made.put("r1", "a", f"{number}", recall=False)

    await with_intake(put, answers)
    assert answers.told == [f"{number}" for number in range(10)]


async def test_a_slow_answer_delays_neither_another_table_nor_another_client_nor_a_recall() -> None:
    answers = Answers()
    answers.slow = asyncio.Event()

    async def put(made: CommandQueues[str]) -> None:
        assert answers.slow is not None
        made.put("r1", "a", "slow", recall=False)
        made.put("r1", "a", "behind it", recall=False)
        made.put("r1", "b", "other client", recall=False)
        made.put("r1", "a", "recall", recall=True)
        made.put("r2", "a", "other table", recall=False)
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await answers.three.wait()
        assert sorted(answers.told) == ["other client", "other table", "recall"]
        answers.slow.set()

    await with_intake(put, answers)
    assert answers.told[3:] == ["slow", "behind it"]


async def test_a_flood_is_bounded_and_discarded() -> None:
    answers = Answers()

    async def put(made: CommandQueues[str]) -> None:
        taken = [made.put("r1", "flood", f"{number}", recall=False) for number in range(1000)]
        assert taken == [True] * MAX_QUEUED + [False] * (1000 - MAX_QUEUED)
        named = [made.put("r1", f"c{number}", "x", recall=False) for number in range(1000)]
        assert sum(named) == MAX_QUEUES_PER_TABLE - 1 + MAX_QUEUED, (
            "who comes too late shares the line of those without a name"
        )

    await with_intake(put, answers)
    assert len(answers.told) == MAX_QUEUED + MAX_QUEUES_PER_TABLE - 1 + MAX_QUEUED


async def test_all_queues_together_are_bounded() -> None:
    answers = Answers()

    async def put(made: CommandQueues[str]) -> None:
        taken = [made.put(f"r{number % 1000}", None, "x", recall=False) for number in range(10_000)]
        assert sum(taken) == MAX_TOTAL_QUEUED

    await with_intake(put, answers)


async def test_an_idle_client_frees_its_queue() -> None:
    answers = Answers()

    async def put(made: CommandQueues[str]) -> None:
        for number in range(MAX_QUEUES_PER_TABLE):
            made.put("r1", f"c{number}", "x", recall=False)
        lines = made._queues["r1", False]
        assert list(lines) == [f"c{number}" for number in range(MAX_QUEUES_PER_TABLE)]
        await until_async(
            lambda: all(
                not line.is_working and line.rate_limit.is_rested(time.monotonic())
                for line in lines.values()
            )
        )
        made.put("r1", "late", "x", recall=False)
        assert list(lines) == ["late"]

    await with_intake(put, answers)
    assert TABLE_RATE[0] > CLIENT_RATE[0], "one client alone does not use up its table"
