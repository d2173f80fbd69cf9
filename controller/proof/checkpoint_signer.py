"""The signer of checkpoints: holds the signing key, and reports problems with it. The tables never
wait for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from nacl.signing import SigningKey

from common import clock
from common.chain.checkpoint import (
    SigningKeyError,
    key_path,
    last_checkpoint,
    load_key,
    make_key,
    public,
    sign,
    write_checkpoint,
)
from common.chain.schema import ChainHead
from common.contract.node import Checkpoint
from common.contract.times import format_utc


class CheckpointSigner:
    """Signs for one journal. ``trouble``: why checkpoints are not signed at present, or None; it is
    retried for each.

    ``changed``: the key differs from the one that signed before. ``cut``: the journal lacks entries
    that were signed. Both remain while the daemon runs. ``not_kept``: why the latest checkpoint is
    not in its file.
    """

    def __init__(self, journal: Path, boot: str, credential: str | None = None) -> None:
        self.trouble: str | None = None
        self.changed: str | None = None
        self.cut: str | None = None
        self.not_kept: str | None = None
        self._journal = journal
        self._boot = boot
        self._credential = credential
        self._key: SigningKey | None = None
        before = last_checkpoint(journal)
        self._known = before.key if before is not None else None
        self._before = before
        self._load()

    @property
    def key(self) -> str | None:
        """The public key, if it is usable."""
        return None if self._key is None else public(self._key)

    @property
    def signer(self) -> SigningKey | None:
        """The secret key, for sealing days and boxes."""
        return self._key

    def detect_cut(
        self, journal: str, head: ChainHead, hash_at: Callable[[int], bytes | None]
    ) -> None:
        """Compare the opened file with the last checkpoint, and set :attr:`cut` if entries are
        missing or changed. ``hash_at`` returns the hash of an entry, if the file has it.
        """
        before = self._before
        if before is None or before.journal != journal:
            return
        if before.position > head.position:
            self.cut = (
                f"entries are missing: {self._journal} ends with entry {head.position}, but had "
                f"{before.position} at {before.time}; keep the file, and get the entries from the "
                "archives of subscribers"
            )
        elif (found := hash_at(before.position)) is not None and found.hex() != before.hash:
            self.cut = (
                f"{self._journal}: entry {before.position} is not the one that was signed at "
                f"{before.time}; keep the file, and run `novamas verify` on it"
            )

    def checkpoint(self, journal: str, head: ChainHead) -> Checkpoint:
        """Return a checkpoint of that head, and write it beside the journal, if possible."""
        self._load()
        made = sign(self._key, journal, self._boot, format_utc(clock.wall()), head)
        try:
            write_checkpoint(made, self._journal)
        except OSError as error:
            self.not_kept = (
                "the latest checkpoint cannot be written: "
                f"{error.filename or self._journal}: {error.strerror}"
            )
        else:
            self.not_kept = None
        return made

    def path(self) -> Path:
        """Return the file of the key. Raises :class:`SigningKeyError`."""
        if self._credential is None:
            return key_path(self._journal)
        directory = os.environ.get("CREDENTIALS_DIRECTORY")
        if directory is None:
            raise SigningKeyError(
                f"journal.key_credential {self._credential!r}: systemd passes no credentials; add "
                f"LoadCredential={self._credential}:FILE to the unit"
            )
        return Path(directory, self._credential)

    def _load(self) -> None:
        if self._key is not None:
            return
        try:
            path = self.path()
            self._key = (
                make_key(path) if self._credential is None and not path.exists() else load_key(path)
            )
        except (SigningKeyError, OSError) as error:
            self.trouble = str(error)
            return
        self.trouble = None
        if self._known is not None and self._known != public(self._key):
            self.changed = (
                f"checkpoints were signed with the key {self._known}, and are now signed with "
                f"{public(self._key)}: put the old key back as {path}, or give the new one to all "
                "who verify"
            )
