"""A person's secret key on the disk of a console, sealed with a PIN.

A PIN is short, so it is protected by Argon2id with the second recommended parameters of RFC 9106
(section 4); by the console's pepper, a secret that is stored elsewhere, without which PINs cannot
be tried on a stolen folder of keys; and by the console's count of wrong PINs. The key is in a
libsodium secret box (XSalsa20-Poly1305).
"""

from __future__ import annotations

import hashlib
import hmac
import os
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from argon2.exceptions import Argon2Error
from argon2.low_level import Type, hash_secret_raw
from msgspec import Meta
from nacl.exceptions import CryptoError
from nacl.secret import SecretBox
from nacl.signing import SigningKey

from common import randomness
from common.errors import NovamasError
from common.new_file import create_private, is_exposed, replacing
from common.people.register import Id, from_base64url, to_base64url

MAX_FILE_BYTES = 4096
ARGON2_PASSES, ARGON2_MEMORY_KIB, ARGON2_LANES, SALT_BYTES = 3, 1 << 16, 4, 16
"""Argon2id of RFC 9106, section 4, second recommendation."""
MIN_PIN_DIGITS, MAX_PIN_DIGITS = 6, 12
"""Length of a PIN."""
PEPPER_BYTES = 32
"""Bytes."""
SUFFIX = ".pin-key"
_DOMAIN = b"novamas pin 1\n"
_ROWS = ("0123456789", "9876543210")


class PinKeyError(NovamasError):
    """A sealed key or the pepper cannot be read or written, or a PIN is too weak. The message names
    the file and what to do, and never contains a key or a PIN.
    """


class WrongPinError(PinKeyError):
    """The PIN is wrong, the pepper differs, or the file was altered."""


class PinKey(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One sealed key."""

    kind: Literal["novamas ed25519 pin 1"]
    person: Id
    """The person's id in the people file."""
    badge: Annotated[str, Meta(max_length=32)]
    """The number on the person's badge, or empty."""
    public: str
    """The public key, base64url."""
    salt: str
    passes: Annotated[int, Meta(ge=1, le=64)]
    memory: Annotated[int, Meta(ge=64, le=1 << 21)]
    """KiB."""
    lanes: Annotated[int, Meta(ge=1, le=16)]
    box: str


def check_pin(pin: str) -> None:
    """Raise :class:`PinKeyError` for a PIN of wrong length, or one that is among the first
    guesses.
    """
    if not (pin.isascii() and pin.isdecimal() and MIN_PIN_DIGITS <= len(pin) <= MAX_PIN_DIGITS):
        raise PinKeyError(f"a PIN has {MIN_PIN_DIGITS} to {MAX_PIN_DIGITS} digits")
    if len(set(pin)) < 3 or any(pin in row for row in _ROWS):
        raise PinKeyError("everybody tries this PIN first; choose one that is no row of digits")


def seal_key(
    key: SigningKey,
    person: str,
    badge: str,
    pin: str,
    pepper: bytes,
    memory: int = ARGON2_MEMORY_KIB,
) -> PinKey:
    """Seal a key. Raises :class:`PinKeyError` for a PIN that is too weak."""
    check_pin(pin)
    salt = randomness.token_bytes(SALT_BYTES)
    nonce = randomness.token_bytes(SecretBox.NONCE_SIZE)
    lock = _derive_key(pin, person, salt, pepper, ARGON2_PASSES, memory, ARGON2_LANES)
    return PinKey(
        "novamas ed25519 pin 1",
        person,
        badge,
        to_base64url(key.verify_key.encode()),
        to_base64url(salt),
        ARGON2_PASSES,
        memory,
        ARGON2_LANES,
        to_base64url(SecretBox(lock).encrypt(key.encode(), nonce)),
    )


def open_pin_key(sealed: PinKey, pin: str, pepper: bytes) -> SigningKey:
    """Open a sealed key, which takes a large part of a second. Raises :class:`WrongPinError`, and
    :class:`PinKeyError` if no PIN could open it.
    """
    try:
        lock = _derive_key(
            pin,
            sealed.person,
            from_base64url(sealed.salt),
            pepper,
            sealed.passes,
            sealed.memory,
            sealed.lanes,
        )
        key = SigningKey(SecretBox(lock).decrypt(from_base64url(sealed.box)))
    except (CryptoError, ValueError, TypeError):
        raise WrongPinError("the PIN is wrong") from None
    except Argon2Error:
        raise PinKeyError(
            f"the PIN's key of {sealed.person} cannot be opened: its file is damaged, or there is "
            "too little memory; novamas people pin makes a new one"
        ) from None
    if to_base64url(key.verify_key.encode()) != sealed.public:
        raise WrongPinError("the file was changed")
    return key


def unopenable_key() -> PinKey:
    """Return a key that no PIN opens, so that an unknown person takes as much time as a known
    one.
    """
    return PinKey(
        "novamas ed25519 pin 1",
        "nobody",
        "",
        "",
        to_base64url(randomness.token_bytes(SALT_BYTES)),
        ARGON2_PASSES,
        ARGON2_MEMORY_KIB,
        ARGON2_LANES,
        to_base64url(randomness.token_bytes(SecretBox.NONCE_SIZE + SecretBox.MACBYTES + 32)),
    )


def write_pin_key(folder: Path, sealed: PinKey) -> Path:
    """Write a sealed key in place of an earlier one of that person. Raises :class:`PinKeyError`."""
    path = folder / f"{sealed.person}{SUFFIX}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with replacing(path) as file:
            file.write(msgspec.json.encode(sealed) + b"\n")
    except OSError as error:
        raise PinKeyError(f"{path}: the key could not be written: {error.strerror}") from None
    return path


def read_pin_keys(folder: Path) -> tuple[PinKey, ...]:
    """Read all sealed keys of a console. Raises :class:`PinKeyError`."""
    keys = []
    try:
        for path in sorted(folder.glob(f"*{SUFFIX}")):
            body = _read_private(path)
            try:
                keys.append(msgspec.json.decode(body, type=PinKey))
            except ValueError:
                raise PinKeyError(f"{path} holds no key; novamas people pin makes one") from None
    except OSError as error:
        raise PinKeyError(f"{error.filename or folder}: {error.strerror}") from None
    return tuple(keys)


def read_pepper(path: Path) -> bytes:
    """Read the console's pepper. Raises :class:`PinKeyError`."""
    try:
        body = _read_private(path).strip()
    except OSError as error:
        raise PinKeyError(
            f"{path}: {error.strerror}; novamas people pin makes the pepper"
        ) from None
    try:
        pepper = from_base64url(body.decode())
    except ValueError:
        pepper = b""
    if len(pepper) != PEPPER_BYTES:
        raise PinKeyError(
            f"{path} holds no pepper ({PEPPER_BYTES} bytes in base64url); put the right file back, "
            "without which no PIN opens"
        )
    return pepper


def make_pepper(path: Path) -> bytes:
    """Write a new pepper to a new file. Raises :class:`PinKeyError`."""
    pepper = randomness.token_bytes(PEPPER_BYTES)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        create_private(path, to_base64url(pepper).encode() + b"\n")
    except OSError as error:
        raise PinKeyError(f"{path}: the pepper could not be written: {error.strerror}") from None
    return pepper


def _derive_key(
    pin: str, person: str, salt: bytes, pepper: bytes, passes: int, memory: int, lanes: int
) -> bytes:
    secret = hmac.digest(pepper, _DOMAIN + f"{person}\n{pin}".encode(), hashlib.sha256)
    return hash_secret_raw(secret, salt, passes, memory, lanes, SecretBox.KEY_SIZE, Type.ID)


def _read_private(path: Path) -> bytes:
    """Read a file that others must not be able to read."""
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        body = file.read(MAX_FILE_BYTES + 1)
    if is_exposed(status):
        raise PinKeyError(f"{path} can be read by others; chmod 600 {path}")
    if len(body) > MAX_FILE_BYTES:
        raise PinKeyError(f"{path} is too long")
    return body
