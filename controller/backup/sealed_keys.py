"""The secret files of a backup, sealed with a passphrase, without which a backup reveals no key.

They are in one libsodium secret box (XSalsa20-Poly1305), under a key that Argon2id derives from the
passphrase.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from nacl.exceptions import CryptoError
from nacl.pwhash import argon2id
from nacl.secret import SecretBox

from common import randomness
from controller.backup.errors import BackupError

MIN_PASSPHRASE_BYTES = 12
"""Minimum bytes of a passphrase."""
MAX_PASSPHRASE_BYTES = 4096


class _SealedKeys(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    kind: Literal["novamas sealed keys argon2id 1"]
    salt: bytes
    operations: Annotated[int, Meta(ge=1, le=64)]
    memory: Annotated[int, Meta(ge=8192, le=1 << 31)]
    """Bytes."""
    box: bytes


def read_passphrase(path: Path) -> bytes:
    """Read the passphrase from a file with private permissions. Raises :class:`BackupError`."""
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            passphrase = file.read(MAX_PASSPHRASE_BYTES + 1).strip()
    except OSError as error:
        raise BackupError(f"{path}: {error.strerror}") from None
    if mode & 0o077:
        raise BackupError(f"{path} can be read by others; chmod 600 {path}")
    if not MIN_PASSPHRASE_BYTES <= len(passphrase) <= MAX_PASSPHRASE_BYTES:
        raise BackupError(
            f"{path}: the passphrase has {len(passphrase)} bytes; expected "
            f"{MIN_PASSPHRASE_BYTES} to {MAX_PASSPHRASE_BYTES}"
        )
    return passphrase


def seal(
    secrets: Mapping[str, bytes],
    passphrase: bytes,
    operations: int = argon2id.OPSLIMIT_MODERATE,
    memory: int = argon2id.MEMLIMIT_MODERATE,
) -> bytes:
    """Return the body of the sealed file. ``secrets``: contents by name."""
    salt = randomness.token_bytes(argon2id.SALTBYTES)
    key = argon2id.kdf(SecretBox.KEY_SIZE, passphrase, salt, operations, memory)
    nonce = randomness.token_bytes(SecretBox.NONCE_SIZE)
    box = bytes(SecretBox(key).encrypt(msgspec.json.encode(secrets), nonce))
    return msgspec.json.encode(
        _SealedKeys("novamas sealed keys argon2id 1", salt, operations, memory, box)
    )


def unseal(path: Path, passphrase: bytes) -> dict[str, bytes]:
    """Return the contents by name. Raises :class:`BackupError`."""
    try:
        sealed = msgspec.json.decode(path.read_bytes(), type=_SealedKeys)
    except OSError as error:
        raise BackupError(f"{path}: {error.strerror}") from None
    except ValueError:
        raise BackupError(f"{path}: contains no sealed keys; take another backup") from None
    try:
        key = argon2id.kdf(
            SecretBox.KEY_SIZE, passphrase, sealed.salt, sealed.operations, sealed.memory
        )
        return msgspec.json.decode(SecretBox(key).decrypt(sealed.box), type=dict[str, bytes])
    except (CryptoError, ValueError, TypeError):
        raise BackupError(
            f"{path}: the passphrase is not the one that it was sealed with, or it was changed"
        ) from None
