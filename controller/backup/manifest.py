"""The manifest of a backup: its point in time, and every file of it with its digest. It is written
last, so that a folder without one is no backup.

The Ed25519 signature of the journal's signing key covers the line ``novamas backup 1`` and the JSON
object without ``signature``, as it is written.
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

from controller.backup.errors import BackupError
from controller.contract.json_bodies import Stored
from controller.contract.times import moment, utc
from controller.proof.checkpoint import public

NAME = "manifest.json"
JOURNAL = "journal.sqlite3"
"""The journal in a backup, whatever it is called where it is used."""
KEYS = "keys.sealed"
LARGEST = 1 << 24


class Item(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file of the backup. ``place``: where it was, from the folder of the configuration on, or
    absolute; empty for what belongs to the journal.
    """

    name: str
    size: Stored
    sha256: str
    place: str = ""
    mode: Stored = 0o600


class Manifest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The entry ``position`` of ``journal``, with this ``hash``, was the last one, stored at
    ``time`` in the run ``boot``. ``made``: when the backup was begun; ``outcome``: the verdict on
    the copy; ``sealed``: how many secret files are sealed; ``left_out``: what is not in it, and
    why.
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
    items: tuple[Item, ...]
    sealed: Stored = 0
    left_out: tuple[str, ...] = ()
    key: str | None = None
    signature: str | None = None


def digest(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal. Raises ``OSError``."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def signed(manifest: Manifest, key: SigningKey | None) -> Manifest:
    """The manifest, signed if there is a key."""
    if key is None:
        return manifest
    named = msgspec.structs.replace(manifest, key=public(key))
    signature = key.sign(_text(named)).signature.hex()
    return msgspec.structs.replace(named, signature=signature)


def read_manifest(backup: Path, key: str | None) -> Manifest:
    """The manifest of a backup whose files are all as they were. ``key``: the public key that must
    have signed it; without it, the one that it names. Raises :class:`BackupError`.
    """
    path = backup / NAME
    try:
        with path.open("rb") as file:
            body = file.read(LARGEST)
        manifest = msgspec.json.decode(body, type=Manifest)
    except FileNotFoundError:
        raise BackupError(
            f"{backup}: no backup, or one that was interrupted: it has no {NAME}; name a folder "
            "that `novamas backup` wrote"
        ) from None
    except OSError as error:
        raise BackupError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise BackupError(f"{path}: {error}; take another backup") from None
    _hold_signature(path, manifest, key)
    for time in (manifest.made, manifest.time):
        _hold_time(path, time)
    for item in manifest.items:
        _hold(backup, item)
    return manifest


def _hold_signature(path: Path, manifest: Manifest, key: str | None) -> None:
    if key is not None and manifest.key != key:
        signer = "nobody" if manifest.key is None else f"the key {manifest.key[:64]}"
        raise BackupError(f"{path}: signed by {signer}, and not with the key given; not restored")
    if manifest.key is None:
        return
    try:
        VerifyKey(bytes.fromhex(manifest.key)).verify(
            _text(manifest), bytes.fromhex(manifest.signature or "")
        )
    except (CryptoError, ValueError, TypeError):
        raise BackupError(
            f"{path}: its signature does not hold: it was changed; take another backup"
        ) from None


def _hold_time(path: Path, time: str) -> None:
    """The times become part of file names, so they are exactly as we write them."""
    try:
        sound = utc(moment(time)) == time
    except ValueError:
        sound = False
    if not sound:
        raise BackupError(f"{path}: {time[:64]!r} is not a time as we write it; not restored")


def _hold(backup: Path, item: Item) -> None:
    path = backup / item.name
    if "\0" in item.name + item.place:
        raise BackupError(f"{backup / NAME}: a name of a file has a zero byte; not restored")
    if Path(item.name).is_absolute() or ".." in Path(item.name).parts:
        raise BackupError(f"{backup / NAME}: {item.name} is no file of the backup; not restored")
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


def _text(manifest: Manifest) -> bytes:
    bare = msgspec.structs.replace(manifest, signature=None)
    return b"novamas backup 1\n" + msgspec.json.encode(bare)
