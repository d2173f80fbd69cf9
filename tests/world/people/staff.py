"""The people of a world's casino: their keys, drawn from the seed, and the people file."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from typing import NamedTuple

from msgspec.structs import replace
from nacl.signing import SigningKey

from common.contract.times import format_utc
from common.contract.topics import Topics
from common.people.pin_key import seal_key, write_pin_key
from common.people.register import (
    Key,
    PeopleHeader,
    Person,
    checked_people,
    to_base64url,
    write_people,
)
from common.people.roles import EnrolledRole

SITE = "palma"
ROOT = Topics(SITE).root
PIN = "274913"
PIN_MEMORY_KIB = 64
"""The least that the format allows: worlds do not show how long a PIN takes to guess."""
FILE_NAME = "people.jsonl"


class Post(NamedTuple):
    """What somebody at the casino does; if that person is revoked, another one takes over."""

    id: str
    name: str
    roles: tuple[EnrolledRole, ...]


HEADS = (
    Post("head-1", "M. Lasa", ("table_head",)),
    Post("head-2", "I. Ferrer", ("table_head", "inspector")),
)
DIRECTOR = Post("director", "T. Vidal", ("director",))
CROUPIER = Post("croupier", "A. Riera", ("croupier",))
STRANGER = Post("former", "J. Otero", ("director",))
"""Was revoked long ago and still has the key."""


SURNAMES = ("Aranda", "Bosch", "Canet", "Duran", "Egea", "Fuster", "Grau", "Hita")


class Staff:
    """Everybody who was ever enrolled. ``number``: that of the last people file."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._site_key = SigningKey(random.randbytes(32))
        self._secrets: dict[str, bytes] = {}
        self._persons: dict[str, Person] = {}
        self.number = 0
        self.revoked: dict[int, frozenset[str]] = {}
        """By number of a people file, who is revoked in it."""
        self.files: dict[int, bytes] = {}
        """Each people file that was signed, by its number."""

    def section(self) -> str:
        """Return the section of the configuration of a daemon."""
        return f'\n[people]\nfile = "{FILE_NAME}"\nkey = "{self.site_key}"\n'

    @property
    def site_key(self) -> str:
        """The public part of the key that signs the people file."""
        return to_base64url(self._site_key.verify_key.encode())

    def enrol(self, post: Post) -> Person:
        """Enrol a person for this post, with a new key and an id of that person alone."""
        count = sum(each.startswith(post.id) for each in self._persons)
        person_id = f"{post.id}-{count + 1}"
        name = " ".join([post.name, *([SURNAMES[count % 8]] * (1 + count // 8))])
        secret = self._secrets[person_id] = self._random.randbytes(32)
        key = Key(x=to_base64url(SigningKey(secret).verify_key.encode()))
        person = Person(id=person_id, name=name, roles=post.roles, tables=("*",), keys=(key,))
        self._persons[person_id] = person
        return person

    def revoke(self, person: str, now: float) -> None:
        """Revoke a person."""
        self._persons[person] = replace(self._persons[person], revoked=format_utc(now))

    def sign(self, now: float) -> int:
        """Sign the next people file; return its number."""
        self.number += 1
        head = PeopleHeader(site=SITE, number=self.number, time=format_utc(now))
        people = checked_people(head, self._persons.values())
        self.files[self.number] = write_people(people, self._site_key)
        self.revoked[self.number] = frozenset(
            person.id for person in self._persons.values() if person.revoked is not None
        )
        return self.number

    def key(self, person: str) -> str | None:
        """Return the public key of a person, base64url; None if nobody has that id."""
        enrolled = self._persons.get(person)
        return None if enrolled is None else enrolled.keys[0].x

    def secret(self, person: str) -> bytes:
        """Return a person's secret key."""
        return self._secrets[person]

    def seal(self, folder: Path, person: str, pepper: bytes) -> None:
        """Put a person's key into the console's folder of keys."""
        key = SigningKey(self._secrets[person])
        write_pin_key(folder, seal_key(key, person, "", PIN, pepper, PIN_MEMORY_KIB))


def put(folder: Path, text: bytes, now: float) -> None:
    """Replace the people file of a machine."""
    part = folder / f"{FILE_NAME}.part"
    part.write_bytes(text)
    os.utime(part, ns=(round(now * 1e9), round(now * 1e9)))  # not the time of the real machine
    part.replace(folder / FILE_NAME)
