"""Signs what a daemon writes to the store of the pair, so that nothing that another client writes
there can enter a journal or move a lease.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Annotated, TypeVar

import msgspec
from nacl.exceptions import CryptoError
from nacl.signing import SigningKey, VerifyKey

FORMAT_LINE = b"novamas standby 1\n"
_HEX = r"^[0-9a-f]{%d}\Z"


class SignedStruct(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base of the structs that are signed. ``key``: the public key of the writer, that of its
    checkpoints; ``signature``: made with it, over the name under which the struct is stored and all
    other fields. Both in hexadecimal.
    """

    key: Annotated[str, msgspec.Meta(pattern=_HEX % 64)] | None = None
    signature: Annotated[str, msgspec.Meta(pattern=_HEX % 128)] | None = None


_Signed = TypeVar("_Signed", bound=SignedStruct)


class StructSigner:
    """Signs and verifies the structs that are stored under ``name``.

    ``own`` returns this daemon's key, or None while it cannot be used. ``trusted``: the other
    public keys that are trusted; if empty, all are, so that only unsigned or altered structs are
    rejected.
    """

    def __init__(
        self, name: str, own: Callable[[], SigningKey | None], trusted: Collection[str] = ()
    ) -> None:
        self._name, self._own, self._trusted = name, own, frozenset(trusted)

    def sign(self, struct: _Signed) -> _Signed:
        """Return the struct with key and signature, or unchanged if there is no key."""
        key = self._own()
        if key is None:
            return struct
        public = key.verify_key.encode().hex()
        named = msgspec.structs.replace(struct, key=public, signature=None)
        signature = key.sign(self._signed_text(named)).signature.hex()
        return msgspec.structs.replace(named, signature=signature)

    def verify(self, struct: SignedStruct) -> bool:
        """Return True if the signature is valid and its key trusted."""
        if struct.key is None or struct.signature is None or not self._trusts(struct.key):
            return False
        bare = msgspec.structs.replace(struct, signature=None)
        try:
            VerifyKey(bytes.fromhex(struct.key)).verify(
                self._signed_text(bare), bytes.fromhex(struct.signature)
            )
        except (CryptoError, ValueError, TypeError):
            return False
        return True

    def _trusts(self, key: str) -> bool:
        own = self._own()
        if not self._trusted or key in self._trusted:
            return True
        return own is not None and key == own.verify_key.encode().hex()

    def _signed_text(self, struct: SignedStruct) -> bytes:
        return FORMAT_LINE + f"{self._name}\n".encode() + msgspec.json.encode(struct)
