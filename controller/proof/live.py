"""Reads the live file of a journal without trusting its content: a cell of the wrong type is
reported.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast, get_args

import msgspec

from common.chain.schema import (
    VERSION,
    ChainHead,
    Entry,
    Kind,
    genesis,
    is_damage,
    is_invalid_content,
    may_be_intact,
    unread_page,
)
from controller.proof.segment import BrokenSegmentError, UnreadableSegmentError

SQLITE_MAGIC = b"SQLite format 3\0"
"""The first bytes of the file."""
HASH_BYTES = 32
"""Bytes of a SHA-256."""
POSITION_LIMIT = 1 << 63
"""One more than the largest number that a cell can hold."""

_KINDS = frozenset(get_args(Kind))
_COLUMNS = (
    "position",
    "table_id",
    "boot",
    "kind",
    "seq",
    "time",
    "mono_ns",
    "CAST(body AS BLOB)",
    "previous",
    "hash",
)
_ENTRIES = f"SELECT {', '.join(_COLUMNS)} FROM entry WHERE position > ? ORDER BY position"  # noqa: S608 - our own names


class Saved(msgspec.Struct, frozen=True):
    """A row of the table ``saved``: the state of ``table`` after the entry at ``position``."""

    table: str
    state: bytes
    position: int


class _Text(bytes):
    """A text cell as stored, distinct from a blob. It may not be valid UTF-8."""


class LiveFile:
    """An open live file. Raises :class:`UnreadableSegmentError` if it cannot be read or is not a
    journal, and :class:`BrokenSegmentError` if its content is invalid.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection = _connect(path)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def id(self) -> str:
        """Return the id of the file."""
        meta = self._meta()
        if "id" not in meta:
            raise BrokenSegmentError(f"{self.path}: it has no id (table meta)")
        if (version := meta.get("version")) != str(VERSION):
            raise UnreadableSegmentError(
                f"{self.path}: a journal of version {version}; this software reads version "
                f"{VERSION}"
            )
        return meta["id"]

    def base(self) -> int:
        """Return the position before the first entry that the file ever had."""
        return self._position("base", self._meta().get("base", "0"))

    def beginning(self) -> ChainHead:
        """Return the point after which it has entries: the genesis, or the last entry that is only
        in a segment.
        """
        meta = self._meta()
        if not {"cut", "cut_hash"} <= meta.keys():
            return ChainHead(self.base(), genesis(self.id()))
        try:
            before = bytes.fromhex(meta["cut_hash"])
        except ValueError:
            before = b""
        if len(before) != HASH_BYTES:
            raise BrokenSegmentError(f"{self.path}: cut_hash in the table meta is not a hash")
        return ChainHead(self._position("cut", meta["cut"]), before)

    def last(self) -> int:
        """Return the position of the last entry; 0 without one."""
        found = self._one("SELECT max(position) FROM entry")
        return found if isinstance(found, int) else 0

    def strays(self, through: int) -> int:
        """Return the number of entries up to that position, where there should be none."""
        found = self._one("SELECT count(*) FROM entry WHERE position <= ?", through)
        return found if isinstance(found, int) else 0

    def saved(self) -> list[Saved]:
        """Return the latest state of each table."""
        rows = []
        for number, (table, state, position) in enumerate(
            self._rows("SELECT table_id, state, position FROM saved"), 1
        ):
            named = _decoded(table)
            if (
                named is None
                or not isinstance(state, bytes)
                or type(position) is not int
                or position < 0
            ):
                raise BrokenSegmentError(
                    f"{self.path}: row {number} of the table saved ({named!r}) holds what no "
                    "journal does"
                )
            rows.append(Saved(named, bytes(state), position))
        return sorted(rows, key=lambda row: row.table)

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """Yield the entries after that position."""
        for row in self._rows(_ENTRIES, after):
            position, table, boot, kind, seq, time, mono_ns, body, previous, digest = row
            words = [_decoded(each) for each in (table, boot, kind, time)]
            cells = {
                **dict(
                    zip(
                        ("table_id", "boot", "kind", "time"),
                        (word is not None for word in words),
                        strict=True,
                    )
                ),
                "seq": type(seq) is int,
                "mono_ns": type(mono_ns) is int,
                "body": type(body) is bytes,
                "previous": type(previous) is bytes and len(previous) == HASH_BYTES,
                "hash": type(digest) is bytes and len(digest) == HASH_BYTES,
            }
            if bad := [name for name, sound in cells.items() if not sound]:
                raise BrokenSegmentError(
                    f"{self.path}: entry {position}: its {bad[0]} holds what no journal does"
                )
            if words[2] not in _KINDS:
                raise BrokenSegmentError(
                    f"{self.path}: entry {position}: there is no kind {words[2]!r}"
                )
            texts = cast("tuple[str, str, Kind, str]", tuple(words))
            yield Entry(position, *texts[:3], seq, texts[3], mono_ns, body, previous, digest)

    def boots(self, after: int) -> list[int]:
        """Return the positions of the ``boot`` entries after that position."""
        rows = self._rows("SELECT position FROM entry WHERE position > ? AND kind = 'boot'", after)
        return [position for (position,) in rows]

    def damage(self) -> str | None:
        """Return what SQLite finds wrong with the whole file, or None."""
        found = self._one("PRAGMA quick_check(1)")
        text = found.decode("utf-8", "replace") if isinstance(found, bytes) else str(found)
        if unread_page(text) is not None:
            raise UnreadableSegmentError(
                f"{self.path}: {text}; the disk does not return it: copy the file, and look at the "
                "disk"
            )
        return None if text == "ok" else text

    def _meta(self) -> dict[str, str]:
        meta: dict[str, str] = {}
        for key, value in self._rows("SELECT key, value FROM meta"):
            name, text = _decoded(key), _decoded(value)
            if name is None or text is None:
                raise BrokenSegmentError(
                    f"{self.path}: the table meta holds what no journal does ({key!r})"
                )
            meta[name] = text
        return meta

    def _position(self, key: str, text: str) -> int:
        if (
            not text.isascii()
            or not text.isdigit()
            or len(text) > 19
            or int(text) >= POSITION_LIMIT
        ):
            raise BrokenSegmentError(
                f"{self.path}: {key} in the table meta is not a position: {text[:40]!r}"
            )
        return int(text)

    def _one(self, statement: str, *parameters: int) -> Any:
        return next(self._rows(statement, *parameters), (None,))[0]

    def _rows(self, statement: str, *parameters: int) -> Iterator[tuple[Any, ...]]:
        try:
            yield from self._connection.execute(statement, parameters)
        except sqlite3.Error as error:
            kind = (
                BrokenSegmentError
                if is_invalid_content(error) and not (is_damage(error) and may_be_intact(self.path))
                else UnreadableSegmentError
            )
            raise kind(f"{self.path}: {error}") from None


def _decoded(cell: object) -> str | None:
    """Return the text of a cell; None if it is not valid text."""
    if type(cell) is not _Text:
        return None
    try:
        return cell.decode()
    except UnicodeDecodeError:
        return None


def _connect(path: Path) -> sqlite3.Connection:
    """Open a read-only connection to a file that has the tables of a journal."""
    try:
        with path.open("rb") as file:
            head = file.read(len(SQLITE_MAGIC))
    except OSError as error:
        raise UnreadableSegmentError(
            f"{path}: {error.strerror}; run this as a user who may read the file"
        ) from None
    if head != SQLITE_MAGIC:
        raise UnreadableSegmentError(
            f"{path}: not a journal; name the SQLite file of a daemon (journal.path in its "
            "configuration)"
        )
    try:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None
        )
        connection.text_factory = _Text
        tables = {
            bytes(name)
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }
    except (sqlite3.Error, TypeError) as error:
        raise UnreadableSegmentError(
            f"{path}: {error}; copy it, with the file -wal if there is one, to where you may "
            "write, and read the copy"
        ) from None
    if not {b"meta", b"entry"} <= tables:
        raise UnreadableSegmentError(
            f"{path}: an SQLite file, and not a journal; name that of a daemon (journal.path in "
            "its configuration)"
        )
    return connection
