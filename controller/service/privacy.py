"""Keeps the daemon's files and its memory private to its own user."""

from __future__ import annotations

import ctypes
import os
import resource
import stat
from pathlib import Path

_PR_SET_DUMPABLE = 4  # prctl(2)


def keep_private() -> None:
    """From now on, files that this process creates are readable by its user alone, and it leaves no
    core dump, which would contain keys and cards.
    """
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    ctypes.CDLL(None).prctl(
        _PR_SET_DUMPABLE, 0, 0, 0, 0
    )  # a core handler of the kernel may ignore the limit


def exposed(journal: Path, recordings: Path) -> list[Path]:
    """The files of the journal and the folder of recordings that other users can reach because they
    were created before, or by someone else.
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
