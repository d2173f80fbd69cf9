"""Gaming days: they begin at the site's configured time and may end after midnight."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta


def bounds(day: date, begins: time) -> tuple[datetime, datetime]:
    """Return the begin and end of a gaming day, in local time. Raises ``ValueError`` for a day that
    begins or ends outside the years 1 to 9999.
    """
    try:
        return _begin(day, begins), _begin(day + timedelta(days=1), begins)
    except OverflowError as error:
        raise ValueError(f"{day}: {error}") from None


def day_of(moment: datetime, begins: time) -> date:
    """Return the gaming day that contains a moment. The local time alone is ambiguous: when clocks
    are put back, 02:10 after the first 02:30 belongs to the new day.
    """
    day, one_day = moment.astimezone().date(), timedelta(days=1)
    if moment < _begin(day, begins):
        return day - one_day
    return day + one_day if day < date.max and moment >= _begin(day + one_day, begins) else day


def _begin(day: date, begins: time) -> datetime:
    """Return the moment at which a gaming day begins. A local time that clocks skip counts an hour
    later (02:30 at 03:30); if a local time occurs twice, the first one counts.
    """
    seconds = datetime.combine(day, begins).timestamp()  # astimezone would give 01:30 for 02:30
    return datetime.fromtimestamp(seconds, UTC).astimezone()


def on_wire(moment: datetime) -> str:
    """Format a moment as the wire does, so that both compare as text."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
