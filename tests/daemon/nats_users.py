"""Users of NATS as ``nsc`` makes them: an operator, who vouches for accounts, which vouch for
users.
"""

from __future__ import annotations

import base64
import binascii
import json
from pathlib import Path
from typing import Any

from nacl.signing import SigningKey

OPERATOR, ACCOUNT, USER, SEED = (number << 3 for number in (14, 0, 20, 18))
UNLIMITED = dict.fromkeys(("subs", "data", "payload", "imports", "exports", "conn", "leaf"), -1)
STORES = dict.fromkeys(("mem_storage", "disk_storage", "streams", "consumer"), -1)
"""With JetStream, which the account of the system must not have."""
OF_USER = {"pub": {}, "sub": {}, "subs": -1, "data": -1, "payload": -1}


def spelled(raw: bytes) -> str:
    """As NATS spells a key."""
    checked = raw + binascii.crc_hqx(raw, 0).to_bytes(2, "little")
    return base64.b32encode(checked).decode().rstrip("=")


class Party:
    """An operator, account or user with its key."""

    def __init__(self, kind: int) -> None:
        self.kind, self._key = kind, SigningKey.generate()

    @property
    def name(self) -> str:
        return spelled(bytes([self.kind]) + bytes(self._key.verify_key))

    @property
    def seed(self) -> str:
        return spelled(bytes([SEED | self.kind >> 5, self.kind << 3 & 0xFF]) + bytes(self._key))

    def vouches(self, other: Party, kind: str, **claims: Any) -> str:
        """A JWT for it."""
        body = {
            "jti": "of-a-test",
            "iat": 1_700_000_000,
            "iss": self.name,
            "name": kind,
            "sub": other.name,
            "nats": {**claims, "type": kind, "version": 2},
        }
        parts = ({"typ": "JWT", "alg": "ed25519-nkey"}, body)
        said = ".".join(_text(json.dumps(part).encode()) for part in parts)
        return f"{said}.{_text(self._key.sign(said.encode()).signature)}"


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


class Operator:
    """``settings``: lines of the configuration of a server that takes users of ``account``."""

    def __init__(self) -> None:
        own, system, self.account = Party(OPERATOR), Party(ACCOUNT), Party(ACCOUNT)
        limits = {system: UNLIMITED, self.account: {**UNLIMITED, **STORES}}
        known = "".join(
            f"{each.name}: {own.vouches(each, 'account', limits={**given, 'wildcards': True})}\n"
            for each, given in limits.items()
        )
        self.settings = (
            f"operator: {own.vouches(own, 'operator', system_account=system.name)}",
            f"system_account: {system.name}",
            f"resolver: MEMORY\nresolver_preload: {{\n{known}}}",
        )

    def user(self, file: Path) -> Path:
        """The credentials file of a new one."""
        made = Party(USER)
        file.write_text(
            f"-----BEGIN NATS USER JWT-----\n{self.account.vouches(made, 'user', **OF_USER)}\n"
            "------END NATS USER JWT------\n\n"
            f"-----BEGIN USER NKEY SEED-----\n{made.seed}\n------END USER NKEY SEED------\n"
        )
        file.chmod(0o600)
        return file
