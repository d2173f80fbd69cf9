"""Recalls, the requests for missed events: signed if the tables require signed commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from common import clock
from common.contract.orders import RECALL
from common.people.private_key import PrivateKeyError, open_private_key
from common.people.register import thumbprint, to_base64url
from common.people.roles import EnrolledRole
from common.people.signed_command import Claims, prepare, sign
from subscribers.feed.connection import ServiceConnection

RECALL_LIFETIME_SECONDS = 60
"""Lifetime of a signed recall."""


class RecallKey:
    """The signing key of a person with the role reader. Raises ``PrivateKeyError``."""

    def __init__(self, path: Path, passphrase: Path) -> None:
        try:
            secret = passphrase.read_bytes().rstrip(b"\r\n")
        except OSError as error:
            raise PrivateKeyError(
                f"{passphrase}: the passphrase of {path} cannot be read: {error.strerror}; "
                "`recall_passphrase_file` or `recall_passphrase_credential` names its file"
            ) from None
        self._key = open_private_key(path, secret)
        self.kid = thumbprint(to_base64url(self._key.verify_key.encode()))
        prepare()

    def sign(
        self, person: str, topic: str, fields: dict[str, Any], client: str, number: str, now: int
    ) -> bytes:
        """Return a recall signed as ``person``. The arguments are those of :func:`sign_recall`."""
        return sign_recall(
            self._key.encode(),
            person,
            "reader",
            topic=topic,
            fields=fields,
            client=client,
            number=number,
            now=now,
        )


def sign_recall(
    key: bytes,
    person: str,
    role: EnrolledRole,
    *,
    topic: str,
    fields: dict[str, Any],
    client: str,
    number: str,
    now: int,
) -> bytes:
    """Return a recall signed by a person in a role. ``topic``: root of the table's topics;
    ``number``: the ``id`` that the reply will carry; ``now``: seconds since 1970.
    """
    claims = Claims(
        iss=person,
        aud=topic,
        iat=now,
        exp=now + RECALL_LIFETIME_SECONDS,
        jti=number,
        command=RECALL,
        role=role,
        fields=fields,
        client=client,
    )
    return sign(key, claims).encode()


def send_recall(
    connection: ServiceConnection,
    topic: str,
    fields: dict[str, Any],
    *,
    client: str,
    number: str,
    signer: tuple[RecallKey, str] | None,
) -> None:
    """Send a recall to the table with this root of its topics. ``client``: under whose name the
    reply comes; ``number``: its ``id``; ``signer``: a key and whose it is; None where tables
    require no signature.
    """
    if signer is None:
        body = msgspec.json.encode({**fields, "client": client, "id": number})
    else:
        key, person = signer
        body = key.sign(person, topic, fields, client, number, int(clock.wall()))
    connection.send(f"{topic}/command/{RECALL}", body)
