"""A command that a person signed: a JWS in the compact form (RFC 7515), EdDSA with an Ed25519 key
(RFC 8037).

Header: ``alg`` (``EdDSA``), ``kid`` (the key's thumbprint), perhaps ``typ`` (``JWT``), and nothing
else. Claims (RFC 7519): ``iss``, the person's id; ``aud``, the table's topic, so that a command to
a simulated table is not valid for a real one; ``iat``, ``exp`` and ``jti``; and the private claims
``command``, ``role``, ``fields`` and ``client``.

The time is an argument. Any other token is rejected, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from common.contract.commands import AnyCommand
from common.contract.orders import MAX_BODY_BYTES, RECALL, DeviceOrder, Recall, read_order
from common.contract.refusals import RejectedError
from common.contract.topics import level
from common.people.register import Id, Key, People, Person, from_base64url
from common.people.roles import READING_ROLES, EnrolledRole
from common.people.seen import SeenCommands
from common.people.strict_json import parse

CLOCK_TOLERANCE_SECONDS = 10.0
"""The clock of the signer may differ from the daemon's by this."""
MAX_LIFETIME_SECONDS = 120
"""Maximum time between ``iat`` and ``exp``."""

_PARTS = re.compile(rb"([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{86})")
Seconds = Annotated[int, Meta(ge=0, le=1 << 40)]


class _TokenHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    alg: Annotated[str, Meta(pattern=r"^EdDSA\Z")]
    kid: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{43}\Z")]
    typ: Annotated[str, Meta(pattern=r"^JWT\Z")] = "JWT"


class Claims(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The signed content of a command."""

    iss: Id
    """The person's id."""
    aud: Annotated[str, Meta(max_length=256)]
    """The topic of the table: ``novamas/v1/<site>/<table>``."""
    iat: Seconds
    """When it was signed: seconds since 1970."""
    exp: Seconds
    """When the command expires."""
    jti: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{16,64}\Z")]
    """A random id. The reply has it as ``id``."""
    command: Annotated[str, Meta(min_length=1, max_length=64)]
    """The command's name, such as ``round.void``."""
    role: EnrolledRole
    """The role in which the person acts; the person must be enrolled in it."""
    fields: dict[str, Any] = {}
    """The fields of the command, without ``by``, ``role``, ``client`` and ``id``."""
    client: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{1,64}\Z")] | None = None
    """The last level of the reply topic."""


class VerifiedCommand(msgspec.Struct, frozen=True):
    """A command whose signature, table, time and novelty are verified."""

    person: Person
    key: Key
    claims: Claims


def sign(key: bytes, claims: Claims) -> str:
    """Sign a command with a secret key (32 bytes)."""
    from common.people import jws

    return jws.sign(key, msgspec.json.encode(claims))


def prepare() -> None:
    """Import what :func:`sign` and :func:`verify` need, so that the first command need not wait for
    it. The import takes a tenth of a daemon's start, and not every site has signed commands.
    """
    import common.people.jws  # noqa: F401


def claims_of(token: bytes) -> Claims:
    """Return the claims of a token without verifying its signature, in order to address the reply.
    Raises :class:`RejectedError`.
    """
    return _parts(token)[1]


def seen_before(tokens: Iterable[str]) -> Iterator[tuple[str, str, float]]:
    """Yield the arguments of :meth:`SeenCommands.restore` for commands of an earlier run. A command
    that this release cannot read is left out: it would be rejected if sent again.
    """
    for token in tokens:
        with suppress(RejectedError):
            claims = claims_of(token.encode())
            yield claims.iss, claims.jti, claims.exp + CLOCK_TOLERANCE_SECONDS


def kid_of(token: bytes) -> str:
    """Return the id of the key that a token names, without verifying its signature. Raises
    :class:`RejectedError`.
    """
    return _parts(token)[0].kid


def verify(
    token: bytes, now: float, audience: str, table: str, people: People, seen: SeenCommands
) -> VerifiedCommand:
    """Verify a signed command. ``now``: seconds since 1970; ``audience``: the table's topic.

    Raises :class:`RejectedError` with the reason. Only a fully valid command is marked as seen, so
    that no client can use up the commands of others.
    """
    from common.people import jws

    header, claims = _parts(token)
    if header.kid not in people.owners:
        raise RejectedError("key_unknown", kid=header.kid)
    person, key = people.owners[header.kid]
    if not jws.is_signed(token, key.x):
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
    seen.add(person.id, claims.jti, claims.iat, claims.exp + CLOCK_TOLERANCE_SECONDS, now)
    return VerifiedCommand(person, key, claims)


def command_of(signed: VerifiedCommand, name: str, at: float) -> AnyCommand | DeviceOrder | Recall:
    """Decode the command, which was sent to the topic ``command/<name>`` and received at ``at`` on
    the table's clock. Raises :class:`RejectedError`, or ``UnreadableCommandError`` for wrong
    fields.
    """
    claims = signed.claims
    if level(claims.command) != name:
        raise RejectedError("command_other", command=claims.command, name=name)
    if own := sorted({"by", "role", "client", "id"} & claims.fields.keys()):
        raise RejectedError("signed_claims", what=f"fields.{own[0]}")
    who = {} if name == RECALL else {"by": signed.person.name, "role": claims.role}
    if who and claims.role in READING_ROLES:
        raise RejectedError("reader_only_reads", by=signed.person.name)
    return read_order(name, msgspec.json.encode({**claims.fields, **who}), at)[1]


def _parts(token: bytes) -> tuple[_TokenHeader, Claims]:
    """Return the header and the claims of a well-formed token."""
    if len(token) > MAX_BODY_BYTES:
        raise RejectedError("signed_too_long", count=len(token), most=MAX_BODY_BYTES)
    parts = _PARTS.fullmatch(token)
    if parts is None:
        raise RejectedError("signed_form")
    try:
        raw = [from_base64url(part.decode()) for part in parts.groups()]
    except ValueError:
        raise RejectedError("signed_form") from None
    try:
        header = msgspec.convert(parse(raw[0]), _TokenHeader)
    except ValueError:
        raise RejectedError("signed_header") from None
    try:
        claims = msgspec.convert(parse(raw[1]), Claims)
    except ValueError as error:
        raise RejectedError("signed_claims", what=str(error)[:256]) from None
    return header, claims


def _in_time(claims: Claims, now: float) -> None:
    if claims.iat > now + CLOCK_TOLERANCE_SECONDS:
        raise RejectedError("signed_in_future", seconds=int(claims.iat - now))
    if claims.exp + CLOCK_TOLERANCE_SECONDS <= now:
        raise RejectedError("signed_expired", seconds=int(now - claims.exp))
    if not 0 < claims.exp - claims.iat <= MAX_LIFETIME_SECONDS:
        raise RejectedError(
            "signed_life", seconds=claims.exp - claims.iat, most=MAX_LIFETIME_SECONDS
        )


def _in_force(person: Person, key: Key, now: float) -> None:
    if person.revoked is not None:
        raise RejectedError("person_revoked", by=person.name, time=person.revoked)
    if key.revoked is not None:
        raise RejectedError("key_revoked", by=person.name, kid=key.id, time=key.revoked)
    if not person.in_term(now):
        raise RejectedError("person_out_of_term", by=person.name)
    if not key.in_term(now):
        raise RejectedError("key_out_of_term", by=person.name, kid=key.id)
