"""Segments: the sealed days of a journal, as gzip-compressed JSON lines.

The first line is the header, then one line per entry, and last a signed checkpoint of the last
entry. A segment is never changed. Its name: ``<journal>.segments/<day>-<journal id>-<first
position>-<last position>.jsonl.gz``.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Annotated

import msgspec

from common.chain.checkpoint import read_checkpoint
from common.chain.schema import Entry, Kind, has_valid_hash
from common.contract.node import Checkpoint
from common.errors import NovamasError
from common.new_file import replacing, sync_folder
from controller.proof.pace import Throttle

FORMAT = "novamas segment 1"

Position = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]


class SegmentHeader(msgspec.Struct, frozen=True):
    """The first line. ``after``: the position before the first entry; ``previous``: the hash at it;
    ``last``: the position of the last entry; ``base``: the position before the first entry of the
    whole chain. ``counted``: the seconds for which daemons had run with the journal when the day
    was sealed; 0 in releases that did not count.
    """

    format: str
    journal: str
    base: Position
    day: str
    after: Position
    last: Position
    previous: str
    counted: Position = 0


class SegmentLine(msgspec.Struct, frozen=True):
    """One entry. Its previous hash is that of the line before."""

    position: Position
    table: str
    boot: str
    kind: Kind
    seq: Position
    time: str
    mono_ns: Position
    body: str
    hash: str


class BrokenSegmentError(NovamasError):
    """Something that should hold entries cannot be read to its end. The message names the file and
    says why.
    """


class UnreadableSegmentError(BrokenSegmentError):
    """The file could not be read, or the disk failed: nothing is known about its content."""


MAX_LINE_BYTES = 1 << 24
"""Maximum bytes of a line; entries have up to a few hundred thousand."""
DECODE_ERRORS = (ValueError, RecursionError)
"""What decoding JSON from a foreign source may raise."""


_NAME = re.compile(r"\d{4}-\d\d-\d\d-[0-9a-f]{8}-\d{12}-\d{12}\.jsonl\.gz")


def folder(journal: Path) -> Path:
    """Return the folder of a journal's segments."""
    return journal.with_name(f"{journal.name}.segments")


def segments(journal: Path) -> list[Path]:
    """Return the sealed segments, by day."""
    return sorted(path for path in folder(journal).glob("*.jsonl.gz") if _NAME.fullmatch(path.name))


def name(header: SegmentHeader) -> str:
    """Return the file name of a segment."""
    return f"{header.day}-{header.journal[:8]}-{header.after + 1:012d}-{header.last:012d}.jsonl.gz"


def span(path: Path) -> tuple[str, str, int, int]:
    """Return the day, the first eight digits of the journal's id, and the first and last position
    from the name of a segment.
    """
    day, journal, first, last = path.name.removesuffix(".jsonl.gz").rsplit("-", 3)
    return day, journal, int(first), int(last)


def header(path: Path) -> SegmentHeader:
    """Read the first line. Raises :class:`BrokenSegmentError`."""
    with closing(Segment(path)) as segment:
        return segment.header


def write_segment(
    path: Path,
    header: SegmentHeader,
    entries: Iterable[Entry],
    checkpoint: Checkpoint,
    pace: Throttle | None = None,
) -> None:
    """Write a segment, read it back, and only then give it its name. Raises ``OSError``,
    :class:`BrokenSegmentError` and :class:`EndedError`.
    """
    pace = pace or Throttle()
    encode = msgspec.json.encode
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        replacing(path, finish=lambda part: _check(part, checkpoint, pace)) as raw,
        gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6, mtime=0) as file,
    ):
        file.write(encode(header) + b"\n")
        for entry in pace.paced(entries):
            file.write(encode(_line(entry)) + b"\n")
        file.write(encode(checkpoint) + b"\n")
    sync_folder(path.parent)


class Segment:
    """A segment, read line by line. Raises :class:`BrokenSegmentError` if that fails."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.checkpoint: Checkpoint | None = None
        """The last line, once all entries are read."""
        self._lines = _lines(path)
        first = next(self._lines, None)
        if first is None:
            raise BrokenSegmentError(f"{path}: empty")
        try:
            self.header = msgspec.json.decode(first, type=SegmentHeader)
            self.previous = bytes.fromhex(self.header.previous)
        except DECODE_ERRORS:
            raise BrokenSegmentError(
                f"{path}: its first line is not the header of a sealed day"
            ) from None
        if self.header.format != FORMAT:
            raise BrokenSegmentError(
                f"{path}: written in the format {self.header.format[:40]!r}; this software reads "
                f"{FORMAT!r}"
            )

    def close(self) -> None:
        """Close the file."""
        self._lines.close()  # type: ignore[attr-defined]

    def entries(self) -> Iterator[Entry]:
        """Yield the entries in order, as stored."""
        previous = self.header.previous
        line = next(self._lines, None)
        for number, following in enumerate(self._lines, 2):
            assert line is not None
            try:
                entry = msgspec.json.decode(line, type=SegmentLine)
                yield _entry(entry, previous)
            except DECODE_ERRORS:
                raise BrokenSegmentError(f"{self.path}: line {number} is not an entry") from None
            previous, line = entry.hash, following
        self.checkpoint = read_checkpoint(line or b"")
        if self.checkpoint is None:
            raise BrokenSegmentError(
                f"{self.path}: it does not end with a checkpoint: it was cut off"
            )


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with gzip.open(path, "rb") as file:
            while line := file.readline(MAX_LINE_BYTES):
                if len(line) == MAX_LINE_BYTES:
                    raise BrokenSegmentError(
                        f"{path}: a line is longer than {MAX_LINE_BYTES >> 20} MiB, which no entry "
                        "is"
                    )
                yield line.rstrip(b"\n")
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BrokenSegmentError(f"{path}: {error}") from None
    except OSError as error:
        raise UnreadableSegmentError(
            f"{path}: {error.strerror or error}; run this as a user who may read the file"
        ) from None


def _line(entry: Entry) -> SegmentLine:
    return SegmentLine(
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


def _entry(line: SegmentLine, previous: str) -> Entry:
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


def _check(path: Path, checkpoint: Checkpoint, pace: Throttle) -> None:
    """Check that the new file can be read, holds together and ends correctly. Raises
    :class:`BrokenSegmentError` and :class:`EndedError`.
    """
    with closing(Segment(path)) as segment:
        expected, digest = segment.header.after, b""
        for entry in pace.paced(segment.entries()):
            expected += 1
            digest = entry.hash
            if entry.position != expected or not has_valid_hash(entry):
                raise BrokenSegmentError(f"{path}: entry {expected} does not hold")
        if (expected, digest.hex()) != (
            checkpoint.position,
            checkpoint.hash,
        ) or expected != segment.header.last:
            raise BrokenSegmentError(f"{path}: it ends otherwise than it should")
