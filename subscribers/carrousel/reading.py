"""Reading a ledger: its entries in order, each with its postings. A controller may be writing to
it; a reader sees the state at which reading began.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from common.chain.checkpoint import last_checkpoint
from common.chain.schema import READ_ERRORS, ChainHead
from common.contract.jackpot import STATE_FIELDS
from subscribers.carrousel.facts import Fact, OrderGiven
from subscribers.carrousel.schema import (
    LEDGER_FORMAT,
    Cursor,
    EntryRow,
    LedgerError,
    PostingRow,
    find_schema_flaw,
    genesis,
    is_next_entry,
)

_ENTRIES_QUERY = "SELECT * FROM entry WHERE position > ? AND position <= ? ORDER BY position"
_POSTINGS_QUERY = (
    "SELECT * FROM posting WHERE position > ? AND position <= ? ORDER BY position, line"
)

_fact = msgspec.json.Decoder(Fact).decode
_NAMED_FIELD_DEFAULTS: dict[str, int | str] = {"paid": 0, "gap": "", "generation": 1}
"""Values for a field that orders to older releases did not have. They are not checked."""


def read_fact(body: bytes) -> Fact:
    """Decode a stored fact, also of an older release. Raises ``msgspec.MsgspecError``,
    ``UnicodeDecodeError`` and ``RecursionError`` if it cannot be decoded.
    """
    try:
        fact: Fact = _fact(body)
        return fact
    except msgspec.ValidationError:
        older = _fill_named_field(msgspec.json.decode(body))
        if older is None:
            raise
        order: OrderGiven = msgspec.convert(older, OrderGiven)
        return order


def _fill_named_field(fact: Any) -> dict[str, Any] | None:
    """Return an order that does not name the state its signers saw, with that field filled in; None
    if it is not such an order.
    """
    match fact:
        case {"fact": "ordered", "order": {"type": str(kind)} as order}:
            for named, field in STATE_FIELDS.items():
                if str(named.__struct_config__.tag) == kind and order.get(field) is None:
                    filled = {**order, field: _NAMED_FIELD_DEFAULTS[field]}
                    return {**fact, "order": filled, "unnamed": True}
    return None


class LedgerReader:
    """A read-only ledger. ``kept``: the checkpoint beside it, which is read first, so that the
    entries of a ledger in use go at least as far. Raises :class:`LedgerError` if the file is not a
    ledger.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.kept = path, last_checkpoint(path)
        try:
            self.connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None
            )
        except sqlite3.Error as error:
            raise LedgerError(f"{path}: {error}; name the file of a carrousel") from None
        try:
            self.connection.text_factory = _text
            self.connection.execute("BEGIN")
            self.id = ledger_id(self.connection, path)
            self.genesis = ChainHead(0, genesis(self.id))
            self.head = read_head(self.connection, self.genesis)
        except READ_ERRORS as error:
            self.connection.close()
            raise LedgerError(
                f"{path}: cannot be read as a ledger: {error}; name the file of a carrousel"
            ) from None
        except BaseException:
            self.connection.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    def entries(
        self, after: int = 0, through: int | None = None
    ) -> Iterator[tuple[EntryRow, list[PostingRow]]]:
        """Yield the entries after a position, through another one, each with its postings."""
        end = self.head.position if through is None else through
        return read_entries(self.connection, after, end)

    def hash_at(self, position: int) -> bytes | None:
        """Return the hash of an entry, or None if there is no such entry."""
        return self.genesis.hash if position == 0 else hash_at(self.connection, position)


def _text(value: bytes) -> str:
    """Decode a text. A damaged one becomes a string that matches no hash."""
    return value.decode("utf-8", "surrogateescape")


def ledger_id(connection: sqlite3.Connection, path: Path) -> str:
    """Return the id of the ledger. Raises :class:`LedgerError` for the file of another release, and
    ``sqlite3.Error`` for other files.
    """
    meta = dict(connection.execute("SELECT key, value FROM meta"))
    if meta.get("version") != str(LEDGER_FORMAT):
        raise LedgerError(
            f"{path}: the ledger has format {meta.get('version')}; this release reads format "
            f"{LEDGER_FORMAT}. Use the release that wrote it"
        )
    if meta.keys() != {"id", "version"}:
        raise LedgerError(f"{path}: its table meta was changed; restore the right file")
    return str(meta["id"])


def read_head(connection: sqlite3.Connection, start: ChainHead) -> ChainHead:
    """Return the end of the chain."""
    row = connection.execute(
        "SELECT position, hash FROM entry ORDER BY position DESC LIMIT 1"
    ).fetchone()
    return start if row is None else ChainHead(*row)


def hash_at(connection: sqlite3.Connection, position: int) -> bytes | None:
    """Return the hash of an entry, or None if there is no such entry."""
    row = connection.execute("SELECT hash FROM entry WHERE position = ?", (position,)).fetchone()
    return None if row is None else row[0]


def read_entries(
    connection: sqlite3.Connection, after: int, through: int
) -> Iterator[tuple[EntryRow, list[PostingRow]]]:
    """Yield the entries after a position, through another one, each with its postings. Postings
    without an entry are added to the next entry, whose hash then does not match.
    """
    groups = groupby(
        connection.execute(_POSTINGS_QUERY, (after, through)), key=lambda posting: posting[0]
    )
    group = next(groups, None)
    for columns in connection.execute(_ENTRIES_QUERY, (after, through)):
        row, postings = EntryRow(*columns), list[PostingRow]()
        while group is not None and group[0] <= row.position:
            postings += [PostingRow(*posting[1:]) for posting in group[1]]
            group = next(groups, None)
        yield row, postings


def find_broken_entry(connection: sqlite3.Connection, after: ChainHead, through: int) -> int | None:
    """Return the first position after ``after`` at which the chain is broken, or None."""
    before = after
    for row, postings in read_entries(connection, after.position, through):
        if not is_next_entry(row, postings, before):
            return before.position + 1
        before = ChainHead(row.position, row.hash)
    return None


def saved_states(connection: sqlite3.Connection) -> dict[str, tuple[int, bytes]]:
    """Return the last saved state of each jackpot, and after which entry it was saved."""
    return {
        jackpot: (position, state)
        for jackpot, position, state in connection.execute(
            "SELECT jackpot, position, state FROM saved ORDER BY jackpot"
        )
    }


def cursors(connection: sqlite3.Connection) -> dict[str, Cursor]:
    """Return the cursor of each table."""
    return {row[0]: Cursor(*row) for row in connection.execute("SELECT * FROM cursor")}


def find_file_flaw(connection: sqlite3.Connection) -> str | None:
    """Return what SQLite finds wrong with the file, or how it differs from a ledger; else None.
    Raises ``sqlite3.Error``.
    """
    result = str(connection.execute("PRAGMA integrity_check(1)").fetchone()[0])
    return find_schema_flaw(connection) if result == "ok" else result
