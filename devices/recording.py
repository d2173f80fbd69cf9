r"""Recordings: the bytes sent and received on a link, with their times, as text.

The format: header lines ``# key: value`` (device, driver, link, framing, note, started), then one
line per chunk::


    2025-09-23T07:25:28.384000Z < *X;2;002;32;0;174;1\r\n

The time is ISO 8601 (UTC if it names no zone) or plain seconds; ``<`` means from the device, ``>``
to it; the payload has backslash escapes (see :func:`devices.readings.escape`). ``framing: raw``
keeps every byte as it was read; ``framing: line``, the default, leaves out the ``\r\n`` that ends
each payload.

A line that does not follow the format is skipped and listed as a problem. So is a last line without
a line end: the writer was interrupted there, and an incomplete line is never completed.
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
import threading
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Literal

import msgspec

from devices.errors import NovamasError
from devices.new_file import PRIVATE, new_file
from devices.readings import escape, unescape

Framing = Literal["line", "raw"]
LINE_END = b"\r\n"
LATEST = 253_402_300_799.0
"""Seconds from 1970 to the end of the year 9999."""

_SECONDS = re.compile(r"\d+(\.\d+)?")
_HEADER = re.compile(r"([A-Za-z][\w-]*):\s*(.*)")
# Not a valid escape, so a line that the writer did not finish cannot be mistaken for a complete
# one.
_CUT = rb"\cut"


class RecordingError(NovamasError, ValueError):
    """A file that cannot be used as a recording: ``path``, ``line`` (0: the whole file) and
    ``what``.
    """

    def __init__(self, path: Path, line: int, what: str) -> None:
        super().__init__(f"{path}:{line}: {what}" if line else f"{path}: {what}")
        self.path, self.line, self.what = path, line, what


class Chunk(msgspec.Struct, frozen=True):
    """Bytes read (or written: ``sent``) at once. ``at`` is seconds on the recording's own clock,
    which never goes back.
    """

    at: float
    data: bytes
    sent: bool = False


class Problem(msgspec.Struct, frozen=True):
    """A line that was skipped, or whose time was corrected, and why."""

    line: int
    what: str


class Recording(msgspec.Struct, frozen=True):
    """A recording that was read. ``start + chunk.at`` is the time of a chunk as written.

    If times are absolute, ``start`` is the time of the first chunk in seconds since 1970 and chunks
    count from it; otherwise it is 0.
    """

    header: dict[str, str]
    framing: Framing
    start: float
    chunks: list[Chunk]
    problems: list[Problem]

    def __iter__(self) -> Iterator[Chunk]:
        return iter(self.chunks)

    def __len__(self) -> int:
        return len(self.chunks)


class RecordingReader:
    """Reads a recording, plain or compressed (``.gz``), chunk by chunk: each iteration from its
    beginning. ``start`` is known with the first chunk, ``header`` and ``framing`` too; ``problems``
    are those so far. Raises :class:`RecordingError` if the file cannot be read or its framing is
    unknown.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.header: dict[str, str] = {}
        self.framing: Framing = "line"
        self.start = 0.0
        self.problems: list[Problem] = []
        self._file: BinaryIO | None = None
        self._read = 0

    @property
    def read(self) -> int:
        """Bytes of the file that were read so far."""
        return self._read if self._file is None else self._file.tell()

    def __iter__(self) -> Iterator[Chunk]:
        self.header, self.framing, self.start, self.problems = {}, "line", 0.0, []
        try:
            with self.path.open("rb") as file:
                self._file = file
                try:
                    is_packed = self.path.suffix == ".gz"
                    yield from self._chunks(gzip.GzipFile(fileobj=file) if is_packed else file)
                finally:
                    self._read, self._file = file.tell(), None
        except (OSError, EOFError, zlib.error) as error:
            raise RecordingError(
                self.path, 0, getattr(error, "strerror", None) or str(error)
            ) from error

    def _chunks(self, lines: Iterable[bytes]) -> Iterator[Chunk]:
        begun, latest = False, 0.0
        for number, line in enumerate(lines, 1):
            if line.startswith(b"#"):
                if not begun and line.endswith(b"\n"):
                    self.framing = _take_header(self.header, line, self.framing, self.path, number)
                continue
            if not line.strip():
                continue
            if not line.endswith(b"\n"):
                what = "the last line has no line end and may be incomplete"
                self.problems.append(Problem(number, what))
                return
            try:
                text = line[:-1].removesuffix(b"\r").decode("latin-1")
                at, absolute, data, sent = _parse(text, self.framing)
            except ValueError as error:
                self.problems.append(Problem(number, str(error)))
                continue
            if not begun:
                begun, self.start = True, at if absolute else 0.0
            at = round(at - self.start, 6)
            if at < latest:
                what = "the time goes back; the time of the previous chunk is used"
                self.problems.append(Problem(number, what))
            latest = max(latest, at)
            yield Chunk(latest, data, sent)


def read_recording(path: Path | str) -> Recording:
    """Read a whole recording. Raises :class:`RecordingError` if the file cannot be read or its
    framing is unknown.
    """
    reader = RecordingReader(path)
    chunks = list(reader)
    return Recording(
        header=reader.header,
        framing=reader.framing,
        start=reader.start,
        chunks=chunks,
        problems=reader.problems,
    )


def _take_header(
    header: dict[str, str], line: bytes, framing: Framing, path: Path, number: int
) -> Framing:
    """Add one header line; a line without a key is a note. Returns the framing, possibly
    changed.
    """
    text = line[1:].decode("utf-8", "replace").strip()
    match = _HEADER.fullmatch(text)
    if match is None:
        header["note"] = f"{header['note']} {text}" if header.get("note") else text
        return framing
    key, value = match[1].lower(), match[2].strip()
    header[key] = value
    if key != "framing":
        return framing
    if value == "line":
        return "line"
    if value == "raw":
        return "raw"
    raise RecordingError(path, number, f"unknown framing {value!r}; use line or raw")


def _parse(line: str, framing: Framing) -> tuple[float, bool, bytes, bool]:
    """Parse one chunk line into (time, whether it is absolute, bytes, whether they were sent).
    Raises ``ValueError`` saying what is wrong.
    """
    time, _, rest = line.partition(" ")
    direction, _, payload = rest.partition(" ")
    if direction not in {"<", ">"}:
        raise ValueError("not a recording line; expected `TIME < BYTES` or `TIME > BYTES`")
    at, absolute = _parse_time(time)
    try:
        data = unescape(payload)
    except ValueError as error:
        raise ValueError(f"invalid escape in the payload: {error}") from error
    return at, absolute, data + LINE_END if framing == "line" else data, direction == ">"


def _parse_time(text: str) -> tuple[float, bool]:
    """Seconds, and whether they count from 1970. Raises ``ValueError``."""
    if _SECONDS.fullmatch(text):
        if (seconds := float(text)) > LATEST:
            raise ValueError(f"time {text[:20]}... is after the year 9999")
        return seconds, False
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"time {text!r} is neither ISO 8601 nor seconds") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp(), True


class RecordingWriter:
    """Writes chunks to ``path``, each with one write to the file, so nothing is left in memory if
    the process dies.

    When the file would exceed ``max_bytes``, or its day (UTC) is over and ``max_days`` is set, it
    is renamed to ``path.1`` and compressed in a thread (``path.1.gz``); older files move up. At
    most ``max_files`` are kept, none longer than ``max_days``. An existing file is appended to. The
    file is opened by the first chunk. Every method but ``close`` may raise ``OSError``; the next
    call tries again.
    """

    def __init__(
        self,
        path: Path | str,
        header: Mapping[str, str],
        framing: Framing = "raw",
        max_bytes: int | None = None,
        max_files: int = 8,
        max_days: int | None = None,
    ) -> None:
        self.path = Path(path)
        self._framing: Framing = framing
        self._header = header
        self._max_bytes = max_bytes
        self._max_files = max(1, max_files)
        self._max_days = max_days
        self._day: str | None = None
        self._compressing: threading.Thread | None = None
        self._file: int | None = None
        self._size = 0

    def write(self, at: float, data: bytes, sent: bool = False) -> None:
        """Append a chunk with time ``at`` (seconds since 1970). Raises ``ValueError`` for an
        incomplete line if framing is ``line``.
        """
        if self._framing == "line":
            if not data.endswith(LINE_END):
                raise ValueError(f"incomplete line: {escape(data)}")
            data = data.removesuffix(LINE_END)
        moment = _moment(at)
        if self._max_days is not None and self._day is not None and moment[:10] > self._day:
            self.close()
            self._rotate()
        self._day = max(self._day or "", moment[:10])
        self._add(f"{moment} {'>' if sent else '<'} {escape(data)}\n".encode("ascii"))

    def remark(self, text: str) -> None:
        """Append a comment line."""
        self._add(f"# {text}\n".encode())

    def close(self) -> None:
        """Close the file and wait for compression to end. A later chunk reopens it."""
        self._settle()
        if self._file is not None:
            file, self._file = self._file, None
            os.close(file)

    def _add(self, line: bytes) -> None:
        if self._file is None:
            self._open()
        elif self._max_bytes is not None and self._size + len(line) > self._max_bytes:
            self.close()
            self._rotate()
            self._open()
        self._put(line)

    def _open(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.is_file() and self._is_over(self.path.stat()):
            self._rotate()
        # a symbolic link could lead to any file
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        self._file = os.open(self.path, flags, PRIVATE)
        self._size = os.fstat(self._file).st_size
        started = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        header = {"started": started, **self._header, "framing": self._framing}
        whole = self._size == 0 or os.pread(self._file, 1, self._size - 1) == b"\n"
        lines = "".join(f"# {key}: {' '.join(value.split())}\n" for key, value in header.items())
        self._put((b"" if whole else _CUT + b"\n") + lines.encode())

    def _put(self, data: bytes) -> None:
        assert self._file is not None
        try:
            written = os.write(self._file, data)
        except OSError:
            self.close()
            raise
        self._size += written
        if written < len(data):
            self.close()
            raise OSError(f"only {written} of {len(data)} bytes were written")

    def _is_over(self, found: os.stat_result) -> bool:
        """Whether an existing file must not be appended to: it is full, or from another day."""
        if self._max_bytes is not None and found.st_size >= self._max_bytes:
            return True
        return (
            self._max_days is not None
            and found.st_size > 0
            and _moment(found.st_mtime)[:10] < (self._day or "")
        )

    def _rotate(self) -> None:
        """Rename ``path`` to ``path.1``, ``path.1`` to ``path.2`` and so on; delete files beyond
        the last, and those that are too old.
        """
        self._settle()
        for number in range(self._max_files - 1, 0, -1):
            for end in (".gz", ""):
                older = self._numbered(number - 1, end if number > 1 else "")
                if older.exists():
                    self._numbered(number, ".gz" if end == "" else "").unlink(missing_ok=True)
                    older.replace(self._numbered(number, end if number > 1 else ""))
        self.path.unlink(missing_ok=True)
        if self._max_days is not None:
            oldest = time.time() - self._max_days * 86400
            for number in range(1, self._max_files):
                old = self._numbered(number, ".gz")
                if old.exists() and old.stat().st_mtime < oldest:
                    old.unlink()
        closed = self._numbered(1, "")
        if closed.exists():
            self._compressing = threading.Thread(
                target=_compress, args=(closed,), name="compress", daemon=True
            )
            self._compressing.start()

    def _settle(self) -> None:
        """Wait for compression to end."""
        if self._compressing is not None:
            self._compressing.join()
            self._compressing = None

    def _numbered(self, number: int, end: str = "") -> Path:
        return self.path.with_name(f"{self.path.name}.{number}{end}") if number else self.path


def _compress(path: Path) -> None:
    """Compress ``path`` to ``path.gz`` and keep its modification time. If the disk refuses, leave
    it as it is.
    """
    part = path.with_name(f"{path.name}.part")
    try:
        with path.open("rb") as plain, new_file(part) as raw:
            with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as file:
                shutil.copyfileobj(plain, file)
            raw.flush()
            os.fsync(raw.fileno())
        shutil.copystat(path, part)
        part.replace(path.with_name(f"{path.name}.gz"))
        path.unlink()
    except OSError:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _moment(at: float) -> str:
    """Seconds since 1970 as UTC with microseconds.

    >>> _moment(1758612328.384)
    '2025-09-23T07:25:28.384000Z'
    """
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
