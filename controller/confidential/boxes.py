"""What lies face down: sealed for surveillance, and locked away where the daemon itself must
remember it.

Sealed is what leaves: a libsodium sealed box to the X25519 public key of surveillance, which the
daemon cannot open again. It is stored in the journal in place of the body, and published as it is
stored. Since anybody can seal for a public key, the daemon signs each box with the key of its
checkpoints: Ed25519, over three lines, each ended by a newline, ``novamas sealed 1``, the public
key and the box as they stand. Locked is what a table needs to go on after a restart: a libsodium
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
"""Bytes that what goes into a box is filled up to a multiple of: the length of a box
tells no card.
"""

_SEALED = b'{"sealed":'
_LOCKED = b'{"locked":'


class _Locked(msgspec.Struct, frozen=True):
    locked: str


class UnopenedBoxError(NovamasError, ValueError):
    """A box does not open. The message says why, and never what was in it."""


class BadSignatureError(NovamasError, ValueError):
    """Somebody changed a box that was signed, or named a key that is not his."""


class CardCipher:
    """Seals for surveillance, and locks what the daemon itself has to read again. ``where``: where
    the secret is kept.

    ``signer``: gives the key that boxes are signed with, if there is one now.
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

    def seal(self, entry: Opened) -> bytes:
        """The body to store in place of the entry's own."""
        box, key = _text(self._box.encrypt(_padded(msgspec.json.encode(entry)))), self._signer()
        if key is None:
            return msgspec.json.encode(Sealed(box))
        name = key.verify_key.encode().hex()
        return msgspec.json.encode(Sealed(box, name, key.sign(_signed(box, name)).signature.hex()))

    def lock(self, body: bytes) -> bytes:
        """What to store in place of ``body``."""
        return msgspec.json.encode(_Locked(_text(self._lock.encrypt(_padded(body)))))

    def unlock(self, body: bytes) -> bytes:
        """The inverse of :meth:`lock`; what was never locked comes as it is. Raises
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
                f"what was saved was locked with another key than that in {self._where}, or is "
                "damaged"
            ) from None


def is_sealed(body: bytes) -> bool:
    """Whether only surveillance can read this."""
    return body.startswith(_SEALED)


def is_locked(body: bytes) -> bool:
    """Whether only the daemon that wrote it can read this."""
    return body.startswith(_LOCKED)


def open_sealed(body: bytes, key: PrivateKey) -> Opened:
    """What :meth:`CardCipher.seal` was given. Raises :class:`UnopenedBoxError`."""
    try:
        box = base64.b64decode(_sealed(body).sealed, validate=True)
    except ValueError:
        raise UnopenedBoxError("it is not sealed: it has no box in base64 under `sealed`") from None
    try:
        return msgspec.json.decode(SealedBox(key).decrypt(box), type=Opened)
    except CryptoError:
        raise UnopenedBoxError("it was sealed for another key, or it is damaged") from None
    except (ValueError, RecursionError):
        raise UnopenedBoxError(
            "what is in it is no entry of a journal: no daemon sealed it"
        ) from None


def signer_of(body: bytes) -> str | None:
    """The public key that what is sealed was signed with; None: it is not signed. Raises
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
            f"it was not signed with the key {sealed.key[:64]} that it names"
        ) from None
    return sealed.key.lower()


def _sealed(body: bytes) -> Sealed:
    try:
        return msgspec.json.decode(body, type=Sealed)
    except (ValueError, RecursionError):
        raise UnopenedBoxError("it is not sealed: it has no box in base64 under `sealed`") from None


def _signed(box: str, key: str) -> bytes:
    return f"novamas sealed 1\n{key}\n{box}\n".encode()


def public_key(text: str) -> PublicKey:
    """An X25519 public key: 64 hexadecimal digits, or base64. Raises ``ValueError``."""
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
    """A public key as the configuration has it."""
    return key.encode().hex()


def _padded(body: bytes) -> bytes:
    """JSON may end in spaces."""
    return body.ljust(-(-len(body) // PADDING) * PADDING)


def _text(box: bytes) -> str:
    return base64.b64encode(box).decode("ascii")
