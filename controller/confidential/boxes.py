"""Encrypts face-down cards: sealed for surveillance, and locked where the daemon itself must
remember them.

What leaves the daemon is sealed: a libsodium sealed box to the X25519 public key of surveillance,
which the daemon cannot open again. It is stored in the journal in place of the body, and published
as stored. Since anybody can seal for a public key, the daemon signs each box with the key of its
checkpoints: Ed25519 over three lines, each ended by a newline: ``novamas sealed 1``, the public
key, and the box as they are written. What a table needs after a restart is locked: a libsodium
secret box, under a key that the daemon keeps beside the journal.
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

from controller.contract.sealed import Opened, Sealed
from devices.errors import NovamasError

PADDING = 512
"""The content of a box is padded to a multiple of this many bytes, so that its length reveals no
card.
"""

_SEALED = b'{"sealed":'
_LOCKED = b'{"locked":'


class _Locked(msgspec.Struct, frozen=True):
    locked: str


class UnopenedBoxError(NovamasError, ValueError):
    """A box cannot be opened. The message says why, and never what is in it."""


class BadSignatureError(NovamasError, ValueError):
    """A signed box was changed, or names a key that did not sign it."""


class CardCipher:
    """Seals for surveillance, and locks what the daemon must read again. ``where``: where the
    secret is kept, for messages.

    ``signer``: returns the key that signs boxes, if there is one at present.
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
        """The body to store in place of the entry's own. ``reading``: the number of the reading
        in it.
        """
        box, key = _text(self._box.encrypt(_padded(msgspec.json.encode(entry)))), self._signer()
        if key is None:
            return msgspec.json.encode(Sealed(box, reading=reading))
        name = key.verify_key.encode().hex()
        signature = key.sign(_signed(box, name)).signature.hex()
        return msgspec.json.encode(Sealed(box, name, signature, reading))

    def lock(self, body: bytes) -> bytes:
        """What to store in place of ``body``."""
        return msgspec.json.encode(_Locked(_text(self._lock.encrypt(_padded(body)))))

    def unlock(self, body: bytes) -> bytes:
        """The inverse of :meth:`lock`; a body that was never locked is returned unchanged. Raises
        :class:`UnopenedBoxError`.
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


def is_sealed(body: bytes) -> bool:
    """Whether only surveillance can read this body."""
    return body.startswith(_SEALED)


def is_locked(body: bytes) -> bool:
    """Whether only the daemon that wrote this body can read it."""
    return body.startswith(_LOCKED)


def open_sealed(body: bytes, key: PrivateKey) -> Opened:
    """The entry that was given to :meth:`CardCipher.seal`. Raises :class:`UnopenedBoxError`."""
    try:
        box = base64.b64decode(_sealed(body).sealed, validate=True)
    except ValueError:
        raise UnopenedBoxError("not a sealed entry: it has no base64 box under `sealed`") from None
    try:
        return msgspec.json.decode(SealedBox(key).decrypt(box), type=Opened)
    except CryptoError:
        raise UnopenedBoxError("it is damaged, or was sealed for another key") from None
    except (ValueError, RecursionError):
        raise UnopenedBoxError("the box contains no journal entry: no daemon sealed it") from None


def signer_of(body: bytes) -> str | None:
    """The public key that signed a sealed body; None if it is not signed. Raises
    :class:`BadSignatureError`.
    """
    sealed = _sealed(body)
    if sealed.key is None or sealed.signature is None:
        return None
    try:
        VerifyKey(bytes.fromhex(sealed.key)).verify(
            _signed(sealed.sealed, sealed.key), bytes.fromhex(sealed.signature)
        )
    except (CryptoError, ValueError, TypeError):
        raise BadSignatureError(
            f"it was not signed with the key that it names, {sealed.key[:64]}"
        ) from None
    return sealed.key.lower()


def _sealed(body: bytes) -> Sealed:
    try:
        return msgspec.json.decode(body, type=Sealed)
    except (ValueError, RecursionError):
        raise UnopenedBoxError("not a sealed entry: it has no base64 box under `sealed`") from None


def _signed(box: str, key: str) -> bytes:
    return f"novamas sealed 1\n{key}\n{box}\n".encode()


def public_key(text: str) -> PublicKey:
    """Read an X25519 public key: 64 hexadecimal digits, or base64. Raises ``ValueError``."""
    try:
        raw = bytes.fromhex(text) if len(text) == 64 else base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        raw = b""
    if len(raw) != PublicKey.SIZE:
        raise ValueError(
            "expected an X25519 public key, 64 hexadecimal digits or 44 characters of base64"
        )
    return PublicKey(raw)


def spelled(key: PublicKey) -> str:
    """A public key as the configuration spells it."""
    return key.encode().hex()


def _padded(body: bytes) -> bytes:
    """The body, padded with spaces, which JSON ignores."""
    return body.ljust(-(-len(body) // PADDING) * PADDING)


def _text(box: bytes) -> str:
    return base64.b64encode(box).decode("ascii")
