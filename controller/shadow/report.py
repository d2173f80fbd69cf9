"""The signed files of a shadow run: the comparison of a day, the explanation of a difference, and
the month.

The file of a day holds both sides, so that its differences can be derived again.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import TypeVar

import msgspec
from nacl.signing import SigningKey

from common.errors import NovamasError
from common.people.signed_bytes import is_signed, sign_bytes
from common.plain_errors import describe
from controller.shadow.clocks import ClockOffset
from controller.shadow.differences import Comparison, ResultDifference, compare
from controller.shadow.results import DecidedRound, ListedResult

MAX_FILE_BYTES = 64_000_000


class ShadowFileError(NovamasError):
    """A file is no signed file of a shadow run, or not as it was signed. The message says which."""


class JournalPart(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a journal that was read: up to this position, with the hash of its last entry."""

    journal: str
    position: int
    hash: str


class DayReport(msgspec.Struct, frozen=True, kw_only=True):
    """The comparison of one table on one gaming day. ``begin``, ``end``: seconds since 1970;
    ``list_sha256`` and ``format_sha256``: digests of the two files; ``tolerance``: seconds;
    ``left_out``: parts of the journal that could not be read; ``by``: who signed it, ``person``:
    that person's id, if the site has people; ``made``: UTC.
    """

    site: str
    table: str
    game: str
    decree: str
    day: str
    begin: float
    end: float
    list_name: str
    list_sha256: str
    format_name: str
    format_sha256: str
    tolerance: float
    evidence: tuple[JournalPart, ...]
    left_out: tuple[str, ...]
    played: tuple[DecidedRound, ...]
    listed: tuple[ListedResult, ...]
    same: int
    fits: bool
    offsets: tuple[ClockOffset, ...]
    differences: tuple[ResultDifference, ...]
    software: str
    by: str
    person: str | None
    made: str

    @property
    def is_equal(self) -> bool:
        """Whether the list is the table's, all of the journal was read, and nothing differs."""
        return self.fits and not self.differences and not self.left_out

    @property
    def decided(self) -> int:
        """Number of rounds of the day with a result."""
        return sum(
            1
            for each in self.played
            if each.number is not None and self.begin <= each.at < self.end
        )


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """A person's explanation of one difference. ``report_sha256``: digest of the file of the day;
    ``difference``: its number there, from 1.
    """

    report_sha256: str
    difference: int
    words: str
    by: str
    person: str | None
    made: str


class DaySummary(msgspec.Struct, frozen=True, kw_only=True):
    """A day of a month. ``explanations``: digests of the explanations; ``unexplained``: numbers of
    the differences without one.
    """

    day: str
    report: str
    report_sha256: str
    by: str
    fits: bool
    rounds: int
    rows: int
    same: int
    differences: int
    explanations: tuple[str, ...]
    unexplained: tuple[int, ...]


class MonthReport(msgspec.Struct, frozen=True, kw_only=True):
    """The days of one table in one month; ``missing``: days without a comparison."""

    site: str
    table: str
    month: str
    days: tuple[DaySummary, ...]
    missing: tuple[str, ...]
    software: str
    by: str
    person: str | None
    made: str

    @property
    def is_equal(self) -> bool:
        """Whether every compared day fits, and no difference is without an explanation."""
        return bool(self.days) and all(day.fits and not day.unexplained for day in self.days)


Content = DayReport | Explanation | MonthReport
ContentType = TypeVar("ContentType", DayReport, Explanation, MonthReport)
KINDS: dict[type[Content], str] = {
    DayReport: "novamas shadow day 1",
    Explanation: "novamas shadow explanation 1",
    MonthReport: "novamas shadow month 1",
}


class _SignedFile(msgspec.Struct, frozen=True, kw_only=True):
    """The signed file. It contains the content in exactly the bytes that were signed."""

    format: str
    key: str
    signature: str
    content: msgspec.Raw


class Signed(msgspec.Struct, frozen=True):
    """The content of a signed file, and the key that signed it."""

    content: Content
    key: str
    sha256: str


def follows(report: DayReport) -> bool:
    """Return whether what a report states follows from the two sides in it."""
    stated = Comparison(
        same=report.same,
        fits=report.fits,
        offsets=report.offsets,
        differences=report.differences,
    )
    derived = compare(report.played, report.listed, report.begin, report.end, report.tolerance)
    return derived == stated


def write_signed(content: Content, key: SigningKey) -> bytes:
    """Return the signed file."""
    kind, body = KINDS[type(content)], msgspec.json.encode(content)
    public, signature = sign_bytes(kind, body, key)
    return msgspec.json.encode(
        _SignedFile(format=kind, key=public, signature=signature, content=msgspec.Raw(body))
    )


def read_signed(data: bytes) -> Signed:
    """Read a signed file of any kind and verify its signature. Raises :class:`ShadowFileError`."""
    if len(data) > MAX_FILE_BYTES:
        raise ShadowFileError(f"is not a file of a shadow run: longer than {MAX_FILE_BYTES} bytes")
    try:
        signed = msgspec.json.decode(data, type=_SignedFile)
        content = next((each for each, kind in KINDS.items() if kind == signed.format), None)
        if content is None:
            known = ", ".join(KINDS.values())
            raise ShadowFileError(f"has the format {signed.format[:64]!r}; this reads {known}")
        body = bytes(signed.content)
        if not is_signed(signed.format, body, signed.key, signed.signature):
            raise ShadowFileError("is not as it was signed: the signature is wrong")
        return Signed(msgspec.json.decode(body, type=content), signed.key, sha256(data).hexdigest())
    except (ValueError, TypeError, RecursionError) as error:
        raise ShadowFileError(f"is not a file of a shadow run: {describe(error)}") from None


def read_as(data: bytes, content: type[ContentType]) -> tuple[ContentType, Signed]:
    """Read a signed file of one kind. Raises :class:`ShadowFileError`."""
    signed = read_signed(data)
    if not isinstance(signed.content, content):
        raise ShadowFileError(f"is not of the format {KINDS[content]}")
    return signed.content, signed


def summarize(
    report: DayReport, name: str, digest: str, explanations: Sequence[tuple[Explanation, str]]
) -> DaySummary:
    """Return a day for its month. ``name`` and ``digest``: of the file of the day;
    ``explanations``: each with the digest of its file. Those of other reports do not count.
    """
    own = [
        (explanation, file)
        for explanation, file in explanations
        if explanation.report_sha256 == digest
        and 1 <= explanation.difference <= len(report.differences)
    ]
    explained = {explanation.difference for explanation, _ in own}
    return DaySummary(
        day=report.day,
        report=name,
        report_sha256=digest,
        by=report.by,
        fits=report.fits,
        rounds=report.decided,
        rows=len(report.listed),
        same=report.same,
        differences=len(report.differences),
        explanations=tuple(sorted(file for _, file in own)),
        unexplained=tuple(
            number for number in range(1, len(report.differences) + 1) if number not in explained
        ),
    )
