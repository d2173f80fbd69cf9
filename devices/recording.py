r"""Recordings: the bytes sent and received on a link, with their times, as text.

The format: header lines ``# key: value`` (device, driver, link, framing, check, note, started),
then one line per chunk::

    2025-09-23T07:25:28.384000Z < *X;2;002;32;0;174;1\r\n ~5A0C2E91

The time is ISO 8601 (UTC if it names no zone) or plain seconds; ``<`` means from the device, ``>``
to it; the payload is written with backslash escapes (see :func:`common.readings.escape`). ``<<``
means several chunks from the device in one line (see :mod:`devices.recording_lines`).
``framing: raw`` keeps every byte as it was read; ``framing: line`` leaves out the ``\r\n`` that
ends each payload. With ``check: crc32`` each line ends with a check.

A recording is evidence, so a file that was changed is refused: the checks reveal a line that was
altered, cut, removed, repeated or moved. In a file without checks such changes are not detected. A
last line without line end and without a correct check is not a change: the writer was interrupted
there, and an incomplete line is never completed. Any number of first lines of a recording is a
valid recording.

Remarks (``#`` lines after the header) state where chunks are missing, where the link was reopened,
and where the clock was set. Other lines with ``#`` are people's notes.
"""

from __future__ import annotations

import codecs
import gzip
import os
import re
import shutil
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import BinaryIO

import msgspec

from common import clock
from common.errors import NovamasError
from common.new_file import PRIVATE_MODE, new_file
from common.readings import escape
from devices.recording_lines import (
    CHECK_KIND,
    LINE_END,
    Chain,
    Framing,
    LaterChunk,
    chunk_line,
    format_time,
    gap_of,
    parse_chunk,
    read_ending,
    run_line,
    split_run,
    step_of,
    step_remark,
    unseal,
)

MIN_CLOCK_STEP_SECONDS = 0.1
"""Minimum step of the machine's clock that is noted."""
MIN_SILENCE_SECONDS = 0.1
"""Minimum silence before a new file may begin, so that no frame is split."""
SILENCE_WAIT_PART = 1 / 16
"""Last part of ``max_bytes`` in which the writer waits for a silence to begin a new file."""
SILENCE_WAIT_SECONDS = 60.0
"""Time after midnight in which the writer waits for a silence to begin a new file."""
TAIL_BYTES = 1 << 16
"""Number of bytes at the end of a file in which its last line is searched."""
CHECK_BYTES = 11
"""Size of a check and the line end."""

FRAMINGS: Mapping[str, Framing] = {"line": "line", "raw": "raw"}

_HEADER = re.compile(r"([A-Za-z][\w-]*):\s*(.*)")
# Not a valid escape, so an unfinished line cannot be mistaken for a complete one.
CUT_MARK = rb"\cut"
STARTED = "recording was started again here"
NOT_A_RECORDING = "not a recording, or empty: it has no line such as `0.5 < *X;2`"
NO_HEADER = (
    "the header is missing, so this is a part of a recording; use the whole file (if you wrote it "
    "by hand, begin it with `# framing: raw`, or with `# framing: line` if the payloads have no "
    "line ends)"
)


class RecordingProblem(msgspec.Struct, frozen=True):
    """A line that was not read, and the reason."""

    line: int
    what: str


class RecordingError(NovamasError, ValueError):
    """A file that cannot be used as a recording. ``line``: 0 for the whole file; ``what``: the
    reason; ``problems``: all lines that are not as they were recorded.
    """

    def __init__(
        self, path: Path, line: int, what: str, problems: Iterable[RecordingProblem] = ()
    ) -> None:
        super().__init__(f"{path}:{line}: {what}" if line else f"{path}: {what}")
        self.path, self.line, self.what, self.problems = path, line, what, tuple(problems)


def _unreadable(path: Path, error: Exception) -> RecordingError:
    return RecordingError(path, 0, getattr(error, "strerror", None) or str(error))


class Chunk(msgspec.Struct, frozen=True):
    """Bytes read (or, if ``sent``, written) at once. ``at``: seconds on the recording's own
    monotonic clock. ``gap``: why bytes before this chunk may be missing; empty: none are.
    """

    at: float
    data: bytes
    sent: bool = False
    gap: str = ""


class Recording(msgspec.Struct, frozen=True):
    """A recording in memory. ``start + chunk.at`` is the time of a chunk as written, until the
    clock was set.

    If times are absolute, ``start`` is the time of the first chunk in seconds since 1970 and the
    times of chunks count from it; otherwise it is 0. ``problems``: incomplete lines.
    """

    header: dict[str, str]
    framing: Framing
    start: float
    chunks: list[Chunk]
    problems: list[RecordingProblem]

    def __iter__(self) -> Iterator[Chunk]:
        return iter(self.chunks)

    def __len__(self) -> int:
        return len(self.chunks)


class RecordingReader:
    """Reads a recording, plain or compressed (``.gz``), chunk by chunk. Each iteration starts from
    the beginning. ``start``, ``header`` and ``framing`` are known from the first chunk on;
    ``problems``: those so far; ``stepped``: the seconds by which the clock was set so far; ``gap``:
    why bytes after the last chunk may be missing.

    Iterating raises :class:`RecordingError` if the file cannot be read, or at a line that is not as
    it was recorded.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._file: BinaryIO | None = None
        self._read = 0
        self._reset()

    def _reset(self) -> None:
        self.header: dict[str, str] = {}
        self.framing: Framing = "line"
        self.start = 0.0
        self.stepped = 0.0
        self.problems: list[RecordingProblem] = []
        self._framed = False  # the header names the framing
        self._checked = False  # the lines have checks, according to the header
        self._chain: Chain | None = None
        self._has_chunk = False  # a chunk was read
        self._latest = 0.0
        self.gap = ""

    @property
    def read(self) -> int:
        """Number of bytes of the file read so far."""
        return self._read if self._file is None else self._file.tell()

    @property
    def follows(self) -> int | None:
        """The last check of the file that this one continues. None: it is the first file."""
        try:
            return int(self.header["follows"], 16)
        except (KeyError, ValueError):
            return None

    @property
    def check(self) -> int | None:
        """The check from which the next line would continue."""
        return self._chain.value if self._chain is not None else None

    def last_check(self) -> int | None:
        """Return the last check in the file, without reading the chunks before it."""
        try:
            with self.path.open("rb") as file:
                if self.path.suffix != ".gz":
                    file.seek(max(0, self.path.stat().st_size - TAIL_BYTES))
                    return read_ending(file.read())[1]
                end, packed = b"", gzip.GzipFile(fileobj=file)
                while block := packed.read(TAIL_BYTES):
                    end = end[-TAIL_BYTES:] + block
                return read_ending(end)[1]
        except (OSError, EOFError, zlib.error) as error:
            raise _unreadable(self.path, error) from error

    def __iter__(self) -> Iterator[Chunk]:
        self._reset()
        try:
            with self.path.open("rb") as file:
                self._file = file
                try:
                    is_packed = self.path.suffix == ".gz"
                    yield from self._chunks(gzip.GzipFile(fileobj=file) if is_packed else file)
                finally:
                    self._read, self._file = file.tell(), None
        except (OSError, EOFError, zlib.error) as error:
            raise _unreadable(self.path, error) from error

    def _chunks(self, lines: Iterable[bytes]) -> Iterator[Chunk]:
        changed: list[RecordingProblem] = []
        looks_right = False
        for number, line in enumerate(lines, 1):
            if number == 1:
                line = self._strip_bom(line)
            if line.startswith(b"#"):
                if line.endswith(b"\n"):
                    self._on_comment(line, number)
                continue
            if not line.strip():
                continue
            try:
                chunks = self._parse_line(line, number)
            except RecordingError:
                raise
            except ValueError as error:
                changed.append(RecordingProblem(number, str(error)))
                self.problems.append(changed[-1])
                continue
            if chunks:
                looks_right = True
                if not changed:
                    yield from chunks
        if changed:
            if not (looks_right or self._framed):
                raise RecordingError(self.path, 0, NOT_A_RECORDING, self.problems)
            raise self._refusal(changed)

    def _strip_bom(self, line: bytes) -> bytes:
        """Remove a byte order mark from the first line."""
        if line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise RecordingError(
                self.path,
                1,
                "this is UTF-16, as some editors and shells save it; convert it back: "
                "`iconv -f UTF-16 -t ASCII`",
            )
        return line.removeprefix(codecs.BOM_UTF8)

    def _refusal(self, changed: list[RecordingProblem]) -> RecordingError:
        line, reason = changed[0].line, changed[0].what
        usable = (
            f", or the lines above this one alone: `head -n {line - 1}`" if self._has_chunk else ""
        )
        return RecordingError(
            self.path, line, f"{reason}; use the file as it was recorded{usable}", self.problems
        )

    def _on_comment(self, line: bytes, number: int) -> None:
        """Handle a line with ``#``: of a header, a remark, or a note."""
        text = line[1:].decode("utf-8", "replace").strip()
        gap, step = gap_of(text), step_of(text)
        if gap is not None or step is not None:
            if self._checked:
                self._running_check().add(line.rstrip(b"\r\n"))
            self.gap = gap or self.gap
            self.stepped += step or 0.0
            return
        match = _HEADER.fullmatch(text)
        if not self._has_chunk:
            if match is None:
                note = self.header.get("note")
                self.header["note"] = f"{note} {text}" if note else text
                return
            self.header[match[1].lower()] = match[2].strip()
        if match is not None:
            self._apply_header(match[1].lower(), match[2].strip(), number)

    def _apply_header(self, key: str, value: str, number: int) -> None:
        """Apply a line of a header. A header in the middle means that the recorder was restarted
        there.
        """
        if key == "started":
            self.gap = STARTED
        elif key == "framing":
            if value not in FRAMINGS:
                raise RecordingError(
                    self.path, number, f"unknown framing {value!r}; use line or raw"
                )
            self.framing, self._framed = FRAMINGS[value], True
        elif key == "check":
            if value not in (CHECK_KIND, "none"):
                raise RecordingError(
                    self.path, number, f"unknown check {value!r}; this needs a newer Novamás"
                )
            self._checked, self._chain = value == CHECK_KIND, None
            self.gap = STARTED
        elif key == "format" and "without its CR LF" in value:
            self.framing, self._framed = "line", True

    def _running_check(self) -> Chain:
        if self._chain is None:
            self._chain = Chain(self.framing)
        return self._chain

    def _parse_line(self, line: bytes, number: int) -> list[Chunk]:
        """Parse a line into chunks; empty if the writer was interrupted there. Raises
        ``ValueError`` if the line is not as it was recorded.
        """
        whole = line.endswith(b"\n")
        body, check = unseal(line.rstrip(b"\r\n"))
        if not whole and (check is None or not self._checked):
            problem = "the last line has no line end and may be incomplete"
            self.problems.append(RecordingProblem(number, problem))
            return []
        # the bytes of a complete line may end like the mark, but its check proves it complete
        if body.endswith(CUT_MARK) and (check is None or not self._checked):
            self.problems.append(
                RecordingProblem(number, "the writer was interrupted in this line")
            )
            return []
        self._verify(body, check)
        body, later = split_run(body)
        at, absolute, data, sent = parse_chunk(body, self.framing, checked=self._checked)
        if not self._framed:
            raise RecordingError(self.path, number, NO_HEADER)
        first = len(data) - sum(piece.size for piece in later)
        if first < 0 or (later and (self.framing != "raw" or type(data) is not bytes)):
            raise ValueError("the bytes of the line are not those of the chunks that it names")
        if not self._has_chunk:
            self._has_chunk, self.start = True, at if absolute else 0.0
            self.stepped, self.gap = 0.0, ""
        chunks = [self._chunk(at, data[:first] if later else data, sent)]
        passed = 0
        for pause, size in later:
            passed += pause
            chunks.append(self._chunk(at + passed / 1e6, data[first : first + size], sent))
            first += size
        return chunks

    def _chunk(self, at: float, data: bytes, sent: bool) -> Chunk:
        """Create a chunk with its time on the recording's own clock. Raises ``ValueError`` if that
        goes back.
        """
        at = round(at - self.start - self.stepped, 6)
        if at < self._latest:
            raise ValueError(
                "its time is before that of the line above: lines were moved, or the clock was set "
                "back by hand or by a version of Novamás that did not note it"
            )
        self._latest, gap, self.gap = at, self.gap, ""
        return Chunk(at, data, sent, gap)

    def _verify(self, body: bytes, check: int | None) -> None:
        """Raise ``ValueError`` if the check of a line does not continue the chain."""
        if not self._checked:
            if check is not None and self._framed:
                raise ValueError(
                    "the line has a check, but the header has lost its line "
                    f"`# check: {CHECK_KIND}`"
                )
            return
        if check is None:
            raise ValueError("the line has lost its check: it was cut, wrapped or added")
        if not self._running_check().matches(body, check):
            raise ValueError(
                "the line does not match its check: it was changed, or lines above it were "
                "changed, removed, repeated or moved"
            )


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


class RecordingWriter:
    """Writes chunks and runs of chunks to ``path``, each with one system call, so nothing is lost
    in memory if the process dies.

    When the file would exceed ``max_bytes``, or its day (UTC) is over and ``max_days`` is set, it
    is renamed to ``path.1`` and compressed in a thread (``path.1.gz``); older files move up. This
    happens in a silence of the device, if there is one in time, so that no frame is split. At most
    ``max_files`` files are kept, none longer than ``max_days``. An existing file is appended to.
    The file is opened by the first chunk. Every method but ``close`` may raise ``OSError``; the
    next call tries again.
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
        self._chain = Chain(framing)
        self._latest: float | None = None  # time of the last line in the file
        self._follows: int | None = None  # last check of the previous file

    def write(self, at: float, data: bytes, sent: bool = False) -> None:
        """Append a chunk with time ``at`` (seconds since 1970). Raises ``ValueError`` for an
        incomplete line if framing is ``line``.
        """
        if self._framing == "line":
            if not data.endswith(LINE_END):
                raise ValueError(f"incomplete line: {escape(data)}")
            data = data.removesuffix(LINE_END)
        at = round(at, 6)
        self._append(at, chunk_line(format_time(at), data, sent), at)

    def write_run(self, chunks: Sequence[tuple[float, bytes]]) -> None:
        """Append chunks from the device, each with its time as in :meth:`write`, as one line.
        Framing ``raw`` only; no chunk after the first may be earlier than the one before.
        """
        times = [round(at, 6) for at, _ in chunks]
        later = [
            LaterChunk(round((at - before) * 1e6), len(data))
            for (before, at), (_, data) in zip(pairwise(times), chunks[1:], strict=True)
        ]
        data = b"".join(data for _, data in chunks)
        self._append(times[0], run_line(format_time(times[0]), data, later), times[-1])

    def _append(self, at: float, line: bytes, until: float) -> None:
        """Append the line of chunks that were read from ``at`` to ``until``."""
        if self._file is not None and self._starts_new_file(at, len(line)):
            self.close()
            self._rotate()
        self._day = format_time(at)[:10]
        if self._file is None:
            self._open()
        if self._latest is not None and at < self._latest:
            self.step(at - self._latest)
        self._write_bytes(self._chain.seal(line) + b"\n")
        self._latest = until

    def step(self, seconds: float) -> None:
        """Note that the machine's clock was set by ``seconds`` since the last chunk."""
        if self._file is None:
            self._open()
        self.remark(step_remark(seconds))
        if self._latest is not None:
            self._latest += seconds

    def remark(self, text: str) -> None:
        """Append a comment line."""
        if self._file is None:
            self._open()
        line = f"# {text}".encode()
        if gap_of(text) is not None or step_of(text) is not None:
            self._chain.add(line)
        self._write_bytes(line + b"\n")

    def close(self) -> None:
        """Close the file and wait for compression to end. A later chunk reopens it."""
        self._await_compression()
        if self._file is not None:
            file, self._file = self._file, None
            os.close(file)

    def _starts_new_file(self, at: float, size: int) -> bool:
        """Whether a new file should begin with this line."""
        is_noise = self._latest is None or not 0 <= at - self._latest < MIN_SILENCE_SECONDS
        if self._max_bytes is not None:
            room = self._max_bytes - self._size - size - CHECK_BYTES
            if room < (self._max_bytes * SILENCE_WAIT_PART if is_noise else 0):
                return True
        return (
            self._max_days is not None
            and self._day is not None
            and format_time(at)[:10] != self._day
            and (is_noise or at % 86400 >= SILENCE_WAIT_SECONDS)
        )

    def _open(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.is_file() and self._is_over(self.path.stat()):
            self._rotate()
        # O_NOFOLLOW: a symbolic link could lead to any file
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        self._file = os.open(self.path, flags, PRIVATE_MODE)
        self._size = os.fstat(self._file).st_size
        started = clock.now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        header = {"started": started, **self._header, "framing": self._framing, "check": CHECK_KIND}
        if self._size == 0:
            self._latest = None
            if self._follows is not None:
                header["follows"] = f"{self._follows:08X}"
        elif self._latest is None:
            self._latest, _ = read_ending(
                os.pread(self._file, TAIL_BYTES, max(0, self._size - TAIL_BYTES))
            )
        whole = self._size == 0 or os.pread(self._file, 1, self._size - 1) == b"\n"
        self._chain = Chain(self._framing)
        self._write_bytes((b"" if whole else CUT_MARK + b"\n") + _header(header))

    def _write_bytes(self, data: bytes) -> None:
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
            and self._day is not None
            and found.st_size > 0
            and format_time(found.st_mtime)[:10] != self._day
        )

    def _rotate(self) -> None:
        """Rename ``path`` to ``path.1``, ``path.1`` to ``path.2`` and so on; delete files beyond
        ``max_files``, and those that are too old.
        """
        self._await_compression()
        self._latest = None
        with self.path.open("rb") as file:
            file.seek(max(0, self.path.stat().st_size - TAIL_BYTES))
            _, self._follows = read_ending(file.read())
        for number in range(self._max_files - 1, 0, -1):
            for end in (".gz", ""):
                older = self._numbered_path(number - 1, end if number > 1 else "")
                if older.exists():
                    self._numbered_path(number, ".gz" if end == "" else "").unlink(missing_ok=True)
                    older.replace(self._numbered_path(number, end if number > 1 else ""))
        self.path.unlink(missing_ok=True)
        if self._max_days is not None:
            self._drop_old(clock.wall() - self._max_days * 86400)
        closed = self._numbered_path(1, "")
        if closed.exists():
            self._compressing = threading.Thread(
                target=_compress, args=(closed,), name="compress", daemon=True
            )
            self._compressing.start()

    def _drop_old(self, oldest: float) -> None:
        """Delete the files that are older than ``oldest``. A file that was written while the clock
        was fast counts as no younger than the next one.
        """
        written = inf
        for number in range(1, self._max_files):
            old = self._numbered_path(number, ".gz")
            if old.exists():
                written = min(written, old.stat().st_mtime)
                if written < oldest:
                    old.unlink()

    def _await_compression(self) -> None:
        if self._compressing is not None:
            self._compressing.join()
            self._compressing = None

    def _numbered_path(self, number: int, end: str = "") -> Path:
        return self.path.with_name(f"{self.path.name}.{number}{end}") if number else self.path


def format_recording(
    header: Mapping[str, str], chunks: Iterable[tuple[str, bytes]]
) -> Iterator[bytes]:
    """Yield the lines of a whole recording, with checks. A chunk is its time as written and its
    bytes from the device.
    """
    yield _header({**header, "framing": "raw", "check": CHECK_KIND})
    chain = Chain("raw")
    for at, data in chunks:
        yield chain.seal(chunk_line(at, data, sent=False)) + b"\n"


def _header(values: Mapping[str, str]) -> bytes:
    return "".join(
        f"# {key}: {' '.join(value.split())}\n" for key, value in values.items()
    ).encode()


class ClockedWriter:
    """Writes chunks with the times of a monotonic clock, so that setting the machine's clock does
    not shift chunks against each other; the step is noted.
    """

    def __init__(self, writer: RecordingWriter) -> None:
        self._writer = writer
        self._since_1970: float | None = None  # when the monotonic clock was 0

    def write(
        self, read: float, time_of_day: float, data: bytes, sent: bool = False, gap: str = ""
    ) -> None:
        """Append a chunk that was read at ``read`` by the monotonic clock. ``time_of_day``: the
        same moment by the machine's clock, in seconds since 1970; ``gap``: a remark to write before
        it. Raises like :meth:`RecordingWriter.write`.
        """
        if gap:
            self._writer.remark(gap)
        self._writer.write(self._monotonic_start(read, time_of_day) + read, data, sent)

    def write_run(self, time_of_day: float, chunks: Sequence[tuple[float, bytes]]) -> None:
        """Append chunks from the device as one line, each with its time by the monotonic clock.
        ``time_of_day``: that of the first. Raises like :meth:`RecordingWriter.write`.
        """
        started = self._monotonic_start(chunks[0][0], time_of_day)
        self._writer.write_run([(started + read, data) for read, data in chunks])

    def _monotonic_start(self, read: float, time_of_day: float) -> float:
        """When the monotonic clock was 0, in seconds since 1970. Notes a step of the machine's
        clock.
        """
        since_1970, before = round(time_of_day - read, 6), self._since_1970
        if before is None:
            self._since_1970 = before = since_1970
        elif abs(since_1970 - before) >= MIN_CLOCK_STEP_SECONDS:
            self._since_1970 = since_1970
            self._writer.step(since_1970 - before)
            before = since_1970
        return before


def _compress(path: Path) -> None:
    """Compress ``path`` to ``path.gz`` and keep its modification time. On a disk error, leave it as
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
