"""A time as a person writes it. Without clock or I/O."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_AGO = re.compile(r"(\d{1,6}) ?([smhd])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?")


class TimeError(ValueError):
    """What was written is no time. The message says what to write instead."""


def time_of(text: str, now: datetime) -> str:
    """A time as a person writes it, as the wire does: ``1h`` (so long ago), ``21:30`` (the last
    time that it was), a date, or ISO 8601, on the clock of this machine where it names no zone.
    Raises :class:`TimeError`.
    """
    given = text.strip()
    try:
        if found := _AGO.fullmatch(given):
            moment = now - timedelta(**{_UNITS[found[2]]: int(found[1])})
        elif found := _CLOCK.fullmatch(given):
            hour, minute, second = (int(each or 0) for each in found.groups())
            moment = now.replace(hour=hour, minute=minute, second=second, microsecond=0)
            moment -= timedelta(days=moment > now)
        else:
            moment = datetime.fromisoformat(given)
        return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    except (ValueError, OverflowError):
        raise TimeError(
            f"{text!r} is no time; write 1h or 30m (so long ago), 21:30, 2026-11-22, "
            "2026-11-22T21:30 or 2026-11-22T20:30:00Z"
        ) from None
