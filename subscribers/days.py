"""Days of play: they begin when the site says, and may end after midnight."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta


def bounds(day: date, begins: time) -> tuple[datetime, datetime]:
    """Begin and end of a day of play, in local time: it may end after midnight. Raises
    ``ValueError`` for a day that begins or ends outside the years 1 to 9999.
    """
    try:
        return _begin(day, begins), _begin(day + timedelta(days=1), begins)
    except OverflowError as error:
        raise ValueError(f"{day}: {error}") from None


def day_of(moment: datetime, begins: time) -> date:
    """The day of play within whose :func:`bounds` a moment is. The local time alone does not say
    it: where clocks are put back, 02:10 after the first 02:30 belongs to the new day.
    """
    day, one = moment.astimezone().date(), timedelta(days=1)
    if moment < _begin(day, begins):
        return day - one
    return day + one if day < date.max and moment >= _begin(day + one, begins) else day


def _begin(day: date, begins: time) -> datetime:
    """A local time that clocks skip is an hour later, 02:30 at 03:30; of two equal ones the day
    begins with the first.
    """
    seconds = datetime.combine(day, begins).timestamp()  # astimezone would have 02:30 at 01:30
    return datetime.fromtimestamp(seconds, UTC).astimezone()


def on_wire(moment: datetime) -> str:
    """A moment as the wire writes it, so that both can be compared as text."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
