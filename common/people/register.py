"""The people file: the people who may act at the tables of a site, and their keys.

The format is JSON Lines in UTF-8. The first line is the header, each further one is a person, and
the last one is the site's signature: Ed25519, over the line ``novamas people 1`` and all bytes
before the last line. A key is a JWK (RFC 7517, RFC 8037) and is identified by its thumbprint (RFC
7638).
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta
from nacl.bindings import crypto_core_ed25519_is_valid_point
from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from common.contract.times import parse_utc
from common.errors import NovamasError
from common.people.names import appearances
from common.people.roles import ENROLLABLE_ROLES, EnrolledRole
from common.people.strict_json import parse
from common.plain_errors import describe
from common.readings import MAX_EXACT_INTEGER

MAX_FILE_BYTES = 4_000_000
"""Maximum size of a people file."""
ALL_TABLES = "*"
"""In ``tables``: every table of the site."""

_ID = r"^[a-z0-9]+(-[a-z0-9]+)*\Z"
Id = Annotated[
    str,
    Meta(pattern=_ID, max_length=48, description="1 to 48 characters a-z, 0-9, single hyphens"),
]
_TableOrAll = Annotated[
    str, Meta(pattern=rf"{_ID}|^\*\Z", max_length=48, description="the id of a table, or *")
]
Time = Annotated[str, Meta(max_length=40)]
"""ISO 8601 in UTC: ``2026-03-20T02:10:13Z``."""
_NAME = re.compile(r"[^\x00-\x1f\x7f-\x9f]{1,128}")
_DOMAIN = b"novamas people 1\n"


class PeopleError(NovamasError, ValueError):
    """The people file cannot be used. The message gives the line and the problem."""


class _PeopleLine(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    pass


class _Term(_PeopleLine, frozen=True, kw_only=True):
    """The period in which something is valid."""

    since: Time | None = msgspec.field(default=None, name="from")
    """Valid from; None for no start."""
    until: Time | None = None
    """Valid until; None for no end."""
    revoked: Time | None = None
    """When it was revoked. It is then never valid, whatever the time is."""

    def in_term(self, now: float) -> bool:
        """Return True if ``now`` is between ``from`` and ``until``."""
        return (self.since is None or parse_utc(self.since) <= now) and (
            self.until is None or now < parse_utc(self.until)
        )


class Key(_Term, frozen=True, kw_only=True):
    """A public key of a person: a JWK with its period of validity. This release supports Ed25519
    only.
    """

    kty: Literal["OKP"] = "OKP"
    crv: Literal["Ed25519"] = "Ed25519"
    x: Annotated[
        str,
        Meta(
            pattern=r"^[A-Za-z0-9_-]{43}\Z",
            description="a public key, the 43 characters that `novamas people key` prints",
        ),
    ]
    """The 32 bytes of the key, base64url."""

    @property
    def id(self) -> str:
        """The ``kid``: the key's thumbprint."""
        return thumbprint(self.x)

    @property
    def raw(self) -> bytes:
        """The 32 bytes."""
        return from_base64url(self.x)


class Person(_Term, frozen=True, kw_only=True):
    """A person who may act, at some tables in some roles."""

    id: Id
    name: Annotated[str, Meta(min_length=1, max_length=128)]
    """The name that events have as ``by``."""
    roles: Annotated[tuple[EnrolledRole, ...], Meta(min_length=1, max_length=len(ENROLLABLE_ROLES))]
    tables: Annotated[tuple[_TableOrAll, ...], Meta(max_length=1000)] = ()
    """Ids of tables; ``*`` for all."""
    pits: Annotated[tuple[Id, ...], Meta(max_length=100)] = ()
    """Names of ``pits`` of the first line."""
    keys: Annotated[tuple[Key, ...], Meta(max_length=32)] = ()


class PeopleHeader(_PeopleLine, frozen=True, kw_only=True):
    """The first line."""

    people: Literal[1] = 1
    """The version of the format."""
    site: Id
    number: Annotated[int, Meta(ge=1, le=MAX_EXACT_INTEGER)]
    """Raised each time the file is signed, so that an old copy can be recognised."""
    time: Time
    """When it was signed."""
    pits: dict[Id, tuple[Id, ...]] = {}
    """The tables of each pit."""


class _SignatureLine(_PeopleLine, frozen=True, kw_only=True):
    key: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z", description="64 digits 0-9, a-f")]
    signature: Annotated[str, Meta(pattern=r"^[0-9a-f]{128}\Z", description="128 digits 0-9, a-f")]


class People(msgspec.Struct, frozen=True):
    """The people of a site, from their file."""

    head: PeopleHeader
    persons: tuple[Person, ...]
    owners: Mapping[str, tuple[Person, Key]]
    """Each key by its id, with its owner."""
    alike: Mapping[str, str] = {}
    """The id of another person by the id of a person whose name looks the same. Neither is revoked,
    and neither may act.
    """

    def may_be_at(self, person: Person, table: str) -> bool:
        """Return True if the person is enrolled for this table."""
        return (
            ALL_TABLES in person.tables
            or table in person.tables
            or any(table in self.head.pits.get(pit, ()) for pit in person.pits)
        )


def alike(
    persons: Iterable[Person], *, revoked: bool = False
) -> Iterator[tuple[tuple[int, Person], tuple[int, Person]]]:
    """Yield pairs of persons whose names look the same, each with the number of its line.
    ``revoked``: include revoked persons.
    """
    known: dict[str, tuple[int, Person]] = {}
    for number, person in enumerate(persons, 2):
        if person.revoked is not None and not revoked:
            continue
        shown = appearances(person.name)
        before = {known[each][0]: known[each] for each in shown if each in known}
        for line in sorted(before):
            yield before[line], (number, person)
        known |= dict.fromkeys(shown - known.keys(), (number, person))


def describe_alike(first: tuple[int, Person], second: tuple[int, Person]) -> str:
    """Describe two names that look the same, and what to do."""
    (at, one), (number, other) = first, second
    return (
        f"line {number}: name: {other.name!a} of {other.id} looks the same as {one.name!a} of "
        f"{one.id} in line {at}; names must be unique. Change one of them so that people can tell "
        "them apart, for example with a second surname, and sign the file: novamas people sign"
    )


def to_base64url(raw: bytes) -> str:
    """Encode bytes in base64url without padding."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def from_base64url(text: str) -> bytes:
    """Decode base64url without padding. Raises ``ValueError``, also for a non-canonical
    encoding.
    """
    raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    if to_base64url(raw) != text:
        raise ValueError("not base64url as it is written once and only")
    return raw


def thumbprint(x: str) -> str:
    """Return the thumbprint of an Ed25519 key (RFC 7638; RFC 8037, A.3)."""
    canonical = f'{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}'
    return to_base64url(hashlib.sha256(canonical.encode()).digest())


def read_people(data: bytes, site: str, signer: bytes) -> People:
    """Read the people file of a site, signed with the site's key ``signer`` (32 bytes). Raises
    :class:`PeopleError`.
    """
    return _checked(_signed_lines(data, signer), site)


def read_unsigned(data: bytes, site: str | None = None) -> People:
    """Read a people file without verifying its signature, if it has one, in order to sign it again.
    Raises :class:`PeopleError`.
    """
    lines = _lines(data)
    if lines and lines[-1].startswith(b'{"key":'):
        lines.pop()
    return _checked(lines, site)


def signed_with(data: bytes) -> bytes:
    """Return the public key (32 bytes) that the signature of a file names, without verifying it.
    Raises :class:`PeopleError`.
    """
    lines = _lines(data)
    last: _SignatureLine = _read(
        _SignatureLine, len(lines), lines[-1], "sign it: novamas people sign"
    )
    return bytes.fromhex(last.key)


def write_people(people: People, key: SigningKey) -> bytes:
    """Return the content of the file, signed with the site's key."""
    lines = [msgspec.json.encode(each) for each in (people.head, *people.persons)]
    text = b"".join(line + b"\n" for line in lines)
    signature = _SignatureLine(
        key=key.verify_key.encode().hex(), signature=key.sign(_DOMAIN + text).signature.hex()
    )
    return text + msgspec.json.encode(signature) + b"\n"


def checked_people(head: PeopleHeader, persons: Iterable[Person]) -> People:
    """Build the people and check them as a file is checked. Raises :class:`PeopleError`."""
    return _checked([msgspec.json.encode(each) for each in (head, *persons)], head.site)


def _lines(data: bytes) -> list[bytes]:
    if len(data) > MAX_FILE_BYTES:
        raise PeopleError(f"the file has {len(data)} bytes; at most {MAX_FILE_BYTES} are read")
    if not data.endswith(b"\n"):
        raise PeopleError("the last line does not end: the file is cut off; restore it")
    return data[:-1].split(b"\n")


def _signed_lines(data: bytes, signer: bytes) -> list[bytes]:
    lines = _lines(data)
    last = _read(_SignatureLine, len(lines), lines[-1], "sign it: novamas people sign")
    if last.key != signer.hex():
        raise PeopleError(
            f"signed with the key {last.key}, not with the site's, {signer.hex()}; sign it with "
            "the site's key: novamas people sign"
        )
    text = data[: len(data) - len(lines[-1]) - 1]
    try:
        VerifyKey(signer).verify(_DOMAIN + text, bytes.fromhex(last.signature))
    except BadSignatureError:
        raise PeopleError(
            "it was changed after it was signed; look at what changed, then sign it: "
            "novamas people sign"
        ) from None
    return lines[:-1]


def _checked(lines: list[bytes], site: str | None) -> People:
    if not lines:
        raise PeopleError("the file is empty; novamas people add begins one")
    head = _read(PeopleHeader, 1, lines[0], "the first line has people, site, number and time")
    if site is not None and head.site != site:
        raise PeopleError(f"line 1: site: is of the site {head.site}, not of {site}")
    _time(1, "time", head.time)
    seen: dict[str, tuple[int, str]] = {}
    persons: list[Person] = []
    owners: dict[str, tuple[Person, Key]] = {}
    for number, line in enumerate(lines[1:], 2):
        person = _read(Person, number, line, "each line after the first is a person")
        _person(number, person, head)
        found = [("id", person.id), ("name", person.name), *(("key", key.x) for key in person.keys)]
        for kind, value in found:
            if f"{kind} {value}" in seen:
                raise PeopleError(
                    f"line {number}: {kind}: {value} is in line {seen[f'{kind} {value}'][0]} too; "
                    "each is of one person, once"
                )
            seen[f"{kind} {value}"] = (number, value)
        persons.append(person)
        owners.update({key.id: (person, key) for key in person.keys})
    pairs = [(one.id, other.id) for (_, one), (_, other) in alike(persons)]
    same = {**dict(pairs), **{other: one for one, other in pairs}}
    return People(head, tuple(persons), owners, same)


def _person(number: int, person: Person, head: PeopleHeader) -> None:
    """Check what the types cannot express."""
    if not _NAME.fullmatch(person.name):
        raise PeopleError(f"line {number}: name: has a control character; remove it")
    if not person.tables and not person.pits:
        raise PeopleError(
            f'line {number}: tables: is missing; name tables, pits, or "{ALL_TABLES}"'
        )
    if strange := [pit for pit in person.pits if pit not in head.pits]:
        raise PeopleError(f"line {number}: pits: {strange[0]} is not among the pits of line 1")
    terms: list[tuple[str, _Term]] = [("", person)]
    terms += [(f"keys[{index}].", key) for index, key in enumerate(person.keys)]
    for where, term in terms:
        for name in ("from", "until", "revoked"):
            _time(number, f"{where}{name}", getattr(term, "since" if name == "from" else name))
    for index, key in enumerate(person.keys):
        try:
            sound = crypto_core_ed25519_is_valid_point(key.raw)
        except ValueError:
            sound = False
        if not sound:
            raise PeopleError(
                f"line {number}: keys[{index}].x: is not an Ed25519 key; novamas people key makes "
                "one"
            )


def _time(number: int, where: str, text: str | None) -> None:
    try:
        if text is not None:
            parse_utc(text)
    except ValueError as error:
        raise PeopleError(f"line {number}: {where}: {error}") from None


def _read(kind: type[Any], number: int, line: bytes, hint: str) -> Any:
    try:
        return msgspec.convert(parse(line), kind)
    except msgspec.ValidationError as error:
        raise PeopleError(f"line {number}: {describe(error, kind)} ({hint})") from None
    except ValueError as error:
        raise PeopleError(f"line {number}: {error} ({hint})") from None
