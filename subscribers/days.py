"""Days of play: they begin when the site says, and may end after midnight."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta


def bounds(day: date, begins: time) -> tuple[datetime, datetime]:
    """Begin and end of a day of play, in local time: it may end after midnight. Raises
    ``ValueError`` for a day that begins or ends outside the years 1 to 9999.
    """
    begin = datetime.combine(day, begins)
    try:
        return begin.astimezone(), (begin + timedelta(days=1)).astimezone()
    except OverflowError as error:
        raise ValueError(f"{day}: {error}") from None


def day_of(moment: datetime, begins: time) -> date:
    """The day of play to which a moment belongs."""
    local = moment.astimezone()
    return local.date() if local.time() >= begins else local.date() - timedelta(days=1)


def on_wire(moment: datetime) -> str:
    """A moment as the wire writes it, so that both can be compared as text."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
