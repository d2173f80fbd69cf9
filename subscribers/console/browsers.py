"""Browsers at which a person has signed in before, recognised by a signed cookie: guesses from
elsewhere do not count there.

The cookie holds a random number and, for each person, a tag over that number, the person's id and
the salt of the person's key. It contains no name and grants nothing, and a new PIN invalidates its
tag.
"""

from __future__ import annotations

import hashlib
import hmac
import re

import msgspec

from common import randomness

MAX_PERSONS = 32
"""Maximum number of persons per browser, latest first; a shared pit screen has many."""
COOKIE_SECONDS = 180 * 86_400
"""Lifetime of the cookie after a sign-in."""
_COOKIE = re.compile(rf"([0-9a-f]{{32}})((?:\.[0-9a-f]{{32}}){{1,{MAX_PERSONS}}})", re.ASCII)


class Browsers:
    """Makes and reads the cookies. ``secret``: the console's secret."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def browser_of(self, cookie: str | None, person: str, salt: str) -> str | None:
        """Return the number of a browser at which this person has signed in before, or None."""
        number, tags = _read(cookie)
        tag = self._tag(number, person, salt)
        return number if any(hmac.compare_digest(tag, known_tag) for known_tag in tags) else None

    def cookie_after_sign_in(self, cookie: str | None, person: str, salt: str) -> str:
        """Return the new cookie of this browser, or of a new one, after this person
        has signed in.
        """
        number, tags = _read(cookie)
        number = number or randomness.token_hex(16)
        tag = self._tag(number, person, salt)
        tags_ = [tag, *(known_tag for known_tag in tags if known_tag != tag)][:MAX_PERSONS]
        return ".".join((number, *tags_))

    def _tag(self, number: str, person: str, salt: str) -> str:
        content = msgspec.json.encode(["browser", number, person, salt])
        return hmac.digest(self._secret, content, hashlib.sha256)[:16].hex()


def _read(cookie: str | None) -> tuple[str, list[str]]:
    found = None if cookie is None else _COOKIE.fullmatch(cookie)
    return ("", []) if found is None else (found[1], found[2].split(".")[1:])
