"""Wrong PINs: each makes the next answer later, and too many lock for a while. What is counted is
kept on the disk, so that a restart forgives nothing. Of what a count is, its name says.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

MOST = 5
"""Wrong PINs that lock a count."""
LOCKED = 900.0
"""Seconds for which it is locked."""
DELAY = 0.5
"""Seconds that the answer waits after the first wrong PIN; twice as long after each further one."""
MAX_COUNTS = 8192
"""Counts that are kept: those that lock first, then the latest."""


class Wrong(msgspec.Struct, frozen=True):
    """The wrong PINs of one count since the last right one."""

    count: int = 0
    until: float = 0.0
    """Locked until then, in seconds: on the disk since 1970."""


class Attempts:
    """The counts, in a file. ``salt``: makes names of what is counted that say nothing. ``ahead``:
    by how many seconds the clock of the disk (since 1970) is ahead of that of ``now``, which may be
    one that nobody sets. A lock that is read from the disk lasts no longer than :data:`LOCKED`,
    whatever became of the clock. Raises ``OSError`` or ``ValueError`` if the file cannot be read:
    then nobody is let in.
    """

    def __init__(self, path: Path, salt: bytes, ahead: Callable[[], float] = lambda: 0.0) -> None:
        self._path, self._salt, self._ahead = path, salt, ahead
        try:
            found = msgspec.json.decode(path.read_bytes(), type=dict[str, Wrong])
        except FileNotFoundError:
            found = {}
        self._wrong = {
            name: msgspec.structs.replace(each, until=each.until - ahead() if each.until else 0.0)
            for name, each in found.items()
        }
        self._read = True

    def count_of(self, *what: str) -> str:
        """The name of the count of this."""
        said = msgspec.json.encode([each.casefold() for each in what])
        return hmac.digest(self._salt, said, hashlib.sha256)[:16].hex()

    def locked(self, name: str, now: float) -> float:
        """For how many seconds the name is locked still; 0: it is not."""
        if self._read:
            self._read = False
            self._wrong = {
                of: msgspec.structs.replace(each, until=min(each.until, now + LOCKED))
                for of, each in self._wrong.items()
            }
        return max(0.0, self._wrong.get(name, Wrong()).until - now)

    def delay(self, name: str) -> float:
        """Seconds that the next answer waits."""
        count = self._wrong.get(name, Wrong()).count
        return DELAY * 2 ** (count - 1) if count else 0.0

    def wrong(self, name: str, now: float) -> bool:
        """Count a PIN as wrong before anybody has looked at it, so that many at once are many.
        Returns whether the name is locked from here on.
        """
        return self.all_wrong({name: MOST}, now)[name]

    def all_wrong(self, most: Mapping[str, int], now: float) -> dict[str, bool]:
        """The same for several counts at once: ``most`` wrong PINs lock each."""
        locks = {}
        for name, limit in most.items():
            count = self._wrong.pop(name, Wrong()).count + 1
            locks[name] = count >= limit
            self._wrong[name] = Wrong(0, now + LOCKED) if locks[name] else Wrong(count)
        while len(self._wrong) > MAX_COUNTS:
            unlocked = (name for name, each in self._wrong.items() if each.until <= now)
            del self._wrong[next(unlocked, next(iter(self._wrong)))]
        self._keep()
        return locks

    def right(self, *names: str) -> None:
        """It was right: nothing counts any more."""
        known = [name for name in names if name in self._wrong]
        for name in known:
            del self._wrong[name]
        if known:
            self._keep()

    def take_back(self, name: str, most: int) -> None:
        """It was right, and does not count; what was counted before does."""
        found = self._wrong.get(name)
        if found is not None:
            self._wrong[name] = Wrong((most if found.until else found.count) - 1)
            self._keep()

    def _keep(self) -> None:
        new, ahead = self._path.with_suffix(".new"), self._ahead()
        told = {
            name: msgspec.structs.replace(each, until=each.until + ahead if each.until else 0.0)
            for name, each in self._wrong.items()
        }
        with new.open("wb") as file:
            file.write(msgspec.json.encode(told))
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._path)
