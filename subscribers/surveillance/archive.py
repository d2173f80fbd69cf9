"""Records of the archive, queries, and the interface that every database implements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, Protocol

import msgspec

_HISTORICAL = b',"historical":true'

Kind = Literal[
    "event", "sealed", "alert", "info", "reply", "checkpoint", "finding", "access", "removal"
]
"""``alert``: a retained alert of a node, a jackpot or a table; ``info``: a table's description of
itself, such as its settings; ``finding``: a fault that the recorder detected; ``access``: sealed
cards were shown to a person; ``removal``: records were removed by the retention.
"""


class ArchiveRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One published message, with its body unchanged. ``site``, ``kind`` and ``key``
    identify it.
    """

    site: str
    kind: Kind
    key: str
    """Equal for repetitions of the same message. Event: table, boot and seq. Sealed card: table and
    the digest of the box. Checkpoint: node, journal and position.
    """
    time: str
    """When it happened according to the publisher: UTC, ISO 8601 with microseconds. If the body has
    no time, when it was received.
    """
    received: str
    """When the recorder first received it: UTC, ISO 8601 with microseconds."""
    body: bytes
    """As received."""
    table: str = ""
    """The table's id; empty for records of a node or a jackpot."""
    node: str = ""
    """The node that published it, if known."""
    boot: str = ""
    """The daemon's run."""
    seq: int = 0
    """The number of an event; for a sealed card, that of the preceding event."""
    type: str = ""
    """Event: its type. Alert or finding: what is wrong."""
    session: int = 0
    """The session, or 0."""
    round: int = 0
    """The round, or 0."""
    words: tuple[str, ...] = ()
    """Further search words: rule ids, articles, irregularities, persons, devices."""


class ArchiveRow(msgspec.Struct, frozen=True):
    """A record and its number in the archive. Numbers start at 1, grow with each stored record, and
    are never reused.
    """

    number: int
    record: ArchiveRecord


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """Conditions, all of which must hold. A record matches if it has any of the sites, tables,
    kinds and types, and every word. Times are compared with those of the records; ``since`` is
    inclusive, ``until`` exclusive. A word matches the beginning of any entry of ``words`` or of
    ``type``, ignoring case.
    """

    sites: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    types: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    session: int | None = None
    round: int | None = None
    after: int = 0
    """Only records with larger numbers."""
    order: Literal["number", "time", "latest"] = "time"
    """``number``: as stored; ``time``: as they happened; ``latest``: by time, newest first."""
    limit: int | None = None


class Gap(msgspec.Struct, frozen=True):
    """Missing events of a table: ``first`` to ``last`` of one boot, inclusive."""

    site: str
    table: str
    boot: str
    first: int
    last: int


class StoreResult(msgspec.Struct, frozen=True):
    """The result of storing records. ``new``: records that were not there yet, with their numbers.
    ``conflicts``: pairs of the stored record and a new one with the same key but other content; a
    stored record is never changed.
    """

    new: tuple[ArchiveRow, ...]
    conflicts: tuple[tuple[ArchiveRecord, ArchiveRecord], ...]


class RetainedRange(msgspec.Struct, frozen=True):
    """Records of a table that a removal must not touch: numbers ``first`` to ``last``."""

    site: str
    table: str
    first: int
    last: int


class Removal(msgspec.Struct, frozen=True):
    """Records to remove: those of a kind with a number up to ``through``, except ``retained``."""

    kind: Kind
    through: int
    retained: tuple[RetainedRange, ...] = ()


def event_key(table: str, boot: str, seq: int) -> str:
    """Return the key of an event."""
    return f"{run_prefix(table, boot)}{seq}"


def run_prefix(table: str, boot: str) -> str:
    """Return how the keys of all events of a table in one boot begin."""
    return f"{table}:{boot}:"


def same_content(first: ArchiveRecord, second: ArchiveRecord) -> bool:
    """True if two records with the same key have the same content. A repeated event may differ in
    being marked ``historical``.
    """
    if first.body == second.body:
        return True
    if first.kind != "event":
        return False
    return first.body.replace(_HISTORICAL, b"") == second.body.replace(_HISTORICAL, b"")


def divide(
    records: Sequence[ArchiveRecord], stored: dict[tuple[str, Kind, str], ArchiveRecord]
) -> tuple[list[ArchiveRecord], list[tuple[ArchiveRecord, ArchiveRecord]]]:
    """Divide records into those that are not there yet, and pairs of a stored record and one with
    the same key but other content. ``stored``: the records that are there, by site, kind and key;
    the new ones are added.
    """
    new, conflicts = list[ArchiveRecord](), list[tuple[ArchiveRecord, ArchiveRecord]]()
    for record in records:
        key = record.site, record.kind, record.key
        known = stored.get(key)
        if known is None:
            stored[key] = record
            new.append(record)
        elif not same_content(known, record):
            conflicts.append((known, record))
    return new, conflicts


class RecordArchive(Protocol):
    """An archive database. Every method may raise :class:`ArchiveError`."""

    def store(self, records: Sequence[ArchiveRecord]) -> StoreResult:
        """Store the records, all or none, and return when they are on disk. A record that is
        already there is not stored again.
        """

    def find(self, query: Query) -> Iterator[ArchiveRow]:
        """Yield the matching records."""

    def newest_number(self) -> int:
        """Return the number of the last stored record, or 0."""

    def gaps(self, site: str) -> list[Gap]:
        """Return the missing events of each boot of each table, up to the boot's last event."""

    def save_value(self, name: str, value: bytes) -> None:
        """Store a value under a name, such as the read position of a consumer."""

    def load_value(self, name: str) -> bytes | None:
        """Return the value stored under a name."""

    def count_removable(self, removal: Removal) -> int:
        """Return how many records :meth:`remove` would remove."""

    def remove(self, removal: Removal) -> int:
        """Remove records. Return how many."""

    def close(self) -> None:
        """Close the connection or the file."""
