"""The mark of verification: up to which entry a ledger was verified, with all that followed from it
until then. It lies beside the ledger, as ``<ledger>.verified``, so that a start verifies only what
came after it.

The file has two lines: the mark as a JSON object, and the Ed25519 signature in hexadecimal, made
with the key that signs checkpoints, over the line ``novamas carrousel verified 1`` and the first
line, each ended by a newline.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec
from nacl.exceptions import CryptoError
from nacl.signing import SigningKey

from devices.new_file import named_in_errors
from subscribers.carrousel.ledger_state import JackpotLedgerState

_SIGNATURE_DOMAIN = b"novamas carrousel verified 1\n"
_OPEN_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
_PRIVATE_FILE_MODE = 0o600
"""Permissions: only the owner reads and writes."""


class NoMarkError(Exception):
    """There is no mark that counts. The message says why."""


class VerificationMark(msgspec.Struct, frozen=True, kw_only=True):
    """``ledger``: its id; ``position`` and ``hash`` (hexadecimal): of the last entry verified."""

    ledger: str
    boot: str
    """The run of the controller that made it."""
    time: str
    position: int
    hash: str
    states: dict[str, JackpotLedgerState]
    """What each jackpot remembers after that entry."""
    balances: tuple[tuple[str, str, int], ...]
    """Jackpot, account, and the sum of its postings."""
    heard: dict[str, str] | None = None
    """By table, what is kept of how far it was heard. Only a controller that ended knows that it
    stays so.
    """

    @property
    def sums(self) -> dict[tuple[str, str], int]:
        """The balances that are not zero."""
        return nonzero({(jackpot, account): sum_ for jackpot, account, sum_ in self.balances})


def nonzero(sums: Mapping[tuple[str, str], int]) -> dict[tuple[str, str], int]:
    """The accounts that hold something."""
    return {of: amount for of, amount in sums.items() if amount}


def mark_path(ledger: Path) -> Path:
    """The file that holds the mark of a ledger."""
    return ledger.with_name(f"{ledger.name}.verified")


def write_mark(mark: VerificationMark, key: SigningKey, ledger: Path) -> None:
    """Sign a mark and write its file. Raises ``OSError``."""
    body = msgspec.json.encode(mark) + b"\n"
    signature = key.sign(_SIGNATURE_DOMAIN + body).signature.hex().encode()
    path = mark_path(ledger)
    part = path.with_name(f"{path.name}.part")
    with (
        named_in_errors(part, part=True),
        open(os.open(part, _OPEN_FLAGS, _PRIVATE_FILE_MODE), "wb") as file,  # noqa: PTH123 - pathlib has no flags
    ):
        file.write(body + signature + b"\n")
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def read_mark(key: SigningKey, ledger: Path) -> VerificationMark:
    """The mark beside a ledger. Raises :class:`NoMarkError`."""
    path = mark_path(ledger)
    try:
        body, signature = path.read_bytes().splitlines(keepends=True)
        key.verify_key.verify(_SIGNATURE_DOMAIN + body, bytes.fromhex(signature.decode().strip()))
        return msgspec.json.decode(body, type=VerificationMark)
    except OSError as error:
        raise NoMarkError(f"{path}: {error.strerror}") from None
    except CryptoError:
        raise NoMarkError(f"{path}: its signature is not of the key of this ledger") from None
    except (ValueError, RecursionError):
        raise NoMarkError(f"{path}: it is no mark") from None
