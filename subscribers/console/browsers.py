"""Browsers at which a person has signed in before, by a signed cookie: what strangers guess
elsewhere does not count there.

The cookie is a random number and, for each person, a tag over that number, the person's id and the
salt of the person's key. It names nobody, opens nothing, and a new PIN makes its tag worthless.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

import msgspec

MAX_PERSONS = 32
"""Persons whom one browser remembers, those who signed in last: a screen in a pit has many."""
COOKIE_SECONDS = 180 * 86_400
"""For how long a browser keeps the cookie after a sign-in."""
_COOKIE = re.compile(rf"([0-9a-f]{{32}})((?:\.[0-9a-f]{{32}}){{1,{MAX_PERSONS}}})", re.ASCII)


class Browsers:
    """Makes and reads the cookies. ``secret``: of the console."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def known(self, cookie: str | None, person: str, salt: str) -> str | None:
        """The number of a browser at which this person has signed in before, or None."""
        number, tags = _read(cookie)
        tag = self._tag(number, person, salt)
        return number if any(hmac.compare_digest(tag, each) for each in tags) else None

    def signed_in(self, cookie: str | None, person: str, salt: str) -> str:
        """The cookie of the same browser, or of a new one, now that this person has signed in."""
        number, tags = _read(cookie)
        number = number or secrets.token_hex(16)
        tag = self._tag(number, person, salt)
        kept = [tag, *(each for each in tags if each != tag)][:MAX_PERSONS]
        return ".".join((number, *kept))

    def _tag(self, number: str, person: str, salt: str) -> str:
        said = msgspec.json.encode(["browser", number, person, salt])
        return hmac.digest(self._secret, said, hashlib.sha256)[:16].hex()


def _read(cookie: str | None) -> tuple[str, list[str]]:
    found = None if cookie is None else _COOKIE.fullmatch(cookie)
    return ("", []) if found is None else (found[1], found[2].split(".")[1:])
