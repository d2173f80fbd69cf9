"""The stored events of a table, for subscribers that have missed some."""

from __future__ import annotations

from itertools import accumulate

import msgspec

from common.contract.notation import mark_historical
from common.contract.orders import ChainLink, Recall
from controller.journal.journal import Journal

HISTORICAL_MARK_BYTES = 20
"""Bytes that the historical mark and its comma add to an event."""


class StoredEvents:
    """The events of one table in the journal."""

    def __init__(self, journal: Journal, table: str) -> None:
        self._journal = journal
        self._table = table

    def recall(self, wanted: Recall, room: int) -> tuple[msgspec.Raw, ...]:
        """Return stored events, marked historical, oldest first: as many as fit into ``room``
        bytes, but at least one.
        """
        start = self._table, wanted.boot, wanted.first - 1, wanted.limit
        entries = self._journal.ask(
            lambda reader: (
                reader.events_since(*start) if wanted.onward else reader.events_of_boot(*start)
            )
        )
        if wanted.to is not None and not wanted.onward:
            entries = [entry for entry in entries if entry.seq <= wanted.to]
        fitting = [
            entry
            for entry, size in zip(
                entries,
                accumulate(len(entry.body) + HISTORICAL_MARK_BYTES for entry in entries),
                strict=True,
            )
            if size <= room
        ]
        return tuple(msgspec.Raw(mark_historical(entry.body)) for entry in fitting or entries[:1])

    def chain(self, wanted: Recall) -> tuple[ChainLink, ...]:
        """Return the chain of the journal entries that a recall asks for."""
        return tuple(
            ChainLink(head.position, head.hash.hex())
            for head in self._journal.ask(lambda reader: reader.recomputed_hashes(wanted.positions))
        )
