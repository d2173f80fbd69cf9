"""Creating a file that is written completely before it gets its final name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

PRIVATE = 0o600
"""Permissions: only the owner reads and writes."""


def new_file(path: Path) -> BinaryIO:
    """Create a file. An existing one of that name is removed first; a symbolic link is not
    followed. Raises ``OSError``.
    """
    path.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return open(os.open(path, flags, PRIVATE), "wb")  # noqa: PTH123 - pathlib cannot pass flags
