"""The messages in the log of a pair of controllers: the entries of the ledger, commit by commit,
and the beginning of each term.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated

import msgspec

from common.chain.schema import ChainHead
from common.standby.log import RecordLog
from common.standby.seal import SignedStruct, StructSigner
from common.standby.settings import StoreSettings

LEDGER_SUFFIX = ".ledger"
"""Suffix of the lease's key: the name that entries of the log are signed for."""

Position = Annotated[int, msgspec.Meta(ge=0, le=2**52)]


class ShippedEntry(msgspec.Struct, frozen=True, array_like=True):
    """An entry of the ledger. Its postings follow from its fact. ``hash``: hexadecimal."""

    time: str
    jackpot: str
    fact: str
    hash: str


class LedgerMessage(SignedStruct, frozen=True, kw_only=True, omit_defaults=True):
    """One commit to the ledger with this id, or the beginning of a term, which has no entries.

    ``position`` and ``head``: the last entry before it and its hash, in hexadecimal. ``cursors``:
    the changed intake memories, by table. ``term``: in which term it was written, by the machine
    ``instance``; 0 if a person has begun the log again with this ledger.
    """

    ledger: str
    term: Position
    instance: str
    position: Position
    head: str
    entries: tuple[ShippedEntry, ...] = ()
    cursors: dict[str, str] = msgspec.field(default_factory=dict)

    @property
    def last(self) -> int:
        """Position of the last entry after it."""
        return self.position + len(self.entries)

    @property
    def before(self) -> ChainHead:
        """The end of the ledger before it. Raises ``ValueError``."""
        return ChainHead(self.position, bytes.fromhex(self.head))

    @property
    def last_hash(self) -> str:
        """Hash of the last entry after it, in hexadecimal."""
        return self.entries[-1].hash if self.entries else self.head


def encode_message(message: LedgerMessage, seal: StructSigner) -> bytes:
    """Sign and encode a message. The same message has the same bytes."""
    return msgspec.json.encode(seal.sign(message))


def read_message(body: bytes, seal: StructSigner) -> LedgerMessage | None:
    """Read and verify a message. None if it is malformed or no trusted key has signed it."""
    try:
        message = msgspec.json.decode(body, type=LedgerMessage)
        message.before.hash.hex()
    except (ValueError, RecursionError, OverflowError):
        return None
    return message if seal.verify(message) else None


def ledger_log(
    settings: StoreSettings, node: str, timeout: float, seal: StructSigner
) -> RecordLog[LedgerMessage]:
    """Return the log of a pair's ledger. ``node``: the key of its lease; ``timeout``: maximum
    seconds for each reply.
    """
    return RecordLog(
        settings,
        f"{settings.bucket}-{node}-ledger",
        timeout,
        partial(read_message, seal=seal),
        partial(encode_message, seal=seal),
    )
