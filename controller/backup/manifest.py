"""The manifest of a backup: its point in time, and every file with its digest. It is written last,
so that a folder without one is not a backup.

The Ed25519 signature of the journal's signing key covers the line ``novamas backup 1`` and the JSON
object without ``signature``, as encoded.
"""

from __future__ import annotations

import os
import stat
from hashlib import file_digest
from pathlib import Path
from typing import Literal

import msgspec
from nacl.exceptions import CryptoError
from nacl.signing import SigningKey, VerifyKey

from common.chain.checkpoint import public
from common.contract.json_bodies import Stored
from common.contract.times import format_utc, parse_utc
from common.plain_errors import describe
from controller.backup.errors import BackupError

MANIFEST_NAME = "manifest.json"
JOURNAL_NAME = "journal.sqlite3"
"""Name of the journal in a backup, independent of its original name."""
KEYS_NAME = "keys.sealed"
MAX_MANIFEST_BYTES = 1 << 24


class BackupItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file of the backup. ``place``: its original path, absolute or relative to the folder of the
    configuration; empty for files of the journal.
    """

    name: str
    size: Stored
    sha256: str
    place: str = ""
    mode: Stored = 0o600


class Manifest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """``position``, ``hash``, ``time`` and ``boot`` describe the last entry of ``journal``.
    ``made``: when the backup was started; ``outcome``: the verdict on the copy; ``sealed``: number
    of sealed secret files; ``left_out``: files that are missing, and why.
    """

    format: Literal["novamas backup 1"]
    made: str
    software: str
    site: str
    node: str
    configuration: str
    journal: str
    position: Stored
    hash: str
    time: str
    boot: str
    outcome: str
    items: tuple[BackupItem, ...]
    sealed: Stored = 0
    left_out: tuple[str, ...] = ()
    key: str | None = None
    signature: str | None = None


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal. Raises ``OSError``."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def sign_manifest(manifest: Manifest, key: SigningKey | None) -> Manifest:
    """Return the manifest, signed if there is a key."""
    if key is None:
        return manifest
    named = msgspec.structs.replace(manifest, key=public(key))
    signature = key.sign(_signed_bytes(named)).signature.hex()
    return msgspec.structs.replace(named, signature=signature)


def read_manifest(backup: Path, key: str | None) -> Manifest:
    """Read the manifest of a backup, and verify all its files. ``key``: the public key that must
    have signed it; by default, the one in the manifest. Raises :class:`BackupError`.
    """
    path = backup / MANIFEST_NAME
    try:
        with path.open("rb") as file:
            body = file.read(MAX_MANIFEST_BYTES)
        manifest = msgspec.json.decode(body, type=Manifest)
    except FileNotFoundError:
        raise BackupError(
            f"{backup}: no backup, or one that was interrupted: it has no {MANIFEST_NAME}; name a "
            "folder that `novamas backup` wrote"
        ) from None
    except OSError as error:
        raise BackupError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise BackupError(f"{path}: {describe(error, Manifest)}; take another backup") from None
    _verify_signature(path, manifest, key)
    for time in (manifest.made, manifest.time):
        _check_time(path, time)
    for item in manifest.items:
        _verify_item(backup, item)
    return manifest


def _verify_signature(path: Path, manifest: Manifest, key: str | None) -> None:
    if key is not None and manifest.key != key:
        signer = "no key" if manifest.key is None else f"the key {manifest.key[:64]}"
        raise BackupError(f"{path}: signed by {signer}, and not with the key given; not restored")
    if manifest.key is None:
        return
    try:
        VerifyKey(bytes.fromhex(manifest.key)).verify(
            _signed_bytes(manifest), bytes.fromhex(manifest.signature or "")
        )
    except (CryptoError, ValueError, TypeError):
        raise BackupError(
            f"{path}: its signature does not hold: it was changed; take another backup"
        ) from None


def _check_time(path: Path, time: str) -> None:
    """Reject a time in any other format: it becomes part of file names."""
    try:
        sound = format_utc(parse_utc(time)) == time
    except ValueError:
        sound = False
    if not sound:
        raise BackupError(
            f"{path}: {time[:64]!r} is not a time in the expected format; not restored"
        )


def _verify_item(backup: Path, item: BackupItem) -> None:
    path = backup / item.name
    if "\0" in item.name + item.place:
        raise BackupError(
            f"{backup / MANIFEST_NAME}: a name of a file has a zero byte; not restored"
        )
    if Path(item.name).is_absolute() or ".." in Path(item.name).parts:
        raise BackupError(
            f"{backup / MANIFEST_NAME}: {item.name} is not in the backup; not restored"
        )
    try:
        found = os.lstat(path)
        sound = stat.S_ISREG(found.st_mode) and found.st_size == item.size
        sound = sound and digest(path) == item.sha256
    except OSError as error:
        raise BackupError(f"{path}: {error.strerror}; take another backup") from None
    if not sound:
        raise BackupError(
            f"{path} is not the file that was backed up: it was changed or damaged; take another "
            "backup"
        )


def _signed_bytes(manifest: Manifest) -> bytes:
    bare = msgspec.structs.replace(manifest, signature=None)
    return b"novamas backup 1\n" + msgspec.json.encode(bare)
