"""Shares the people file in a pair: both daemons use the newest signed file that either has, even
if the file on the other machine is older.
"""

from __future__ import annotations

from collections.abc import Callable

from common.people.people_file import PeopleFile, PeopleInForce
from common.standby.errors import OvertakenError, StoreUnreachableError, StoreUnusableError
from common.standby.store import RecordStore

MAX_FILE_BYTES = 900_000
"""Maximum bytes of a file in the store: NATS rejects messages of a megabyte."""


class SharedPeople:
    """``file`` returns the people file of this daemon once it is read; None: no signing."""

    def __init__(self, store: RecordStore[str], file: Callable[[], PeopleFile | None]) -> None:
        self._store, self._file = store, file
        self._text: str | None = None

    def offered(self, file: PeopleFile) -> PeopleInForce | None:
        """Return the other daemon's people file if it is newer."""
        return None if self._text is None else file.newer_from_peer(self._text)

    async def exchange(self) -> None:
        """Read the other daemon's file, and write this daemon's file unless the other is newer."""
        file = self._file()
        if file is None:
            return
        try:
            entry = await self._store.read()
            self._text = entry.record
            own_text = file.in_force.text
            is_newer = self._text is not None and file.newer_from_peer(self._text) is not None
            if self._text != own_text and not is_newer and len(own_text) <= MAX_FILE_BYTES:
                await self._store.write(own_text, entry.revision)
        except (OvertakenError, StoreUnreachableError, StoreUnusableError):
            return  # retried with the next statement

    async def close(self) -> None:
        """Close the connection."""
        await self._store.close()
