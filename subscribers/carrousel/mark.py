"""The verification mark of a ledger: up to which entry it was verified, with the state at that
entry. It is stored beside the ledger as ``<ledger>.verified``, so that a start verifies only later
entries.

The file has two lines: the mark as a JSON object, and an Ed25519 signature in hexadecimal. The
signature is made with the key that signs checkpoints, over the line ``novamas carrousel verified
1`` and the first line, each ended by a newline.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
from nacl.exceptions import CryptoError
from nacl.signing import SigningKey

from common.new_file import replacing
from subscribers.carrousel.ledger_state import JackpotLedgerState

_SIGNATURE_DOMAIN = b"novamas carrousel verified 1\n"
"""Readable and writable only by the owner."""


class NoMarkError(Exception):
    """There is no valid mark. The message says why."""


class VerificationMark(msgspec.Struct, frozen=True, kw_only=True):
    """``ledger``: id of the ledger; ``position`` and ``hash`` (hexadecimal): of the last verified
    entry.
    """

    ledger: str
    boot: str
    """The controller's run that wrote it."""
    time: str
    position: int
    hash: str
    states: dict[str, JackpotLedgerState]
    """The state of each jackpot after that entry."""
    balances: tuple[tuple[str, str, int], ...]
    """Jackpot, account, and its balance."""
    memories: dict[str, str] | None = msgspec.field(default=None, name="heard")
    """Stored intake memory by table. Only set by a controller that has ended, since it changes
    otherwise.
    """

    @property
    def sums(self) -> dict[tuple[str, str], int]:
        """The balances that are not zero."""
        return nonzero({(jackpot, account): balance for jackpot, account, balance in self.balances})


def nonzero(sums: Mapping[tuple[str, str], int]) -> dict[tuple[str, str], int]:
    """Return the accounts whose balance is not zero."""
    return {account: amount for account, amount in sums.items() if amount}


def mark_path(ledger: Path) -> Path:
    """Return the path of a ledger's mark."""
    return ledger.with_name(f"{ledger.name}.verified")


def write_mark(mark: VerificationMark, key: SigningKey, ledger: Path) -> None:
    """Sign a mark and write its file. Raises ``OSError``."""
    body = msgspec.json.encode(mark) + b"\n"
    signature = key.sign(_SIGNATURE_DOMAIN + body).signature.hex().encode()
    with replacing(mark_path(ledger)) as file:
        file.write(body + signature + b"\n")


def read_mark(key: SigningKey, ledger: Path) -> VerificationMark:
    """Return the mark beside a ledger. Raises :class:`NoMarkError`."""
    path = mark_path(ledger)
    try:
        body, signature = path.read_bytes().splitlines(keepends=True)
        key.verify_key.verify(_SIGNATURE_DOMAIN + body, bytes.fromhex(signature.decode().strip()))
        return msgspec.json.decode(body, type=VerificationMark)
    except OSError as error:
        raise NoMarkError(f"{path}: {error.strerror}") from None
    except CryptoError:
        raise NoMarkError(f"{path}: its signature is not valid for this ledger's key") from None
    except (ValueError, RecursionError):
        raise NoMarkError(f"{path}: not a valid mark") from None
