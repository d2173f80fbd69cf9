"""Signed-in persons: in memory only, for a short time. The person's key is in the session and is
dropped with it.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable

import msgspec

from common import randomness
from common.people.register import Person

MAX_SESSIONS = 200
"""Maximum number of sessions; the one idle for longest is ended for a new one."""


class Session:
    """One person at one screen. ``tag`` prefixes the number of each command given in the session,
    so that commands of different sessions cannot be confused.
    """

    def __init__(self, person: Person, key: bytes, language: str, now: float) -> None:
        self.person = person
        self.key = key
        self.language = language
        self.began = self.used = now
        self.token = randomness.token_urlsafe(32)
        """Sent with every POST, beside the cookie."""
        self.tag = randomness.token_hex(8)
        self.alive = True

    def drop(self) -> None:
        """End the session and forget the key."""
        self.alive, self.key = False, b""


class SessionLimits(msgspec.Struct, frozen=True):
    """Durations of a session, in seconds."""

    idle: float = 300.0
    """Maximum time without a touch."""
    longest: float = 1800.0
    """Maximum duration."""


class Sessions:
    """All sessions, by the random id in the cookie. ``clock``: monotonic seconds. ``counted`` is
    called with the number of sessions whenever it changes.
    """

    def __init__(
        self,
        limits: SessionLimits,
        clock: Callable[[], float],
        counted: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._limits, self._clock, self._counted = limits, clock, counted
        self._sessions: dict[str, Session] = {}

    def begin(self, person: Person, key: bytes, language: str) -> tuple[str, Session]:
        """Start a session. Return its cookie id of 256 random bits, and the session."""
        self.sweep()
        while len(self._sessions) >= MAX_SESSIONS:
            oldest = min(self._sessions, key=lambda cookie_: self._sessions[cookie_].used)
            self.end(oldest)
        session = Session(person, key, language, self._clock())
        cookie = randomness.token_urlsafe(32)
        self._sessions[cookie] = session
        self._counted(len(self._sessions))
        return cookie, session

    def find(self, cookie: str | None) -> Session | None:
        """Return the session of a cookie unless it has ended."""
        self.sweep()
        return None if cookie is None else self._sessions.get(cookie)

    def touch(self, session: Session) -> None:
        """Restart the idle time."""
        session.used = self._clock()

    def left(self, session: Session) -> float:
        """Return the seconds until the session ends if idle."""
        now = self._clock()
        return min(
            session.used + self._limits.idle - now, session.began + self._limits.longest - now
        )

    def end(self, cookie: str | None) -> None:
        """End the session of a cookie."""
        session = None if cookie is None else self._sessions.pop(cookie, None)
        if session is not None:
            session.drop()
            self._counted(len(self._sessions))

    def end_of(self, person: str) -> None:
        """End every session of a person."""
        for cookie in [
            cookie_ for cookie_, session in self._sessions.items() if session.person.id == person
        ]:
            self.end(cookie)

    def sweep(self) -> None:
        """End expired sessions."""
        for cookie in [
            cookie_ for cookie_, session in self._sessions.items() if self.left(session) <= 0
        ]:
            self.end(cookie)

    @property
    def all(self) -> tuple[Session, ...]:
        """The sessions that have not ended."""
        self.sweep()
        return tuple(self._sessions.values())


def same_secret(presented: str | None, expected: str) -> bool:
    """Compare two secrets in constant time."""
    return presented is not None and hmac.compare_digest(presented.encode(), expected.encode())
