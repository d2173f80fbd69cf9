"""A file that is written whole and then given its name: begun anew, for our own user alone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

PRIVATE = 0o600
"""Rights of what is written: its owner reads and writes it."""


def new_file(path: Path) -> BinaryIO:
    """A new file. What had its name before is removed, and never followed where it leads elsewhere.
    Raises ``OSError``.
    """
    path.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return open(os.open(path, flags, PRIVATE), "wb")  # noqa: PTH123 - pathlib knows no flags
