"""The people file of a pair: the last one that the site signed and either daemon has, also where
the other machine's file is an older one.
"""

from __future__ import annotations

from collections.abc import Callable

from controller.people.people_file import InForce, PeopleFile
from controller.standby.errors import OvertakenError, StoreUnreachableError, StoreUnusableError
from controller.standby.store import Store

LONGEST = 900_000
"""Bytes of the longest file that the store takes: NATS refuses a message of a megabyte."""


class SharedPeople:
    """``file``: the people file of this daemon, once it is read; None: nobody need sign."""

    def __init__(self, store: Store[str], file: Callable[[], PeopleFile | None]) -> None:
        self._store, self._file = store, file
        self._text: str | None = None

    def offered(self, file: PeopleFile) -> InForce | None:
        """A later file that the other daemon has in force."""
        return None if self._text is None else file.offered(self._text)

    async def exchange(self) -> None:
        """Read what the other daemon has, and write this one's where that is no later one."""
        file = self._file()
        if file is None:
            return
        try:
            entry = await self._store.read()
            self._text = entry.record
            ours = file.now.text
            later = self._text is not None and file.offered(self._text) is not None
            if self._text != ours and not later and len(ours) <= LONGEST:
                await self._store.write(ours, entry.revision)
        except (OvertakenError, StoreUnreachableError, StoreUnusableError):
            return  # with the next statement

    async def close(self) -> None:
        """End the connection."""
        await self._store.close()
