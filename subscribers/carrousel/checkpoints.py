"""The signed head of a ledger. It is stored beside the ledger and published, so that anyone who has
a copy can detect a truncated or rewritten ledger. The signing key is created at the first start.
"""

from __future__ import annotations

from pathlib import Path

from nacl.signing import SigningKey

from common.chain.checkpoint import (
    SigningKeyError,
    checkpoint_path,
    key_path,
    last_checkpoint,
    load_key,
    make_key,
    public,
    sign,
    signature_problem,
    write_checkpoint,
)
from common.contract.node import Checkpoint
from subscribers.carrousel.schema import LedgerError
from subscribers.carrousel.store import LedgerStore


def signing_key(ledger: Path, path: Path | None = None) -> SigningKey:
    """Return the key that signs a ledger's checkpoints, from ``path`` or from beside the ledger. It
    is created there unless a checkpoint was signed before. Raises :class:`LedgerError`.
    """
    last, file = last_checkpoint(ledger), path or key_path(ledger)
    try:
        if path is None and last is None and not file.exists():
            return make_key(file)
        key = load_key(file)
    except SigningKeyError as error:
        raise LedgerError(str(error)) from None
    if (
        last is not None
        and (problem := signature_problem(last, frozenset({public(key)}))) is not None
    ):
        raise LedgerError(
            f"{checkpoint_path(ledger)}: {problem}. Restore the right key as {file}; if it is "
            "lost, verify the ledger with the key of a published checkpoint, then move this "
            "checkpoint away"
        )
    return key


def sign_head(store: LedgerStore, key: SigningKey, boot: str, time: str) -> Checkpoint:
    """Sign the committed head and store it beside the ledger. ``boot``: id of the controller's run;
    ``time``: formatted by ``common.contract.times.utc``. Raises :class:`LedgerError`.
    """
    checkpoint = sign(key, store.id, boot, time, store.committed)
    try:
        write_checkpoint(checkpoint, store.path)
    except OSError as error:
        raise LedgerError(
            f"{checkpoint_path(store.path)}: {error.strerror}; free some space, or check the disk"
        ) from None
    return checkpoint
