"""The win log of a Slingshot 2: its pages, and one reading of it.

From the vendor's guide alone (V2.10); no page of a real wheel was ever received, and no recording
of one is public. So these are assumptions: pages count from 0, the oldest first; a page may come
with or without the letters of the request; only the last page has empty places, at its end.
"""

from __future__ import annotations

import re
from typing import Literal

from common.cammegh_ss2_frames import NUMBERS
from common.readings import Number, WheelLogProblem

PAGE_CHARACTERS = 256
"""Entries on a page."""
MAX_PAGES = 16
"""Maximum number of pages that are read: the newest ones, with 4096 entries."""
MAX_LINE_BYTES = 320
"""Maximum size of a line while a page may come: 258 characters and the letters of the request."""
MIN_PAGE_CHARACTERS = 64
"""Shortest run of entries that is taken for a damaged page, and not for noise."""
MAX_REQUESTS = 6
"""Maximum requests for the number of pages, and for one page. Two answers must agree."""
ANSWER_SECONDS = 2.0
"""Time to wait for an answer. A page takes 0.27 s at 9600 baud."""

PAGES_REQUEST, PAGE_REQUEST = b"*s t", b"*s r %d"
FIRST_CHARACTER, EMPTY = 0x21, 0x7E
WINS = 38
"""Values below this are pockets: 0 to 36, and 37 for double zero. Others are misfires."""

_PAGES = re.compile(rb"\*s t (\d{1,5})")
_REFUSED = re.compile(rb"\*?s (NO|BUSY)")
_PAGE = re.compile(rb"(?:\*s(?: r)?(?: \d{1,5})? )?([!-l~]+)")
_SUM = re.compile(rb"[0-9A-F]{2}")

LogEntry = Number | None
"""A pocket; None: a misfire."""


def read_page(line: bytes) -> bytes | Literal["checksum", "truncated"] | None:
    """Return the entries of a page, what is wrong with it, or None if the line is no page."""
    match = _PAGE.fullmatch(line)
    if match is None or len(match[1]) < MIN_PAGE_CHARACTERS:
        return None
    page, sent_sum = match[1][:PAGE_CHARACTERS], match[1][PAGE_CHARACTERS:]
    if len(sent_sum) != 2:
        return "truncated"
    right = _SUM.fullmatch(sent_sum) and int(sent_sum, 16) == sum(page) % 256
    return bytes(page) if right else "checksum"


def read_entries(pages: bytes) -> tuple[LogEntry, ...] | None:
    """Return the entries of consecutive pages; None if an entry follows an empty place, as in a log
    that began again at its beginning.
    """
    used = pages.rstrip(bytes([EMPTY]))
    if EMPTY in used:
        return None
    return tuple(_entry(byte - FIRST_CHARACTER) for byte in used)


def _entry(value: int) -> LogEntry:
    if value >= WINS:
        return None
    return NUMBERS[b"00" if value == WINS - 1 else b"%2d" % value]


class WinLogReader:
    """Reads the newest pages, one request at a time. It never erases the log.

    ``twice``: each answer must be received twice, since the sum of a page does not show every
    damage.
    """

    def __init__(self, *, twice: bool) -> None:
        self.pages: list[bytes] = []
        self.count: int | None = None
        self.lines: list[bytes] = []
        """The lines of the accepted pages, or the last one that was not."""
        self.problem: WheelLogProblem | None = None
        self.is_over = False
        self._twice = twice
        self._requests = 0  # for what is requested now
        self._requested_at = float("-inf")
        self._waiting = False
        self._candidate: bytes | None = None  # an answer that was received once
        self._failure: WheelLogProblem = "unanswered"

    @property
    def is_begun(self) -> bool:
        """Whether anything was requested."""
        return self._requested_at > float("-inf")

    @property
    def first_page(self) -> int:
        """The first page that is read."""
        return max(0, (self.count or 0) - MAX_PAGES)

    def request(self, now: float) -> bytes:
        """Return the next request; empty: none is due, or the reading is over."""
        if self.is_over or (self._waiting and now - self._requested_at < ANSWER_SECONDS):
            return b""
        if self._requests == MAX_REQUESTS:
            self._end(self._failure)
            return b""
        self._requests += 1
        self._requested_at, self._waiting = now, True
        if self.count is None:
            return PAGES_REQUEST
        return PAGE_REQUEST % (self.first_page + len(self.pages))

    def interrupt(self) -> None:
        """End the reading: the wheel left state 6."""
        self._end("interrupted")

    def on_line(self, line: bytes) -> bool:
        """Handle a line. Return False if it is no answer that was waited for."""
        if not self.is_begun or self.is_over:
            return False
        if _REFUSED.fullmatch(line):
            self._waiting, self._failure = False, "refused"
            return False  # it is a reading too
        if self.count is None:
            if (match := _PAGES.fullmatch(line)) is None:
                return False
            if self._is_accepted(match[1]):
                self.count = int(match[1])
                self._next()
            return True
        page = read_page(line)
        if page is None:
            return False
        if isinstance(page, str):
            self._waiting, self._failure, self._candidate = False, page, None
            self.lines = [*self.lines[: len(self.pages)], line]
        elif not (self.pages and page == self.pages[-1]) and self._is_accepted(page):
            # the page before may come again, late: no two full pages are the same
            self.lines = [*self.lines[: len(self.pages)], line]
            self.pages.append(page)
            self._next()
        return True

    def entries(self) -> tuple[LogEntry, ...]:
        """Return the entries that were read; empty if there is a problem."""
        return () if self.problem else read_entries(b"".join(self.pages)) or ()

    def _is_accepted(self, answer: bytes) -> bool:
        """Whether an answer counts now. The same one must come twice, one after the other."""
        self._waiting = False
        accepted = not self._twice or answer == self._candidate
        self._candidate = None if accepted else answer
        return accepted

    def _next(self) -> None:
        self._requests, self._failure = 0, "unanswered"
        assert self.count is not None
        if self.first_page + len(self.pages) < self.count:
            return
        self._end(None if read_entries(b"".join(self.pages)) is not None else "wrapped")

    def _end(self, problem: WheelLogProblem | None) -> None:
        self.is_over = True
        self.problem = problem
