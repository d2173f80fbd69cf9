"""Counts wrong PINs: each delays the next reply, and too many lock for a while. The counters are
stored on disk, so that a restart does not reset them. Their names are keyed hashes.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from common.new_file import replacing

MAX_WRONG_PINS = 5
"""Wrong PINs that lock a counter."""
LOCK_SECONDS = 900.0
"""Duration of a lock."""
FIRST_DELAY_SECONDS = 0.5
"""Delay of the reply after the first wrong PIN; it doubles with each further one."""
MAX_COUNTS = 8192
"""Maximum number of stored counters; locked ones are kept first, then the latest."""


class WrongPins(msgspec.Struct, frozen=True):
    """The wrong PINs of one counter since the last right one."""

    count: int = 0
    until: float = 0.0
    """End of the lock in seconds; on disk, seconds since 1970."""


class Attempts:
    """The counters, in a file. ``salt``: key for their names. ``ahead``: seconds by which the
    disk's clock (since 1970) is ahead of that of ``now``, which may be monotonic. A lock read from
    disk lasts at most :data:`LOCK_SECONDS`, even if the clock was changed. Raise ``OSError`` or
    ``ValueError`` if the file cannot be read; the caller must then refuse every sign-in.
    """

    def __init__(self, path: Path, salt: bytes, ahead: Callable[[], float] = lambda: 0.0) -> None:
        self._path, self._salt, self._ahead = path, salt, ahead
        try:
            stored = msgspec.json.decode(path.read_bytes(), type=dict[str, WrongPins])
        except FileNotFoundError:
            stored = {}
        except msgspec.DecodeError:
            raise ValueError(
                f"{path}, which counts wrong PINs, is damaged. Move it away: all counts and locks "
                "then begin again"
            ) from None
        self._wrong = {
            name: msgspec.structs.replace(pins, until=pins.until - ahead() if pins.until else 0.0)
            for name, pins in stored.items()
        }
        self._just_read = True

    def counter_name(self, *parts: str) -> str:
        """Return the name of the counter of this combination."""
        encoded = msgspec.json.encode([part.casefold() for part in parts])
        return hmac.digest(self._salt, encoded, hashlib.sha256)[:16].hex()

    def seconds_locked(self, name: str, now: float) -> float:
        """Return the seconds until the lock ends; 0 if there is no lock."""
        if self._just_read:
            self._just_read = False
            self._wrong = {
                counter: msgspec.structs.replace(pins, until=min(pins.until, now + LOCK_SECONDS))
                for counter, pins in self._wrong.items()
            }
        return max(0.0, self._wrong.get(name, WrongPins()).until - now)

    def delay(self, name: str) -> float:
        """Return the delay of the next reply in seconds."""
        count = self._wrong.get(name, WrongPins()).count
        return FIRST_DELAY_SECONDS * 2 ** (count - 1) if count else 0.0

    def count_wrong(self, name: str, now: float) -> bool:
        """Count a PIN as wrong before it is checked, so that parallel guesses all count. Return
        True if the counter is now locked.
        """
        return self.count_all_wrong({name: MAX_WRONG_PINS}, now)[name]

    def count_all_wrong(self, limits: Mapping[str, int], now: float) -> dict[str, bool]:
        """Like :meth:`count_wrong`, for several counters with their limits."""
        locked = {}
        for name, limit in limits.items():
            count = self._wrong.pop(name, WrongPins()).count + 1
            locked[name] = count >= limit
            self._wrong[name] = (
                WrongPins(0, now + LOCK_SECONDS) if locked[name] else WrongPins(count)
            )
        while len(self._wrong) > MAX_COUNTS:
            unlocked = (name for name, pins in self._wrong.items() if pins.until <= now)
            del self._wrong[next(unlocked, next(iter(self._wrong)))]
        self._save()
        return locked

    def reset(self, *names: str) -> None:
        """The PIN was right: clear these counters."""
        existing = [name for name in names if name in self._wrong]
        for name in existing:
            del self._wrong[name]
        if existing:
            self._save()

    def uncount(self, name: str, limit: int) -> None:
        """The PIN was right: undo its count, but keep earlier ones."""
        pins = self._wrong.get(name)
        if pins is not None:
            self._wrong[name] = WrongPins((limit if pins.until else pins.count) - 1)
            self._save()

    def _save(self) -> None:
        ahead = self._ahead()
        stored = {
            name: msgspec.structs.replace(pins, until=pins.until + ahead if pins.until else 0.0)
            for name, pins in self._wrong.items()
        }
        with replacing(self._path) as file:
            file.write(msgspec.json.encode(stored))
