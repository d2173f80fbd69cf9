"""Records for journal tests, and two programs that the tests run and kill: ``python -m tests.controller.records``."""

from __future__ import annotations

import asyncio
import resource
import sys
from pathlib import Path

from controller.journal.journal import Journal
from controller.journal.schema import Record


def record(number: int, *, table: str = "t1", boot: str = "b1", size: int = 10) -> Record:
    """The record of input ``number`` (from 1) with two events."""
    return Record(
        table=table,
        boot=boot,
        seq=2 * number,
        time="2025-09-23T07:25:28.384000Z",
        mono_ns=number,
        given=b"input %d" % number,
        events=(b"event %d" % (2 * number - 1), b"event %d %b" % (2 * number, b"x" * size)),
        saved=b"state %d" % number,
    )


async def until_killed(path: Path) -> None:
    """Append for ever, where the journal ends, and say each acknowledged number."""
    journal = Journal(path)
    number = journal.head() // 3
    while True:
        numbers = [number := number + 1 for _ in range(3)]
        for stored, each in [(journal.append(record(each)), each) for each in numbers]:
            await stored
            sys.stdout.write(f"{each}\n")
            sys.stdout.flush()


async def on_a_full_disk(path: Path) -> None:
    """Append until the file may not grow, see that nothing is acknowledged, let it grow, see that all is stored in order."""
    changes: asyncio.Queue[str | None] = asyncio.Queue()
    journal = Journal(path, changes.put_nowait)
    await journal.append(record(1))
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, most))
    waiting = [journal.append(record(number, size=50_000)) for number in range(2, 12)]
    reason = await changes.get()
    assert reason is not None
    assert str(path) in reason
    assert journal.failed == reason
    assert not any(stored.done() for stored in waiting)
    assert journal.head() == 3
    assert journal.waiting == 10
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    assert await asyncio.gather(*waiting) == list(range(6, 36, 3))
    assert await changes.get() is None
    assert journal.failed is None
    journal.close()


if __name__ == "__main__":
    asyncio.run({"until_killed": until_killed, "on_a_full_disk": on_a_full_disk}[sys.argv[1]](Path(sys.argv[2])))
