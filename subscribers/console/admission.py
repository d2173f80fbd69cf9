"""Who is let in: a name or badge number, and the PIN that opens that person's key.

Wrong PINs are counted where they come from: in a browser at which the person has signed in before,
or at an address. There a name is locked as it was typed, whether anybody has it or not, and a
person under all of the person's names together. Only the first of the two is said: an answer to one
name never tells that another one belongs to the same person, or to anybody.
"""

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
from subscribers.console.attempts import LOCKED, MOST, Attempts
from subscribers.console.browsers import Browsers
from subscribers.console.settings import PitSettings
from subscribers.console.turns import BusyError, Guesses, Turns

ATTEMPTS = "wrong-pins.json"
REMEMBERED = "people-in-force.jsonl"
"""The people file that was in force last."""
MOST_AT_ALL_ADDRESSES = 50
"""Wrong PINs for one person at all addresses together that lock this person at all of them, but not
in browsers that are known: or many addresses would have many guesses.
"""


class Caller(msgspec.Struct, frozen=True):
    """Where somebody signs in. ``address``: the network that counts as one; empty: this machine.
    ``cookie``: what its browser remembers (:class:`Browsers`).
    """

    address: str = ""
    cookie: str | None = None


class Denied(msgspec.Struct, frozen=True):
    """Why somebody is not let in. Nobody learns from it who exists."""

    why: Literal["wrong", "locked", "busy", "not_enrolled", "unreadable"]
    seconds: int = 0
    """For how long the name is locked."""


class NobodyError(Exception):
    """Nobody could sign in: a file cannot be read. The message says which, and what to do."""


class _Counted(msgspec.Struct, frozen=True):
    """How one sign-in is counted. ``place``: where it comes from; ``is_stranger``: the person has
    not signed in there before, as far as is known; ``name``: the count of the name as it was typed;
    ``most``: wrong PINs that lock each count.
    """

    place: str
    is_stranger: bool
    name: str
    most: dict[str, int]

    @property
    def shown(self) -> str:
        """The place as the log has it: the address of a stranger, and no part of a cookie."""
        return self.place if self.is_stranger else self.place.partition(" ")[0]


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
        self._browsers = Browsers(self._pepper)
        self._salts: dict[str, str] = {}
        """By person, of the key that was opened last."""
        self._guesses = Guesses(self._elapsed, LOCKED)
        self._strangers, self._proven = Turns(), Turns()

    async def admit(
        self, typed: str, pin: str, caller: Caller | None = None
    ) -> tuple[Person, bytes] | Denied:
        """The person and the secret key, if the PIN is right."""
        return await self._judge(typed, pin, caller or Caller())

    async def _judge(
        self, typed: str, pin: str, caller: Caller | None
    ) -> tuple[Person, bytes] | Denied:
        try:
            return await self._admit(typed.strip(), pin, caller)
        except BusyError:
            return Denied("busy")
        except (PinKeyError, PeopleError, OSError) as error:
            self._log.error("nobody can sign in", reason=str(error))
            return Denied("unreadable")

    async def prove(self, person: Person, pin: str) -> tuple[Person, bytes] | Denied:
        """As :meth:`admit`, for a person with a session, who has proved the PIN before: it waits
        for no stranger, and what strangers guessed does not count.
        """
        return await self._judge(person.id, pin, None)

    def remembered(self, person: Person, caller: Caller) -> str:
        """The cookie of a browser at which this person has signed in just now."""
        return self._browsers.signed_in(caller.cookie, person.id, self._salts[person.id])

    async def again(self, person: Person, pin: str) -> Denied | None:
        """The same person gives the PIN again; None: it is right."""
        found = await self.prove(person, pin)
        return found if isinstance(found, Denied) else None

    async def _admit(
        self, typed: str, pin: str, caller: Caller | None
    ) -> tuple[Person, bytes] | Denied:
        """``caller``: None for a person who has a session."""
        people = self._last = self._people()
        sealed = self._sealed(typed, people)
        counted = self._counted(typed, sealed, caller)
        turns = self._proven if caller is None else self._strangers
        if (left := self._left(counted.name)) > 0:
            return Denied("locked", left)
        async with turns.visit(counted.place) as others:
            await asyncio.sleep(self._attempts.delay(counted.name))
            rank = int(counted.is_stranger), others + self._guesses.of(counted.place)
            async with turns.turn(rank):
                if (left := self._left(counted.name)) > 0:
                    return Denied("locked", left)
                key = await self._opened(sealed, pin, counted)
        if key is None:
            left = self._left(counted.name)
            return Denied("locked", left) if left > 0 else Denied("wrong")
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
        return person, key

    def _sealed(self, typed: str, people: People) -> PinKey | None:
        """The key of whoever has this id, name or badge."""
        named = {person.id: person.name for person in people.persons}
        asked = typed.casefold()
        return next(
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

    def _counted(self, typed: str, sealed: PinKey | None, caller: Caller | None) -> _Counted:
        # a new PIN, with its new salt, is a new count
        salt = "" if sealed is None else str(sealed.salt)
        person = None if sealed is None else sealed.person
        if caller is None:
            place = f"session of {person}"
            name = self._attempts.count_of("proven", typed, salt)
            return _Counted(place, False, name, {name: MOST})
        browser = None
        if person is not None:
            browser = self._browsers.known(caller.cookie, person, salt)
        place = f"address {caller.address}" if browser is None else f"browser {browser}"
        name = self._attempts.count_of(place, "name", typed, salt)
        most = {name: MOST}
        if person is not None:
            most[self._attempts.count_of(place, "person", person, salt)] = MOST
        if person is not None and browser is None:
            most[self._attempts.count_of("person", person, salt)] = MOST_AT_ALL_ADDRESSES
        return _Counted(place, browser is None, name, most)

    def _left(self, count: str) -> int:
        """Seconds for which a count is locked still; 0: it is not."""
        left = self._attempts.locked(count, self._elapsed())
        return int(left) + 1 if left > 0 else 0

    async def _opened(self, sealed: PinKey | None, pin: str, counted: _Counted) -> bytes | None:
        """The key that the PIN opens; None: it is wrong, or not looked at. That takes as long."""
        person = None if sealed is None else sealed.person
        others = [count for count in counted.most if count != counted.name]
        if any(self._left(count) for count in others):
            self._log.warning("not looked at: too many wrong PINs", person=person, at=counted.shown)
            self._attempts.wrong(counted.name, self._elapsed())
            sealed = None
        else:
            self._attempts.all_wrong(counted.most, self._elapsed())
        try:
            if len(pin) > LONGEST:
                raise WrongPinError("the PIN is wrong")
            key = await asyncio.to_thread(unseal, sealed or self._nobody, pin, self._pepper)
        except WrongPinError:
            self._guesses.wrong(counted.place)
            locked = self._left(counted.name) > 0
            self._log.warning("wrong PIN", person=person, at=counted.shown, locked=locked)
            return None
        assert sealed is not None
        self._salts[sealed.person] = str(sealed.salt)
        for count, most in counted.most.items():
            if most == MOST:
                self._attempts.right(count)
            else:
                self._attempts.take_back(count, most)
        return key.encode()

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
