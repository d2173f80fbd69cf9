"""HTML pages of permanencies: the days of a table, and one day to read or print. They need no
script.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from itertools import groupby

from common.contract.messages.messages import text
from subscribers.display.frames import templates
from subscribers.display.permanency import Permanency, PermanencyEntry, header_lines
from subscribers.display.start import start_element

_TEMPLATE = templates("subscribers.display").get_template("permanency.html")


def days_page(table: str, title: str, days: Sequence[date], language: str, base: str = "") -> str:
    """Return the list of days with a permanency, newest first. ``base``: the prefix of all
    addresses.
    """
    lines = [
        f'<li><a href="day/{day.isoformat()}?lang={language}">{day.isoformat()}</a></li>'
        for day in sorted(days, reverse=True)
    ]
    day_list = f"<ul>{''.join(lines)}</ul>" if lines else f"<p>{_label('no_days', language)}</p>"
    name = f"{title} · {table} · {text('permanency.title', language)}"
    return _page(name, f"<h1>{_esc(name)}</h1>{day_list}", language, base)


def day_page(permanency: Permanency, trouble: str | None, base: str = "") -> str:
    """Return one day. ``trouble``: why rounds cannot be stored, or None. ``base``: the prefix of
    all addresses.
    """
    language = permanency.language
    name, *lines = header_lines(permanency)
    parts = [
        f"<h1>{_esc(name)}</h1>",
        *(f"<p>{_esc(line)}</p>" for line in lines),
        f"<p>{_label('copy', language)}</p>",
    ]
    if trouble is not None:
        parts.append(
            f'<p class="missing">{_esc(text("permanency.unkept", language, trouble=trouble))}</p>'
        )
    links = [
        f'<a href="{permanency.day.isoformat()}.{form}?lang={language}">{form.upper()}</a>'
        for form in ("csv", "pdf")
    ]
    parts.append(
        f'<nav><a href="../days?lang={language}">{_label("days", language)}</a> '
        f"{' '.join(links)}</nav>"
    )
    for session, group in groupby(permanency.entries, key=lambda entry: entry.session):
        parts.append(_session(session, list(group), language))
    return _page(name, "".join(parts), language, base)


def _session(session: int, entries: list[PermanencyEntry], language: str) -> str:
    columns = "".join(
        f'<th scope="col">{_esc(name)}</th>'
        for name in (
            "",
            text("permanency.time", language),
            text("permanency.result", language),
            text("permanency.note", language),
        )
    )
    return (
        f"<section><h2>{_esc(text('display.session', language, session=session))}</h2>"
        f"<table><thead><tr>{columns}</tr></thead>"
        f"<tbody>{''.join(_rows(entries))}</tbody></table></section>"
    )


def _rows(entries: Iterable[PermanencyEntry]) -> Iterable[str]:
    for entry in entries:
        number = str(entry.round) if entry.last == entry.round else f"{entry.round}–{entry.last}"
        yield (
            f'<tr class="{entry.kind}"><th scope="row">{number}</th>'
            f"<td>{_esc(local_clock(entry.time))}</td>"
            f'<td class="lane-{entry.lane or "none"}">{_esc(entry.result)}</td>'
            f"<td>{_esc(entry.note)}</td></tr>"
        )


def local_clock(time: str | None) -> str:
    """Return the local time of day."""
    if time is None:
        return ""
    return datetime.fromisoformat(time).astimezone().strftime("%H:%M:%S")


def _page(title: str, body: str, language: str, base: str) -> str:
    return _TEMPLATE.render(
        start=start_element(),
        language=language,
        title=title,
        body=body,
        styles=("/static/permanency.css",),
        base=base,
    )


def _label(name: str, language: str) -> str:
    return _esc(text(f"permanency.{name}", language))


def _esc(value: str) -> str:
    return html.escape(value)
