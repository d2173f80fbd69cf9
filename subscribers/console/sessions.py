"""Who is signed in: in memory only, for a short time. The person's key is in the session and goes
with it.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable

import msgspec

from controller.people.register import Person

MOST = 200
"""Sessions at once; the one that rested longest ends for a new one."""


class Session:
    """One person at one screen. ``tag`` stands before the number of each command that is given in
    it, so that none of another session is ever taken for one of this.
    """

    def __init__(self, person: Person, key: bytes, language: str, now: float) -> None:
        self.person = person
        self.key = key
        self.language = language
        self.began = self.used = now
        self.token = secrets.token_urlsafe(32)
        """What every POST brings, beside the cookie."""
        self.tag = secrets.token_hex(8)
        self.alive = True

    def drop(self) -> None:
        """It is over, and the key is forgotten."""
        self.alive, self.key = False, b""


class Limits(msgspec.Struct, frozen=True):
    """How long a session lasts, in seconds."""

    idle: float = 300.0
    """Without a touch."""
    longest: float = 1800.0
    """At most."""


class Sessions:
    """All of them, by the random id in the cookie. ``clock``: seconds that only go forward.
    ``counted`` is told how many there are whenever that changes.
    """

    def __init__(
        self,
        limits: Limits,
        clock: Callable[[], float],
        counted: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._limits, self._clock, self._counted = limits, clock, counted
        self._sessions: dict[str, Session] = {}

    def begin(self, person: Person, key: bytes, language: str) -> tuple[str, Session]:
        """A new session and the id for its cookie: 256 random bits."""
        self.sweep()
        while len(self._sessions) >= MOST:
            oldest = min(self._sessions, key=lambda each: self._sessions[each].used)
            self.end(oldest)
        cookie, session = secrets.token_urlsafe(32), Session(person, key, language, self._clock())
        self._sessions[cookie] = session
        self._counted(len(self._sessions))
        return cookie, session

    def find(self, cookie: str | None) -> Session | None:
        """The session of a cookie, if it is not over."""
        self.sweep()
        return None if cookie is None else self._sessions.get(cookie)

    def touch(self, session: Session) -> None:
        """The person has done something."""
        session.used = self._clock()

    def left(self, session: Session) -> float:
        """Seconds until it ends if nothing is touched."""
        now = self._clock()
        return min(
            session.used + self._limits.idle - now, session.began + self._limits.longest - now
        )

    def end(self, cookie: str | None) -> None:
        """The person signs out."""
        session = None if cookie is None else self._sessions.pop(cookie, None)
        if session is not None:
            session.drop()
            self._counted(len(self._sessions))

    def end_of(self, person: str) -> None:
        """Every session of a person ends."""
        for cookie in [c for c, each in self._sessions.items() if each.person.id == person]:
            self.end(cookie)

    def sweep(self) -> None:
        """End those whose time is over."""
        for cookie in [c for c, each in self._sessions.items() if self.left(each) <= 0]:
            self.end(cookie)

    @property
    def all(self) -> tuple[Session, ...]:
        """Those that are not over."""
        self.sweep()
        return tuple(self._sessions.values())


def same(given: str | None, expected: str) -> bool:
    """Whether two secrets are the same, in a time that tells nothing."""
    return given is not None and hmac.compare_digest(given.encode(), expected.encode())
