"""Records for journal tests, and two programs that the tests run and kill: ``python -m
tests.support.journal.records``.
"""

from __future__ import annotations

import asyncio
import os
import resource
import sys
from contextlib import suppress
from pathlib import Path

from common.chain.schema import Record
from controller.journal import writer
from controller.journal.journal import Journal

INDEX_PART_FRAMES = 4062
"""Frames of the log that the first part of its index has room for."""
FREE_BLOCKS = 12
"""Remaining blocks of 1 KiB: more than SQLite needs for the next part, one in each page, and less
than its whole size.
"""


def record(number: int, *, table: str = "t1", boot: str = "b1", size: int = 10) -> Record:
    """The record of input ``number`` (from 1) with two events."""
    return Record(
        table=table,
        boot=boot,
        seq=2 * number,
        time="2025-09-23T07:25:28.384000Z",
        mono_ns=number,
        input=b"input %d" % number,
        events=(b"event %d" % (2 * number - 1), b"event %d %b" % (2 * number, b"x" * size)),
        saved=b"state %d" % number,
    )


async def until_killed(path: Path) -> None:
    """Append forever, from the journal's end, and print each acknowledged number."""
    journal = Journal(path)
    number = journal.head() // 3
    while True:
        numbers = [number := number + 1 for _ in range(3)]
        for stored, each in [(journal.append(record(each)), each) for each in numbers]:
            await stored
            sys.stdout.write(f"{each}\n")
            sys.stdout.flush()


async def on_a_full_disk(path: Path) -> None:
    """Append until the file may not grow, check that nothing is acknowledged, let it grow, check
    that all is stored in order.
    """
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


async def on_the_last_blocks(path: Path) -> None:
    """Write until the index of the log needs its next part, on a disk that has a few blocks left,
    but too few for it.
    """
    writer.LOG_CHECKPOINT_BYTES = writer.LOG_FORCED_CHECKPOINT_BYTES = 1 << 30
    log, frame = path.with_name(f"{path.name}-wal"), 4096 + 24
    journal = Journal(path)
    number = 0
    while log.stat().st_size // frame < INDEX_PART_FRAMES - 40:
        await journal.append(record(number := number + 1, size=50_000))
    with open(log, "r+b") as file:  # noqa: PTH123, ASYNC230  room for the log itself
        os.posix_fallocate(file.fileno(), 0, os.fstat(file.fileno()).st_size + 100 * frame)
    with open(path.with_name("filler"), "wb", buffering=0) as filler:  # noqa: PTH123, ASYNC230
        for piece in (65_536, 1024):
            with suppress(OSError):
                while filler.write(b"x" * piece) == piece:
                    pass
        os.sync()
        filler.truncate(filler.tell() - FREE_BLOCKS * 1024)
        os.sync()
    before = journal.head()
    await asyncio.gather(
        *[asyncio.create_task(_stored(journal, number + more)) for more in range(1, 20)]
    )
    assert journal.head() == before + 3 * 19
    journal.close()


async def _stored(journal: Journal, number: int) -> None:
    await asyncio.sleep(0.01 * number)  # each in a separate commit
    await journal.append(record(number))


if __name__ == "__main__":
    programs = {
        "until_killed": until_killed,
        "on_a_full_disk": on_a_full_disk,
        "on_the_last_blocks": on_the_last_blocks,
    }
    asyncio.run(programs[sys.argv[1]](Path(sys.argv[2])))
