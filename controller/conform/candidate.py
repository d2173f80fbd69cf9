"""The program that is tried, and the lines by which it says what it believes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from common import clock
from common.errors import NovamasError

MAX_LINE_BYTES = 1 << 16
MAX_LINES = 20_000
"""Lines after which a program floods its output."""
MAX_ERROR_BYTES = 4000
"""Bytes of standard error that are kept, from its end."""
END_SECONDS = 5.0
"""Seconds for the program to end after SIGTERM; then it is killed."""

Status = Literal["final", "corrected", "void", "unresolved"]


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """One line: of a round, of whether a table is current, or of a gap."""

    table: str
    session: int | None = None
    round: int | None = None
    status: Status | None = None
    outcome: dict[str, Any] | None = None
    live: bool | None = None
    current: bool | None = None
    gap: bool | None = None


class CandidateError(NovamasError):
    """The program cannot be started."""


def read_observation(line: bytes) -> Observation:
    """Read a line. Raises ``ValueError`` that says what is wrong with it."""
    found = msgspec.json.decode(line, type=Observation)
    kinds = [found.status is not None, found.current is not None, found.gap is not None]
    if kinds.count(True) != 1:
        raise ValueError("a line has exactly one of status, current and gap")
    if found.status is not None and (found.session is None or found.round is None):
        raise ValueError("a line with a status has session and round")
    if found.status in ("final", "corrected") and found.outcome is None:
        raise ValueError("a final or corrected round has its outcome")
    return found


class Candidate:
    """One run of the program."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        on_line: Callable[[Observation], None],
        on_problem: Callable[[str], None],
    ) -> None:
        self._command, self._environment = command, environment
        self._on_line, self._on_problem = on_line, on_problem
        self.flooded = False
        """Its output is no longer read."""
        self._process: asyncio.subprocess.Process | None = None
        self._readers: list[asyncio.Task[None]] = []
        self._errors = b""
        self._lines = 0

    async def start(self) -> None:
        """Start the program in a new session. Raises :class:`CandidateError`."""
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={**os.environ, **self._environment},
                limit=MAX_LINE_BYTES,
                start_new_session=True,
            )
        except OSError as error:
            raise CandidateError(
                f"{self._command[0]}: cannot be started: {error.strerror}"
            ) from None
        self._readers = [
            asyncio.create_task(self._read_lines()),
            asyncio.create_task(self._read_errors()),
        ]

    @property
    def ended(self) -> str | None:
        """How it ended, with the last line of its standard error; None while it runs."""
        if self._process is None or self._process.returncode is None:
            return None
        last = self._errors.decode(errors="replace").strip().rpartition("\n")[2]
        code = self._process.returncode
        how = f"signal {-code}" if code < 0 else f"status {code}"
        return f"the program ended with {how}{f': {last}' if last else ''}"

    async def close(self) -> None:
        """End the program and all that it started."""
        if self._process is None:
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(END_SECONDS):
                    await self._process.wait()
        await self.read_rest()
        for reader in self._readers:
            reader.cancel()
        await asyncio.gather(*self._readers, return_exceptions=True)

    async def read_rest(self) -> None:
        """Read what is left in the pipes, which end with the last process that has them."""
        await asyncio.wait(self._readers, timeout=END_SECONDS)

    async def _read_lines(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        while True:
            try:
                line = await self._process.stdout.readuntil(b"\n")
            except asyncio.IncompleteReadError:
                return
            except asyncio.LimitOverrunError:
                await self._ignore(f"a line has more than {MAX_LINE_BYTES} bytes")
                return
            self._lines += 1
            if self._lines > MAX_LINES:
                await self._ignore(f"more than {MAX_LINES} lines")
                return
            try:
                self._on_line(read_observation(line))
            except (ValueError, RecursionError) as error:
                shown = line[:80].decode(errors="replace").strip()
                self._on_problem(f"{shown!r}: {error}")
            await clock.sleep(0)  # a flood must not stop the trial

    async def _ignore(self, problem: str) -> None:
        """Drop the rest of the output."""
        assert self._process is not None
        assert self._process.stdout is not None
        self.flooded = True
        self._on_problem(problem)
        while await self._process.stdout.read(MAX_LINE_BYTES):
            pass

    async def _read_errors(self) -> None:
        assert self._process is not None
        assert self._process.stderr is not None
        while data := await self._process.stderr.read(4096):
            self._errors = (self._errors + data)[-MAX_ERROR_BYTES:]
