"""The people file of a running daemon: read at the start, and taken over when a person changed it.

A file that is older than the last one, or that the site's key did not sign, is refused: the one in
force stays.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import msgspec

from controller.configuration.settings import People as Settings
from controller.journal.setup import PeopleSetup
from controller.people.register import LARGEST, People, PeopleError, read_people, unspelled

_Look = tuple[int, int, int, int]


class InForce(msgspec.Struct, frozen=True):
    """A people file that may be used."""

    people: People
    text: str

    @property
    def sha256(self) -> str:
        """Its digest."""
        return hashlib.sha256(self.text.encode()).hexdigest()


class PeopleFile:
    """``settings``: with ``file`` and ``key``; ``last``: what the journal knows of the run before.

    If the file is refused at the start, that of the run before is in force, where the same key
    signed it; else :class:`PeopleError` is raised. ``trouble``: why the file is refused.
    """

    def __init__(self, settings: Settings, site: str, last: PeopleSetup | None) -> None:
        assert settings.file is not None
        assert settings.key is not None
        self._settings, self._site = settings, site
        self._path, self._key = Path(settings.file), settings.key
        self._seen: _Look | None = None
        self._now: InForce | None = None
        self.trouble: str | None = None
        if last is not None and last.file is not None and last.key == self._key:
            self._now = self._read(last.file.encode())
        if (found := self.look()) is not None:
            self._now = found
        if self._now is None:
            raise PeopleError(self.trouble)

    @property
    def now(self) -> InForce:
        """The file in force."""
        assert self._now is not None
        return self._now

    def setup(self, found: InForce) -> PeopleSetup:
        """What the journal keeps of it."""
        return PeopleSetup(
            file=found.text,
            key=self._key,
            required=self._settings.required,
            two_persons=self._settings.two_persons,
            may=self._settings.may,
        )

    def look(self) -> InForce | None:
        """Another file than the one in force, if there is one that may be used; :meth:`take` puts
        it in force. It reads the disk.
        """
        try:
            with self._path.open("rb") as file:
                found = os.fstat(file.fileno())
                look = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
                if look == self._seen:
                    return None
                data = file.read(LARGEST + 1)
            read = self._read(data)
            self._newer(read)
        except OSError as error:
            self._seen, self.trouble = None, f"{self._path}: {error.strerror}"
            return None
        except PeopleError as error:
            self._seen, self.trouble = look, f"{self._path}: {error}"
            return None
        self.trouble = None
        if self._now is not None and read.text == self._now.text:
            self._seen = look
            return None
        return read

    def take(self, found: InForce) -> None:
        """It is in force from here on."""
        self._now = found

    def _read(self, data: bytes) -> InForce:
        people = read_people(data, self._site, unspelled(self._key))
        return InForce(people, data.decode())

    def _newer(self, read: InForce) -> None:
        if self._now is None or read.text == self._now.text:
            return
        number, last = read.people.head.number, self._now.people.head.number
        if number <= last:
            raise PeopleError(
                f"its number is {number}, and number {last} is in force: it is an old copy. "
                "Restore the last one, and change that"
            )
