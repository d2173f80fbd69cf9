"""The people file as each service reads it: an older one never comes into force again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import msgspec
import pytest
from msgspec.structs import replace

from common.people.people_file import PeopleFile, RememberedPeopleFile
from common.people.register import (
    People,
    PeopleError,
    Person,
    checked_people,
    to_base64url,
    write_people,
)
from subscribers.carrousel.orders import OrderPeople
from subscribers.console.admission import PEOPLE_CACHE_FILE, Admission, SignInUnavailableError
from subscribers.console.settings import PitSettings
from tests.support.people.staff import HEAD, LASA, PERSONS, SIGNER, SITE, SITE_KEY, VIDAL
from tests.support.web.pit import console

KEY = to_base64url(SIGNER)
REVOKED = "2026-11-22T12:00:00Z"


def file(number: int, *others: Person, revoked: str | None = None, site: str = SITE) -> bytes:
    """A people file; ``revoked``: the time since which the director may not act."""
    persons = [replace(each, revoked=revoked) if each is VIDAL else each for each in PERSONS]
    head = replace(HEAD, number=number, site=site)
    return write_people(checked_people(head, [*persons, *others]), SITE_KEY)


class Service(Protocol):
    """A service that reads the file."""

    def start(self) -> None:
        """Start, or restart. Raises the service's own error if no person could act."""

    def people(self) -> People:
        """The people in force now."""

    def trouble(self) -> str | None:
        """The error about the file."""


class AsDaemon:
    """With its journal, as far as it stores the file."""

    def __init__(self, _: Path, people: Path) -> None:
        self._path, self._journal = people, ""

    def start(self) -> None:
        self._file = PeopleFile(str(self._path), KEY, SITE, self._journal or None)
        self._journal = self._file.in_force.text

    def people(self) -> People:
        if (found := self._file.read_newer()) is not None:
            self._file.put_in_force(found)
            self._journal = found.text
        return self._file.in_force.people

    def trouble(self) -> str | None:
        return self._file.trouble


class AsCarrousel:
    def __init__(self, folder: Path, people: Path) -> None:
        self._path, self._ledger = people, folder / "carrousel.sqlite3"

    def start(self) -> None:
        self._file = OrderPeople(str(self._path), KEY, SITE, self._ledger)
        if self._file.people is None:
            raise PeopleError(self._file.trouble)

    def people(self) -> People:
        self._file.refresh()
        assert self._file.people is not None
        return self._file.people

    def trouble(self) -> str | None:
        return self._file.trouble


class AsWeb:
    """Also the reader for surveillance commands that ask for a PIN."""

    def __init__(self, folder: Path, people: Path) -> None:
        self._state = folder / "web"
        self._settings = msgspec.convert(console(folder / "pit", SITE, people), PitSettings)

    def start(self) -> None:
        try:
            self._door = Admission(self._settings, SITE, self._state, lambda: 1.0)
        except SignInUnavailableError as error:
            raise PeopleError(str(error)) from None

    def people(self) -> People:
        return self._door._people()

    def trouble(self) -> str | None:
        return self._door._logged_trouble


@pytest.fixture(params=[AsDaemon, AsCarrousel, AsWeb])
def service(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Callable[[bytes], tuple[Service, Path]]:
    """Each service, with a file of this content."""

    def made(content: bytes) -> tuple[Service, Path]:
        path = tmp_path / "people.jsonl"
        path.write_bytes(content)
        return request.param(tmp_path, path), path

    return made


Make = Callable[[bytes], tuple[Service, Path]]


def put(path: Path, content: bytes) -> None:
    """Replace the file."""
    new = path.with_suffix(".new")
    new.write_bytes(content)
    new.replace(path)


def may(people: People) -> bool:
    """True if the director is not revoked."""
    return next(person for person in people.persons if person.id == VIDAL.id).revoked is None


BAD = {
    "older": (file(6), "its number is 6, and number 8 is in force"),
    "old": (file(7), "its number is 7, and number 8 is in force"),
    "same number": (file(8), "another file with its number, 8, is in force"),
    "cut off": (file(9)[:-1], "the last line does not end"),
    "altered": (
        file(9).replace(b'["director"]', b'["inspector"]'),
        "it was changed after it was signed",
    ),
    "another site": (file(9, site="elsewhere"), "is of the site elsewhere"),
}


@pytest.mark.parametrize("again", [False, True], ids=["same run", "after a restart"])
@pytest.mark.parametrize("bad", BAD)
def test_a_revoked_person_stays_revoked(service: Make, bad: str, again: bool) -> None:
    at, path = service(file(7))
    at.start()
    assert may(at.people())
    put(path, file(8, revoked=REVOKED))
    assert not may(at.people())
    put(path, BAD[bad][0])
    if again:
        at.start()
    assert not may(at.people())
    assert BAD[bad][1] in (at.trouble() or "")
    assert not may(at.people()), "also when it is looked at again"
    if again:
        at.start()
        assert not may(at.people())
    put(path, file(9))
    assert (may(at.people()), at.trouble()) == (True, None)


def test_the_file_in_force_stays_where_it_was_removed(service: Make) -> None:
    at, path = service(file(8, revoked=REVOKED))
    at.start()
    path.unlink()
    for _ in range(2):
        assert not may(at.people())
        assert "No such file" in (at.trouble() or "")
        at.start()


def test_without_any_file_no_person_may_act(service: Make, tmp_path: Path) -> None:
    at, path = service(file(7))
    path.unlink()
    with pytest.raises(PeopleError, match="No such file"):
        at.start()


def test_two_processes_remember_one_file(tmp_path: Path) -> None:
    """The web server, and a command that asks for a PIN."""
    path, memory = tmp_path / "people.jsonl", tmp_path / "state" / PEOPLE_CACHE_FILE
    path.write_bytes(file(7))
    first, second = (RememberedPeopleFile(str(path), KEY, SITE, memory) for _ in range(2))
    put(path, file(8, revoked=REVOKED))
    assert not may(first.refresh())
    put(path, file(7))
    assert not may(second.refresh())
    assert "number 8 is in force" in (second.trouble or "")
    assert memory.read_bytes() == file(8, revoked=REVOKED)
    assert memory.stat().st_mode & 0o777 == 0o600


def test_an_unchanged_file_is_checked_again_when_a_newer_one_was_remembered(tmp_path: Path) -> None:
    """Two processes with a copy each, of which only one was replaced."""
    replaced, left, memory = (tmp_path / name for name in ("replaced", "left", "memory"))
    for path in (replaced, left):
        path.write_bytes(file(7))
    first, second = (
        RememberedPeopleFile(str(path), KEY, SITE, memory) for path in (replaced, left)
    )
    put(replaced, file(8, revoked=REVOKED))
    assert not may(first.refresh())
    assert not may(second.refresh())
    assert f"{left}: its number is 7, and number 8 is in force" in (second.trouble or "")


def test_a_damaged_memory_is_not_treated_as_empty(tmp_path: Path) -> None:
    path, memory = tmp_path / "people.jsonl", tmp_path / "memory"
    path.write_bytes(file(7))
    RememberedPeopleFile(str(path), KEY, SITE, memory)
    sound = memory.read_bytes()
    for damaged in (sound[:-9], sound.replace(b"Vidal", b"Videl"), b"", b"\xff\xfe\n"):
        memory.write_bytes(damaged)
        with pytest.raises(PeopleError, match="which remembers the people file in force, is dam"):
            RememberedPeopleFile(str(path), KEY, SITE, memory)


def test_a_later_file_is_in_force_although_it_cannot_be_stored(tmp_path: Path) -> None:
    path, memory = tmp_path / "people.jsonl", tmp_path / "memory"
    path.write_bytes(file(7))
    at = RememberedPeopleFile(str(path), KEY, SITE, memory)
    part = memory.with_name("memory.part")
    part.mkdir()  # so that nothing can be written
    put(path, file(8, revoked=REVOKED))
    assert not may(at.refresh())
    assert "cannot be remembered" in (at.trouble or "")
    part.rmdir()
    assert not may(at.refresh())
    assert at.trouble is None
    assert memory.read_bytes() == path.read_bytes()


def test_a_new_site_key_starts_over(tmp_path: Path) -> None:
    """By the configuration: files signed by another key count for nothing."""
    from nacl.signing import SigningKey

    path, memory = tmp_path / "people.jsonl", tmp_path / "memory"
    path.write_bytes(file(7))
    RememberedPeopleFile(str(path), KEY, SITE, memory)
    other = SigningKey(b"another key of the site".ljust(32))
    path.write_bytes(write_people(checked_people(replace(HEAD, number=1), PERSONS), other))
    key = to_base64url(other.verify_key.encode())
    assert RememberedPeopleFile(str(path), key, SITE, memory).in_force.people.head.number == 1


def test_names_that_look_the_same_do_not_lock_a_floor(service: Make) -> None:
    """Of a file that an older release signed: all others may act, and the remedy is reported."""
    twin = replace(LASA, id="m-lasa-2", name="\u041c. Lasa", keys=())
    at, path = service(file(7, twin))
    at.start()
    people = at.people()
    assert people.alike == {"m-lasa": "m-lasa-2", "m-lasa-2": "m-lasa"}
    trouble = at.trouble() or ""
    assert "'\\u041c. Lasa' of m-lasa-2 looks the same as 'M. Lasa' of m-lasa" in trouble
    assert "novamas people sign" in trouble
    assert json.loads(path.read_bytes().splitlines()[1])["id"] == "m-lasa"
    put(path, file(8, replace(twin, name="M. Lasa Etxebarria")))
    assert (at.people().alike, at.trouble()) == ({}, None)
