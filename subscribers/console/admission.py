"""Who is let in: a name or badge number, and the PIN that opens that person's key."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec

from controller.people.people_file import RememberedPeopleFile
from controller.people.pin_key import (
    LONGEST,
    PinKey,
    PinKeyError,
    WrongPinError,
    nobody,
    read_pepper,
    read_pin_keys,
    unseal,
)
from controller.people.register import People, PeopleError, Person, thumbprint
from devices.log import structlog
from subscribers.console.attempts import Attempts
from subscribers.console.settings import PitSettings

ATTEMPTS = "wrong-pins.json"
REMEMBERED = "people-in-force.jsonl"
"""The people file that was in force last."""
WAITING = 16
"""Sign-ins at once; more are asked to come again."""


class Denied(msgspec.Struct, frozen=True):
    """Why somebody is not let in. Nobody learns from it who exists."""

    why: Literal["wrong", "locked", "busy", "not_enrolled", "unreadable"]
    seconds: int = 0
    """For how long the name is locked."""


class NobodyError(Exception):
    """Nobody could sign in: a file cannot be read. The message says which, and what to do."""


class Admission:
    """The door. ``now``: seconds since 1970. Raises :class:`NobodyError`."""

    def __init__(
        self, settings: PitSettings, site: str, state: Path, now: Callable[[], float]
    ) -> None:
        self._settings, self._now = settings, now
        self._log = structlog.get_logger()
        self._trouble: str | None = None
        """What the log said last of the people file."""
        try:
            self._pepper = read_pepper(Path(settings.pepper))
            state.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._attempts = Attempts(state / ATTEMPTS, self._pepper)
            given = settings.people_file, settings.people_key, site
            self._file = RememberedPeopleFile(*given, state / REMEMBERED)
            self._last = self._people()
            read_pin_keys(Path(settings.keys))
        except (PinKeyError, PeopleError, OSError, ValueError) as error:
            raise NobodyError(str(error)) from None
        self._nobody = nobody()
        self._opening = asyncio.Semaphore(1)
        self._waiting = 0

    async def admit(self, typed: str, pin: str) -> tuple[Person, bytes] | Denied:
        """The person and the secret key, if the PIN is right."""
        if self._waiting >= WAITING:
            return Denied("busy")
        self._waiting += 1
        try:
            return await self._admit(typed.strip(), pin)
        except (PinKeyError, PeopleError, OSError) as error:
            self._log.error("nobody can sign in", reason=str(error))
            return Denied("unreadable")
        finally:
            self._waiting -= 1

    async def again(self, person: Person, pin: str) -> Denied | None:
        """The same person gives the PIN again; None: it is right."""
        found = await self.admit(person.id, pin)
        return found if isinstance(found, Denied) else None

    async def _admit(self, typed: str, pin: str) -> tuple[Person, bytes] | Denied:
        people = self._last = self._people()
        named = {person.id: person.name for person in people.persons}
        asked = typed.casefold()
        sealed: PinKey | None = next(
            (
                key
                for key in read_pin_keys(Path(self._settings.keys))
                if asked
                and asked
                in (
                    key.badge.strip().casefold(),
                    key.person,
                    named.get(key.person, key.person).strip().casefold(),
                )
            ),
            None,
        )
        count = self._attempts.stranger(typed) if sealed is None else sealed.person
        if (left := self._attempts.locked(count, self._now())) > 0:
            return Denied("locked", int(left) + 1)
        delay = self._attempts.delay(count)
        locked = self._attempts.wrong(count, self._now())
        await asyncio.sleep(delay)
        try:
            if len(pin) > LONGEST:
                raise WrongPinError("the PIN is wrong")
            async with self._opening:
                key = await asyncio.to_thread(unseal, sealed or self._nobody, pin, self._pepper)
        except WrongPinError:
            self._log.warning("wrong PIN", person=count, locked=locked)
            if locked:
                return Denied("locked", int(self._attempts.locked(count, self._now())) + 1)
            return Denied("wrong")
        self._attempts.right(count)
        assert sealed is not None
        person, term = people.owners.get(thumbprint(sealed.public), (None, None))
        now = self._now()
        if (
            person is None
            or term is None
            or person.id != sealed.person
            or person.revoked is not None
            or term.revoked is not None
            or not person.in_term(now)
            or not term.in_term(now)
            or person.id in people.alike
        ):
            self._log.warning("not enrolled any more", person=sealed.person)
            return Denied("not_enrolled")
        return person, key.encode()

    def may_be_at(self, table: str, person: Person) -> bool:
        """Whether the person is enrolled for this table, by the file as it was read last."""
        return self._last.may_be_at(person, table)

    def _people(self) -> People:
        """The people in force by now."""
        people = self._file.refresh()
        if self._file.trouble != self._trouble:
            self._trouble = self._file.trouble
            if self._trouble is not None:
                self._log.error("people file refused", reason=self._trouble)
        return people
