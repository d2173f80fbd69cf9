"""The people of a casino, their secret keys, and commands that they sign."""

from __future__ import annotations

import itertools
from hashlib import sha256
from typing import Any

from nacl.signing import SigningKey

from common.contract.topics import Topics
from common.people.register import (
    Key,
    People,
    PeopleHeader,
    Person,
    checked_people,
    to_base64url,
)
from common.people.signed_command import Claims, sign

NOW = 1_800_000_000.0
SITE, TABLE = "casino-mayor", "ruleta-1"
AUDIENCE = f"{Topics(SITE).root}/{TABLE}"
_JTI = itertools.count()


def secret(name: str) -> bytes:
    """The secret key of this name; always the same."""
    return sha256(name.encode()).digest()


def public(name: str, **term: Any) -> Key:
    return Key(x=to_base64url(SigningKey(secret(name)).verify_key.encode()), **term)


SITE_KEY = SigningKey(secret("site"))
SIGNER = SITE_KEY.verify_key.encode()
HEAD = PeopleHeader(
    site=SITE, number=7, time="2026-11-22T12:00:00Z", pits={"pit-1": ("ruleta-1", "ruleta-2")}
)
LASA = Person(
    id="m-lasa",
    name="M. Lasa",
    roles=("table_head", "inspector"),
    tables=("ruleta-1", "bacara-1"),
    keys=(
        public("lasa"),
        public("lasa-tablet"),
        public("lasa-lost", revoked="2026-11-01T00:00:00Z"),
        public("lasa-next", since="2099-01-01T00:00:00Z"),
    ),
)
RIERA = Person(
    id="a-riera", name="A. Riera", roles=("croupier",), pits=("pit-1",), keys=(public("riera"),)
)
VIDAL = Person(
    id="t-vidal", name="T. Vidal", roles=("director",), tables=("*",), keys=(public("vidal"),)
)
REVOKED = Person(
    id="j-gone",
    name="J. Gone",
    roles=("director",),
    tables=("*",),
    keys=(public("gone"),),
    revoked="2026-01-01T00:00:00Z",
)
FUTURE_PERSON = Person(
    id="l-later",
    name="L. Later",
    roles=("director",),
    tables=("*",),
    keys=(public("later"),),
    since="2099-01-01T00:00:00Z",
)
SCREEN = Person(
    id="carrousel-1", name="Carrousel 1", roles=("reader",), tables=("*",), keys=(public("screen"),)
)
MORA = Person(
    id="s-mora", name="S. Mora", roles=("surveillance",), tables=("*",), keys=(public("mora"),)
)
PERSONS = (LASA, RIERA, VIDAL, REVOKED, FUTURE_PERSON, SCREEN, MORA)
KEY_OF = {
    "m-lasa": "lasa",
    "a-riera": "riera",
    "t-vidal": "vidal",
    "j-gone": "gone",
    "l-later": "later",
    "carrousel-1": "screen",
    "s-mora": "mora",
}


def people() -> People:
    return checked_people(HEAD, PERSONS)


def claims(**changed: Any) -> Claims:
    """A command that M. Lasa may send now, with these claims changed."""
    good: dict[str, Any] = {
        "iss": "m-lasa",
        "aud": AUDIENCE,
        "iat": int(NOW),
        "exp": int(NOW) + 30,
        "jti": f"number-{next(_JTI):09}",
        "command": "round.void",
        "role": "table_head",
        "fields": {"reason": "ball_out"},
        "client": "console-1",
    }
    return Claims(**{**good, **changed})


def signed(key: str = "lasa", **changed: Any) -> bytes:
    return sign(secret(key), claims(**changed)).encode()
