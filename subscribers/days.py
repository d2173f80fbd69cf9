"""Days of play: they begin when the site says, and may end after midnight."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta


def bounds(day: date, begins: time) -> tuple[datetime, datetime]:
    """A day of play, in local time: it may end after midnight."""
    begin = datetime.combine(day, begins)
    return begin.astimezone(), (begin + timedelta(days=1)).astimezone()


def day_of(moment: datetime, begins: time) -> date:
    """The day of play to which a moment belongs."""
    local = moment.astimezone()
    return local.date() if local.time() >= begins else local.date() - timedelta(days=1)


def on_wire(moment: datetime) -> str:
    """A moment as the wire writes it, so that both can be compared as text."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
