"""The pages of wheels and shoes. They need no script of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import quote

from common.contract.messages.messages import word
from subscribers.display.frames import templates
from subscribers.display.start import start_element
from subscribers.statistics.drawing import Light, light, plot, pockets
from subscribers.statistics.folding import ShoesReport
from subscribers.statistics.health import BiasReport, ChangeReport, GroupReport, WheelReport
from subscribers.statistics.words import page_text, words

SECTOR_SPINS = 3466
"""Spins after which a sector of nine pockets that comes 20 % too often was found in nine of ten
runs: measured, docs/inspector/statistics.md.
"""
_TEMPLATES = templates("subscribers.statistics")


class _Link(NamedTuple):
    text: str
    address: str


class _TwoLines(NamedTuple):
    first: str
    second: str


class _State(NamedTuple):
    text: str
    is_alarm: bool


_Cell = str | _Link | _TwoLines | Sequence[_State]
_Table = tuple[str, Sequence[str], Sequence[Sequence[_Cell]]]
"""Heading, columns and rows; texts by their keys."""


def plain(key: str, language: str, base: str, **fields: object) -> str:
    """Return a page with a single message. ``base``: prefix of all addresses."""
    message = page_text(key, language, **fields)
    return _page("message.html", page_text("title", language), language, base, message=message)


def all_wheels(
    wheels: Mapping[int, WheelReport], shoes: Sequence[ShoesReport], language: str, base: str
) -> str:
    """Return the page of all wheels, by their numbers, and of the shoes."""
    wheel_rows = [
        (
            _link(wheel, number, language, base),
            wheel.serial or wheel.device,
            wheel.since[:10],
            _n(wheel.spins),
            _of(wheel.bias, language),
            _states(wheel, language),
        )
        for number, wheel in wheels.items()
    ]
    shoe_rows = [
        (
            f"{report.table} · {report.site}",
            _n(report.shoes),
            _value(report.order_evidence),
            _value(report.ranks_evidence),
            f"{_n(report.neighbours_kept)}, {_n(report.neighbours_expected)}",
            _shoe_states(report, language),
        )
        for report in shoes
    ]
    return _page(
        "wheels.html",
        page_text("title", language),
        language,
        base,
        wheels=wheel_rows,
        shoes=shoe_rows,
        threshold=next((_n(wheel.bias.threshold) for wheel in wheels.values()), ""),
    )


def one_wheel(
    wheel: WheelReport, language: str, base: str, history: Sequence[WheelReport] = ()
) -> str:
    """Return the page of a wheel. ``history``: the wheels of its table, this one among them."""
    kind, sentence = _verdict(wheel, language)
    about: list[tuple[str, _Cell]] = [
        ("since", f"{wheel.since[:16]} UTC"),
        ("until", f"{wheel.until[:16]} UTC"),
        ("spins", _n(wheel.spins)),
        ("state", _states(wheel, language)),
    ]
    if wheel.games_per_hour is not None:
        about.append(("games_per_hour", f"{wheel.games_per_hour:.1f}"))
    change = wheel.change
    is_measure = change.shown_by in wheel.measures
    return _page(
        "wheel.html",
        f"{wheel.table} · {wheel.site}" + (f" · {wheel.serial}" if wheel.serial else ""),
        language,
        base,
        about=about,
        light=light(kind),
        light_word=page_text(kind, language),
        sentence=sentence,
        speeds=plot(wheel.speeds, page_text("rotor_rpm", language))
        if len(wheel.speeds) > 1
        else "",
        bias=list(_bias(wheel.bias, language)),
        drawing=pockets(wheel, page_text("drawing", language)),
        change=None if change.alarm is None else _alarm("changed", change.alarm, language).text,
        shown_by=f" ({page_text(change.shown_by or '', language)})" if is_measure else "",
        evidence=_change_evidence(change, language),
        tables=[
            table for table in (_history(history, language), *_tables(wheel, language)) if table[2]
        ],
    )


def _verdict(wheel: WheelReport, language: str) -> tuple[Light, str]:
    """Return the light of a wheel, and one sentence: what was found, after how many spins, and how
    many more a bias that matters takes to be seen.
    """
    spins, found = _n(wheel.spins), wheel.bias.suspect
    if wheel.bias.alarm is not None and found is not None:
        numbers, lift = " ".join(map(str, found.numbers)), f"{found.lift.lift:.2f}"
        fields = {"spins": spins, "numbers": numbers, "lift": lift}
        return "red", page_text("verdict_biased", language, **fields)
    if wheel.change.alarm is not None:
        return "red", page_text("verdict_changed", language, spins=_n(wheel.change.alarm))
    if not wheel.ring:
        return "amber", page_text("verdict_unknown", language, spins=spins)
    more = SECTOR_SPINS - wheel.spins
    if more > 0:
        return "amber", page_text("verdict_early", language, spins=spins, more=_n(more))
    return "green", page_text("verdict_fair", language, spins=spins)


def _history(wheels: Sequence[WheelReport], language: str) -> _Table:
    """Return the wheels of a table, the newest first: since when each was counted, and why."""
    return (
        "history",
        ("since", "until", "begun", "wheel", "spins", "state"),
        [
            (
                f"{wheel.since[:16]} UTC",
                f"{wheel.until[:16]} UTC",
                _begun(wheel.begun, language),
                wheel.serial or wheel.device,
                _n(wheel.spins),
                _states(wheel, language),
            )
            for wheel in sorted(wheels, key=lambda wheel: wheel.since, reverse=True)
        ],
    )


def _begun(begun: str, language: str) -> str:
    """Return why a wheel was counted from its begin, in words."""
    key = f"begun_{begun}"
    return page_text(key, language) if key in words() else word("work", begun, language)


def _tables(wheel: WheelReport, language: str) -> Iterable[_Table]:
    """Yield the tables of a wheel."""
    yield (
        "measures",
        ("measures", "mean", "deviation", "least", "most", "spins"),
        [
            (
                page_text(name, language),
                *(f"{value:.2f}" for value in (item.mean, item.deviation, item.least, item.most)),
                _n(item.count),
            )
            for name, item in wheel.measures.items()
        ],
    )
    yield (
        "groups",
        ("groups", "spins", "evidence", "suspect"),
        [
            (
                _group(item, language),
                _n(item.spins),
                _of(item.bias, language),
                _hits(item.bias, language),
            )
            for item in wheel.groups
        ],
    )
    voids = [(_reason(name, language), _n(count)) for name, count in wheel.voids.items()]
    yield "voids", ("state", "count"), voids
    yield (
        "number",
        ("number", "count", "lift"),
        [
            (
                str(item.number),
                _n(item.count),
                f"{item.lift.lift:.2f} ({item.lift.low:.2f}–{item.lift.high:.2f})",
            )
            for item in wheel.pockets
        ],
    )


def _bias(bias: BiasReport, language: str) -> Iterable[tuple[str, _Cell]]:
    yield "evidence", _of(bias, language)
    if bias.suspect is not None:
        numbers = " ".join(map(str, bias.suspect.numbers))
        yield "suspect", _TwoLines(numbers, _hits(bias, language))
    if bias.chi_square is not None:
        chi = bias.chi_square
        value, p = f"{chi.value:.1f}", f"{chi.p:.3f}"
        yield "chi_square", page_text("chi_said", language, value=value, freedom=chi.freedom, p=p)


def _hits(bias: BiasReport, language: str) -> str:
    suspect = bias.suspect
    if suspect is None:
        return ""
    return page_text(
        "hits",
        language,
        hits=_n(suspect.hits),
        fair=_n(suspect.fair),
        lift=f"{suspect.lift.lift:.2f}",
        low=f"{suspect.lift.low:.2f}",
        high=f"{suspect.lift.high:.2f}",
    )


def _states(wheel: WheelReport, language: str) -> Sequence[_State]:
    states = []
    if wheel.bias.alarm is not None:
        states.append(_alarm("biased", wheel.bias.alarm, language))
    if wheel.change.alarm is not None:
        states.append(_alarm("changed", wheel.change.alarm, language))
    if wheel.simulated:
        states.append(_State(page_text("simulated", language), is_alarm=False))
    return states or [_quiet(language)]


def _shoe_states(shoes: ShoesReport, language: str) -> Sequence[_State]:
    states = [_alarm(name, number, language) for name, number in shoes.alarms.items()]
    return states or [_quiet(language)]


def _alarm(key: str, spins: int, language: str) -> _State:
    return _State(page_text(key, language, at=_n(spins)), is_alarm=True)


def _quiet(language: str) -> _State:
    return _State(page_text("quiet", language), is_alarm=False)


def _change_evidence(change: ChangeReport, language: str) -> str:
    value, threshold = _n(change.evidence), _n(change.threshold)
    return page_text("of", language, value=value, threshold=threshold)


def _of(bias: BiasReport, language: str) -> str:
    threshold = _n(bias.threshold)
    return page_text("of", language, value=_value(bias.evidence), threshold=threshold)


def _value(evidence: float) -> str:
    return _n(evidence) if 10 <= evidence < 1e6 else f"{evidence:.2g}"


def _link(wheel: WheelReport, number: int, language: str, base: str) -> _Link:
    address = f"{base}/wheels/{quote(wheel.table, safe='')}/{number}?lang={language}"
    return _Link(f"{wheel.table} · {wheel.site}", address)


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
    return f"{page_text(group.kind, language)} {name}"


def _reason(name: str, language: str) -> str:
    kind, colon, detail = name.partition(": ")
    return (
        f"{page_text(kind, language)}: {detail}" if colon else word("void_reason", name, language)
    )


def _page(template: str, title: str, language: str, base: str, **values: Any) -> str:
    return _TEMPLATES.get_template(template).render(
        start=start_element(),
        language=language,
        title=title,
        styles=("/wheels/static/wheels.css",),
        base=base,
        t=partial(page_text, language=language),
        **values,
    )
