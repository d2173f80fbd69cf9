"""Keys that protect face-down cards: the public key of surveillance, and the daemon's own key,
which is created at its first start.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from nacl.public import PrivateKey
from nacl.signing import SigningKey

from common import randomness
from common.confidential.boxes import CardCipher, format_public_key, parse_public_key
from common.confidential.key_file import KEY_BYTES, KeyFileError, read_key_file, write_key_file
from common.log import structlog
from controller.configuration.settings import Configuration


def card_cipher(
    configuration: Configuration, signer: Callable[[], SigningKey | None] = lambda: None
) -> CardCipher:
    """Return the cipher that seals, signs and locks for this daemon. Raises :class:`KeyFileError`.

    Simulated tables need no surveillance key: if none is configured, a key pair is created beside
    the journal.
    """
    journal, settings = Path(configuration.journal.path), configuration.surveillance
    secret = _credential(settings.secret_credential) or journal.with_name(f"{journal.name}.secret")
    if settings.public_key is not None:
        surveillance = parse_public_key(settings.public_key)
    else:
        pair = journal.with_name(f"{journal.name}.simulated-surveillance")
        surveillance = PrivateKey(_read_or_make(pair)).public_key
        structlog.get_logger().warning(
            "no surveillance key is configured; simulated tables use a key pair made here",
            private_key=str(pair),
            public_key=format_public_key(surveillance),
        )
    locks = _read_or_make(secret) if settings.secret_credential is None else read_key_file(secret)
    return CardCipher(surveillance, locks, str(secret), signer)


def _credential(name: str | None) -> Path | None:
    if name is None:
        return None
    directory = os.environ.get("CREDENTIALS_DIRECTORY")
    if directory is None:
        raise KeyFileError(
            f"surveillance.secret_credential {name!r}: systemd passes no credentials; add "
            f"LoadCredential={name}:FILE to the unit"
        )
    return Path(directory, name)


def _read_or_make(path: Path) -> bytes:
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_key_file(path, randomness.token_bytes(KEY_BYTES))
    return read_key_file(path)
