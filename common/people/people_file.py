"""The people file of a running service: read at the start, and again when it was replaced.

A file that is older than the last one, or not signed with the site's key, is rejected: the one in
force remains. To ensure this after a restart, each service stores the file in force: the daemon in
its journal, others in a separate file (:class:`RememberedPeopleFile`).
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from common.errors import describe_error
from common.people.numbered import (
    FileMemory,
    FileStatus,
    OldCopyError,
    check_number,
    file_status,
    locked_folder,
)
from common.people.register import (
    MAX_FILE_BYTES,
    People,
    PeopleError,
    alike,
    describe_alike,
    from_base64url,
    read_people,
    read_unsigned,
    signed_with,
)

DIGEST_DIGITS = 12


class PeopleInForce(msgspec.Struct, frozen=True):
    """A valid people file."""

    people: People
    text: str

    @property
    def sha256(self) -> str:
        """The SHA-256 of the text, in hexadecimal."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def digest(self) -> str:
        """The number, and the first digits of the digest, for a person who compares two files."""
        return f"number {self.people.head.number}, {self.sha256[:DIGEST_DIGITS]}"


class PeopleFile:
    """The people file at ``path``, signed with the ``key`` of the ``site`` (base64url). ``last``:
    the text of the file that was in force in the previous run, if known.

    If the file is rejected at the start, ``last`` is in force, if it was signed with the same key
    for the same site; else :class:`PeopleError` is raised. ``trouble``: why the file is rejected,
    or which persons in it may not act, and what to do.
    """

    def __init__(self, path: str, key: str, site: str, last: str | None) -> None:
        self._path, self._key, self._site = Path(path), key, site
        self._status_read: FileStatus | None = None
        self._in_force: PeopleInForce | None = None
        self._refused: str | None = None
        if last is not None:
            self._in_force = _in_force(last.encode(), key, site)
        if (found := self.read_newer()) is not None:
            self._in_force = found
        if self._in_force is None:
            raise PeopleError(self._refused)

    @property
    def in_force(self) -> PeopleInForce:
        """The file in force."""
        assert self._in_force is not None
        return self._in_force

    @property
    def trouble(self) -> str | None:
        """The problem with the file, or None."""
        if self._refused is not None or self._in_force is None:
            return self._refused
        pair = next(alike(self._in_force.people.persons), None)
        if pair is None:
            return None
        return f"{self._path}: {describe_alike(*pair)}. Until then neither of them may act"

    def read_newer(self) -> PeopleInForce | None:
        """Read the file. Return it if it is valid and differs from the one in force;
        :meth:`put_in_force` applies it.
        """
        try:
            with self._path.open("rb") as file:
                status = file_status(file.fileno())
                if status == self._status_read:
                    return None
                data = file.read(MAX_FILE_BYTES + 1)
            read = self._read(data)
            if self._in_force is not None:
                check_newer(read, self._in_force)
        except OSError as error:
            self._status_read, self._refused = (
                None,
                f"{self._path}: {error.strerror}; put the last file that the site signed there",
            )
            return None
        except PeopleError as error:
            self._status_read, self._refused = status, f"{self._path}: {error}"
            return None
        self._refused = None
        if self._in_force is not None and read.text == self._in_force.text:
            self._status_read = status
            return None
        return read

    def newer_from_peer(self, text: str) -> PeopleInForce | None:
        """Return the file that another daemon has in force if it is valid and newer, else None.
        Once it is in force here, :meth:`read_newer` reports that the file on the disk is older.
        """
        if text == self.in_force.text:
            return None
        try:
            read = self._read(text.encode())
            check_newer(read, self.in_force)
        except PeopleError:
            return None
        self._status_read = None
        return read

    def put_in_force(self, people_file: PeopleInForce) -> None:
        """Put this file in force."""
        self._in_force = people_file

    def _read(self, data: bytes) -> PeopleInForce:
        people = read_people(data, self._site, from_base64url(self._key))
        return PeopleInForce(people, data.decode())


def _in_force(data: bytes, key: str, site: str) -> PeopleInForce | None:
    """Read a file that was in force. None if it is of another site or key: its number then has no
    meaning. Raises :class:`PeopleError`, also if the key that it names did not sign it: it is
    damaged then, and must not count as one of another key.
    """
    signer = signed_with(data)
    people = read_people(data, read_unsigned(data).head.site, signer)
    if signer != from_base64url(key) or people.head.site != site:
        return None
    return PeopleInForce(people, data.decode())


class RememberedPeopleFile(PeopleFile):
    """The people file of a service without a journal. ``memory``: a file with its data that stores
    the people file in force; several processes may share it.

    Raises :class:`PeopleError`, and ``OSError`` if the memory cannot be read.
    """

    def __init__(self, path: str, key: str, site: str, memory: Path) -> None:
        self._memory = FileMemory(memory, MAX_FILE_BYTES, lambda data: _in_force(data, key, site))
        self._memory_trouble: str | None = None
        memory.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        stored = self._recall()
        super().__init__(path, key, site, None if stored is None else stored.text)
        self._remember()

    @property
    def trouble(self) -> str | None:
        """The problem with the file, or with storing it, or None."""
        return super().trouble or self._memory_trouble

    def refresh(self) -> People:
        """Return the people in force now. A newer file is applied at once, even if it cannot be
        stored; the next call retries that.
        """
        try:
            self._catch_up()
        except (OSError, PeopleError) as error:
            self._memory_trouble = describe_error(error)
        if (newer := self.read_newer()) is not None:
            self.put_in_force(newer)
            self._memory_trouble = ""
        if self._memory_trouble is not None:
            self._remember()
        return self.in_force.people

    def adopt(self, people_file: PeopleInForce) -> None:
        """Put the file of another machine in force, and store it; if that fails, :meth:`refresh`
        retries it.
        """
        self.put_in_force(people_file)
        self._remember()

    def _catch_up(self) -> None:
        """Apply a newer file that another process has stored."""
        stored = self._recall()
        if stored is None or stored.text == self.in_force.text:
            return
        if stored.people.head.number >= self.in_force.people.head.number:
            self.put_in_force(stored)
            self._status_read = None  # the file may be older than this

    def _recall(self) -> PeopleInForce | None:
        """Return the stored file if it changed since the last call, else None. Raises
        :class:`PeopleError` if it is damaged, and ``OSError``.
        """
        try:
            return self._memory.recall()
        except PeopleError as error:
            path = self._memory.path
            raise PeopleError(
                f"{path}, which remembers the people file in force, is damaged: {error}. "
                "Make sure that the people file is the last one that the site signed, then move "
                f"{path.name} away"
            ) from None

    def _remember(self) -> None:
        try:
            with locked_folder(self._memory.path.parent):
                self._catch_up()
                self._memory.store(self.in_force.text.encode())
            self._memory_trouble = None
        except (OSError, PeopleError) as error:
            self._memory_trouble = (
                f"the people in force cannot be remembered: {describe_error(error)}"
            )


def check_newer(read: PeopleInForce, last: PeopleInForce) -> None:
    """Raise :class:`PeopleError` if a file is neither newer than ``last`` nor the same."""
    if read.text == last.text:
        return
    try:
        check_number(
            read.people.head.number,
            last.people.head.number,
            "it was changed and signed twice. Take the one in force, change that, and sign it: "
            "novamas people sign",
        )
    except OldCopyError as error:
        raise PeopleError(str(error)) from None
