"""A person's secret key on the disk of a console, sealed with a PIN.

A PIN is short, so three things stand before it: Argon2id with the second recommended parameters of
RFC 9106 (section 4); the console's pepper, a secret of its own that is kept elsewhere, without
which nobody can try PINs on a stolen folder of keys; and the count of wrong PINs, which the console
keeps. The key is in a libsodium secret box (XSalsa20-Poly1305).
"""

from __future__ import annotations

import hashlib
import hmac
import os
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from argon2.low_level import Type, hash_secret_raw
from msgspec import Meta
from nacl.exceptions import CryptoError
from nacl.secret import SecretBox
from nacl.signing import SigningKey
from nacl.utils import random

from controller.people.register import Id, spelled, unspelled
from devices.errors import NovamasError
from devices.new_file import create_private

LARGEST = 4096
PASSES, MEMORY, LANES, SALT = 3, 1 << 16, 4, 16
"""Argon2id of RFC 9106, section 4, second recommendation: passes, KiB, lanes, bytes of salt."""
SHORTEST, LONGEST = 6, 12
"""Digits of a PIN."""
PEPPER = 32
"""Bytes."""
SUFFIX = ".pin-key"
_DOMAIN = b"novamas pin 1\n"
_ROWS = ("0123456789", "9876543210")


class PinKeyError(NovamasError):
    """A sealed key or the pepper cannot be read or written, or a PIN is not to be used. The message
    names the file, says what to do, and never contains a key or a PIN.
    """


class WrongPinError(PinKeyError):
    """The PIN is wrong, or the pepper is another, or the file was changed."""


class PinKey(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One sealed key."""

    kind: Literal["novamas ed25519 pin 1"]
    person: Id
    """The person's id in the people file."""
    badge: Annotated[str, Meta(max_length=32)]
    """The number on the person's badge; empty if there is none."""
    public: str
    """The public key, base64url."""
    salt: str
    passes: Annotated[int, Meta(ge=1, le=64)]
    memory: Annotated[int, Meta(ge=64, le=1 << 21)]
    """KiB."""
    lanes: Annotated[int, Meta(ge=1, le=16)]
    box: str


def check_pin(pin: str) -> None:
    """Raises :class:`PinKeyError` for a PIN that is too short or that everybody tries first."""
    if not (pin.isascii() and pin.isdecimal() and SHORTEST <= len(pin) <= LONGEST):
        raise PinKeyError(f"a PIN has {SHORTEST} to {LONGEST} digits")
    if len(set(pin)) < 3 or any(pin in row for row in _ROWS):
        raise PinKeyError("everybody tries this PIN first; choose one that is no row of digits")


def seal(
    key: SigningKey,
    person: str,
    badge: str,
    pin: str,
    pepper: bytes,
    memory: int = MEMORY,
) -> PinKey:
    """The key, sealed. Raises :class:`PinKeyError` for a PIN that is not to be used."""
    check_pin(pin)
    salt = random(SALT)
    lock = _lock(pin, person, salt, pepper, PASSES, memory, LANES)
    return PinKey(
        "novamas ed25519 pin 1",
        person,
        badge,
        spelled(key.verify_key.encode()),
        spelled(salt),
        PASSES,
        memory,
        LANES,
        spelled(SecretBox(lock).encrypt(key.encode())),
    )


def unseal(sealed: PinKey, pin: str, pepper: bytes) -> SigningKey:
    """The key. It takes a good part of a second. Raises :class:`WrongPinError`."""
    try:
        lock = _lock(
            pin,
            sealed.person,
            unspelled(sealed.salt),
            pepper,
            sealed.passes,
            sealed.memory,
            sealed.lanes,
        )
        key = SigningKey(SecretBox(lock).decrypt(unspelled(sealed.box)))
    except (CryptoError, ValueError, TypeError):
        raise WrongPinError("the PIN is wrong") from None
    if spelled(key.verify_key.encode()) != sealed.public:
        raise WrongPinError("the file was changed")
    return key


def nobody() -> PinKey:
    """A key that no PIN opens: whoever is unknown costs as much time as anybody."""
    return PinKey(
        "novamas ed25519 pin 1",
        "nobody",
        "",
        "",
        spelled(random(SALT)),
        PASSES,
        MEMORY,
        LANES,
        spelled(random(SecretBox.NONCE_SIZE + SecretBox.MACBYTES + 32)),
    )


def write_pin_key(folder: Path, sealed: PinKey) -> Path:
    """Write it, in place of an earlier one of that person. Raises :class:`PinKeyError`."""
    path = folder / f"{sealed.person}{SUFFIX}"
    new = path.with_suffix(".new")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        new.unlink(missing_ok=True)
        create_private(new, msgspec.json.encode(sealed) + b"\n")
        new.replace(path)
    except OSError as error:
        raise PinKeyError(f"{path}: the key could not be written: {error.strerror}") from None
    return path


def read_pin_keys(folder: Path) -> tuple[PinKey, ...]:
    """All sealed keys of a console. Raises :class:`PinKeyError`."""
    found = []
    try:
        for path in sorted(folder.glob(f"*{SUFFIX}")):
            body = _private(path)
            try:
                found.append(msgspec.json.decode(body, type=PinKey))
            except ValueError:
                raise PinKeyError(f"{path} holds no key; novamas people pin makes one") from None
    except OSError as error:
        raise PinKeyError(f"{error.filename or folder}: {error.strerror}") from None
    return tuple(found)


def read_pepper(path: Path) -> bytes:
    """The console's pepper. Raises :class:`PinKeyError`."""
    try:
        body = _private(path).strip()
    except OSError as error:
        raise PinKeyError(
            f"{path}: {error.strerror}; novamas people pin makes the pepper"
        ) from None
    try:
        pepper = unspelled(body.decode())
    except ValueError:
        pepper = b""
    if len(pepper) != PEPPER:
        raise PinKeyError(f"{path} holds no pepper: {PEPPER} bytes in base64url")
    return pepper


def make_pepper(path: Path) -> bytes:
    """A new pepper in a new file. Raises :class:`PinKeyError`."""
    pepper = random(PEPPER)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        create_private(path, spelled(pepper).encode() + b"\n")
    except OSError as error:
        raise PinKeyError(f"{path}: the pepper could not be written: {error.strerror}") from None
    return pepper


def _lock(
    pin: str, person: str, salt: bytes, pepper: bytes, passes: int, memory: int, lanes: int
) -> bytes:
    secret = hmac.digest(pepper, _DOMAIN + f"{person}\n{pin}".encode(), hashlib.sha256)
    return hash_secret_raw(secret, salt, passes, memory, lanes, SecretBox.KEY_SIZE, Type.ID)


def _private(path: Path) -> bytes:
    """A file that nobody else may read: a group may, for a file of root's."""
    with path.open("rb") as file:
        found = os.fstat(file.fileno())
        body = file.read(LARGEST + 1)
    if found.st_mode & (0o007 if found.st_uid == 0 and os.geteuid() != 0 else 0o077):
        raise PinKeyError(f"{path} can be read by others; chmod 600 {path}")
    if len(body) > LARGEST:
        raise PinKeyError(f"{path} is too long")
    return body
