"""Parses times as a person writes them. No clock, no I/O."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_AGO = re.compile(r"(\d{1,6}) ?([smhd])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?")


class TimeError(ValueError):
    """The text is not a time. The message states what to write instead."""


def time_of(text: str, now: datetime) -> str:
    """Return a person's time as a wire time: ``1h`` (ago), ``21:30`` (the most recent one), a date,
    or ISO 8601, local unless it names a zone. Raise :class:`TimeError`.
    """
    stripped = text.strip()
    try:
        if match := _AGO.fullmatch(stripped):
            moment = now - timedelta(**{_UNITS[match[2]]: int(match[1])})
        elif match := _CLOCK.fullmatch(stripped):
            hour, minute, second = (int(part or 0) for part in match.groups())
            moment = now.replace(hour=hour, minute=minute, second=second, microsecond=0)
            moment -= timedelta(days=moment > now)
        else:
            moment = datetime.fromisoformat(stripped)
        return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    except (ValueError, OverflowError):
        raise TimeError(
            f"{text!r} is not a time; write 1h or 30m (ago), 21:30, 2026-11-22, "
            "2026-11-22T21:30 or 2026-11-22T20:30:00Z"
        ) from None
