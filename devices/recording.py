r"""Recordings: the bytes of a device as they went over the wire, with their times, as text.

The format: header lines ``# key: value`` (device, driver, link, framing, note, started), then one
line for each chunk::

    2025-09-23T07:25:28.384000Z < *X;2;002;32;0;174;1\r\n

that is a time (ISO 8601, taken as UTC where it names no zone, or plain seconds), ``<`` from the
device or ``>`` to it, and the payload with backslash escapes (see :func:`devices.readings.escape`).
``framing: raw`` holds every byte as it was read; ``framing: line``, also meant where the header
names none, leaves out the ``\r\n`` that ends each payload.

A line that is not of the format is skipped and noted among the problems. So is a last line without
its line end: the writer was cut off there, and a cut line is never completed.
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
import threading
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec

from devices.errors import NovamasError
from devices.new_file import PRIVATE, new_file
from devices.readings import escape, unescape

Framing = Literal["line", "raw"]
LINE_END = b"\r\n"
LATEST = 253_402_300_799.0
"""Seconds from 1970 to the end of the year 9999."""

_HEADER = re.compile(r"([A-Za-z][\w-]*):\s*(.*)")
# no valid escape: it keeps a line that the writer did not finish from being taken for a whole one
_CUT = rb"\cut"


class RecordingError(NovamasError, ValueError):
    """A file that cannot be used as a recording: ``path``, ``line`` (0: the file as a whole) and
    ``what``.
    """

    def __init__(self, path: Path, line: int, what: str) -> None:
        super().__init__(f"{path}:{line}: {what}" if line else f"{path}: {what}")
        self.path, self.line, self.what = path, line, what


class Chunk(msgspec.Struct, frozen=True):
    """Bytes that were read at once (or written: ``sent``), ``at`` seconds on the recording's own
    clock, which never goes back.
    """

    at: float
    data: bytes
    sent: bool = False


class Problem(msgspec.Struct, frozen=True):
    """A line that was skipped, or whose time was mended, and why."""

    line: int
    what: str


class Recording(msgspec.Struct, frozen=True):
    """A recording, read. ``start + chunk.at`` is the time of a chunk as it was written.

    Where times are absolute ``start`` is the first chunk's, in seconds since 1970, and chunks count
    from it; otherwise it is 0.
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


def read_recording(path: Path | str) -> Recording:
    """Read a whole recording, also a compressed one (``.gz``). Raises :class:`RecordingError` when
    the file cannot be read or has an unknown framing.
    """
    path = Path(path)
    try:
        lines = (
            gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        ).split(b"\n")
    except (OSError, EOFError, zlib.error) as error:
        raise RecordingError(path, 0, getattr(error, "strerror", None) or str(error)) from error
    header: dict[str, str] = {}
    framing: Framing = "line"
    start: float | None = None
    chunks: list[Chunk] = []
    problems: list[Problem] = []
    latest = 0.0
    cut = lines.pop()
    for number, line in enumerate(lines, 1):
        if line.startswith(b"#"):
            if not chunks:
                framing = _take_header(header, line, framing, path, number)
            continue
        if not line.strip():
            continue
        try:
            at, absolute, chunk = _parse(line.removesuffix(b"\r").decode("latin-1"), framing)
        except ValueError as error:
            problems.append(Problem(number, str(error)))
            continue
        if start is None:
            start = at if absolute else 0.0
        at = round(at - start, 6)
        if at < latest:
            problems.append(
                Problem(number, "the time goes back; the time of the chunk before is taken")
            )
        latest = max(latest, at)
        chunks.append(msgspec.structs.replace(chunk, at=latest))
    if cut.strip() and not cut.startswith(b"#"):
        problems.append(Problem(len(lines) + 1, "the last line has no line end: it may be cut"))
    return Recording(
        header=header, framing=framing, start=start or 0.0, chunks=chunks, problems=problems
    )


def _take_header(
    header: dict[str, str], line: bytes, framing: Framing, path: Path, number: int
) -> Framing:
    """Add one header line; a line without a key is a note. Gives the framing, which it may have
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
    raise RecordingError(path, number, f"framing {value!r} is neither line nor raw")


def _parse(line: str, framing: Framing) -> tuple[float, bool, Chunk]:
    """One chunk line as (time, whether it is absolute, chunk). Raises ``ValueError`` that says what
    is wrong.
    """
    time, _, rest = line.partition(" ")
    direction, _, payload = rest.partition(" ")
    if direction not in {"<", ">"}:
        raise ValueError("not a chunk: after the time comes < or >")
    at, absolute = _parse_time(time)
    try:
        data = unescape(payload)
    except ValueError as error:
        raise ValueError(f"bad escape in the payload: {error}") from error
    return at, absolute, Chunk(at, data + LINE_END if framing == "line" else data, direction == ">")


def _parse_time(text: str) -> tuple[float, bool]:
    """Seconds, and whether they count from 1970. Raises ``ValueError``."""
    if re.fullmatch(r"\d+(\.\d+)?", text):
        if (seconds := float(text)) > LATEST:
            raise ValueError(f"time {text[:20]}... is beyond the year 9999")
        return seconds, False
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"time {text!r} is neither ISO 8601 nor seconds") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp(), True


class RecordingWriter:
    """Writes chunks to ``path``, each with one write to the file, so that nothing waits in the
    process when it dies.

    A file that would grow past ``max_bytes``, or whose day (UTC) is over where ``max_days`` is
    given, is renamed to ``path.1`` and compressed in a thread of its own (``path.1.gz``); the older
    ones move up. At most ``max_files`` are kept in all, none longer than ``max_days``. An existing
    file is added to. The file is opened by the first chunk; every method but ``close`` may raise
    ``OSError``, and the next call tries anew.
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
        """Add a chunk of the time ``at``, in seconds since 1970. ``ValueError``: half a line, where
        framing is ``line``.
        """
        if self._framing == "line":
            if not data.endswith(LINE_END):
                raise ValueError(f"not a whole line: {escape(data)}")
            data = data.removesuffix(LINE_END)
        moment = _moment(at)
        if self._max_days is not None and self._day is not None and moment[:10] > self._day:
            self.close()
            self._rotate()
        self._day = max(self._day or "", moment[:10])
        self._add(f"{moment} {'>' if sent else '<'} {escape(data)}\n".encode("ascii"))

    def remark(self, text: str) -> None:
        """Add a comment line."""
        self._add(f"# {text}\n".encode())

    def close(self) -> None:
        """Close the file, and end what is being compressed. A later chunk opens it again."""
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
        flags = (
            os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        )  # a link may lead to any file there is
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
        """Whether a file that was found must not be added to: it is full, or of another day."""
        if self._max_bytes is not None and found.st_size >= self._max_bytes:
            return True
        return (
            self._max_days is not None
            and found.st_size > 0
            and _moment(found.st_mtime)[:10] < (self._day or "")
        )

    def _rotate(self) -> None:
        """``path`` becomes ``path.1``, ``path.1`` becomes ``path.2`` ...; the ones past the last,
        and too old ones, are dropped.
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
        """Wait for what is being compressed."""
        if self._compressing is not None:
            self._compressing.join()
            self._compressing = None

    def _numbered(self, number: int, end: str = "") -> Path:
        return self.path.with_name(f"{self.path.name}.{number}{end}") if number else self.path


def _compress(path: Path) -> None:
    """``path`` becomes ``path.gz``, of the same age. Where the disk does not take that, it stays as
    it is.
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
