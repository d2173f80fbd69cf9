"""The format of all times: UTC, ISO 8601, microseconds, ``2025-09-23T07:25:28.384000Z``."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def format_utc(seconds: float) -> str:
    """Format seconds since 1970-01-01, to the microsecond. Raises ``ValueError`` if out of
    range.
    """
    try:
        time = _EPOCH + timedelta(microseconds=round(seconds * 1e6))
    except (OverflowError, ValueError):
        raise ValueError(f"{seconds!r} s is no time between the years 1 and 9999") from None
    return time.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def parse_utc(text: str) -> float:
    """Parse a UTC time in the form of :func:`format_utc`, with or without the fraction, into
    seconds since 1970-01-01. Raises ``ValueError``.
    """
    try:
        if not text.endswith("Z"):
            raise ValueError
        return (datetime.fromisoformat(text) - _EPOCH).total_seconds()
    except (TypeError, ValueError):  # a TypeError: a date alone
        raise ValueError(f"{text!r} is not a time in UTC, as 2026-03-20T02:10:13Z") from None
