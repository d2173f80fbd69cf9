"""File names of recordings: the camera, and when a recording begins. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from glob import escape

from subscribers.video.settings import VideoSettings

FIELD_PATTERNS = {
    "Y": r"(?P<Y>\d{4})", "m": r"(?P<m>\d\d)", "d": r"(?P<d>\d\d)", "H": r"(?P<H>\d\d)",
    "M": r"(?P<M>\d\d)", "S": r"(?P<S>\d\d)", "f": r"(?P<f>\d{1,6})", "s": r"(?P<s>\d+)",
}  # fmt: skip
"""Fields allowed after ``%`` in a pattern: as in ``strftime``, plus ``f`` for a fraction and ``s``
for seconds since 1970.
"""
DATE_FIELDS = ("Y", "m", "d", "H", "M", "S")
_PARTS = re.compile(r"(%.|\{camera\})")


def begin_of(settings: VideoSettings, camera: str, name: str) -> float | None:
    """Return when the recording with this name below the folder begins, in seconds since 1970; None
    if it is not a recording.
    """
    match = _name_pattern(settings.pattern, camera).fullmatch(name)
    if match is None:
        return None
    fields = match.groupdict()
    if "s" in fields:
        return float(fields["s"]) + _fraction(fields.get("f"))
    try:
        year, month, day, hour, minute, second = (int(fields[field]) for field in DATE_FIELDS)
        local = datetime(year, month, day, hour, minute, second)  # noqa: DTZ001
        zoned = local.replace(tzinfo=UTC) if settings.clock == "utc" else local.astimezone()
        return zoned.timestamp() + _fraction(fields.get("f"))
    except (ValueError, OverflowError):
        return None


def search_patterns(
    settings: VideoSettings, camera: str, since: float, until: float
) -> tuple[str, ...]:
    """Return glob patterns for recordings from ``since`` to ``until``, relative to the folder."""
    parts = _PARTS.split(settings.pattern)
    return tuple(
        dict.fromkeys(
            "".join(_glob(part, camera, at) for part in parts)
            for at in _hours(settings, since - settings.longest, until)
        )
    )


def _hours(settings: VideoSettings, since: float, until: float) -> Iterator[datetime]:
    at = datetime.fromtimestamp(since, UTC)
    end = datetime.fromtimestamp(until, UTC)
    while at < end + timedelta(hours=1):
        yield at if settings.clock == "utc" else at.astimezone()
        at += timedelta(hours=1)


def _glob(part: str, camera: str, at: datetime) -> str:
    if part == "{camera}":
        return escape(camera)
    if not part.startswith("%"):
        return escape(part)
    if part == "%%":
        return "%"
    if part[1] in "YmdH":
        return at.strftime(part)
    return "[0-9][0-9]" if part[1] in "MS" else "[0-9]*"


@cache
def _name_pattern(pattern: str, camera: str) -> re.Pattern[str]:
    seen: set[str] = set()
    parts = []
    for part in _PARTS.split(pattern):
        if part == "{camera}":
            parts.append(re.escape(camera))
        elif part == "%%":
            parts.append("%")
        elif part.startswith("%"):
            is_repeated = part[1] in seen  # the date can be in both folder and file name
            parts.append(f"(?P={part[1]})" if is_repeated else FIELD_PATTERNS[part[1]])
            seen.add(part[1])
        else:
            parts.append(re.escape(part))
    return re.compile("".join(parts))


def _fraction(digits: str | None) -> float:
    return 0.0 if digits is None else int(digits) / 10 ** len(digits)
