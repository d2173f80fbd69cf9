"""The event loop of a world: each machine has a clock of its own, each callback a process."""

from __future__ import annotations

from contextvars import Context

from tests.world.loop import WorldLoop
from tests.world.process import Machine, Process, context_of


def test_timers_follow_the_clock_of_their_machine() -> None:
    loop = WorldLoop(lambda: 0.001)
    fast, exact = Machine("fast"), Machine("exact")
    due: list[tuple[str, float, float]] = []

    def wait(machine: Machine, seconds: float) -> None:
        context = context_of(Process("program", machine))

        def on_timer() -> None:
            due.append((machine.name, round(loop.now, 6), round(loop.time(), 6)))

        loop.call_later(seconds, on_timer, context=context)

    wait(fast, 10.0)
    wait(exact, 10.0)
    loop.call_at(5.0, loop.drift, fast, 2.0, context=Context())
    loop.call_at(8.0, loop.suspend, fast, 3.0, context=Context())
    loop.call_at(7.9, wait, fast, 1.0, context=Context())
    loop.run_until_time(20.0)
    assert due == [("fast", 7.5, 10.0), ("exact", 10.0, 10.0), ("fast", 11.4, 11.8)]
    assert fast.boottime(20.0) == 35.0
    loop.close()


def test_a_timer_in_an_empty_context_outlives_the_process_that_set_it() -> None:
    loop, process, rung = WorldLoop(lambda: 0.001), Process("program", Machine("pit")), list[str]()

    def end() -> None:
        loop.kill(process)
        loop.call_later(1.0, rung.append, "restart", context=Context())
        loop.call_at(2.0, rung.append, "again", context=Context())

    loop.call_soon(end, context=context_of(process))
    loop.run_until_time(3.0)
    loop.close()
    assert rung == ["restart", "again"]
