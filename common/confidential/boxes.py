"""Encrypts face-down cards: sealed for surveillance, locked for the daemon's own use.

A sealed body is a libsodium sealed box for the X25519 public key of surveillance; the daemon cannot
open it again. It is stored in the journal in place of the body and published as stored. Anyone can
seal for a public key, so the daemon signs each box with its checkpoint key: Ed25519 over three
lines, each ended by a newline: ``novamas sealed 1``, the public key, and the box, as written.

A locked body is a libsodium secret box under a key that the daemon stores beside the journal. It
holds what a table needs after a restart.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable

import msgspec
from nacl.exceptions import CryptoError
from nacl.public import PrivateKey, PublicKey, SealedBox
from nacl.secret import SecretBox
from nacl.signing import SigningKey, VerifyKey

from common import randomness
from common.confidential.bodies import is_locked
from common.contract.sealed import Opened, Sealed
from common.errors import NovamasError

PADDING_BYTES = 512
"""Content is padded to a multiple of this, so that the length of a box reveals no card."""


class _Locked(msgspec.Struct, frozen=True):
    locked: str


class UnopenedBoxError(NovamasError, ValueError):
    """A box cannot be opened. The message gives the reason and never the content."""


class BadSignatureError(NovamasError, ValueError):
    """A signed box was altered, or names a key that did not sign it."""


class CardCipher:
    """Seals bodies for surveillance, and locks those that the daemon must read again.

    ``secret`` locks; ``where`` is where it is stored, for messages. ``signer`` returns the key that
    signs sealed boxes, or None if there is none at present.
    """

    def __init__(
        self,
        surveillance: PublicKey,
        secret: bytes,
        where: str = "memory",
        signer: Callable[[], SigningKey | None] = lambda: None,
    ) -> None:
        self._signer = signer
        self._box = SealedBox(surveillance)
        self._lock = SecretBox(secret)
        self._where = where

    def seal(self, entry: Opened, reading: int | None = None) -> bytes:
        """Return the body to store in place of the entry's own. ``reading`` is the number of the
        reading in it.
        """
        box, key = _base64(self._box.encrypt(_padded(msgspec.json.encode(entry)))), self._signer()
        if key is None:
            return msgspec.json.encode(Sealed(box, reading=reading))
        name = key.verify_key.encode().hex()
        signature = key.sign(_signed_content(box, name)).signature.hex()
        return msgspec.json.encode(Sealed(box, name, signature, reading))

    def lock(self, body: bytes) -> bytes:
        """Return the locked form of ``body``."""
        nonce = randomness.token_bytes(SecretBox.NONCE_SIZE)
        return msgspec.json.encode(_Locked(_base64(self._lock.encrypt(_padded(body), nonce))))

    def unlock(self, body: bytes) -> bytes:
        """Reverse :meth:`lock`; a body that is not locked is returned unchanged.

        Raises :class:`UnopenedBoxError`.
        """
        if not is_locked(body):
            return body
        try:
            return self._lock.decrypt(
                base64.b64decode(msgspec.json.decode(body, type=_Locked).locked, validate=True)
            ).rstrip(b" ")
        except (CryptoError, ValueError):
            raise UnopenedBoxError(
                f"the saved state is damaged, or was locked with another key than the one in "
                f"{self._where}"
            ) from None


def open_sealed(body: bytes, key: PrivateKey) -> Opened:
    """Return the entry that :meth:`CardCipher.seal` sealed. Raises :class:`UnopenedBoxError`."""
    try:
        box = base64.b64decode(_parse_sealed(body).sealed, validate=True)
    except ValueError:
        raise UnopenedBoxError("not a sealed entry: it has no base64 box under `sealed`") from None
    try:
        return msgspec.json.decode(SealedBox(key).decrypt(box), type=Opened)
    except CryptoError:
        raise UnopenedBoxError("it is damaged, or was sealed for another key") from None
    except (ValueError, RecursionError):
        raise UnopenedBoxError("the box contains no journal entry: no daemon sealed it") from None


def verified_signer(body: bytes) -> str | None:
    """Verify the signature of a sealed body and return the public key that made it.

    None if the body is not signed. Raises :class:`BadSignatureError`.
    """
    sealed = _parse_sealed(body)
    if sealed.key is None or sealed.signature is None:
        return None
    try:
        VerifyKey(bytes.fromhex(sealed.key)).verify(
            _signed_content(sealed.sealed, sealed.key), bytes.fromhex(sealed.signature)
        )
    except (CryptoError, ValueError, TypeError):
        raise BadSignatureError(
            f"it was not signed with the key that it names, {sealed.key[:64]}"
        ) from None
    return sealed.key.lower()


def _parse_sealed(body: bytes) -> Sealed:
    try:
        return msgspec.json.decode(body, type=Sealed)
    except (ValueError, RecursionError):
        raise UnopenedBoxError("not a sealed entry: it has no base64 box under `sealed`") from None


def _signed_content(box: str, key: str) -> bytes:
    return f"novamas sealed 1\n{key}\n{box}\n".encode()


def parse_public_key(text: str) -> PublicKey:
    """Parse an X25519 public key: 64 hexadecimal digits, or base64. Raises ``ValueError``."""
    try:
        raw = bytes.fromhex(text) if len(text) == 64 else base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        raw = b""
    if len(raw) != PublicKey.SIZE:
        raise ValueError(
            "expected an X25519 public key, 64 hexadecimal digits or 44 characters of base64"
        )
    return PublicKey(raw)


def format_public_key(key: PublicKey) -> str:
    """Write a public key as in the configuration."""
    return key.encode().hex()


def _padded(body: bytes) -> bytes:
    return body.ljust(-(-len(body) // PADDING_BYTES) * PADDING_BYTES)  # JSON ignores spaces


def _base64(box: bytes) -> str:
    return base64.b64encode(box).decode("ascii")
