"""HTML pages of permanencies: the days of a table, and one day to read or print. They need no
script.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from itertools import groupby
from typing import Any

from common.contract.messages.messages import text, word
from subscribers.display.frames import templates
from subscribers.display.permanency import LANES, Permanency, has_lanes, header_lines
from subscribers.display.start import start_element

_TEMPLATES = templates("subscribers.display")
_TEXTS = ("no_days", "copy", "days", "time", "result", "note")


def days_page(table: str, title: str, days: Sequence[date], language: str, base: str = "") -> str:
    """Return the list of days with a permanency, newest first. ``base``: the prefix of all
    addresses.
    """
    name = f"{title} · {table} · {text('permanency.title', language)}"
    newest_first = [day.isoformat() for day in sorted(days, reverse=True)]
    return _page("permanency_days.html", name, language, base, days=newest_first)


def day_page(
    permanency: Permanency, trouble: str | None, base: str = "", house: Sequence[str] = ()
) -> str:
    """Return one day. ``trouble``: why rounds cannot be stored, or None. ``base``: the prefix of
    all addresses. ``house``: the lines of the letterhead.
    """
    language = permanency.language
    name, *lines = header_lines(permanency)
    sessions = [
        (text("display.session", language, session=session), list(entries))
        for session, entries in groupby(permanency.entries, key=lambda entry: entry.session)
    ]
    return _page(
        "permanency_day.html",
        name,
        language,
        base,
        day=permanency.day.isoformat(),
        house=house,
        lines=lines,
        trouble=trouble and text("permanency.unkept", language, trouble=trouble),
        sessions=sessions,
        lanes=lane_names(language) if has_lanes(permanency) else None,
        local_clock=local_clock,
    )


def lane_names(language: str) -> dict[str, str]:
    """Return the heading of each lane."""
    return {lane: "0" if lane == "green" else word("colour", lane, language) for lane in LANES}


def local_clock(time: str | None) -> str:
    """Return the local time of day."""
    if time is None:
        return ""
    return datetime.fromisoformat(time).astimezone().strftime("%H:%M:%S")


def _page(template: str, title: str, language: str, base: str, **values: Any) -> str:
    return _TEMPLATES.get_template(template).render(
        start=start_element(),
        language=language,
        title=title,
        styles=("/static/permanency.css",),
        base=base,
        texts={name: text(f"permanency.{name}", language) for name in _TEXTS},
        **values,
    )
