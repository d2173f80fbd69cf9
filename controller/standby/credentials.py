"""What is needed to log in at the store of the lease: certificates, and the credentials file of a
user of NATS.
"""

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

from controller.broker.login import BrokerUnusableError, tls_context
from controller.configuration.settings import StandbyConfig
from controller.standby.errors import StoreUnusableError

USER = 18 << 3, 20 << 3
"""How the seed of a user begins: what NATS spells ``SU``."""
SEED, CHECK = slice(2, 34), slice(34, 36)
_JWT = re.compile(rb"-+BEGIN NATS USER JWT-+\s+(\S+)\s+-+END NATS USER JWT-+")
_SEED = re.compile(rb"-+BEGIN USER NKEY SEED-+\s+(\S+)\s+-+END USER NKEY SEED-+")


class Login(NamedTuple):
    """What the settings name, read. ``signs``: signs what the server sends, for the user of
    ``jwt``.
    """

    context: ssl.SSLContext | None = None
    jwt: bytes | None = None
    signs: Callable[[str], bytes] | None = None


def login(settings: StandbyConfig) -> Login:
    """Read anew for each connection, so that it can change while the daemon runs. Raises
    :class:`StoreUnusableError`.
    """
    context = None
    if settings.ca_file is not None or settings.cert_file is not None:
        try:
            context = tls_context(
                "standby", settings.ca_file, settings.cert_file, settings.key_file
            )
        except BrokerUnusableError as error:
            raise StoreUnusableError(str(error)) from None
    file = _credentials(settings)
    return Login(context) if file is None else Login(context, *_user(*file))


def _credentials(settings: StandbyConfig) -> tuple[str, Path] | None:
    """The key that names the credentials file, and where that is."""
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


def _user(key: str, file: Path) -> tuple[bytes, Callable[[str], bytes]]:
    try:
        text = file.read_bytes()
    except OSError as error:
        raise StoreUnusableError(f"standby.{key}: {file}: {error.strerror}") from None
    jwt, seed = _JWT.search(text), _SEED.search(text)
    own = None if seed is None else _seed(seed[1])
    if jwt is None or own is None:
        raise StoreUnusableError(
            f"standby.{key}: {file} is no credentials file of a user of NATS: `nsc generate creds` "
            "writes one"
        )
    signing = SigningKey(own)
    return jwt[1], lambda nonce: base64.b64encode(signing.sign(nonce.encode()).signature)


def _seed(text: bytes) -> bytes | None:
    """The seed of a user, as NATS spells it: in base32, with its kind before and a check after."""
    try:
        raw = base64.b32decode(text + b"=" * (-len(text) % 8))
    except ValueError:
        return None
    if len(raw) != CHECK.stop or (raw[0] & 0xF8, (raw[0] & 7) << 5 | raw[1] & 0xF8) != USER:
        return None
    intact = binascii.crc_hqx(raw[: SEED.stop], 0).to_bytes(2, "little") == raw[CHECK]
    return raw[SEED] if intact else None
