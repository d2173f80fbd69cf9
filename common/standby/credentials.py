"""Reads what a login to the lease store needs: certificates, and the NATS credentials file."""

from __future__ import annotations

import base64
import binascii
import os
import re
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from nacl.signing import SigningKey

from common.broker.login import BrokerUnusableError, tls_context
from common.standby.errors import StoreUnusableError
from common.standby.settings import StoreSettings

USER_KEY_PREFIX = 18 << 3, 20 << 3
"""The first two bytes of a user's seed; in base32 it begins with ``SU``."""
SEED_BYTES, CRC_BYTES = slice(2, 34), slice(34, 36)
_JWT = re.compile(rb"-+BEGIN NATS USER JWT-+\s+(\S+)\s+-+END NATS USER JWT-+")
_SEED = re.compile(rb"-+BEGIN USER NKEY SEED-+\s+(\S+)\s+-+END USER NKEY SEED-+")


class StoreLogin(NamedTuple):
    """The certificates and the user of a login. ``sign`` signs the server's nonce for the user of
    ``jwt``.
    """

    context: ssl.SSLContext | None = None
    jwt: bytes | None = None
    sign: Callable[[str], bytes] | None = None


def read_login(settings: StoreSettings) -> StoreLogin:
    """Read the files that the settings name. Called for each connection, so that they can change
    while the daemon runs. Raises :class:`StoreUnusableError`.
    """
    context = None
    if settings.ca_file is not None or settings.cert_file is not None:
        try:
            context = tls_context(
                "standby", settings.ca_file, settings.cert_file, settings.key_file
            )
        except BrokerUnusableError as error:
            raise StoreUnusableError(str(error)) from None
    file = _credentials_file(settings)
    return StoreLogin(context) if file is None else StoreLogin(context, *_read_user(*file))


def _credentials_file(settings: StoreSettings) -> tuple[str, Path] | None:
    """Return the configuration key that names the credentials file, and its path."""
    if settings.creds_file is not None:
        return "creds_file", Path(settings.creds_file)
    if (name := settings.creds_credential) is None:
        return None
    folder = os.environ.get("CREDENTIALS_DIRECTORY")
    if folder is None:
        raise StoreUnusableError(
            f"standby.creds_credential {name!r}: systemd passes no credentials; add "
            f"LoadCredential={name}:FILE to the unit"
        )
    return "creds_credential", Path(folder, name)


def _read_user(key: str, file: Path) -> tuple[bytes, Callable[[str], bytes]]:
    try:
        text = file.read_bytes()
    except OSError as error:
        raise StoreUnusableError(f"standby.{key}: {file}: {error.strerror}") from None
    jwt, seed = _JWT.search(text), _SEED.search(text)
    raw_seed = None if seed is None else _decode_seed(seed[1])
    if jwt is None or raw_seed is None:
        raise StoreUnusableError(
            f"standby.{key}: {file} is no credentials file of a user of NATS: `nsc generate creds` "
            "writes one"
        )
    signing = SigningKey(raw_seed)
    return jwt[1], lambda nonce: base64.b64encode(signing.sign(nonce.encode()).signature)


def _decode_seed(text: bytes) -> bytes | None:
    """Decode a user's seed: base32 of a prefix, the seed and a CRC-16."""
    try:
        raw = base64.b32decode(text + b"=" * (-len(text) % 8))
    except ValueError:
        return None
    if (
        len(raw) != CRC_BYTES.stop
        or (raw[0] & 0xF8, (raw[0] & 7) << 5 | raw[1] & 0xF8) != USER_KEY_PREFIX
    ):
        return None
    intact = binascii.crc_hqx(raw[: SEED_BYTES.stop], 0).to_bytes(2, "little") == raw[CRC_BYTES]
    return raw[SEED_BYTES] if intact else None
