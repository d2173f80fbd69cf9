"""Sealed boxes for surveillance in a world: they are the same in each run of a seed."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING
from unittest import mock

from nacl.public import Box, PrivateKey, PublicKey, SealedBox

import common.confidential.boxes
from common import randomness
from common.confidential.boxes import format_public_key

if TYPE_CHECKING:
    from tests.world.world import World

SURVEILLANCE = PrivateKey(bytes(range(32)))
"""The key with which surveillance opens boxes."""
SECTION = f"""
[surveillance]
public_key = "{format_public_key(SURVEILLANCE.public_key)}"
"""


class DrawnSealedBox(SealedBox):  # type: ignore[type-arg]
    """A sealed box as libsodium makes it, whose own key is drawn from the chance of the world."""

    def encrypt(self, plaintext: bytes) -> bytes:  # type: ignore[override]
        """Return the box."""
        own, theirs = PrivateKey(randomness.token_bytes(PrivateKey.SIZE)), self._public_key
        public = own.public_key.encode()
        nonce = blake2b(public + theirs, digest_size=Box.NONCE_SIZE).digest()
        return public + Box(own, PublicKey(theirs)).encrypt(plaintext, nonce).ciphertext


def seal(world: World) -> None:
    """Let the daemons seal what lies face down. Every part with cards asks for it."""
    if SECTION not in world.sections:
        world.sections.append(SECTION)
        world.stack.enter_context(
            mock.patch.object(common.confidential.boxes, "SealedBox", DrawnSealedBox)
        )
