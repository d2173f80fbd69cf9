"""Writes recordings: the bytes of a link, with their times, in files of limited size and age."""

from __future__ import annotations

import gzip
import os
import shutil
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import NamedTuple

from common import clock
from common.new_file import PRIVATE_MODE, replacing
from common.readings import escape
from devices.recording import CUT_MARK, TAIL_BYTES
from devices.recording_lines import (
    CHECK_KIND,
    LINE_END,
    Chain,
    Framing,
    LaterChunk,
    chunk_line,
    format_time,
    gap_of,
    read_ending,
    run_line,
    step_of,
    step_remark,
)

MIN_CLOCK_STEP_SECONDS = 0.1
"""Minimum step of the machine's clock that is noted."""
MIN_SILENCE_SECONDS = 0.1
"""Minimum silence before a new file may begin, so that no frame is split."""
SILENCE_WAIT_PART = 1 / 16
"""Last part of ``max_bytes`` in which the writer waits for a silence to begin a new file."""
SILENCE_WAIT_SECONDS = 60.0
"""Time after midnight in which the writer waits for a silence to begin a new file."""
CHECK_BYTES = 11
"""Size of a check and the line end."""


class _Piece(NamedTuple):
    """Lines of a recording, and how many chunks are missing if they are not written."""

    data: bytes
    chunks: int


class RecordingWriter:
    """Writes chunks and runs of chunks to ``path``, each with one system call, so nothing is lost
    in memory if the process dies; with ``gathers``, all of them at :meth:`release`.

    When the file would exceed ``max_bytes``, or its day (UTC) is over and ``max_days`` is set, it
    is renamed to ``path.1`` and compressed in a thread (``path.1.gz``); older files move up. This
    happens in a silence of the device, if there is one in time, so that no frame is split. At most
    ``max_files`` files are kept, none longer than ``max_days``. An existing file is appended to.
    The file is opened by the first chunk. Every method may raise ``OSError``; the next call tries
    again.
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
        self.gathers = False
        """Whether lines are written by :meth:`release` only."""
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
        self._gathered: list[_Piece] = []
        self._lost = 0  # chunks of pieces that could not be written

    def write(self, at: float, data: bytes, sent: bool = False) -> None:
        """Append a chunk with time ``at`` (seconds since 1970). Raises ``ValueError`` for an
        incomplete line if framing is ``line``.
        """
        if self._framing == "line":
            if not data.endswith(LINE_END):
                raise ValueError(f"incomplete line: {escape(data)}")
            data = data.removesuffix(LINE_END)
        at = round(at, 6)
        time = format_time(at)
        self._append(at, time, chunk_line(time, data, sent), at, 1)

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
        time = format_time(times[0])
        self._append(times[0], time, run_line(time, data, later), times[-1], len(chunks))

    def _append(self, at: float, time: str, line: bytes, until: float, chunks: int) -> None:
        """Append the line of this many chunks that were read from ``at`` to ``until``. ``time``:
        ``at`` as written.
        """
        day = time[:10]
        if self._file is not None and self._starts_new_file(at, day, len(line)):
            self.close()
            self._rotate()
        self._day = day
        if self._file is None:
            self._open()
        if self._latest is not None and at < self._latest:
            self.step(at - self._latest)
        self._write_piece(self._chain.seal(line) + b"\n", chunks)
        self._latest = until

    def step(self, seconds: float) -> None:
        """Note that the machine's clock was set by ``seconds`` since the last chunk."""
        if self._file is None:
            self._open()
        self.remark(step_remark(seconds))
        if self._latest is not None:
            self._latest += seconds

    def remark(self, text: str, missing: int = 0) -> None:
        """Append a comment line. ``missing``: how many chunks it says are missing."""
        if self._file is None:
            self._open()
        line = f"# {text}".encode()
        if gap_of(text) is not None or step_of(text) is not None:
            self._chain.add(line)
        self._write_piece(line + b"\n", missing)

    def release(self) -> None:
        """Write what was gathered, with one system call. After an ``OSError``, :meth:`pop_lost`
        returns how many chunks are not in the file.
        """
        gathered, self._gathered = self._gathered, []
        if not gathered:
            return
        assert self._file is not None
        data = b"".join(piece.data for piece in gathered)
        written = 0
        try:
            written = os.write(self._file, data)
            if written < len(data):
                raise OSError(f"only {written} of {len(data)} bytes were written")
        except OSError:
            for piece in gathered:
                written -= len(piece.data)
                if written < 0:
                    self._lost += piece.chunks
            self._latest = None  # the next file, or its end, says
            self._close_file()
            raise

    def pop_lost(self) -> int:
        """Return how many chunks were lost since the last call."""
        lost, self._lost = self._lost, 0
        return lost

    def close(self) -> None:
        """Write what was gathered, close the file and wait for compression to end. A later chunk
        reopens it.
        """
        self._await_compression()
        try:
            self.release()
        finally:
            self._close_file()

    def _close_file(self) -> None:
        if self._file is not None:
            file, self._file = self._file, None
            os.close(file)

    def _starts_new_file(self, at: float, day: str, size: int) -> bool:
        """Whether a new file should begin with this line."""
        is_noise = self._latest is None or not 0 <= at - self._latest < MIN_SILENCE_SECONDS
        if self._max_bytes is not None:
            room = self._max_bytes - self._size - size - CHECK_BYTES
            if room < (self._max_bytes * SILENCE_WAIT_PART if is_noise else 0):
                return True
        return (
            self._max_days is not None
            and self._day is not None
            and day != self._day
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
        self._write_piece((b"" if whole else CUT_MARK + b"\n") + _header(header))

    def _write_piece(self, data: bytes, chunks: int = 0) -> None:
        self._gathered.append(_Piece(data, chunks))
        self._size += len(data)
        if not self.gathers:
            self.release()

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
    try:
        with (
            path.open("rb") as plain,
            replacing(
                path.with_name(f"{path.name}.gz"), finish=lambda part: shutil.copystat(path, part)
            ) as raw,
            gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as file,
        ):
            shutil.copyfileobj(plain, file)
        path.unlink()
    except OSError:
        return
