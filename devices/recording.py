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
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

import msgspec

from common.errors import NovamasError
from devices.recording_lines import (
    CHECK_KIND,
    Chain,
    Framing,
    gap_of,
    parse_chunk,
    read_ending,
    split_run,
    step_of,
    unseal,
)

TAIL_BYTES = 1 << 16
"""Number of bytes at the end of a file in which its last line is searched."""
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
