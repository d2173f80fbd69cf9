"""Seals what the journal stores of a table with face-down cards."""

from __future__ import annotations

import msgspec

from common.chain.schema import Kind
from common.confidential.boxes import CardCipher
from common.contract.sealed import Opened
from controller.tables.table import Table


class TableSealer:
    """Seals with a ``cipher``; without one, the cards of the table are face up."""

    def __init__(self, cipher: CardCipher | None) -> None:
        self._cipher = cipher

    def seal(
        self,
        table: Table,
        kind: Kind,
        seq: int,
        now: str,
        body: bytes,
        reading: int | None = None,
    ) -> bytes:
        """Return the body of an entry, sealed for surveillance where cards are face down."""
        if self._cipher is None:
            return body
        return self._cipher.seal(
            Opened(table.id, table.boot, seq, now, kind, msgspec.Raw(body)), reading
        )
