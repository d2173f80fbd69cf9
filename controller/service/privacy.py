"""What nobody but the daemon's own user may see of it: its files, and what it had in memory when it
died.
"""

from __future__ import annotations

import ctypes
import os
import resource
import stat
from pathlib import Path

_PR_SET_DUMPABLE = 4  # prctl(2)


def keep_private() -> None:
    """From now on, what this process creates is its user's alone, and no core of it is written:
    keys would be in it, and cards.
    """
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    ctypes.CDLL(None).prctl(
        _PR_SET_DUMPABLE, 0, 0, 0, 0
    )  # a program that takes cores from the kernel need not heed the limit


def exposed(journal: Path, recordings: Path) -> list[Path]:
    """The files of the journal, and the folder of recordings, that others may use: they were made
    before, or by somebody else.
    """
    beside = sorted(
        path
        for path in journal.parent.iterdir()
        if path.name.startswith(journal.name) and path.suffix != ".lock"
    )
    return [path for path in (*beside, recordings) if _open_to_others(path)]


def _open_to_others(path: Path) -> bool:
    try:
        if not path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            return False
        return all(
            folder.stat().st_mode & (stat.S_IXGRP | stat.S_IXOTH)
            for folder in path.resolve().parents
        )
    except OSError:  # it is not there
        return False
