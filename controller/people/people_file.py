"""The people file of a running service: read at the start, and again when it was replaced.

A file that is older than the last one, or that the site's key did not sign, is refused: the one in
force stays. So that this holds after a restart too, each service remembers the file in force: the
daemon in its journal, any other in a file of its own (:class:`RememberedPeopleFile`).
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from controller.people.register import (
    LARGEST,
    People,
    PeopleError,
    alike,
    read_people,
    read_unsigned,
    said_alike,
    signed_with,
    unspelled,
)
from devices.new_file import named_in_errors

_Look = tuple[int, int, int, int]
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
_PRIVATE = 0o600
"""Permissions: only the owner reads and writes."""


class InForce(msgspec.Struct, frozen=True):
    """A people file that may be used."""

    people: People
    text: str

    @property
    def sha256(self) -> str:
        """Its digest."""
        return hashlib.sha256(self.text.encode()).hexdigest()


class PeopleFile:
    """``path``, and the public ``key`` of the ``site`` that signs it, base64url; ``last``: the file
    that was in force in the run before, where that is known.

    If the file is refused at the start, ``last`` is in force, where the same key signed it for the
    same site; else :class:`PeopleError` is raised. ``trouble``: why the file is refused, or which
    persons in it may not act, and what to do.
    """

    def __init__(self, path: str, key: str, site: str, last: str | None) -> None:
        self._path, self._key, self._site = Path(path), key, site
        self._seen: _Look | None = None
        self._now: InForce | None = None
        self._refused: str | None = None
        if last is not None:
            self._now = _in_force(last.encode(), key, site)
        if (found := self.look()) is not None:
            self._now = found
        if self._now is None:
            raise PeopleError(self._refused)

    @property
    def now(self) -> InForce:
        """The file in force."""
        assert self._now is not None
        return self._now

    @property
    def trouble(self) -> str | None:
        """What is wrong with the file; None: nothing."""
        if self._refused is not None or self._now is None:
            return self._refused
        pair = next(alike(self._now.people.persons), None)
        if pair is None:
            return None
        return f"{self._path}: {said_alike(*pair)}. Until then neither of them may act"

    def look(self) -> InForce | None:
        """Another file than the one in force, if there is one that may be used; :meth:`take` puts
        it in force. It reads the disk.
        """
        try:
            with self._path.open("rb") as file:
                look = _look(file.fileno())
                if look == self._seen:
                    return None
                data = file.read(LARGEST + 1)
            read = self._read(data)
            if self._now is not None:
                newer(read, self._now)
        except OSError as error:
            self._seen, self._refused = None, f"{self._path}: {error.strerror}"
            return None
        except PeopleError as error:
            self._seen, self._refused = look, f"{self._path}: {error}"
            return None
        self._refused = None
        if self._now is not None and read.text == self._now.text:
            self._seen = look
            return None
        return read

    def offered(self, text: str) -> InForce | None:
        """A later file that another daemon has in force; None: it is not one that the site signed.
        Once it is in force here, :meth:`look` says that the file on the disk is older.
        """
        if text == self.now.text:
            return None
        try:
            read = self._read(text.encode())
            newer(read, self.now)
        except PeopleError:
            return None
        self._seen = None
        return read

    def take(self, found: InForce) -> None:
        """It is in force from here on."""
        self._now = found

    def _read(self, data: bytes) -> InForce:
        people = read_people(data, self._site, unspelled(self._key))
        return InForce(people, data.decode())


def _in_force(data: bytes, key: str, site: str) -> InForce | None:
    """A file that was in force; None: it is of another site, or signed with another key, as it says
    of itself, so that its number means nothing. Raises :class:`PeopleError`.
    """
    signer = unspelled(key)
    if signed_with(data) != signer or read_unsigned(data).head.site != site:
        return None
    return InForce(read_people(data, site, signer), data.decode())


class RememberedPeopleFile(PeopleFile):
    """The people file of a service that has no journal. ``memory``: a file beside its own data that
    holds the people file in force; several processes may share it.

    Raises :class:`PeopleError`, and ``OSError`` if the memory cannot be read.
    """

    def __init__(self, path: str, key: str, site: str, memory: Path) -> None:
        self._memory, self._of = memory, (key, site)
        self._recalled: _Look | None = None
        self._unstored: str | None = None
        memory.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        recalled = self._recall()
        super().__init__(path, key, site, None if recalled is None else recalled.text)
        self._remember()

    @property
    def trouble(self) -> str | None:
        """What is wrong with the file, or with remembering it; None: nothing."""
        return super().trouble or self._unstored

    def refresh(self) -> People:
        """The people in force by now. A later file is in force at once, also where it cannot be
        remembered; the next call tries that again.
        """
        try:
            self._catch_up()
        except (OSError, PeopleError) as error:
            self._unstored = str(error)
        if (found := self.look()) is not None:
            self.take(found)
            self._unstored = ""
        if self._unstored is not None:
            self._remember()
        return self.now.people

    def _catch_up(self) -> None:
        """Take over what another process has remembered since."""
        stored = self._recall()
        if stored is None or stored.text == self.now.text:
            return
        if stored.people.head.number >= self.now.people.head.number:
            self.take(stored)
            self._seen = None  # the file may be older than this

    def _recall(self) -> InForce | None:
        """What is remembered, if it changed since the last call; None: nothing. Raises
        :class:`PeopleError` if it was damaged, and ``OSError``.
        """
        try:
            with self._memory.open("rb") as file:
                look = _look(file.fileno())
                if look == self._recalled:
                    return None
                found = _in_force(file.read(LARGEST + 1), *self._of)
        except FileNotFoundError:
            return None
        except PeopleError as error:
            raise PeopleError(
                f"{self._memory}, which remembers the people file in force, is damaged: {error}. "
                "Make sure that the people file is the last one that the site signed, then move "
                f"{self._memory.name} away"
            ) from None
        self._recalled = look
        return found

    def _remember(self) -> None:
        try:
            with _locked(self._memory.parent):
                self._catch_up()
                _write(self._memory, self.now.text.encode())
            self._unstored = None
        except (OSError, PeopleError) as error:
            self._unstored = f"the people in force cannot be remembered: {error}"


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep other processes from writing there meanwhile."""
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def _write(path: Path, data: bytes) -> None:
    part = path.with_name(f"{path.name}.part")
    with (
        named_in_errors(part, part=True),
        open(os.open(part, _FLAGS, _PRIVATE), "wb") as file,  # noqa: PTH123 - pathlib has no flags
    ):
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _look(descriptor: int) -> _Look:
    found = os.fstat(descriptor)
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def newer(read: InForce, last: InForce) -> None:
    """Refuse a file that is not the next one after ``last``, and not the same. Raises
    :class:`PeopleError`.
    """
    if read.text == last.text:
        return
    number, before = read.people.head.number, last.people.head.number
    if number == before:
        raise PeopleError(
            f"another file with its number, {number}, is in force: it was changed and signed "
            "twice. Take the one in force, change that, and sign it: novamas people sign"
        )
    if number < before:
        raise PeopleError(
            f"its number is {number}, and number {before} is in force: it is an old copy. "
            "Restore the last one, and change that"
        )
