"""A daemon that is hardly ever scheduled, and stopped on top of it: no number is wrong, nothing is
lost, and every event can be derived again from the bytes and the times that they may have waited.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from tests.support.chaos.archive import entries_of
from tests.support.chaos.floor import Floor
from tests.support.chaos.proof import sound
from tests.support.chaos.report import tell
from tests.support.daemon.process import Daemon
from tests.support.programs import running

SPEED = 10.0
BUSY_PROGRAMS = 2
LOWEST = 19
"""The niceness of the daemon."""


def nice(daemon: Daemon, niceness: int) -> None:
    """Give it that, with all of its threads."""
    assert daemon.process is not None
    for thread in Path(f"/proc/{daemon.process.pid}/task").iterdir():
        os.setpriority(os.PRIO_PROCESS, int(thread.name), niceness)


@contextmanager
def starved(daemon: Daemon, programs: int) -> Iterator[None]:
    """Idle priority: every other process runs before it, and that number of programs wants all of
    the machine.
    """
    nice(daemon, LOWEST)
    with ExitStack() as ending:
        for _ in range(programs):
            ending.enter_context(running([sys.executable, "-c", "while True: pass"]))
        yield
    with suppress(PermissionError):  # root alone may take it back
        nice(daemon, 0)


def test_a_starved_daemon_gives_no_wrong_number(floor: Callable[..., Floor], seed: int) -> None:
    chance = random.Random(seed)
    made = floor(tables=2, speed=SPEED, stale_after=600.0)
    made.start()
    made.until_results(1)
    with starved(made.daemon, BUSY_PROGRAMS):
        for _ in range(6):
            time.sleep(chance.uniform(0.05, 1.0))
            made.daemon.signal(signal.SIGSTOP)
            time.sleep(chance.choice((0.02, 0.1, 0.3, 0.45)))
            made.daemon.signal(signal.SIGCONT)
    made.until_results(1)
    events, _ = sound(made)
    ends = [event["type"] for event in events]
    tell(
        f"{BUSY_PROGRAMS} busy programs: {ends.count('round.result')} results, "
        f"{ends.count('round.unresolved')} unresolved"
    )
    assert any(
        b'"delayed"' in entry.body for entry in entries_of(made.journal) if entry.kind == "bytes"
    )
