"""A secret key of a person or of the site in a file, encrypted with a passphrase and readable by
its owner only (and by a group, if root owns it).

The key is in a libsodium secret box (XSalsa20-Poly1305) under a key that Argon2id derives from the
passphrase. ``kind`` names the content of the file, for later kinds such as a reference to a
security key.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from nacl.exceptions import CryptoError
from nacl.pwhash import argon2id
from nacl.secret import SecretBox
from nacl.signing import SigningKey

from common import randomness
from common.errors import NovamasError
from common.new_file import create_private, is_exposed
from common.people.register import from_base64url, to_base64url

MAX_FILE_BYTES = 4096
MIN_PASSPHRASE_BYTES = 12
"""Minimum length of a passphrase."""


class PrivateKeyError(NovamasError):
    """A key cannot be read or written. The message names the file, says what to do, and never
    contains the key or the passphrase.
    """


class _KeyFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    kind: Literal["novamas ed25519 argon2id 1"]
    public: str
    """The public key, base64url, so that it can be enrolled without the passphrase."""
    salt: str
    operations: Annotated[int, Meta(ge=1, le=64)]
    memory: Annotated[int, Meta(ge=8192, le=1 << 31)]
    """Bytes."""
    box: str


def make_private_key(
    path: Path,
    passphrase: bytes,
    operations: int = argon2id.OPSLIMIT_MODERATE,
    memory: int = argon2id.MEMLIMIT_MODERATE,
) -> SigningKey:
    """Generate a key and write it to a new file. Raises :class:`PrivateKeyError`."""
    if len(passphrase) < MIN_PASSPHRASE_BYTES:
        raise PrivateKeyError(
            f"the passphrase has {len(passphrase)} characters; at least {MIN_PASSPHRASE_BYTES}, "
            "please"
        )
    key, salt = SigningKey(randomness.token_bytes(32)), randomness.token_bytes(argon2id.SALTBYTES)
    nonce = randomness.token_bytes(SecretBox.NONCE_SIZE)
    box = SecretBox(_derive_key(passphrase, salt, operations, memory)).encrypt(key.encode(), nonce)
    body = msgspec.json.encode(
        _KeyFile(
            "novamas ed25519 argon2id 1",
            to_base64url(key.verify_key.encode()),
            to_base64url(salt),
            operations,
            memory,
            to_base64url(box),
        )
    )
    try:
        create_private(path, body + b"\n")
    except FileExistsError:
        raise PrivateKeyError(f"{path} already exists; not overwritten") from None
    except OSError as error:
        raise PrivateKeyError(f"{path}: the key could not be written: {error.strerror}") from None
    return key


def public_part(path: Path) -> str:
    """Read the public key in a file, base64url, without the passphrase. Raises
    :class:`PrivateKeyError`.
    """
    return _read(path).public


def open_private_key(path: Path, passphrase: bytes) -> SigningKey:
    """Read the secret key in a file. Raises :class:`PrivateKeyError`."""
    key_file = _read(path)
    try:
        secret = SecretBox(
            _derive_key(
                passphrase, from_base64url(key_file.salt), key_file.operations, key_file.memory
            )
        ).decrypt(from_base64url(key_file.box))
        key = SigningKey(secret)
    except CryptoError:
        raise PrivateKeyError(f"{path}: the passphrase is wrong, or the file was changed") from None
    except (ValueError, TypeError):
        raise PrivateKeyError(f"{path} holds no key; novamas people key makes one") from None
    if to_base64url(key.verify_key.encode()) != key_file.public:
        raise PrivateKeyError(f"{path}: `public` is not of this key; the file was changed")
    return key


def _derive_key(passphrase: bytes, salt: bytes, operations: int, memory: int) -> bytes:
    return argon2id.kdf(SecretBox.KEY_SIZE, passphrase, salt, operations, memory)


def _read(path: Path) -> _KeyFile:
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            body = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise PrivateKeyError(f"{path}: {error.strerror}; novamas people key makes a key") from None
    if is_exposed(status):
        raise PrivateKeyError(f"{path} can be read by others; chmod 600 {path}, and make a new key")
    try:
        if len(body) > MAX_FILE_BYTES:
            raise ValueError
        return msgspec.json.decode(body, type=_KeyFile)
    except ValueError:
        raise PrivateKeyError(f"{path} holds no key; novamas people key makes one") from None
