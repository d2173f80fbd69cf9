"""People of the site of the daemon's tests, and the commands that they sign."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from common.contract.topics import level
from common.people.private_key import make_private_key
from common.people.register import Key, Person, checked_people, to_base64url, write_people
from common.people.signed_command import Claims, sign
from tests.support.brokers.mosquitto import Subscriber
from tests.support.daemon.play import TABLE
from tests.support.people.staff import HEAD as FILE_HEAD
from tests.support.people.staff import KEY_OF, PERSONS, SIGNER, SITE_KEY, secret
from tests.support.waiting import until

SIGNED = f'[people]\nfile = "people.jsonl"\nkey = "{to_base64url(SIGNER)}"\n'
LASA, RIERA, VIDAL, GONE, SCREEN = "m-lasa", "a-riera", "t-vidal", "j-gone", "carrousel-1"
_NUMBER = itertools.count()


def enrol(
    folder: Path, number: int = 7, revoked: str | None = None, others: Sequence[Person] = ()
) -> Path:
    """Write the people file; ``revoked``: the time since which M. Lasa may not act; ``others``:
    further people in it.
    """
    persons: list[Person] = [
        replace(
            person, tables=("*",), pits=(), revoked=revoked if person.id == LASA else person.revoked
        )
        for person in PERSONS
    ] + [*others]
    people = checked_people(replace(FILE_HEAD, site="palma", number=number), persons)
    new = folder / "people.new"
    new.write_bytes(write_people(people, SITE_KEY))
    return new.replace(folder / "people.jsonl")


def reader(folder: Path, who: str) -> Person:
    """A program that may recall. Its key is in the file ``reader`` of the folder, the passphrase of
    that in ``reader.passphrase``.
    """
    (folder / "reader.passphrase").write_bytes(b"a passphrase to read with\n")
    # the least work: this is no test of how long it takes
    key = make_private_key(
        folder / "reader", b"a passphrase to read with", operations=1, memory=8192
    )
    own = Key(x=to_base64url(key.verify_key.encode()))
    return Person(id=who, name=who, roles=("reader",), tables=("*",), keys=(own,))


def claims(who: str, command: str, role: str = "table_head", **changed: Any) -> Claims:
    """The claims of a command that may be sent now; other keywords than claims are fields."""
    now = int(time.time())
    own = {name: changed.pop(name) for name in Claims.__struct_fields__ if name in changed}
    good: dict[str, Any] = {
        "iss": who,
        "aud": TABLE,
        "iat": now,
        "exp": now + 60,
        "jti": f"{now}-{next(_NUMBER):010}",
        "command": command,
        "role": role,
        "fields": changed,
        "client": who,
    }
    return Claims(**{**good, **own})


def token(given: Claims, key: str | None = None) -> bytes:
    return sign(secret(key or KEY_OF[given.iss]), given).encode()


def give(heard: Subscriber, who: str, command: str, role: str = "table_head", **what: Any) -> Any:
    """Send a command, and wait for its answer."""
    given = claims(who, command, role, **what)
    return say(heard, given, token(given))


def say(heard: Subscriber, given: Claims, body: bytes, count: int = 1, **how: Any) -> Any:
    """Publish a command, and wait until its number was answered ``count`` times."""
    heard.publish(f"{TABLE}/command/{level(given.command)}", body, **how)
    return answer(heard, given, count)


def answer(heard: Subscriber, given: Claims, count: int = 1) -> Any:
    def answered() -> list[Any]:
        found = [each.body for each in heard.on(f"/reply/{given.client}")]
        return [each for each in found if each["id"] == given.jti][count - 1 :]

    return until(f"an answer to {given.jti}", answered, heard.transcript)[0]
