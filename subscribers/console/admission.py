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


class _Queue:
    """PINs that wait to be judged, one after the other."""

    def __init__(self) -> None:
        self.opening, self.waiting = asyncio.Semaphore(1), 0


class Admission:
    """The door. ``now``: seconds since 1970. ``elapsed``: seconds by a clock that nobody sets, if
    there is one. Raises :class:`NobodyError`.
    """

    def __init__(
        self,
        settings: PitSettings,
        site: str,
        state: Path,
        now: Callable[[], float],
        elapsed: Callable[[], float] | None = None,
    ) -> None:
        self._settings, self._now = settings, now
        self._elapsed = elapsed or now
        self._log = structlog.get_logger()
        self._trouble: str | None = None
        """What the log said last of the people file."""
        try:
            self._pepper = read_pepper(Path(settings.pepper))
            state.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._attempts = Attempts(
                state / ATTEMPTS, self._pepper, lambda: now() - self._elapsed()
            )
            given = settings.people_file, settings.people_key, site
            self._file = RememberedPeopleFile(*given, state / REMEMBERED)
            self._last = self._people()
            read_pin_keys(Path(settings.keys))
        except (PinKeyError, PeopleError, OSError, ValueError) as error:
            raise NobodyError(str(error)) from None
        self._nobody = nobody()
        self._strangers, self._proven = _Queue(), _Queue()

    async def admit(self, typed: str, pin: str) -> tuple[Person, bytes] | Denied:
        """The person and the secret key, if the PIN is right."""
        return await self._judge(typed, pin, self._strangers)

    async def _judge(self, typed: str, pin: str, queue: _Queue) -> tuple[Person, bytes] | Denied:
        if queue.waiting >= WAITING:
            return Denied("busy")
        queue.waiting += 1
        try:
            return await self._admit(typed.strip(), pin, queue)
        except (PinKeyError, PeopleError, OSError) as error:
            self._log.error("nobody can sign in", reason=str(error))
            return Denied("unreadable")
        finally:
            queue.waiting -= 1

    async def prove(self, person: Person, pin: str) -> tuple[Person, bytes] | Denied:
        """As :meth:`admit`, for a person with a session, who has proved the PIN before: it waits
        for no stranger, and what strangers guessed does not count.
        """
        return await self._judge(person.id, pin, self._proven)

    async def again(self, person: Person, pin: str) -> Denied | None:
        """The same person gives the PIN again; None: it is right."""
        found = await self.prove(person, pin)
        return found if isinstance(found, Denied) else None

    async def _admit(self, typed: str, pin: str, queue: _Queue) -> tuple[Person, bytes] | Denied:
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
        # a new PIN, with its new salt, is a new count
        of = "proven" if queue is self._proven else "stranger"
        salt = "" if sealed is None else str(sealed.salt)
        count = self._attempts.count_of(of, typed, salt)
        if (left := self._attempts.locked(count, self._elapsed())) > 0:
            return Denied("locked", int(left) + 1)
        delay = self._attempts.delay(count)
        locked = self._attempts.wrong(count, self._elapsed())
        await asyncio.sleep(delay)
        try:
            if len(pin) > LONGEST:
                raise WrongPinError("the PIN is wrong")
            async with queue.opening:
                key = await asyncio.to_thread(unseal, sealed or self._nobody, pin, self._pepper)
        except WrongPinError:
            self._log.warning("wrong PIN", person=sealed.person if sealed else None, locked=locked)
            if locked:
                return Denied("locked", int(self._attempts.locked(count, self._elapsed())) + 1)
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
