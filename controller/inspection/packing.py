"""Entries as the bytes that their hashes cover, packed for a page.

A record is a byte of flags, the length of the text (4 bytes), the position (8 bytes, both big
endian), the hash (32 bytes), the previous hash (32 bytes, only if flag 1 is set: it is not the hash
of the record before), and the text: table, boot, kind, seq, time and mono_ns, each followed by a
newline, then the body. The hash of an entry is the SHA-256 of the previous hash and this text
(:mod:`common.chain.schema`), so a reader hashes what is stored and encodes nothing again.

A block is some records, compressed with gzip.
"""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Iterable, Iterator
from typing import cast, get_args

from common.chain.schema import Entry, Kind
from common.errors import NovamasError

BLOCK_BYTES = 1 << 20
"""Bytes of records after which a block ends."""
MAX_BLOCK_BYTES = 1 << 26
"""Maximum bytes of an unpacked block: a full one, and the longest entry."""
_HEAD = struct.Struct(">BIQ32s")
_KINDS = frozenset(get_args(Kind))
_HASH_BYTES = 32


class ExcerptError(NovamasError, ValueError):
    """A page does not hold an excerpt of a journal. The message says what is wrong."""


def pack(entries: Iterable[Entry], previous: bytes) -> Iterator[bytes]:
    """Yield the entries in blocks. ``previous``: the hash before the first. Raises
    :class:`ExcerptError` for an entry that no daemon writes.
    """
    records, size = list[bytes](), 0
    for entry in entries:
        record = pack_entry(entry, previous)
        previous = entry.hash
        records.append(record)
        size += len(record)
        if size >= BLOCK_BYTES:
            yield gzip.compress(b"".join(records), mtime=0)
            records, size = [], 0
    if records:
        yield gzip.compress(b"".join(records), mtime=0)


def pack_entry(entry: Entry, previous: bytes | None) -> bytes:
    """Return the record of an entry. ``previous``: the hash of the record before, if any."""
    columns = (entry.table, entry.boot, entry.kind, entry.seq, entry.time, entry.mono_ns)
    head = [str(column) for column in columns]
    if any("\n" in column for column in head):
        raise ExcerptError(f"entry {entry.position}: a column holds what no journal does")
    text = "".join(f"{column}\n" for column in head).encode() + entry.body
    follows = entry.previous == previous
    start = _HEAD.pack(0 if follows else 1, len(text), entry.position, entry.hash)
    return start + (b"" if follows else entry.previous) + text


def unpack_entry(record: bytes) -> Entry:
    """Return the entry of a record that has its previous hash. Raises :class:`ExcerptError`."""
    return _entry(record, 0, b"")[0]


def unpack(blocks: Iterable[bytes], previous: bytes) -> Iterator[Entry]:
    """Yield the entries in the blocks. Raises :class:`ExcerptError`."""
    for block in blocks:
        records, at = _inflated(block), 0
        while at < len(records):
            entry, at = _entry(records, at, previous)
            previous = entry.hash
            yield entry


def _inflated(block: bytes) -> bytes:
    inflater = zlib.decompressobj(wbits=31)
    try:
        records = inflater.decompress(block, MAX_BLOCK_BYTES)
    except zlib.error as error:
        raise ExcerptError(f"a block is damaged: {error}") from None
    if not inflater.eof or inflater.unused_data:
        raise ExcerptError("a block is cut off, continues after its end, or is too large")
    return records


def _entry(records: bytes, at: int, previous: bytes) -> tuple[Entry, int]:
    """Return the entry there, and where the next one begins."""
    try:
        flags, length, position, digest = _HEAD.unpack_from(records, at)
    except struct.error:
        raise ExcerptError("a block ends within an entry") from None
    at += _HEAD.size
    if flags == 1:
        previous = records[at : at + _HASH_BYTES]
        at += _HASH_BYTES
    text = records[at : at + length]
    columns = text.split(b"\n", 6)
    if flags > 1 or len(text) < length or len(columns) < 7 or len(previous) < _HASH_BYTES:
        raise ExcerptError(f"entry {position} is not one: it is cut off or has no columns")
    try:
        table, boot, kind, seq, time, mono_ns = (column.decode() for column in columns[:6])
        numbers = _number(seq), _number(mono_ns)
    except ValueError:
        raise ExcerptError(f"entry {position}: its columns hold what no journal does") from None
    if kind not in _KINDS or position >= 1 << 63:
        raise ExcerptError(f"entry {position}: its columns hold what no journal does")
    entry = Entry(
        position,
        table,
        boot,
        cast("Kind", kind),
        numbers[0],
        time,
        numbers[1],
        columns[6],
        previous,
        digest,
    )
    return entry, at + length


def _number(text: str) -> int:
    """Return a number that is written as the hash covers it. Raises ``ValueError``."""
    number = int(text)
    if str(number) != text or not -(1 << 63) <= number < 1 << 63:
        raise ValueError(text)
    return number
