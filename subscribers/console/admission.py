"""Sign-in: an id, name or badge number, and the PIN that opens that person's key.

Wrong PINs are counted by origin: a browser at which the person has signed in before, or an address.
At each origin the typed name is locked, whether it exists or not, and the person under all names
together. Only the lock of the typed name is reported: a reply never reveals that two names belong
to the same person, or to anyone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, get_args

import msgspec

from common import clock
from common.contract.commands import Duty
from common.errors import describe_error
from common.log import structlog
from common.people.people_file import RememberedPeopleFile
from common.people.pin_key import (
    MAX_PIN_DIGITS,
    PinKey,
    PinKeyError,
    WrongPinError,
    open_pin_key,
    read_pepper,
    read_pin_keys,
    unopenable_key,
)
from common.people.register import People, PeopleError, Person, thumbprint
from subscribers.console.attempts import LOCK_SECONDS, MAX_WRONG_PINS, Attempts
from subscribers.console.browsers import Browsers
from subscribers.console.sessions import same_secret
from subscribers.console.settings import PitSettings
from subscribers.console.turns import BusyError, Guesses, Turns

ATTEMPTS_FILE = "wrong-pins.json"
PEOPLE_CACHE_FILE = "people-in-force.jsonl"
"""Copy of the people file that was last in force."""
DUTIES = frozenset(get_args(Duty))
MAX_WRONG_PINS_ALL_ADDRESSES = 50
"""Wrong PINs for one person, summed over all addresses, after which the person is locked at all
addresses but not in known browsers. It limits the guesses of many addresses together.
"""


KeyOpener = Callable[[PinKey], bytes]
"""Returns the secret key of a sealed one, or raises ``WrongPinError``."""


class Caller(msgspec.Struct, frozen=True):
    """Origin of a sign-in. ``address``: the network that counts as one; empty for this machine.
    ``cookie``: the cookie of its browser, see :class:`Browsers`.
    """

    address: str = ""
    cookie: str | None = None


class Denied(msgspec.Struct, frozen=True):
    """Why a sign-in is denied. It does not reveal who exists."""

    why: Literal["wrong", "wrong_badge", "locked", "busy", "not_enrolled", "unreadable"]
    seconds: int = 0
    """Seconds until the lock ends."""


class SignInUnavailableError(Exception):
    """Sign-in is impossible because a file cannot be read. The message states which, and what to
    do.
    """


class _SignInCounts(msgspec.Struct, frozen=True):
    """The counters of one sign-in. ``place``: its origin; ``is_stranger``: the person is not known
    to have signed in there before; ``name``: counter of the typed name; ``limits``: limit of each
    counter.
    """

    place: str
    is_stranger: bool
    name: str
    limits: dict[str, int]

    @property
    def shown(self) -> str:
        """The origin for the log: an address, but no part of a cookie."""
        return self.place if self.is_stranger else self.place.partition(" ")[0]


class Admission:
    """Checks sign-ins. ``now``: seconds since 1970. ``elapsed``: seconds of a monotonic clock, if
    there is one. Raise :class:`SignInUnavailableError`.
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
        self._logged_trouble: str | None = None
        """The last logged problem of the people file."""
        try:
            self._pepper = read_pepper(Path(settings.pepper))
            state.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._attempts = Attempts(
                state / ATTEMPTS_FILE, self._pepper, lambda: now() - self._elapsed()
            )
            source = settings.people_file, settings.people_key, site
            self._file = RememberedPeopleFile(*source, state / PEOPLE_CACHE_FILE)
            self._current_people = self._people()
            read_pin_keys(Path(settings.keys))
        except (PinKeyError, PeopleError, OSError, ValueError) as error:
            raise SignInUnavailableError(describe_error(error)) from None
        self._unopenable = unopenable_key()
        self._browsers = Browsers(self._pepper)
        self._salts: dict[str, str] = {}
        """The salt of the key opened last, by person."""
        self._guesses = Guesses(self._elapsed, LOCK_SECONDS)
        self._strangers, self._proven = Turns(), Turns()

    async def admit(
        self, typed: str, pin: str, caller: Caller | None = None
    ) -> tuple[Person, bytes] | Denied:
        """Return the person and the secret key if the PIN is right."""
        return await self._try_admit(typed, self._opener(pin), caller or Caller())

    async def _try_admit(
        self, typed: str, opens: KeyOpener, caller: Caller | None
    ) -> tuple[Person, bytes] | Denied:
        try:
            return await self._admit(typed.strip(), opens, caller)
        except BusyError:
            return Denied("busy")
        except (PinKeyError, PeopleError, OSError) as error:
            self._log.error("nobody can sign in", reason=describe_error(error))
            return Denied("unreadable")

    async def prove(self, person: Person, pin: str) -> tuple[Person, bytes] | Denied:
        """Like :meth:`admit`, for a person with a session, who has given the PIN before: it does
        not queue behind strangers, and their guesses do not count.
        """
        return await self._try_admit(person.id, self._opener(pin), None)

    def _opener(self, pin: str) -> KeyOpener:
        def opens(sealed: PinKey) -> bytes:
            if len(pin) > MAX_PIN_DIGITS:
                raise WrongPinError("the PIN is wrong")
            return open_pin_key(sealed, pin, self._pepper).encode()

        return opens

    def browser_cookie(self, person: Person, caller: Caller) -> str:
        """Return the cookie for a browser at which this person has just signed in."""
        return self._browsers.cookie_after_sign_in(caller.cookie, person.id, self._salts[person.id])

    async def verify_pin(self, person: Person, pin: str) -> Denied | None:
        """Check the PIN of a signed-in person again; return None if it is right."""
        result = await self.prove(person, pin)
        return result if isinstance(result, Denied) else None

    async def verify_badge(self, person: Person, badge: str) -> Denied | None:
        """Check that a signed-in person presents the own badge; return None if so. A wrong one
        counts as a wrong PIN.
        """

        def matches(sealed: PinKey) -> bytes:
            own = sealed.badge.strip().casefold()
            if not own or not same_secret(badge.strip().casefold(), own):
                raise WrongPinError("the badge is another person's")
            return b"matched"

        result = await self._try_admit(person.id, matches, None)
        if not isinstance(result, Denied):
            return None
        return Denied("wrong_badge") if result.why == "wrong" else result

    async def _admit(
        self, typed: str, opens: KeyOpener, caller: Caller | None
    ) -> tuple[Person, bytes] | Denied:
        """``caller`` is None for a person with a session."""
        people = self._current_people = self._people()
        sealed = self._sealed(typed, people)
        counts = self._sign_in_counts(typed, sealed, caller)
        turns = self._proven if caller is None else self._strangers
        if (seconds := self._seconds_locked(counts.name)) > 0:
            return Denied("locked", seconds)
        async with turns.visit(counts.place) as others:
            await clock.sleep(self._attempts.delay(counts.name))
            rank = int(counts.is_stranger), others + self._guesses.count(counts.place)
            async with turns.turn(rank):
                if (seconds := self._seconds_locked(counts.name)) > 0:
                    return Denied("locked", seconds)
                key = await self._open_key(sealed, opens, counts)
        if key is None:
            seconds = self._seconds_locked(counts.name)
            return Denied("locked", seconds) if seconds > 0 else Denied("wrong")
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
        """Return the key of the person with this id, name or badge."""
        names = {person.id: person.name for person in people.persons}
        wanted = typed.casefold()
        return next(
            (
                key
                for key in read_pin_keys(Path(self._settings.keys))
                if wanted
                and wanted
                in (
                    key.badge.strip().casefold(),
                    key.person,
                    names.get(key.person, key.person).strip().casefold(),
                )
            ),
            None,
        )

    def _sign_in_counts(
        self, typed: str, sealed: PinKey | None, caller: Caller | None
    ) -> _SignInCounts:
        # a new PIN has a new salt, and so a new counter
        salt = "" if sealed is None else str(sealed.salt)
        person = None if sealed is None else sealed.person
        if caller is None:
            place = f"session of {person}"
            name = self._attempts.counter_name("proven", typed, salt)
            return _SignInCounts(place, False, name, {name: MAX_WRONG_PINS})
        browser = None
        if person is not None:
            browser = self._browsers.browser_of(caller.cookie, person, salt)
        place = f"address {caller.address}" if browser is None else f"browser {browser}"
        name = self._attempts.counter_name(place, "name", typed, salt)
        limits = {name: MAX_WRONG_PINS}
        if person is not None:
            limits[self._attempts.counter_name(place, "person", person, salt)] = MAX_WRONG_PINS
        if person is not None and browser is None:
            count = self._attempts.counter_name("person", person, salt)
            limits[count] = MAX_WRONG_PINS_ALL_ADDRESSES
        return _SignInCounts(place, browser is None, name, limits)

    def _seconds_locked(self, count: str) -> int:
        """Return the seconds until a counter's lock ends; 0 if it is not locked."""
        seconds = self._attempts.seconds_locked(count, self._elapsed())
        return int(seconds) + 1 if seconds > 0 else 0

    async def _open_key(
        self, sealed: PinKey | None, opens: KeyOpener, counts: _SignInCounts
    ) -> bytes | None:
        """Return what ``opens`` returns; None if the PIN or badge is wrong or was not checked. With
        a PIN both take equally long.
        """
        person = None if sealed is None else sealed.person
        others = [count for count in counts.limits if count != counts.name]
        if any(self._seconds_locked(count) for count in others):
            self._log.warning("not looked at: too many wrong PINs", person=person, at=counts.shown)
            self._attempts.count_wrong(counts.name, self._elapsed())
            sealed = None
        else:
            self._attempts.count_all_wrong(counts.limits, self._elapsed())
        try:
            key = await asyncio.to_thread(opens, sealed or self._unopenable)
        except WrongPinError as error:
            self._guesses.add(counts.place)
            locked = self._seconds_locked(counts.name) > 0
            self._log.warning(
                "wrong PIN", person=person, at=counts.shown, locked=locked, reason=str(error)
            )
            return None
        assert sealed is not None
        self._salts[sealed.person] = str(sealed.salt)
        for count, limit in counts.limits.items():
            if limit == MAX_WRONG_PINS:
                self._attempts.reset(count)
            else:
                self._attempts.uncount(count, limit)
        return key

    def may_be_at(self, table: str, person: Person) -> bool:
        """Return True if the person is enrolled for this table, by the people file as last read."""
        return self._current_people.may_be_at(person, table)

    def people_at(self, tables: Sequence[str]) -> tuple[str, ...]:
        """Return the names of the people in force who may have a duty at any of these tables, by
        the people file as last read, in alphabetical order.
        """
        people, now = self._current_people, self._now()
        return tuple(
            sorted(
                person.name
                for person in people.persons
                if person.revoked is None
                and person.in_term(now)
                and set(person.roles) & DUTIES
                and any(people.may_be_at(person, table) for table in tables)
            )
        )

    def _people(self) -> People:
        """Return the people currently in force."""
        people = self._file.refresh()
        if self._file.trouble != self._logged_trouble:
            self._logged_trouble = self._file.trouble
            if self._logged_trouble is not None:
                self._log.error("people file refused", reason=self._logged_trouble)
        return people
