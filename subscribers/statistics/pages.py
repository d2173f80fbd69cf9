"""The pages of wheels and shoes. They need no script of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from urllib.parse import quote

from common.contract.messages.messages import word
from subscribers.display.frames import templates
from subscribers.display.start import start_element
from subscribers.statistics.drawing import pockets
from subscribers.statistics.folding import ShoesReport
from subscribers.statistics.health import BiasReport, GroupReport, WheelReport
from subscribers.statistics.words import page_text

_TEMPLATE = templates("subscribers.statistics").get_template("wheels.html")


def plain(key: str, language: str, base: str, **fields: object) -> str:
    """Return a page with a single message. ``base``: prefix of all addresses."""
    return _page(
        page_text("title", language), f"<p>{_t(key, language, **fields)}</p>", language, base
    )


def all_wheels(
    wheels: Mapping[int, WheelReport], shoes: Sequence[ShoesReport], language: str, base: str
) -> str:
    """Return the page of all wheels, by their numbers, and of the shoes."""
    body = f"<p>{_t('advice', language)}</p>"
    if not wheels and not shoes:
        body += f"<p>{_t('none', language)}</p>"
    if wheels:
        head = ("table", "wheel", "since", "spins", "evidence", "state")
        rows = [
            (
                _link(wheel, number, language, base),
                _e(wheel.serial or wheel.device),
                _e(wheel.since[:10]),
                _n(wheel.spins),
                _of(wheel.bias, language),
                _state(wheel, language),
            )
            for number, wheel in wheels.items()
        ]
        threshold = _n(next(iter(wheels.values())).bias.threshold)
        body += _table(head, rows, language)
        body += f"<p>{_t('bound', language, threshold=threshold)}</p>"
    if shoes:
        head = (
            "table", "shoes", "order_evidence", "ranks_evidence", "neighbours", "state",
        )  # fmt: skip
        rows = [
            (
                _e(f"{report.table} · {report.site}"),
                _n(report.shoes),
                _value(report.order_evidence),
                _value(report.ranks_evidence),
                f"{_n(report.neighbours_kept)}, {_n(report.neighbours_expected)}",
                _shoes_state(report, language),
            )
            for report in shoes
        ]
        body += f"<h2>{_t('shoes', language)}</h2>" + _table(head, rows, language)
    return _page(page_text("title", language), body, language, base)


def one_wheel(wheel: WheelReport, language: str, base: str) -> str:
    """Return the page of a wheel."""
    title = f"{wheel.table} · {wheel.site}" + (f" · {wheel.serial}" if wheel.serial else "")
    facts = [
        ("since", _e(f"{wheel.since[:16]} UTC")),
        ("until", _e(f"{wheel.until[:16]} UTC")),
        ("spins", _n(wheel.spins)),
        ("state", _state(wheel, language)),
    ]
    if wheel.games_per_hour is not None:
        facts.append(("games_per_hour", f"{wheel.games_per_hour:.1f}"))
    body = f'<p><a href="{base}/wheels?lang={language}">{_t("title", language)}</a></p>'
    body += f"<p>{_t('advice', language)}</p>" + _facts(facts, language)
    body += f"<h2>{_t('bias', language)}</h2>" + _facts(_bias(wheel.bias, language), language)
    caption = page_text("drawing", language)
    body += f"<p>{_e(caption)}</p>" + pockets(wheel, caption)
    change = _change(wheel, language)
    body += f"<h2>{_t('change', language)}</h2><p>{change}</p>"
    for key, head, rows in _sections(wheel, language):
        body += f"<h2>{_t(key, language)}</h2>" + _table(head, rows, language)
    return _page(title, body, language, base)


def _sections(
    wheel: WheelReport, language: str
) -> Iterable[tuple[str, Sequence[str], list[Sequence[str]]]]:
    """Yield the tables of a wheel: heading, columns, rows. Empty tables are left out."""
    measures: list[Sequence[str]] = [
        (
            _t(name, language),
            *(f"{value:.2f}" for value in (item.mean, item.deviation, item.least, item.most)),
            _n(item.count),
        )
        for name, item in wheel.measures.items()
    ]
    groups: list[Sequence[str]] = [
        (
            _group(item, language),
            _n(item.spins),
            _of(item.bias, language),
            _hits(item.bias, language),
        )
        for item in wheel.groups
    ]
    voids: list[Sequence[str]] = [
        (_e(_reason(name, language)), _n(count)) for name, count in wheel.voids.items()
    ]
    pocket_rows: list[Sequence[str]] = [
        (
            _e(str(item.number)),
            _n(item.count),
            f"{item.lift.lift:.2f} ({item.lift.low:.2f}–{item.lift.high:.2f})",
        )
        for item in wheel.pockets
    ]
    for key, head, rows in (
        ("measures", ("measures", "mean", "deviation", "least", "most", "spins"), measures),
        ("groups", ("groups", "spins", "evidence", "suspect"), groups),
        ("voids", ("state", "count"), voids),
        ("number", ("number", "count", "lift"), pocket_rows),
    ):
        if rows:
            yield key, head, rows


def _bias(bias: BiasReport, language: str) -> Iterable[tuple[str, str]]:
    yield "evidence", _of(bias, language)
    if bias.suspect is not None:
        yield (
            "suspect",
            _e(" ".join(map(str, bias.suspect.numbers))) + "<br>" + _hits(bias, language),
        )
    if bias.chi_square is not None:
        chi = bias.chi_square
        yield (
            "chi_square",
            _t(
                "chi_said",
                language,
                value=f"{chi.value:.1f}",
                freedom=chi.freedom,
                p=f"{chi.p:.3f}",
            ),
        )


def _hits(bias: BiasReport, language: str) -> str:
    suspect = bias.suspect
    if suspect is None:
        return ""
    return _t(
        "hits",
        language,
        hits=_n(suspect.hits),
        fair=_n(suspect.fair),
        lift=f"{suspect.lift.lift:.2f}",
        low=f"{suspect.lift.low:.2f}",
        high=f"{suspect.lift.high:.2f}",
    )


def _state(wheel: WheelReport, language: str) -> str:
    states = []
    if wheel.bias.alarm is not None:
        states.append(_alarm("biased", wheel.bias.alarm, language))
    if wheel.change.alarm is not None:
        states.append(_alarm("changed", wheel.change.alarm, language))
    if wheel.simulated:
        states.append(_t("simulated", language))
    return ", ".join(states) or _t("quiet", language)


def _shoes_state(shoes: ShoesReport, language: str) -> str:
    states = [_alarm(name, number, language) for name, number in shoes.alarms.items()]
    return ", ".join(states) or _t("quiet", language)


def _alarm(key: str, spins: int, language: str) -> str:
    return f'<span class="alarm">{_t(key, language, at=_n(spins))}</span>'


def _change(wheel: WheelReport, language: str) -> str:
    change = wheel.change
    threshold = _n(change.threshold)
    evidence = _t("of", language, value=_n(change.evidence), threshold=threshold)
    if change.alarm is None:
        return evidence
    feature = "" if change.shown_by not in wheel.measures else f" ({_t(change.shown_by, language)})"
    return f"{_alarm('changed', change.alarm, language)}{feature}; {evidence}"


def _of(bias: BiasReport, language: str) -> str:
    threshold = _n(bias.threshold)
    return _t("of", language, value=_value(bias.evidence), threshold=threshold)


def _value(evidence: float) -> str:
    return _n(evidence) if 10 <= evidence < 1e6 else f"{evidence:.2g}"


def _link(wheel: WheelReport, number: int, language: str, base: str) -> str:
    at = f"{base}/wheels/{quote(wheel.table, safe='')}/{number}"
    name = _e(f"{wheel.table} · {wheel.site}")
    return f'<a href="{at}?lang={language}">{name}</a>'


def _n(number: float) -> str:
    """Format a whole number with narrow spaces between thousands, which all five
    languages accept.
    """
    return f"{number:,.0f}".replace(",", "\u202f")


def _group(group: GroupReport, language: str) -> str:
    name = " ".join(
        page_text(part, language) if part in ("clockwise", "anticlockwise") else part
        for part in group.name.split()
    )
    return _e(f"{page_text(group.kind, language)} {name}")


def _reason(name: str, language: str) -> str:
    kind, colon, detail = name.partition(": ")
    return (
        f"{page_text(kind, language)}: {detail}" if colon else word("void_reason", name, language)
    )


def _facts(facts: Iterable[tuple[str, str]], language: str) -> str:
    lines = (f"<dt>{_t(key, language)}</dt><dd>{value}</dd>" for key, value in facts)
    return f"<dl>{''.join(lines)}</dl>"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], language: str) -> str:
    names = "".join(f'<th scope="col">{_t(key, language)}</th>' for key in head)
    lines = "".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
        for first, *cells in rows
    )
    table = f"<table><thead><tr>{names}</tr></thead><tbody>{lines}</tbody></table>"
    label = _t(head[0], language)
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{label}">{table}</div>'


def _page(title: str, body: str, language: str, base: str) -> str:
    return _TEMPLATE.render(
        start=start_element(),
        language=language,
        title=title,
        body=body,
        styles=("/wheels/static/wheels.css",),
        base=base,
    )


def _t(key: str, language: str, **fields: object) -> str:
    return _e(page_text(key, language, **fields))


def _e(text: str) -> str:
    return escape(text)
