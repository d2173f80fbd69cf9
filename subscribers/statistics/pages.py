"""The pages of wheels and shoes. They need no script of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from string import Template
from urllib.parse import quote

from controller.contract.messages.messages import word
from subscribers.display.start import start
from subscribers.statistics.drawing import pockets
from subscribers.statistics.folding import ShoesReport
from subscribers.statistics.health import Bias, GroupReport, WheelReport
from subscribers.statistics.words import said

_PAGE = Template("""\
<!doctype html>
<html lang="$language">
<head>
<meta charset="utf-8">
$start
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<link rel="icon" href="$base/static/icon.svg">
<link rel="stylesheet" href="$base/wheels/static/wheels.css">
</head>
<body>
<main>
<h1>$title</h1>
$body
</main>
</body>
</html>
""")


def plain(key: str, language: str, base: str, **fields: object) -> str:
    """A page that says why there is nothing else on it. ``base``: the prefix of all addresses."""
    return _page(said("title", language), f"<p>{_t(key, language, **fields)}</p>", language, base)


def all_wheels(
    wheels: Mapping[int, WheelReport], shoes: Sequence[ShoesReport], language: str, base: str
) -> str:
    """Wheels by their numbers, and shoes."""
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
                _e(f"{each.table} · {each.site}"),
                _n(each.shoes),
                _value(each.order_evidence),
                _value(each.ranks_evidence),
                f"{_n(each.neighbours_kept)}, {_n(each.neighbours_expected)}",
                _shoes_state(each, language),
            )
            for each in shoes
        ]
        body += f"<h2>{_t('shoes', language)}</h2>" + _table(head, rows, language)
    return _page(said("title", language), body, language, base)


def one_wheel(wheel: WheelReport, language: str, base: str) -> str:
    """A wheel."""
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
    caption = said("drawing", language)
    body += f"<p>{_e(caption)}</p>" + pockets(wheel, caption)
    change = _change(wheel, language)
    body += f"<h2>{_t('change', language)}</h2><p>{change}</p>"
    for key, head, rows in _sections(wheel, language):
        body += f"<h2>{_t(key, language)}</h2>" + _table(head, rows, language)
    return _page(title, body, language, base)


def _sections(
    wheel: WheelReport, language: str
) -> Iterable[tuple[str, Sequence[str], list[Sequence[str]]]]:
    """The tables of a wheel: heading, columns, rows; those without a row are left out."""
    measures: list[Sequence[str]] = [
        (
            _t(name, language),
            *(f"{value:.2f}" for value in (each.mean, each.deviation, each.least, each.most)),
            _n(each.count),
        )
        for name, each in wheel.measures.items()
    ]
    groups: list[Sequence[str]] = [
        (
            _group(each, language),
            _n(each.spins),
            _of(each.bias, language),
            _hits(each.bias, language),
        )
        for each in wheel.groups
    ]
    voids: list[Sequence[str]] = [
        (_e(_reason(name, language)), _n(count)) for name, count in wheel.voids.items()
    ]
    pockets_told: list[Sequence[str]] = [
        (
            _e(str(each.number)),
            _n(each.count),
            f"{each.lift.lift:.2f} ({each.lift.low:.2f}–{each.lift.high:.2f})",
        )
        for each in wheel.pockets
    ]
    for key, head, rows in (
        ("measures", ("measures", "mean", "deviation", "least", "most", "spins"), measures),
        ("groups", ("groups", "spins", "evidence", "suspect"), groups),
        ("voids", ("state", "count"), voids),
        ("number", ("number", "count", "lift"), pockets_told),
    ):
        if rows:
            yield key, head, rows


def _bias(bias: Bias, language: str) -> Iterable[tuple[str, str]]:
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


def _hits(bias: Bias, language: str) -> str:
    found = bias.suspect
    if found is None:
        return ""
    return _t(
        "hits",
        language,
        hits=_n(found.hits),
        fair=_n(found.fair),
        lift=f"{found.lift.lift:.2f}",
        low=f"{found.lift.low:.2f}",
        high=f"{found.lift.high:.2f}",
    )


def _state(wheel: WheelReport, language: str) -> str:
    told = []
    if wheel.bias.alarm is not None:
        told.append(_alarm("biased", wheel.bias.alarm, language))
    if wheel.change.alarm is not None:
        told.append(_alarm("changed", wheel.change.alarm, language))
    if wheel.simulated:
        told.append(_t("simulated", language))
    return ", ".join(told) or _t("quiet", language)


def _shoes_state(shoes: ShoesReport, language: str) -> str:
    told = [_alarm(name, number, language) for name, number in shoes.alarms.items()]
    return ", ".join(told) or _t("quiet", language)


def _alarm(key: str, at: int, language: str) -> str:
    return f'<span class="alarm">{_t(key, language, at=_n(at))}</span>'


def _change(wheel: WheelReport, language: str) -> str:
    change = wheel.change
    threshold = _n(change.threshold)
    told = _t("of", language, value=_n(change.evidence), threshold=threshold)
    if change.alarm is None:
        return told
    shown = "" if change.shown_by not in wheel.measures else f" ({_t(change.shown_by, language)})"
    return f"{_alarm('changed', change.alarm, language)}{shown}; {told}"


def _of(bias: Bias, language: str) -> str:
    threshold = _n(bias.threshold)
    return _t("of", language, value=_value(bias.evidence), threshold=threshold)


def _value(evidence: float) -> str:
    return _n(evidence) if 10 <= evidence < 1e6 else f"{evidence:.2g}"


def _link(wheel: WheelReport, number: int, language: str, base: str) -> str:
    at = f"{base}/wheels/{quote(wheel.table, safe='')}/{number}"
    name = _e(f"{wheel.table} · {wheel.site}")
    return f'<a href="{at}?lang={language}">{name}</a>'


def _n(number: float) -> str:
    """A whole number, its thousands apart as every language of ours may have them."""
    return f"{number:,.0f}".replace(",", "\u202f")


def _group(each: GroupReport, language: str) -> str:
    name = " ".join(
        said(part, language) if part in ("clockwise", "anticlockwise") else part
        for part in each.name.split()
    )
    return _e(f"{said(each.kind, language)} {name}")


def _reason(name: str, language: str) -> str:
    kind, colon, why = name.partition(": ")
    return f"{said(kind, language)}: {why}" if colon else word("void_reason", name, language)


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
    return _PAGE.substitute(start=start(), language=language, title=_e(title), body=body, base=base)


def _t(key: str, language: str, **fields: object) -> str:
    return _e(said(key, language, **fields))


def _e(text: str) -> str:
    return escape(text)
