"""The first inspector: the site's key, the people file, and the inspector's key under the PIN.

The functions are those of ``novamas people``. They write into a private temporary folder, whose
files are the plan's.
"""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
from nacl.signing import SigningKey

from common import clock, randomness
from common.contract.times import format_utc
from common.people.pin_key import (
    SUFFIX,
    PinKey,
    PinKeyError,
    make_pepper,
    seal_key,
    write_pin_key,
)
from common.people.private_key import PrivateKeyError, make_private_key, open_private_key
from common.people.register import (
    ALL_TABLES,
    Key,
    People,
    PeopleError,
    PeopleHeader,
    Person,
    checked_people,
    from_base64url,
    read_people,
    to_base64url,
    write_people,
)
from controller.people.enrolment import add_person
from controller.setup.change import FileChange, Layout, SetupError, content

PEOPLE, SITE_KEY, PINS, PEPPER = "people.jsonl", "site.key", "pins", "web.pepper"
RECORDER = "surveillance"
"""The archive among the people."""
RECORDER_FILES = "surveillance-recall.key", "surveillance.passphrase"
"""Its key, and the secret that opens it."""
PASSPHRASE_BYTES = 24


class Enrolment:
    """The changes that enrol one inspector. ``key``: the inspector's own, so that setup can open
    the tables in that name; ``signer``: the public part of the site's key.
    """

    def __init__(self, layout: Layout, site: str, people_file: Path | None, given: Any) -> None:
        """``given``: the answers. Raises :class:`SetupError`."""
        self.key = SigningKey(randomness.token_bytes(32))
        self.changes: list[FileChange] = []
        self._layout = layout
        file = people_file or layout.folder / PEOPLE
        name, badge = given["inspector_name"], given["inspector_badge"]
        try:
            with TemporaryDirectory(prefix="novamas-setup-") as folder:
                site_key = self._site_key(Path(folder), given["inspector_passphrase"], people_file)
                self.signer = to_base64url(site_key.verify_key.encode())
                people = self._people(file, people_file is not None, site, site_key)
                self.person = Person(
                    id=_free_id(name, people),
                    name=name,
                    roles=("inspector",),
                    tables=(ALL_TABLES,),
                    keys=(Key(x=to_base64url(self.key.verify_key.encode())),),
                )
                people = add_person(people, self.person, clock.wall())
                if given["surveillance"] and RECORDER not in {each.id for each in people.persons}:
                    people = add_person(people, self._reader(Path(folder)), clock.wall())
                self.changes.append(layout.readable(file, write_people(people, site_key)))
                self._seal(Path(folder), badge, given["inspector_pin"])
        except (PeopleError, PinKeyError, PrivateKeyError) as error:
            raise SetupError(str(error)) from None

    def _site_key(self, folder: Path, passphrase: str, people_file: Path | None) -> SigningKey:
        path = self._layout.folder / SITE_KEY
        if people_file is not None:
            return open_private_key(path, passphrase.encode())
        if path.exists():
            raise SetupError(
                f"{path} is there, but no people file of it: move it away, or name the people file "
                "in [people] (docs/inspector/people.md)"
            )
        key = make_private_key(folder / SITE_KEY, passphrase.encode())
        self.changes.append(self._layout.private(path, (folder / SITE_KEY).read_bytes()))
        return key

    def _people(self, file: Path, exists: bool, site: str, key: SigningKey) -> People:
        if exists:
            return read_people(content(file) or b"", site, key.verify_key.encode())
        if file.exists():
            raise SetupError(
                f"{file} is there, but [people] of the configuration does not name it: move it "
                "away, or add it (docs/inspector/people.md)"
            )
        head = PeopleHeader(site=site, number=1, time=format_utc(clock.wall()))
        return checked_people(head, ())

    def _reader(self, folder: Path) -> Person:
        """Make the key with which the archive asks for events that it missed."""
        passphrase = randomness.token_urlsafe(PASSPHRASE_BYTES).encode()
        key = make_private_key(folder / RECORDER_FILES[0], passphrase)
        body = (folder / RECORDER_FILES[0]).read_bytes()
        self.changes += [
            self._layout.grouped(self._layout.folder / RECORDER_FILES[0], body),
            self._layout.shared(self._layout.secret(RECORDER_FILES[1]), passphrase + b"\n"),
        ]
        return Person(
            id=RECORDER,
            name=RECORDER,
            roles=("reader",),
            tables=(ALL_TABLES,),
            keys=(Key(x=to_base64url(key.verify_key.encode())),),
        )

    def _seal(self, folder: Path, badge: str, pin: str) -> None:
        pins, pepper = self._layout.folder / PINS, self._layout.secret(PEPPER)
        for path in sorted(pins.glob(f"*{SUFFIX}")):
            other = msgspec.json.decode(content(path) or b"", type=PinKey)
            if other.badge.strip().casefold() == badge.strip().casefold():
                raise SetupError(f"{other.person} has the badge {badge}: give another number")
        if (existing := content(pepper)) is not None:
            secret = from_base64url(existing.decode().strip())
        else:
            secret = make_pepper(folder / "pepper")
            self.changes.append(self._layout.shared(pepper, (folder / "pepper").read_bytes()))
        sealed = write_pin_key(
            folder / PINS, seal_key(self.key, self.person.id, badge, pin, secret)
        )
        self.changes.append(self._layout.grouped(pins / sealed.name, sealed.read_bytes()))


def _free_id(name: str, people: People) -> str:
    base = re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")[:40] or "inspector"
    taken = {person.id for person in people.persons}
    return next(
        each for n in range(1, 1000) if (each := base if n == 1 else f"{base}-{n}") not in taken
    )
