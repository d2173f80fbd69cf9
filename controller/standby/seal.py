"""The signature of a daemon over what it writes into the store of the pair: over all of it, so that
nothing of what somebody else wrote there enters a journal, or moves a lease.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Annotated, TypeVar

import msgspec
from nacl.exceptions import CryptoError
from nacl.signing import SigningKey, VerifyKey

FORMAT = b"novamas standby 1\n"
_HEX = r"^[0-9a-f]{%d}\Z"


class Sealed(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is signed. ``key``: the public key of whoever wrote it, that of its checkpoints;
    ``signature``: by that key, over the name under which it is stored and all other fields. Both in
    hexadecimal.
    """

    key: Annotated[str, msgspec.Meta(pattern=_HEX % 64)] | None = None
    signature: Annotated[str, msgspec.Meta(pattern=_HEX % 128)] | None = None


_Sealed = TypeVar("_Sealed", bound=Sealed)


class Seal:
    """Signs and judges what is stored under ``name``. ``own``: this daemon's key; None: it cannot
    be used now. ``trusted``: the public keys that are believed beside it; none: any is, so that
    only what is unsigned or was changed is refused.
    """

    def __init__(
        self, name: str, own: Callable[[], SigningKey | None], trusted: Collection[str] = ()
    ) -> None:
        self._name, self._own, self._trusted = name, own, frozenset(trusted)

    def sign(self, given: _Sealed) -> _Sealed:
        """The same, signed."""
        key = self._own()
        if key is None:
            return given
        public = key.verify_key.encode().hex()
        named = msgspec.structs.replace(given, key=public, signature=None)
        signature = key.sign(self._text(named)).signature.hex()
        return msgspec.structs.replace(named, signature=signature)

    def holds(self, given: Sealed) -> bool:
        """Whether one whose key is believed wrote it, as it is."""
        if given.key is None or given.signature is None or not self._believes(given.key):
            return False
        bare = msgspec.structs.replace(given, signature=None)
        try:
            VerifyKey(bytes.fromhex(given.key)).verify(
                self._text(bare), bytes.fromhex(given.signature)
            )
        except (CryptoError, ValueError, TypeError):
            return False
        return True

    def _believes(self, key: str) -> bool:
        own = self._own()
        if not self._trusted or key in self._trusted:
            return True
        return own is not None and key == own.verify_key.encode().hex()

    def _text(self, given: Sealed) -> bytes:
        return FORMAT + f"{self._name}\n".encode() + msgspec.json.encode(given)
