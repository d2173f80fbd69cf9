"""A folder for journals that are written or opened by the thousand."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory if there is one: thousands of commits would each wait for the disk, and no
    file outlasts the test.
    """
    place = Path("/dev/shm")
    with tempfile.TemporaryDirectory(
        dir=place if os.access(place, os.W_OK) else tmp_path
    ) as folder:
        yield Path(folder)
