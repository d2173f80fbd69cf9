"""The signed head of a ledger: kept beside it, and published, so that whoever keeps one sees if the
ledger was cut or rewritten. The signing key is made at the first start.
"""

from __future__ import annotations

from pathlib import Path

from nacl.signing import SigningKey

from controller.contract.node import Checkpoint
from controller.proof.checkpoint import (
    SigningKeyError,
    checkpoint_path,
    flaw,
    keep,
    kept,
    key_path,
    load_key,
    make_key,
    public,
    sign,
)
from subscribers.carrousel.schema import LedgerError
from subscribers.carrousel.store import LedgerStore


def signing_key(ledger: Path, path: Path | None = None) -> SigningKey:
    """The key that signs the checkpoints of a ledger: in ``path``, or beside the ledger, where it
    is made unless a checkpoint was signed before. Raises :class:`LedgerError`.
    """
    last, file = kept(ledger), path or key_path(ledger)
    try:
        if path is None and last is None and not file.exists():
            return make_key(file)
        key = load_key(file)
    except SigningKeyError as error:
        raise LedgerError(str(error)) from None
    if last is not None and (found := flaw(last, frozenset({public(key)}))) is not None:
        raise LedgerError(
            f"{checkpoint_path(ledger)}: {found}. Put the right key back as {file}; if it is lost, "
            "verify the ledger with the key of a published checkpoint, then move this one away"
        )
    return key


def sign_head(store: LedgerStore, key: SigningKey, boot: str, time: str) -> Checkpoint:
    """Sign what is committed, and keep it beside the ledger. ``boot``: the run of the controller;
    ``time``: as ``controller.contract.times.utc`` writes it. Raises :class:`LedgerError`.
    """
    made = sign(key, store.id, boot, time, store.committed)
    try:
        keep(made, store.path)
    except OSError as error:
        raise LedgerError(
            f"{checkpoint_path(store.path)}: {error.strerror}; make room, or look after the disk"
        ) from None
    return made
