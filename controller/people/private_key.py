"""A person's secret key, or the site's, in a file: locked with a passphrase and readable by its
owner alone.

The key is in a libsodium secret box (XSalsa20-Poly1305) under a key that Argon2id makes of the
passphrase. ``kind`` says what is in the file: others may come, such as a reference to a security
key.
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
from nacl.utils import random

from controller.people.register import spelled, unspelled
from devices.errors import NovamasError
from devices.new_file import create_private

LARGEST = 4096
SHORTEST = 12
"""The fewest characters of a passphrase."""


class PrivateKeyError(NovamasError):
    """A key cannot be read or written. The message names the file, says what to do, and never
    contains the key or the passphrase.
    """


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
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
    """Make a key and write it into a new file. Raises :class:`PrivateKeyError`."""
    if len(passphrase) < SHORTEST:
        raise PrivateKeyError(
            f"the passphrase has {len(passphrase)} characters; at least {SHORTEST}, please"
        )
    key, salt = SigningKey.generate(), random(argon2id.SALTBYTES)
    box = SecretBox(_lock(passphrase, salt, operations, memory)).encrypt(key.encode())
    body = msgspec.json.encode(
        _File(
            "novamas ed25519 argon2id 1",
            spelled(key.verify_key.encode()),
            spelled(salt),
            operations,
            memory,
            spelled(box),
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
    """The public key in a file, base64url. It needs no passphrase. Raises
    :class:`PrivateKeyError`.
    """
    return _read(path).public


def open_private_key(path: Path, passphrase: bytes) -> SigningKey:
    """The key in a file. Raises :class:`PrivateKeyError`."""
    found = _read(path)
    try:
        secret = SecretBox(
            _lock(passphrase, unspelled(found.salt), found.operations, found.memory)
        ).decrypt(unspelled(found.box))
        key = SigningKey(secret)
    except CryptoError:
        raise PrivateKeyError(f"{path}: the passphrase is wrong, or the file was changed") from None
    except (ValueError, TypeError):
        raise PrivateKeyError(f"{path} holds no key; novamas people key makes one") from None
    if spelled(key.verify_key.encode()) != found.public:
        raise PrivateKeyError(f"{path}: `public` is not of this key; the file was changed")
    return key


def _lock(passphrase: bytes, salt: bytes, operations: int, memory: int) -> bytes:
    return argon2id.kdf(SecretBox.KEY_SIZE, passphrase, salt, operations, memory)


def _read(path: Path) -> _File:
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            body = file.read(LARGEST + 1)
    except OSError as error:
        raise PrivateKeyError(f"{path}: {error.strerror}") from None
    if mode & 0o077:
        raise PrivateKeyError(f"{path} can be read by others; chmod 600 {path}, and make a new key")
    try:
        if len(body) > LARGEST:
            raise ValueError
        return msgspec.json.decode(body, type=_File)
    except ValueError:
        raise PrivateKeyError(f"{path} holds no key; novamas people key makes one") from None
