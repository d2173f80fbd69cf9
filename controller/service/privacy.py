"""Keeps the daemon's files and its memory private to its own user."""

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
    try:
        beside = sorted(
            path
            for path in journal.parent.iterdir()
            if path.name.startswith(journal.name) and path.suffix != ".lock"
        )
    except OSError:  # not made yet, or ours alone to see
        beside = []
    return [path for path in (*beside, recordings) if _open_to_others(path)]


def exposed_secrets(broker: BrokerConfig) -> list[Path]:
    """The password and the private key for the broker, if any user of this machine can read
    them.
    """
    named = (broker.password_file, broker.key_file)
    return readable_by_all(Path(name) for name in named if name is not None)


def readable_by_all(paths: Iterable[Path]) -> list[Path]:
    """Those of these files and folders that any user of this machine can read. A group may: one
    that the daemon is in, where another user owns the file.
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
    except OSError:  # it is not there
        return False
