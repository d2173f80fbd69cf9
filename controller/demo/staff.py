"""The demo's people: one person with a key for each role, enrolled in a people file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from nacl.pwhash import argon2id
from nacl.signing import SigningKey

from common import clock, randomness
from common.contract.commands import Role
from common.contract.times import format_utc
from common.new_file import create_private, replace_file
from common.people.pin_key import make_pepper, seal_key, write_pin_key
from common.people.private_key import make_private_key
from common.people.register import (
    ALL_TABLES,
    Key,
    PeopleHeader,
    Person,
    checked_people,
    to_base64url,
    write_people,
)
from common.people.roles import EnrolledRole
from common.people.signed_command import Claims, sign

VALID_SECONDS = 30
"""Seconds for which a signed command is valid."""


class Visitor(NamedTuple):
    """A visitor of the demo, who may act at the console."""

    person: str
    name: str
    roles: tuple[EnrolledRole, ...]
    badge: str
    pin: str


VISITORS = (
    Visitor("visitor-1", "Visitor 1", ("table_head",), "1", "271828"),
    Visitor("visitor-2", "Visitor 2", ("inspector",), "2", "314159"),
)
"""Not secret: the demo is reachable on this machine only, and its keys are dropped at the end."""
PINS, PEPPER = "pins", "pepper"
PIN_MEMORY_KIB = 64
"""KiB for sealing those PINs: low, since they are not secret and sealing should be fast."""


class ProgramKey(NamedTuple):
    """The key with which a program requests missed events, and the file with its passphrase."""

    key: Path
    passphrase: Path


class Staff(msgspec.Struct, frozen=True):
    """The people who act in the demo."""

    site_key: str
    """The public part of the key that signed the people file."""
    keys: dict[str, bytes]
    """The secret keys, by role."""
    pins: Path
    """The folder of the visitors' keys."""
    pepper: Path
    """The file needed to open keys with PINs."""
    readers: dict[str, ProgramKey]
    """Keys of the programs, by their ids among the people."""

    def sign(self, role: Role, audience: str, name: str, number: str, fields: Any) -> bytes:
        """Return a command signed now by the person in this role."""
        now = int(clock.wall())
        claims = Claims(
            iss=_id(role),
            aud=audience,
            iat=now,
            exp=now + VALID_SECONDS,
            jti=number,
            command=name,
            role=role,
            fields=fields,
            client="demo",
        )
        return sign(self.keys[role], claims).encode()


def enrol(
    path: Path,
    site: str,
    roles: Iterable[Role],
    visitors: Iterable[Visitor] = VISITORS,
    programs: Iterable[str] = (),
) -> Staff:
    """Create keys, and write the people file with the keys of the visitors and programs beside it.
    The other keys are dropped when the demo ends.
    """
    site_key = SigningKey(randomness.token_bytes(32))
    keys = {role: SigningKey(randomness.token_bytes(32)) for role in sorted(set(roles))}
    persons = [
        Person(
            id=_id(role),
            name="Demo " + role.replace("_", " "),
            roles=(role,),
            tables=(ALL_TABLES,),
            keys=(Key(x=to_base64url(key.verify_key.encode())),),
        )
        for role, key in keys.items()
    ]
    pins, pepper = path.parent / PINS, path.parent / PEPPER
    pepper.unlink(missing_ok=True)
    secret = make_pepper(pepper)
    for visitor in visitors:
        key = SigningKey(randomness.token_bytes(32))
        write_pin_key(
            pins, seal_key(key, visitor.person, visitor.badge, visitor.pin, secret, PIN_MEMORY_KIB)
        )
        persons.append(
            Person(
                id=visitor.person,
                name=visitor.name,
                roles=visitor.roles,
                tables=(ALL_TABLES,),
                keys=(Key(x=to_base64url(key.verify_key.encode())),),
            )
        )
    readers = {
        name: ProgramKey(path.parent / f"{name}.key", path.parent / f"{name}.passphrase")
        for name in programs
    }
    persons += [
        Person(
            id=name,
            name=f"demo {name}",
            roles=("reader",),
            tables=(ALL_TABLES,),
            keys=(Key(x=to_base64url(_new_key(reader).verify_key.encode())),),
        )
        for name, reader in readers.items()
    ]
    people = checked_people(
        PeopleHeader(site=site, number=1, time=format_utc(clock.wall())), persons
    )
    replace_file(path, write_people(people, site_key))
    return Staff(
        to_base64url(site_key.verify_key.encode()),
        {role: bytes(key) for role, key in keys.items()},
        pins,
        pepper,
        readers,
    )


def _new_key(reader: ProgramKey) -> SigningKey:
    """Create a key file and the file with its passphrase, replacing those of an earlier demo."""
    for path in reader:
        path.unlink(missing_ok=True)
    create_private(reader.passphrase, randomness.token_urlsafe(24).encode())
    return make_private_key(
        reader.key, reader.passphrase.read_bytes(), argon2id.OPSLIMIT_MIN, argon2id.MEMLIMIT_MIN
    )


def _id(role: Role) -> str:
    return role.replace("_", "-")
