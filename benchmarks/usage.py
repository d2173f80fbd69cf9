"""Resources of a process, from ``/proc``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple


class Usage(NamedTuple):
    """Resources of a process at one moment."""

    cpu: float
    """CPU seconds since its start, of all live threads."""
    rss: float
    """Resident megabytes."""
    files: int
    """Open file descriptors."""
    threads: int


def usage(pid: int) -> Usage:
    """Return the present resources of a process. Raises ``FileNotFoundError`` if it has ended."""
    process = Path("/proc") / str(pid)
    pages = int((process / "statm").read_text().split()[1])
    return Usage(
        cpu=cpu(pid),
        rss=pages * os.sysconf("SC_PAGE_SIZE") / 1e6,
        files=len(list((process / "fd").iterdir())),
        threads=len(list((process / "task").iterdir())),
    )


def largest_of(pid: int) -> float:
    """Return the resident megabytes of the largest of a process and its children; 0 if it has
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
    """Return CPU seconds, with nanosecond resolution, without threads that have ended."""
    spent = 0
    for task in (Path("/proc") / str(pid) / "task").iterdir():
        try:
            spent += int((task / "schedstat").read_text().split()[0])
        except FileNotFoundError:  # it has ended meanwhile
            continue
    return spent / 1e9
