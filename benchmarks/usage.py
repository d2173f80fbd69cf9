"""What a process uses, from ``/proc``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple


class Usage(NamedTuple):
    """What a process holds at one moment."""

    cpu: float
    """Seconds on a processor since its start, of all threads that live."""
    rss: float
    """Resident megabytes."""
    files: int
    """Open file descriptors."""
    threads: int


def usage(pid: int) -> Usage:
    """What this process holds now. Raises ``FileNotFoundError`` if it has ended."""
    process = Path("/proc") / str(pid)
    pages = int((process / "statm").read_text().split()[1])
    return Usage(
        cpu=cpu(pid),
        rss=pages * os.sysconf("SC_PAGE_SIZE") / 1e6,
        files=len(list((process / "fd").iterdir())),
        threads=len(list((process / "task").iterdir())),
    )


def largest_of(pid: int) -> float:
    """Megabytes resident in the largest of a process and those that it started; 0 if it has
    ended.
    """
    found = 0.0
    try:
        for task in (Path("/proc") / str(pid) / "task").iterdir():
            for child in (task / "children").read_text().split():
                found = max(found, largest_of(int(child)))
        return max(found, usage(pid).rss)
    except FileNotFoundError:
        return found


def cpu(pid: int) -> float:
    """Seconds on a processor, to the nanosecond: threads that have ended are not counted."""
    spent = 0
    for task in (Path("/proc") / str(pid) / "task").iterdir():
        try:
            spent += int((task / "schedstat").read_text().split()[0])
        except FileNotFoundError:  # it has ended meanwhile
            continue
    return spent / 1e9
