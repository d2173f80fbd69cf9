"""Shares the people file in a pair: both machines use the newest signed file that either has, even
if the file on the other machine is older.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from common.people.people_file import PeopleFile, PeopleInForce
from common.standby.errors import OvertakenError, StoreUnreachableError, StoreUnusableError
from common.standby.settings import StoreSettings
from common.standby.store import RecordStore

SUFFIX = ".people"
"""Suffix of the lease's key: the key of the people file."""
MAX_FILE_BYTES = 900_000
"""Maximum bytes of a file in the store: NATS rejects messages of a megabyte."""


class SharedPeople:
    """``key``: the key of the pair's lease; ``file`` returns the people file of this machine once
    it is read; None: no signing.
    """

    def __init__(
        self,
        settings: StoreSettings,
        key: str,
        timeout: float,
        file: Callable[[], PeopleFile | None],
    ) -> None:
        self._store: RecordStore[str] = RecordStore(
            settings, f"{key}{SUFFIX}", timeout, _decode, str.encode
        )
        self._file = file
        self._lock = asyncio.Lock()
        self._text: str | None = None

    def offered(self, file: PeopleFile) -> PeopleInForce | None:
        """Return the other machine's people file if it is newer."""
        return None if self._text is None else file.newer_from_peer(self._text)

    async def exchange(self) -> None:
        """Read the other machine's file, and write this one's unless the other is newer."""
        file = self._file()
        if file is None:
            return
        async with self._lock:
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


def _decode(body: bytes) -> str:
    return body.decode(errors="replace")
