"""Wrong PINs: each makes the next answer later, and too many lock a name for a while. What is
counted is kept on the disk, so that a restart forgives nothing.

A name that nobody has is counted too, in one of a few hundred counts, so that the answers do not
tell who exists.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from pathlib import Path

import msgspec

MOST = 5
"""Wrong PINs that lock a name."""
LOCKED = 900.0
"""Seconds for which it is locked."""
DELAY = 0.5
"""Seconds that the answer waits after the first wrong PIN; twice as long after each further one."""
STRANGERS = 256
"""Counts for names that nobody has."""


class Wrong(msgspec.Struct, frozen=True):
    """The wrong PINs of one name since the last right one."""

    count: int = 0
    until: float = 0.0
    """Locked until then: seconds since 1970."""


class Attempts:
    """The counts, in a file. ``salt``: spreads unknown names over their counts, in a way that
    nobody outside can foresee. Raises ``OSError`` or ``ValueError`` if the file cannot be read:
    then nobody is let in.
    """

    def __init__(self, path: Path, salt: bytes) -> None:
        self._path, self._salt = path, salt
        try:
            self._wrong = msgspec.json.decode(path.read_bytes(), type=dict[str, Wrong])
        except FileNotFoundError:
            self._wrong = {}

    def stranger(self, typed: str) -> str:
        """The count of a name that nobody has."""
        digest = hmac.digest(self._salt, typed.casefold().encode(), hashlib.sha256)
        return f"?{digest[0] % STRANGERS}"

    def locked(self, name: str, now: float) -> float:
        """For how many seconds the name is locked still; 0: it is not."""
        return max(0.0, self._wrong.get(name, Wrong()).until - now)

    def delay(self, name: str) -> float:
        """Seconds that the next answer waits."""
        count = self._wrong.get(name, Wrong()).count
        return DELAY * 2 ** (count - 1) if count else 0.0

    def wrong(self, name: str, now: float) -> bool:
        """Count a PIN as wrong before anybody has looked at it, so that many at once are many.
        Returns whether the name is locked from here on.
        """
        count = self._wrong.get(name, Wrong()).count + 1
        lock = count >= MOST
        self._wrong[name] = Wrong(0 if lock else count, now + LOCKED if lock else 0.0)
        self._keep()
        return lock

    def right(self, name: str) -> None:
        """It was right."""
        if self._wrong.pop(name, None) is not None:
            self._keep()

    def _keep(self) -> None:
        new = self._path.with_suffix(".new")
        with new.open("wb") as file:
            file.write(msgspec.json.encode(self._wrong))
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._path)
