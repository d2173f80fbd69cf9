"""Checkpoints: the signed end of the journal's chain. A copy of one shows whether the journal was
cut or rewritten.

The Ed25519 signature covers seven lines, each ended by a newline: ``novamas checkpoint 1``, the
journal's id, the position, the hash, the time, the boot and the public key. Keys, hashes and
signatures are hexadecimal.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
from nacl.exceptions import CryptoError
from nacl.signing import SigningKey, VerifyKey

from common import randomness
from common.chain.schema import ChainHead
from common.contract.node import Checkpoint
from common.errors import NovamasError
from common.new_file import create_private, replacing


class SigningKeyError(NovamasError):
    """The signing key cannot be used. The message names the file and says what to do, and never
    contains the key.
    """


def key_path(journal: Path) -> Path:
    """Return the file of a journal's signing key, used if there is no credential."""
    return journal.with_name(f"{journal.name}.key")


def load_key(path: Path) -> SigningKey:
    """Read the key in a file, 64 hexadecimal digits. Raises :class:`SigningKeyError`."""
    try:
        text = path.read_text(encoding="ascii").strip()
        return SigningKey(bytes.fromhex(text))
    except OSError as error:
        raise SigningKeyError(
            f"{path}: {error.strerror}; the daemon must be able to read its signing key"
        ) from None
    except (ValueError, TypeError, CryptoError):
        raise SigningKeyError(
            f"{path}: not a signing key (64 hexadecimal digits); put the right file back"
        ) from None


def make_key(path: Path) -> SigningKey:
    """Create a key in a file that only its owner can read. Raises :class:`SigningKeyError`."""
    key = SigningKey(randomness.token_bytes(32))
    try:
        create_private(path, key.encode().hex().encode() + b"\n")
    except OSError as error:
        raise SigningKeyError(
            f"{path}: {error.strerror}; the signing key could not be made"
        ) from None
    return key


def public(key: SigningKey) -> str:
    """Return the public key, in hexadecimal."""
    return key.verify_key.encode().hex()


def sign(key: SigningKey | None, journal: str, boot: str, time: str, head: ChainHead) -> Checkpoint:
    """Return a checkpoint of that head, signed if there is a key."""
    bare = Checkpoint(
        journal=journal, boot=boot, time=time, position=head.position, hash=head.hash.hex()
    )
    if key is None:
        return bare
    named = msgspec.structs.replace(bare, key=public(key))
    return msgspec.structs.replace(named, signature=key.sign(_text(named)).signature.hex())


def signature_problem(checkpoint: Checkpoint, keys: frozenset[str]) -> str | None:
    """Return what is wrong with the signature; None if one of these public keys made it."""
    if checkpoint.key is None or checkpoint.signature is None:
        return "it is not signed"
    if checkpoint.key not in keys:
        return (
            f"it is signed with the key {checkpoint.key[:64]}, which is not the one to trust: "
            "another daemon wrote it, the key was replaced, or it is forged"
        )
    try:
        VerifyKey(bytes.fromhex(checkpoint.key)).verify(
            _text(checkpoint), bytes.fromhex(checkpoint.signature)
        )
    except (CryptoError, ValueError, TypeError):
        return "its signature does not hold"
    return None


def write_checkpoint(checkpoint: Checkpoint, journal: Path) -> None:
    """Write the file ``<journal>.checkpoint``. Raises ``OSError``."""
    with replacing(checkpoint_path(journal), sync=False) as file:
        file.write(msgspec.json.encode(checkpoint) + b"\n")


def last_checkpoint(journal: Path) -> Checkpoint | None:
    """Read the checkpoint that :func:`write_checkpoint` wrote last; None if that is impossible."""
    try:
        return read_checkpoint(checkpoint_path(journal).read_bytes())
    except OSError:
        return None


def read_checkpoint(body: bytes) -> Checkpoint | None:
    """Decode a checkpoint; None if the body is not one."""
    try:
        made = msgspec.json.decode(body, type=Checkpoint)
    except (ValueError, RecursionError):
        return None
    return made if 0 <= made.position < 1 << 63 else None


def checkpoint_path(journal: Path) -> Path:
    """Return the file of the latest checkpoint."""
    return journal.with_name(f"{journal.name}.checkpoint")


def _text(checkpoint: Checkpoint) -> bytes:
    parts = (
        checkpoint.journal,
        checkpoint.position,
        checkpoint.hash,
        checkpoint.time,
        checkpoint.boot,
        checkpoint.key,
    )
    return "".join(f"{part}\n" for part in ("novamas checkpoint 1", *parts)).encode()
