"""Keeps the daemon's files and memory private to its own user."""

from __future__ import annotations

import ctypes
import os
import resource
import stat
from collections.abc import Iterable
from pathlib import Path

from controller.configuration.settings import BrokerConfig

_PR_SET_DUMPABLE = 4  # prctl(2)


def keep_private() -> None:
    """Make new files readable only by this process's user, and disable core dumps, which would
    contain keys and cards.
    """
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)  # core handlers can ignore the limit


def exposed(journal: Path, recordings: Path) -> list[Path]:
    """Return the files of the journal and the folder of recordings that other users can access,
    because they were created earlier or by someone else.
    """
    try:
        beside = sorted(
            path
            for path in journal.parent.iterdir()
            if path.name.startswith(journal.name) and path.suffix != ".lock"
        )
    except OSError:  # not created yet, or readable only by us
        beside = []
    return [path for path in (*beside, recordings) if _open_to_others(path)]


def exposed_secrets(broker: BrokerConfig) -> list[Path]:
    """Return the password and key files for the broker that any user of this machine can read."""
    named = (broker.password_file, broker.key_file)
    return readable_by_all(Path(name) for name in named if name is not None)


def readable_by_all(paths: Iterable[Path]) -> list[Path]:
    """Return the files and folders that any user of this machine can read. A group may read them:
    the daemon may be in the group of a file that another user owns.
    """
    return [path for path in paths if _open_to_others(path, stat.S_IRWXO, stat.S_IXOTH)]


def _open_to_others(
    path: Path,
    who: int = stat.S_IRWXG | stat.S_IRWXO,
    through: int = stat.S_IXGRP | stat.S_IXOTH,
) -> bool:
    try:
        if not path.stat().st_mode & who:
            return False
        return all(folder.stat().st_mode & through for folder in path.resolve().parents)
    except OSError:  # it does not exist
        return False
