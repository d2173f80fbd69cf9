"""The pages of permanencies: the days of a table, and one day to read or print. They need no
script of their own.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from itertools import groupby
from string import Template

from controller.contract.messages.messages import text
from subscribers.display.permanency import Entry, Permanency, head
from subscribers.display.start import start

_PAGE = Template("""\
<!doctype html>
<html lang="$language">
<head>
<meta charset="utf-8">
$start
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<link rel="icon" href="$base/static/icon.svg">
<link rel="stylesheet" href="$base/static/permanency.css">
</head>
<body>
<main>
$body
</main>
</body>
</html>
""")


def days_page(table: str, title: str, days: Sequence[date], language: str, base: str = "") -> str:
    """The days of which there is a permanency, newest first. ``base``: the prefix of all
    addresses.
    """
    lines = [
        f'<li><a href="day/{day.isoformat()}?lang={language}">{day.isoformat()}</a></li>'
        for day in sorted(days, reverse=True)
    ]
    listed = f"<ul>{''.join(lines)}</ul>" if lines else f"<p>{_t('no_days', language)}</p>"
    name = f"{title} · {table} · {text('permanency.title', language)}"
    return _page(name, f"<h1>{_e(name)}</h1>{listed}", language, base)


def day_page(permanency: Permanency, trouble: str | None, base: str = "") -> str:
    """One day. ``trouble``: why rounds cannot be kept, or None. ``base``: the prefix of all
    addresses.
    """
    language = permanency.language
    name, *lines = head(permanency)
    said = [
        f"<h1>{_e(name)}</h1>",
        *(f"<p>{_e(line)}</p>" for line in lines),
        f"<p>{_t('copy', language)}</p>",
    ]
    if trouble is not None:
        said.append(
            f'<p class="missing">{_e(text("permanency.unkept", language, trouble=trouble))}</p>'
        )
    links = [
        f'<a href="{permanency.day.isoformat()}.{form}?lang={language}">{form.upper()}</a>'
        for form in ("csv", "pdf")
    ]
    said.append(
        f'<nav><a href="../days?lang={language}">{_t("days", language)}</a> {" ".join(links)}</nav>'
    )
    for session, group in groupby(permanency.entries, key=lambda each: each.session):
        said.append(_session(session, list(group), language))
    return _page(name, "".join(said), language, base)


def _session(session: int, entries: list[Entry], language: str) -> str:
    columns = "".join(
        f'<th scope="col">{_e(name)}</th>'
        for name in (
            "",
            text("permanency.time", language),
            text("permanency.result", language),
            text("permanency.note", language),
        )
    )
    return (
        f"<section><h2>{_e(text('display.session', language, session=session))}</h2>"
        f"<table><thead><tr>{columns}</tr></thead>"
        f"<tbody>{''.join(_rows(entries))}</tbody></table></section>"
    )


def _rows(entries: Iterable[Entry]) -> Iterable[str]:
    for each in entries:
        number = str(each.round) if each.last == each.round else f"{each.round}–{each.last}"
        yield (
            f'<tr class="{each.kind}"><th scope="row">{number}</th><td>{_e(clock(each.time))}</td>'
            f'<td class="lane-{each.lane or "none"}">{_e(each.result)}</td>'
            f"<td>{_e(each.note)}</td></tr>"
        )


def clock(time: str | None) -> str:
    """The local time of day."""
    if time is None:
        return ""
    return datetime.fromisoformat(time).astimezone().strftime("%H:%M:%S")


def _page(title: str, body: str, language: str, base: str) -> str:
    return _PAGE.substitute(start=start(), language=language, title=_e(title), body=body, base=base)


def _t(name: str, language: str) -> str:
    return _e(text(f"permanency.{name}", language))


def _e(said: str) -> str:
    return html.escape(said)
