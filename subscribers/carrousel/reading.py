"""Reading a ledger: its entries in order, each with its postings. A controller may be writing to it
meanwhile; whoever reads sees it as it was when reading began.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from controller.contract.jackpot import NAMED
from controller.journal.schema import READ_ERRORS, ChainHead
from controller.proof.checkpoint import kept
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
"""What stands in a field that orders to older releases did not have. It is not checked."""


def read_fact(body: bytes) -> Fact:
    """A fact as it is stored, also by an older release. Raises ``msgspec.MsgspecError``,
    ``UnicodeDecodeError`` and ``RecursionError`` for what is none.
    """
    try:
        fact: Fact = _fact(body)
        return fact
    except msgspec.ValidationError:
        former = _fill_named_field(msgspec.json.decode(body))
        if former is None:
            raise
        found: OrderGiven = msgspec.convert(former, OrderGiven)
        return found


def _fill_named_field(fact: Any) -> dict[str, Any] | None:
    """An order that does not name the state that its signers saw, with that field filled in; None:
    it is no such order.
    """
    match fact:
        case {"fact": "ordered", "order": {"type": str(kind)} as order}:
            for named, field in NAMED.items():
                if str(named.__struct_config__.tag) == kind and order.get(field) is None:
                    filled = {**order, field: _NAMED_FIELD_DEFAULTS[field]}
                    return {**fact, "order": filled, "unnamed": True}
    return None


class LedgerReader:
    """A ledger that is only read. ``kept``: the checkpoint beside it, which is read first: of a
    ledger in use, the entries that are read go at least as far. Raises :class:`LedgerError` where
    it is none.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.kept = path, kept(path)
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
        """The entries after a position, up to and with another one, each with its postings."""
        end = self.head.position if through is None else through
        return read_entries(self.connection, after, end)

    def hash_at(self, position: int) -> bytes | None:
        """The hash of an entry; None: there is none."""
        return self.genesis.hash if position == 0 else hash_at(self.connection, position)


def _text(value: bytes) -> str:
    """A text, or what is none any more: it fits no hash."""
    return value.decode("utf-8", "surrogateescape")


def ledger_id(connection: sqlite3.Connection, path: Path) -> str:
    """The id of the ledger. Raises :class:`LedgerError` for the file of another release, and
    ``sqlite3.Error`` for what is no ledger.
    """
    meta = dict(connection.execute("SELECT key, value FROM meta"))
    if meta.get("version") != str(LEDGER_FORMAT):
        raise LedgerError(
            f"{path}: the ledger has format {meta.get('version')}; this release reads format "
            f"{LEDGER_FORMAT}. Use the release that wrote it"
        )
    if meta.keys() != {"id", "version"}:
        raise LedgerError(f"{path}: its table meta was changed; put the right file back")
    return str(meta["id"])


def read_head(connection: sqlite3.Connection, begins: ChainHead) -> ChainHead:
    """The end of the chain."""
    row = connection.execute(
        "SELECT position, hash FROM entry ORDER BY position DESC LIMIT 1"
    ).fetchone()
    return begins if row is None else ChainHead(*row)


def hash_at(connection: sqlite3.Connection, position: int) -> bytes | None:
    """The hash of an entry; None: there is none."""
    row = connection.execute("SELECT hash FROM entry WHERE position = ?", (position,)).fetchone()
    return None if row is None else row[0]


def read_entries(
    connection: sqlite3.Connection, after: int, through: int
) -> Iterator[tuple[EntryRow, list[PostingRow]]]:
    """The entries after a position, up to and with another one, each with its postings. Postings
    without an entry come with the next one, where its hash does not hold for them.
    """
    groups = groupby(
        connection.execute(_POSTINGS_QUERY, (after, through)), key=lambda each: each[0]
    )
    waiting = next(groups, None)
    for found in connection.execute(_ENTRIES_QUERY, (after, through)):
        row, postings = EntryRow(*found), list[PostingRow]()
        while waiting is not None and waiting[0] <= row.position:
            postings += [PostingRow(*each[1:]) for each in waiting[1]]
            waiting = next(groups, None)
        yield row, postings


def find_broken_entry(connection: sqlite3.Connection, after: ChainHead, through: int) -> int | None:
    """The first position after ``after`` at which the chain does not hold; None: it holds."""
    before = after
    for row, postings in read_entries(connection, after.position, through):
        if not is_next_entry(row, postings, before):
            return before.position + 1
        before = ChainHead(row.position, row.hash)
    return None


def saved_states(connection: sqlite3.Connection) -> dict[str, tuple[int, bytes]]:
    """By jackpot: the state that was saved last, and after which entry."""
    return {
        jackpot: (position, state)
        for jackpot, position, state in connection.execute(
            "SELECT jackpot, position, state FROM saved ORDER BY jackpot"
        )
    }


def cursors(connection: sqlite3.Connection) -> dict[str, Cursor]:
    """The last event of each table that was dealt with."""
    return {row[0]: Cursor(*row) for row in connection.execute("SELECT * FROM cursor")}


def find_file_flaw(connection: sqlite3.Connection) -> str | None:
    """What SQLite finds wrong with the file, or what is not as in a ledger. Raises
    ``sqlite3.Error``.
    """
    found = str(connection.execute("PRAGMA integrity_check(1)").fetchone()[0])
    return find_schema_flaw(connection) if found == "ok" else found
