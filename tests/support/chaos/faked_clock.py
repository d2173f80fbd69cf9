"""A clock that tests set: libfaketime."""

from __future__ import annotations

from pathlib import Path

import pytest

LIBRARIES = ("/usr/lib", "/usr/local/lib", "/usr/lib64")


class Clock:
    """The clock of a program, which can be set while it runs: libfaketime reads a file before each
    look at the time.
    """

    def __init__(self, folder: Path, *, monotonic: bool = False) -> None:
        found = [
            path for root in LIBRARIES for path in sorted(Path(root).glob("**/libfaketimeMT.so.1"))
        ]
        if not found:
            pytest.fail(
                "libfaketime is not installed; tests/debian-packages names what the tests need"
            )
        self._file = folder / "clock"
        self.set(0)
        self.environment = {
            "LD_PRELOAD": str(found[0]),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "0" if monotonic else "1",
        }

    def set(self, seconds: float) -> None:
        """Seconds by which the clock is ahead of the true time, or behind it."""
        fresh = self._file.with_suffix(".new")
        fresh.write_text(f"{seconds:+.6f}\n")
        fresh.replace(self._file)
