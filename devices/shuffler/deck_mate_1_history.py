"""Parser of the history that a Deck Mate 1 sends on request in the service menu ("Download to PC").

A history is a header (serial number, time and date of the report, offsets of gripper and platform),
then events, each with a name and ``Time:``, ``Date:``, ``P:``, ``G:`` and ``Cyc:``, then counters.
The separators are not documented, so any white space is accepted. The machine's clock is often
wrong: events are ordered by cycle, and a clock that went back is reported.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import msgspec

EVENT_NAMES = (
    "Powered Up",
    "Auto Setup",
    "Extra Card",
    "Missing Card",
    "Jam Recovery",
    "Door Opened",
)
"""Known events, in the singular. Other events keep their own names."""

_EVENT = re.compile(
    r"(?P<name>[A-Za-z][A-Za-z ]{2,40}?)\s+Time:\s*(?P<time>\S+)\s+Date:\s*(?P<date>\S+)"
    r"\s+P:\s*(?P<platform>-?\d{1,12})\s+G:\s*(?P<gripper>-?\d{1,12})\s+Cyc:\s*(?P<cycle>\d{1,12})(?!\d)"
)
_HEAD = re.compile(
    r"^\s*(?P<name>serial[^:\n]*|(?:report\s+)?time|(?:report\s+)?date|[^:\n]*(?:gripper|platform)[^:\n]*)\s*[:=]\s*(?P<value>[^\n]+?)\s*$",
    re.IGNORECASE | re.MULTILINE,
)
_COUNTER = re.compile(
    r"^\s*(?P<name>[A-Za-z][A-Za-z \-/]{2,40}?)\s*[:=]\s*(?P<count>\d{1,12})\s*$", re.MULTILINE
)
_TIME = "%m-%d-%y %H:%M:%S"


class ShufflerEvent(msgspec.Struct, frozen=True, kw_only=True, tag="event"):
    """One event. ``said``: its time on the machine's clock, null if invalid. ``true``: its time by
    a correct clock, null if the machine's error is unknown. ``doubtful``: the clock was set back
    after this event, so its error was different before.
    """

    line: int
    name: str
    known: bool
    cycle: int
    platform: int
    gripper: int
    said: str | None
    true: str | None = None
    doubtful: bool = False


class ReportHeader(msgspec.Struct, frozen=True, kw_only=True, tag="head"):
    """Header of a history. ``reported``: time of the report by the machine's clock. ``off``:
    seconds by which that clock is behind a correct one, null if unknown.
    """

    serial: str | None
    reported: str | None
    off: float | None
    offsets: dict[str, str]


class Totals(msgspec.Struct, frozen=True, kw_only=True, tag="totals"):
    """Counters at the end of a history, by the machine's names."""

    counters: dict[str, int]


class ShufflerHistory(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed history. ``events`` are ordered by cycle; ``problems``: line number and error."""

    head: ReportHeader
    events: tuple[ShufflerEvent, ...]
    totals: Totals
    problems: tuple[tuple[int, str], ...]


def read_history(text: str, made: datetime | None = None) -> ShufflerHistory:
    """Parse a history. ``made``: the correct time of the report, if it was noted, to correct the
    machine's clock.

    Raises ``ValueError`` if there is neither a header nor an event: then it is not a history.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    found = list(_EVENT.finditer(text))
    first, last = (found[0].start(), found[-1].end()) if found else (len(text), 0)
    heads = {
        match["name"].strip().lower(): match["value"] for match in _HEAD.finditer(text[:first])
    }
    if not heads and not found:
        raise ValueError(
            "not a history of a Deck Mate 1: it contains neither a serial number nor an event"
        )
    reported = _stamp(_header_value(heads, "time"), _header_value(heads, "date"))
    off = (
        made.replace(tzinfo=None) - reported if made is not None and reported is not None else None
    )
    problems = (
        []
        if made is None or reported is not None
        else [(1, "the report has no time, so the clock cannot be corrected")]
    )
    rows = sorted(
        ((match, text.count("\n", 0, match.start("name")) + 1) for match in found),
        key=lambda row: int(row[0]["cycle"]),
    )
    events: list[ShufflerEvent] = []
    next_stated, doubtful = reported, False
    for match, line in reversed(rows):
        # backwards from the report: the clock's error was the same until the clock was set
        stated = _stamp(match["time"], match["date"])
        if stated is None:
            problems.append((line, f"{match['date']} {match['time']} is not a valid time"))
        doubtful = doubtful or (
            stated is not None and next_stated is not None and stated > next_stated
        )
        next_stated = stated or next_stated
        events.insert(0, _event(match, line, stated, off, doubtful))
    problems += _text_between_events(text, found)
    return ShufflerHistory(
        head=ReportHeader(
            serial=_header_value(heads, "serial"),
            reported=reported.isoformat() if reported else None,
            off=off.total_seconds() if off is not None else None,
            offsets={
                name: value
                for name, value in heads.items()
                if "gripper" in name or "platform" in name
            },
        ),
        events=tuple(events),
        totals=Totals(
            counters={
                match["name"].strip(): int(match["count"])
                for match in _COUNTER.finditer(text[last:])
            }
            if found
            else {}
        ),
        problems=tuple(sorted(problems)),
    )


def _event(
    match: re.Match[str], line: int, stated: datetime | None, off: timedelta | None, doubtful: bool
) -> ShufflerEvent:
    name = " ".join(match["name"].split())
    singular = next(
        (known for known in EVENT_NAMES if name.lower().rstrip("s") == known.lower().rstrip("s")),
        None,
    )
    return ShufflerEvent(
        line=line,
        name=singular or name,
        known=singular is not None,
        cycle=int(match["cycle"]),
        platform=int(match["platform"]),
        gripper=int(match["gripper"]),
        said=stated.isoformat() if stated else None,
        true=_corrected(stated, off)
        if stated is not None and off is not None and not doubtful
        else None,
        doubtful=doubtful,
    )


def _corrected(stated: datetime, off: timedelta) -> str | None:
    try:
        return (stated + off).isoformat()
    except OverflowError:  # a year that does not exist
        return None


def _header_value(heads: dict[str, str], word: str) -> str | None:
    return next((value for name, value in heads.items() if word in name), None)


def _stamp(time: str | None, date: str | None) -> datetime | None:
    try:
        return datetime.strptime(f"{date} {time}", _TIME)  # noqa: DTZ007 - the machine has no time zone
    except ValueError:
        return None


def _text_between_events(text: str, found: list[re.Match[str]]) -> list[tuple[int, str]]:
    """Text between events that belongs to none of them: something was lost there."""
    strange, end = [], found[0].end() if found else len(text)
    for match in found[1:]:
        between = text[end : match.start()].strip()
        if between:
            line = text.count("\n", 0, text.index(between[0], end)) + 1
            strange.append((line, f"{between.splitlines()[0][:60]!r} belongs to no event"))
        end = match.end()
    return strange
