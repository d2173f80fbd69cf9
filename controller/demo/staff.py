"""The people of the demo: each role is a person with a key, enrolled in a people file."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
from nacl.signing import SigningKey

from controller.contract.commands import Role
from controller.contract.times import utc
from controller.people.register import ALL, Head, Key, Person, enrolled, spelled, write_people
from controller.people.signed_command import Claims, sign

LIFE = 30
"""Seconds for which a signed command is valid."""


class Staff(msgspec.Struct, frozen=True):
    """Who acts in the demo."""

    site_key: str
    """The public part of the key that signed the people file."""
    keys: dict[str, bytes]
    """The secret keys, by role."""

    def sign(self, role: Role, audience: str, name: str, number: str, fields: Any) -> bytes:
        """A command that the person in this role signs now."""
        now = int(time.time())
        claims = Claims(
            iss=_id(role),
            aud=audience,
            iat=now,
            exp=now + LIFE,
            jti=number,
            command=name,
            role=role,
            fields=fields,
            client="demo",
        )
        return sign(self.keys[role], claims).encode()


def enrol(path: Path, site: str, roles: Iterable[Role]) -> Staff:
    """Make keys, and write the people file. The keys are forgotten when the demo ends."""
    site_key = SigningKey.generate()
    keys = {role: SigningKey.generate() for role in sorted(set(roles))}
    persons = [
        Person(
            id=_id(role),
            name=f"demo {role}",
            roles=(role,),
            tables=(ALL,),
            keys=(Key(x=spelled(key.verify_key.encode())),),
        )
        for role, key in keys.items()
    ]
    people = enrolled(Head(site=site, number=1, time=utc(time.time())), persons)
    path.write_bytes(write_people(people, site_key))
    return Staff(
        spelled(site_key.verify_key.encode()), {role: bytes(key) for role, key in keys.items()}
    )


def _id(role: Role) -> str:
    return role.replace("_", "-")
