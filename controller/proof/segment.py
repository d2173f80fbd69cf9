"""Segments: the sealed days of a journal, gzip-compressed JSON lines.

The first line is the header, then comes one line per entry, and last a checkpoint of the last entry, signed. A segment is
never changed; ``<journal>.segments/<day>-<journal id>-<first position>-<last position>.jsonl.gz``.
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import msgspec

from controller.journal.schema import Entry, Kind, chained
from controller.proof.checkpoint import Checkpoint

FORMAT = "novamas segment 1"


class Header(msgspec.Struct, frozen=True):
    """The first line. ``after``: the position before the first entry; ``previous``: its hash; ``last``: the position of the last
    entry; ``base``: the position before the first one of the whole chain.
    """

    format: str
    journal: str
    base: int
    day: str
    after: int
    last: int
    previous: str


class Line(msgspec.Struct, frozen=True):
    """One entry. The hash before it is that of the line before."""

    position: int
    table: str
    boot: str
    kind: Kind
    seq: int
    time: str
    mono_ns: int
    body: str
    hash: str


class Broken(Exception):
    """A segment cannot be read to its end. The message names the file and says why."""


_NAME = re.compile(r"\d{4}-\d\d-\d\d-[0-9a-f]{8}-\d{12}-\d{12}\.jsonl\.gz")


def folder(journal: Path) -> Path:
    """Where the segments of a journal are."""
    return journal.with_name(f"{journal.name}.segments")


def segments(journal: Path) -> list[Path]:
    """The sealed segments, by day."""
    return sorted(path for path in folder(journal).glob("*.jsonl.gz") if _NAME.fullmatch(path.name))


def name(header: Header) -> str:
    """The name of a segment's file."""
    return f"{header.day}-{header.journal[:8]}-{header.after + 1:012d}-{header.last:012d}.jsonl.gz"


def span(path: Path) -> tuple[str, str, int, int]:
    """Day, first eight digits of the journal's id, first and last position, as the name of a segment tells them."""
    day, journal, first, last = path.name.removesuffix(".jsonl.gz").rsplit("-", 3)
    return day, journal, int(first), int(last)


def write_segment(path: Path, header: Header, entries: Iterable[Entry], checkpoint: Checkpoint) -> None:
    """Write a segment, read it back, and only then give it its name. Raises ``OSError`` and :class:`Broken`."""
    part = path.with_name(f"{path.name}.part")
    encode = msgspec.json.encode
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as raw:
            with gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6, mtime=0) as file:
                file.write(encode(header) + b"\n")
                for entry in entries:
                    file.write(encode(_line(entry)) + b"\n")
                file.write(encode(checkpoint) + b"\n")
            raw.flush()
            os.fsync(raw.fileno())
        _check(part, checkpoint)
        part.replace(path)
        descriptor = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except BaseException:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise


class Segment:
    """A segment, read line by line. Raises :class:`Broken` where it cannot be."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.checkpoint: Checkpoint | None = None
        """The last line, once all entries were read."""
        self._lines = _lines(path)
        try:
            self.header = msgspec.json.decode(next(self._lines), type=Header)
        except StopIteration:
            raise Broken(f"{path}: empty") from None
        except ValueError as error:
            raise Broken(f"{path}: no segment: {error}") from None
        if self.header.format != FORMAT:
            raise Broken(f"{path}: written in the format {self.header.format!r}, not {FORMAT!r}")

    def close(self) -> None:
        """Close the file."""
        self._lines.close()  # type: ignore[attr-defined]

    def entries(self) -> Iterator[Entry]:
        """The entries in order, as they stand."""
        previous = self.header.previous
        line = next(self._lines, None)
        for following in self._lines:
            assert line is not None
            try:
                entry = msgspec.json.decode(line, type=Line)
                yield _entry(entry, previous)
            except ValueError as error:
                raise Broken(f"{self.path}: the line after that of hash {previous[:16]}... is no entry: {error}") from None
            previous, line = entry.hash, following
        try:
            self.checkpoint = msgspec.json.decode(line or b"", type=Checkpoint)
        except ValueError:
            raise Broken(f"{self.path}: it does not end with a checkpoint: it was cut") from None


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with gzip.open(path, "rb") as file:
            for line in file:
                yield line.rstrip(b"\n")
    except (OSError, EOFError, zlib.error) as error:
        raise Broken(f"{path}: {error}") from None


def _line(entry: Entry) -> Line:
    return Line(
        position=entry.position,
        table=entry.table,
        boot=entry.boot,
        kind=entry.kind,
        seq=entry.seq,
        time=entry.time,
        mono_ns=entry.mono_ns,
        body=entry.body.decode("utf-8", "surrogateescape"),
        hash=entry.hash.hex(),
    )


def _entry(line: Line, previous: str) -> Entry:
    return Entry(
        position=line.position,
        table=line.table,
        boot=line.boot,
        kind=line.kind,
        seq=line.seq,
        time=line.time,
        mono_ns=line.mono_ns,
        body=line.body.encode("utf-8", "surrogateescape"),
        previous=bytes.fromhex(previous),
        hash=bytes.fromhex(line.hash),
    )


def _check(path: Path, checkpoint: Checkpoint) -> None:
    """Whether what was written can be read, holds together and ends as it should. Raises :class:`Broken`."""
    with closing(Segment(path)) as segment:
        expected, digest = segment.header.after, b""
        for entry in segment.entries():
            expected += 1
            digest = chained(entry.previous, entry.table, entry.boot, entry.kind, entry.seq, entry.time, entry.mono_ns, entry.body)
            if (entry.position, entry.hash) != (expected, digest):
                raise Broken(f"{path}: entry {expected} does not hold")
        if (expected, digest.hex()) != (checkpoint.position, checkpoint.hash) or expected != segment.header.last:
            raise Broken(f"{path}: it ends otherwise than it should")
