"""Recalls: how a program asks a table for events that it missed, signed where commands must be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from controller.contract.orders import RECALL
from controller.people.private_key import open_private_key
from controller.people.register import spelled, thumbprint
from controller.people.signed_command import Claims, prepare, sign

LIFE = 60
"""Seconds for which a signed recall may be followed."""


class RecallKey:
    """The key of a reader among the people. Raises ``PrivateKeyError`` and ``OSError``."""

    def __init__(self, path: Path, passphrase: Path) -> None:
        self._key = open_private_key(path, passphrase.read_bytes().rstrip(b"\r\n"))
        self.kid = thumbprint(spelled(self._key.verify_key.encode()))
        prepare()

    def signed(
        self, person: str, topic: str, fields: dict[str, Any], client: str, number: str, now: int
    ) -> bytes:
        """A recall that ``person`` signed. ``topic``: the root of the table's topics; ``number``:
        the reply has it as ``id``; ``now``: seconds since 1970.
        """
        claims = Claims(
            iss=person,
            aud=topic,
            iat=now,
            exp=now + LIFE,
            jti=number,
            command=RECALL,
            role="reader",
            fields=fields,
            client=client,
        )
        return sign(self._key.encode(), claims).encode()


def unsigned(fields: dict[str, Any], client: str, number: str) -> bytes:
    """The same where nobody need sign."""
    return msgspec.json.encode({**fields, "client": client, "id": number})
