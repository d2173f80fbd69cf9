"""A command that a person signed: a JWS in the compact form (RFC 7515), EdDSA with an Ed25519 key
(RFC 8037).

Header: ``alg`` (``EdDSA``), ``kid`` (the key's thumbprint), perhaps ``typ`` (``JWT``), and nothing
else. Claims (RFC 7519): ``iss``, the person's id; ``aud``, the table's topic, so that a command to
a simulated table is none to a real one; ``iat``, ``exp`` and ``jti``; and our own: ``command``,
``role``, ``fields`` and ``client``.

The clock is an argument. Whatever is not exactly so is refused, with its reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from controller.contract.commands import AnyCommand
from controller.contract.orders import MAX_BODY_BYTES, RECALL, DeviceOrder, Recall, read_order
from controller.contract.refusals import RejectedError
from controller.contract.topics import level
from controller.people.register import Id, Key, People, Person, unspelled
from controller.people.roles import READS, Holds
from controller.people.seen import Seen
from controller.people.strict_json import parse

TOLERANCE = 10.0
"""Seconds by which the clock of whoever signs may differ from the daemon's."""
LONGEST_LIFE = 120
"""The most seconds between ``iat`` and ``exp``."""

_PARTS = re.compile(rb"([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{86})")
Seconds = Annotated[int, Meta(ge=0, le=1 << 40)]


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    alg: Annotated[str, Meta(pattern=r"^EdDSA\Z")]
    kid: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{43}\Z")]
    typ: Annotated[str, Meta(pattern=r"^JWT\Z")] = "JWT"


class Claims(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is signed."""

    iss: Id
    """The person's id."""
    aud: Annotated[str, Meta(max_length=256)]
    """The topic of the table: ``novamas/v1/<site>/<table>``."""
    iat: Seconds
    """When it was signed: seconds since 1970."""
    exp: Seconds
    """When it is too late to follow it."""
    jti: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{16,64}\Z")]
    """A number of its own, at random. The reply has it as ``id``."""
    command: Annotated[str, Meta(min_length=1, max_length=64)]
    """The command's name, as ``round.void``."""
    role: Holds
    """The role in which the person says it: one that the person is enrolled in."""
    fields: dict[str, Any] = {}
    """The fields of the command, without ``by``, ``role``, ``client`` and ``id``."""
    client: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{1,64}\Z")] | None = None
    """Whom to answer: the last level of the reply topic."""


class Signed(msgspec.Struct, frozen=True):
    """A command of which it is proved who signed it, that it is for this table, now, and new."""

    person: Person
    key: Key
    claims: Claims


def sign(key: bytes, claims: Claims) -> str:
    """The command, signed with a secret key (32 bytes)."""
    from controller.people import jws

    return jws.sign(key, msgspec.json.encode(claims))


def prepare() -> None:
    """Load what :func:`sign` and :func:`verify` need, so that the first command need not wait for
    it. It costs a tenth of a daemon's start, and not every casino has signed commands.
    """
    import controller.people.jws  # noqa: F401


def claims_of(token: bytes) -> Claims:
    """What a token claims, though nobody has looked at its signature: only to know whom to answer.
    Raises :class:`RejectedError`.
    """
    return _parts(token)[1]


def taken_before(tokens: Iterable[str]) -> Iterator[tuple[str, str, float]]:
    """What :meth:`Seen.restore` needs of commands that were taken in an earlier run. A command that
    cannot be read any more is left out: nobody can send it again.
    """
    for token in tokens:
        with suppress(RejectedError):
            claims = claims_of(token.encode())
            yield claims.iss, claims.jti, claims.exp + TOLERANCE


def kid_of(token: bytes) -> str:
    """The key that a token names, though nobody has looked at its signature. Raises
    :class:`RejectedError`.
    """
    return _parts(token)[0].kid


def verify(
    token: bytes, now: float, audience: str, table: str, people: People, seen: Seen
) -> Signed:
    """Who signed this command. ``now``: seconds since 1970; ``audience``: the table's topic.

    Raises :class:`RejectedError` with the reason. Only what is in order in every respect counts as
    seen: nobody can use up another's commands.
    """
    from controller.people import jws

    header, claims = _parts(token)
    if header.kid not in people.owners:
        raise RejectedError("key_unknown", kid=header.kid)
    person, key = people.owners[header.kid]
    if not jws.is_signed(token, key.raw):
        raise RejectedError("signature_wrong", kid=header.kid)
    if claims.iss != person.id:
        raise RejectedError("signer_other", by=claims.iss, kid=header.kid)
    if claims.aud != audience:
        raise RejectedError("audience_other", audience=claims.aud, table=audience)
    _in_time(claims, now)
    _in_force(person, key, now)
    if (other := people.alike.get(person.id)) is not None:
        raise RejectedError("person_alike", by=person.id, other=other)
    if not people.may_be_at(person, table):
        raise RejectedError("person_elsewhere", by=person.name, table=table)
    if claims.role not in person.roles:
        raise RejectedError("role_not_held", by=person.name, role=claims.role, roles=person.roles)
    seen.take(person.id, claims.jti, claims.iat, claims.exp + TOLERANCE, now)
    return Signed(person, key, claims)


def order(signed: Signed, name: str, at: float) -> AnyCommand | DeviceOrder | Recall:
    """The command itself, sent to the topic ``command/<name>`` and taken at ``at`` on the table's
    clock. Raises :class:`RejectedError`, or ``UnreadableCommandError`` for wrong fields.
    """
    claims = signed.claims
    if level(claims.command) != name:
        raise RejectedError("command_other", command=claims.command, name=name)
    if own := sorted({"by", "role", "client", "id"} & claims.fields.keys()):
        raise RejectedError("signed_claims", what=f"fields.{own[0]}")
    who = {} if name == RECALL else {"by": signed.person.name, "role": claims.role}
    if who and claims.role in READS:
        raise RejectedError("reader_only_reads", by=signed.person.name)
    return read_order(name, msgspec.json.encode({**claims.fields, **who}), at)[1]


def _parts(token: bytes) -> tuple[_Header, Claims]:
    """Header and claims of a token that is not too long and is written as it must be."""
    if len(token) > MAX_BODY_BYTES:
        raise RejectedError("signed_too_long", count=len(token), most=MAX_BODY_BYTES)
    parts = _PARTS.fullmatch(token)
    if parts is None:
        raise RejectedError("signed_form")
    try:
        raw = [unspelled(part.decode()) for part in parts.groups()]
    except ValueError:
        raise RejectedError("signed_form") from None
    try:
        header = msgspec.convert(parse(raw[0]), _Header)
    except ValueError:
        raise RejectedError("signed_header") from None
    try:
        claims = msgspec.convert(parse(raw[1]), Claims)
    except ValueError as error:
        raise RejectedError("signed_claims", what=str(error)[:256]) from None
    return header, claims


def _in_time(claims: Claims, now: float) -> None:
    if claims.iat > now + TOLERANCE:
        raise RejectedError("signed_in_future", seconds=int(claims.iat - now))
    if claims.exp + TOLERANCE <= now:
        raise RejectedError("signed_expired", seconds=int(now - claims.exp))
    if not 0 < claims.exp - claims.iat <= LONGEST_LIFE:
        raise RejectedError("signed_life", seconds=claims.exp - claims.iat, most=LONGEST_LIFE)


def _in_force(person: Person, key: Key, now: float) -> None:
    if person.revoked is not None:
        raise RejectedError("person_revoked", by=person.name, time=person.revoked)
    if key.revoked is not None:
        raise RejectedError("key_revoked", by=person.name, kid=key.id, time=key.revoked)
    if not person.in_term(now):
        raise RejectedError("person_out_of_term", by=person.name)
    if not key.in_term(now):
        raise RejectedError("key_out_of_term", by=person.name, kid=key.id)
