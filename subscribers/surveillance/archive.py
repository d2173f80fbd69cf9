"""The archive: what it keeps, and how it is asked, whatever database it lies in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, Protocol

import msgspec

_HISTORICAL = b',"historical":true'

Kind = Literal[
    "event", "sealed", "alert", "info", "reply", "checkpoint", "finding", "access", "removal"
]
"""``alert``: an alert of a node, a jackpot or a table as retained; ``info``: what a table says of
itself, as its settings; ``finding``: what the recorder itself found wrong; ``access``: somebody was
shown sealed cards; ``removal``: records were removed when their time was over.
"""


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was said, as it was said. ``site``, ``kind`` and ``key`` name it."""

    site: str
    kind: Kind
    key: str
    """What makes it the same when it comes again. Of an event: table, boot and seq. Of a sealed
    card: table and the digest of the box. Of a checkpoint: node, journal and position.
    """
    time: str
    """When it happened, by who said it: UTC, ISO 8601 with microseconds. Where its body has no
    time, when it was heard.
    """
    heard: str
    """When the recorder heard it first: UTC, ISO 8601 with microseconds."""
    body: bytes
    """As it came."""
    table: str = ""
    """The table's id; empty where it belongs to a node or a jackpot."""
    node: str = ""
    """The node that said it, where that is known."""
    boot: str = ""
    """The run of the daemon."""
    seq: int = 0
    """The number of an event; of a sealed card, that of the event before it."""
    type: str = ""
    """Of an event: its type. Of an alert, a finding: what is wrong."""
    session: int = 0
    """The session, where it belongs to one."""
    round: int = 0
    """The round, where it belongs to one."""
    words: tuple[str, ...] = ()
    """What else it is found by: rule ids, articles, irregularities, persons, devices."""


class Row(msgspec.Struct, frozen=True):
    """A record and its place in the archive. ``number`` grows with each record that is kept, from
    1, and is never given twice.
    """

    number: int
    record: Record


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """What is looked for: all that is given must hold. Of several sites, tables, kinds or types,
    one must; of several words, each. Times are those of the records, written as theirs; ``since``
    is included, ``until`` is not. A word is found in ``words`` and ``type`` by its beginning,
    whatever its case.
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
    """Only records of larger numbers."""
    order: Literal["number", "time", "latest"] = "time"
    """``number``: as they were kept; ``time``: as they happened; ``latest``: the same, the last one
    first.
    """
    limit: int | None = None


class Gap(msgspec.Struct, frozen=True):
    """Events of a table that are missing: from ``first`` to ``last`` of one boot."""

    site: str
    table: str
    boot: str
    first: int
    last: int


class Kept(msgspec.Struct, frozen=True):
    """What became of records. ``new``: those that were not there, with their numbers. ``differ``:
    pairs of what is there and of what was said under the same name; what is there is never changed.
    """

    new: tuple[Row, ...]
    differ: tuple[tuple[Record, Record], ...]


class Spared(msgspec.Struct, frozen=True):
    """Records of a table that stay: from number ``first`` to ``last``."""

    site: str
    table: str
    first: int
    last: int


class Removal(msgspec.Struct, frozen=True):
    """What is to be removed: the records of a kind up to the number ``through``."""

    kind: Kind
    through: int
    spared: tuple[Spared, ...] = ()


def same(one: Record, other: Record) -> bool:
    """Whether two records of the same name say the same: an event that is told again says that it
    is, and that alone may differ.
    """
    if one.body == other.body:
        return True
    if one.kind != "event":
        return False
    return one.body.replace(_HISTORICAL, b"") == other.body.replace(_HISTORICAL, b"")


class Archive(Protocol):
    """A database. Every method may raise :class:`ArchiveError`."""

    def keep(self, records: Sequence[Record]) -> Kept:
        """Keep them, all or none, on the disk before it returns. What is there already is not kept
        again.
        """

    def find(self, query: Query) -> Iterator[Row]:
        """What matches."""

    def newest(self) -> int:
        """The number of the record that was kept last; 0 before the first."""

    def gaps(self, site: str) -> list[Gap]:
        """What is missing within the boots of each table, up to the last event of each."""

    def last(self, site: str, table: str) -> Record | None:
        """The event of a table that happened last: the largest ``seq`` of its newest boot."""

    def remember(self, name: str, value: bytes) -> None:
        """Keep a value under a name, such as how far a reader of the archive has come."""

    def recall(self, name: str) -> bytes | None:
        """The value under a name."""

    def doomed(self, what: Removal) -> int:
        """How many records ``drop`` would remove."""

    def drop(self, what: Removal) -> int:
        """Remove records. Returns how many."""

    def close(self) -> None:
        """End."""
