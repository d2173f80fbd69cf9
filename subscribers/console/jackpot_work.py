"""What waits for a person at a jackpot, and what that person may order there: made anew of its
statement, without clock or I/O.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import permutations
from typing import Any

import msgspec

from controller.contract.jackpot import KEPT_ALERTS, JackpotAward, JackpotState
from controller.contract.jackpot_authority import ORDERS, May
from controller.contract.messages.messages import text, word
from controller.contract.retained import Alert
from controller.contract.times import moment
from controller.people.register import Person
from subscribers.console.forms import GRAVE, Choice, forms
from subscribers.console.forms import ORDERS as KINDS
from subscribers.console.sending import Touch, Waits
from subscribers.console.words import said
from subscribers.console.work import (
    GRAVEST,
    Answer,
    Done,
    Item,
    Offer,
    Place,
    became,
    card_text,
    named,
    seconds,
)
from subscribers.display.picture import Trouble, Word
from subscribers.meter import Meter, MeterSilence, out_of_play_text, silence_text, title
from subscribers.money import money
from subscribers.words import who

SLOW = 30.0
"""Seconds for which a hit may wait for the word of its tables before a person is asked; most are
final within a second.
"""
OFFERED = ("jackpot.suspend", "jackpot.resume", "meter.adjust", "pool.transfer", "pool.close")
"""Orders that are about no award and no table."""
ANSWERS = {"alert.acknowledge": "pit.seen", "alert.clear": "carrousel.settled"}
"""The words of a button."""
FEW = 2
"""So many hits of unknown order have a button for each order; more are written down."""
PRINTED = "novamas carrousel receipt LEDGER --jackpot {jackpot} --number {number} --output {file}"
"""The command that prints a receipt, at the controller's machine."""


class SeenJackpot(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is known of one jackpot, and who looks."""

    name: str
    """``jackpot/<id>``."""
    meter: Meter
    silent: MeterSilence | None
    """Why nothing of it is current; None: it is."""
    here: bool
    """The person is enrolled for one of its tables."""
    others: tuple[str, ...]
    """The ids of the other jackpots."""
    person: Person
    language: str
    touches: tuple[Touch, ...]
    """Of this session, newest first."""
    waits: tuple[Waits, ...]


def place(seen: SeenJackpot) -> Place:
    """The jackpot as this person may see and act on it."""
    state, language = (seen.meter.state if seen.here else None), seen.language
    now = state if seen.silent is None else None
    status = "" if state is None else "in_play" if state.in_play else "not_in_play"
    why = "" if state is None else out_of_play_text(state.why, language)
    said_of = " · ".join(filter(None, (text(f"jackpot.{status}", language) if status else "", why)))
    return Place(
        table=seen.name,
        name=seen.meter.jackpot,
        title=title(seen.meter, language),
        decree="" if state is None else state.decree,
        simulated=seen.meter.simulated,
        status=Word("", ""),
        phase=Word(status, said_of),
        session=None,
        round=None,
        minimum=None,
        currency=None if state is None else state.currency,
        trouble=None
        if seen.silent is None
        else Trouble(
            why=seen.silent.why, text=silence_text(seen.silent, language), since=seen.silent.since
        ),
        boot="" if state is None else state.boot,
        seq=0 if state is None else state.seq,
        view="jackpot",
        whos=(),
        taken=(),
        parts=(),
        staff=(),
        unresolved=(),
        offers=() if now is None else tuple(_offers(seen, now)),
        items=() if now is None else tuple(items(seen, now)),
        done=tuple(done(seen, touch) for touch in seen.touches[:12]),
        meter=None if state is None else money(state.value, state.currency, language),
        awards=() if now is None else tuple(_award(seen, now, each) for each in now.awards),
    )


def may(command: str) -> May:
    """Who may give an order. Raises ``KeyError`` for a name that there is not."""
    return ORDERS[KINDS[command]]


def role_for(person: Person, command: str) -> str | None:
    """The role in which this person gives an order, or None: of several the one that weighs
    most.
    """
    told = may(command) if command in KINDS else None
    if told is None:
        return None
    held = [role for role in (*told.among, *told.roles) if role in person.roles]
    return held[0] if held else None


def done(seen: SeenJackpot, touch: Touch) -> Done:
    """What became of an order, with the number of its receipt."""
    state, language = seen.meter.state, seen.language
    currency = None if state is None else state.currency
    made = became(touch, language, currency)
    if touch.how == "unknown":
        return msgspec.structs.replace(made, found=said("carrousel.look", language))
    if touch.receipt is None:
        return made
    jackpot, number = seen.meter.jackpot, touch.receipt
    file = f"{jackpot}-{number}.pdf"
    command = PRINTED.format(jackpot=jackpot, number=number, file=file)
    told = said("carrousel.receipt", language, number=number, command=command)
    return msgspec.structs.replace(made, receipt=told)


def items(seen: SeenJackpot, state: JackpotState) -> Iterable[Item]:
    """What waits, gravest first."""
    found = [
        *_seconds(seen, state),
        *_orders(seen, state),
        *_slow(seen, state),
        *(_award(seen, state, each) for each in state.awards if _waits(each)),
        *_gaps(seen, state),
        *_alerts(seen),
    ]
    return sorted(found, key=lambda item: (GRAVEST.index(item.what), item.since))


def _alerts(seen: SeenJackpot) -> Iterable[Item]:
    """What the controller found wrong. A gap is asked about already, by table. What has happened
    and is over stands until a person clears it.
    """
    language = seen.language
    for alert in seen.meter.alerts.values():
        if alert.what == "jackpot.gap":
            continue
        new = alert.acknowledged_by is None
        asked: tuple[str, ...] = ()
        if alert.what.removeprefix("jackpot.") in KEPT_ALERTS:
            asked = ("alert.acknowledge", "alert.clear") if new else ("alert.clear",)
        answers = tuple(
            _answer(command, said(ANSWERS[command], language), {"alert": alert.alert})
            for command in asked
            if role_for(seen.person, command) is not None
        )
        yield Item(
            id=f"{seen.name} alert {alert.alert} {alert.acknowledged}",
            what=alert.severity,
            since=alert.raised,
            title=word("alert", alert.what, language),
            detail=alert.detail,
            says=() if new else (_acknowledged(alert, language),),
            answers=answers,
            others="" if answers or not asked else _others(asked, language),
        )


def _acknowledged(alert: Alert, language: str) -> Word:
    """Who has seen an alert, and when."""
    at = (alert.acknowledged or "").partition(".")[0].replace("T", " ").removesuffix("Z")
    return Word(said("carrousel.seen", language), f"{alert.acknowledged_by} · {at} UTC")


def _waits(award: JackpotAward) -> bool:
    """Whether an award itself waits for a person."""
    return award.status != "pending" or award.why == "amount"


def _seconds(seen: SeenJackpot, state: JackpotState) -> Iterable[Item]:
    """What waits for a second person. Where one of the two must have a certain role, and the first
    has not, the second must.
    """
    for waits in seen.waits:
        touch = waits.touch
        among = may(touch.command).among
        left = waits.roles if not among or touch.role in among else among
        asked = msgspec.structs.replace(waits, roles=tuple(left))
        (item,) = seconds((asked,), seen.person, seen.language, state.currency)
        where = _about(seen, state, touch.fields)
        answers = tuple(
            msgspec.structs.replace(each, about=" · ".join(filter(None, (each.about, where))))
            for each in item.answers
        )
        yield msgspec.structs.replace(item, round=None, detail=where, answers=answers)


def _about(seen: SeenJackpot, state: JackpotState, fields: Mapping[str, Any]) -> str | None:
    """The hand that an order is about."""
    found = (each for each in state.awards if each.award == fields.get("award"))
    return next((_where(each, seen.language) for each in found), None)


def _where(award: JackpotAward, language: str) -> str:
    table = text("jackpot.table", language, table=award.table)
    played = text("display.round", language, round=award.round)
    hand = word("hand", award.hand, language)
    return f"{hand} · {table}, {who(award.box, language)}, {played}"


def _award(seen: SeenJackpot, state: JackpotState, award: JackpotAward) -> Item:
    """An award that waits, with what is known of it and what may be done about it."""
    language = seen.language
    where = _where(award, language)
    answers = tuple(
        msgspec.structs.replace(each, about=f"{award.award} · {where}")
        for each in _answers(seen, state, award)
    )
    return Item(
        id=f"{seen.name} award {award.award} {award.status} {award.value} {award.paid}",
        what="ask",
        since=award.time,
        title=said("carrousel.award", language, award=award.award, what=_stands(award, language)),
        detail=where,
        says=tuple(_amounts(award, state, language)),
        answers=answers,
        others="" if answers else _others(_asked(award), language),
    )


def _stands(award: JackpotAward, language: str) -> str:
    """What has become of it, and why it is pending."""
    status = word("jackpot", f"award.{award.status}", language)
    if award.why is None:
        return status
    return f"{status}: {word('jackpot', f'pending.{award.why}', language)}"


def _amounts(award: JackpotAward, state: JackpotState, language: str) -> Iterable[Word]:
    cards = " ".join(card_text(each, language) for each in award.cards)
    yield Word(word("field", "cards", language), cards)
    if award.value is not None:
        value = "provisional" if award.status == "pending" else "value"
        amount = money(award.value, state.currency, language)
        yield Word(said(f"carrousel.{value}", language), amount)
    if award.paid:
        yield Word(said("carrousel.paid", language), money(award.paid, state.currency, language))
    if award.status == "payable" and award.value is not None and award.paid:
        left = money(award.value - award.paid, state.currency, language)
        yield Word(said("carrousel.due", language), left)


def _asked(award: JackpotAward) -> tuple[str, ...]:
    """The orders that an award waits for."""
    match award.status:
        case "payable":
            return ("award.pay",)
        case "disputed":
            return ("award.uphold",) if award.paid else ("award.uphold", "award.withdraw")
        case "claimed":
            return ("claim.settle",)
        case _:
            return ("award.decide",) if award.why == "amount" else ()


def _answers(seen: SeenJackpot, state: JackpotState, award: JackpotAward) -> Iterable[Answer]:
    """The buttons of an award."""
    language, number = seen.language, {"award": award.award}
    for command in _asked(award):
        if role_for(seen.person, command) is None:
            continue
        if command == "award.pay":
            yield from _payments(state, award, language)
        elif command == "claim.settle":
            (how,) = (each for each in forms(language)[command].fields if each.name == "how")
            for choice in how.choices:
                yield _answer(command, choice.text, {**number, "how": choice.value})
        elif command == "award.decide":
            yield _fill(command, f"{forms(language)[command].text} …", number)
        else:
            yield _answer(command, forms(language)[command].text, number)
    disputable = award.status == "payable" or (award.status == "pending" and award.paid == 0)
    if disputable and role_for(seen.person, "award.dispute") is not None:
        yield _fill("award.dispute", forms(language)["award.dispute"].text, number)


def _payments(state: JackpotState, award: JackpotAward, language: str) -> Iterable[Answer]:
    """All that is due, or a part. What was paid before goes with it, so that what is said twice is
    not paid twice.
    """
    if award.value is None:
        return
    due = award.value - award.paid
    pay = said("carrousel.pay", language, amount=money(due, state.currency, language))
    before = {"award": award.award, "paid": award.paid}
    yield _answer("award.pay", pay, {**before, "amount": due})
    yield _fill("award.pay", said("carrousel.pay_part", language), before)


def _answer(command: str, text: str, fields: dict[str, Any]) -> Answer:
    grave = command in GRAVE
    return Answer(command=command, text=text, fields=fields, grave=grave, two=may(command).two)


def _fill(command: str, text: str, fields: dict[str, Any]) -> Answer:
    """A button whose other fields the person fills in."""
    given = _answer(command, text, fields)
    return msgspec.structs.replace(given, open=True, fixed=tuple(fields))


def _orders(seen: SeenJackpot, state: JackpotState) -> Iterable[Item]:
    """Hits of which nobody knows which was first."""
    language, command = seen.language, "hits.order"
    able = role_for(seen.person, command) is not None
    awards = {award.hit: award for award in reversed(state.awards)}
    for group in state.unordered:
        known = [awards[hit] for hit in group if hit in awards]
        answers = [
            _answer(
                command,
                said("carrousel.first", language, hit=order[0], table=awards[order[0]].table)
                if order[0] in awards
                else str(order[0]),
                {"hits": list(order)},
            )
            for order in (permutations(group) if len(group) == FEW else ())
        ]
        if not answers:
            more = _answer(command, f"{forms(language)[command].text} …", {"hits": list(group)})
            answers = [msgspec.structs.replace(more, open=True)]
        yield Item(
            id=f"{seen.name} order {' '.join(map(str, group))}",
            what="ask",
            since=min((each.time for each in known), default=state.time),
            title=said("carrousel.order", language),
            says=tuple(_hit(each, language) for each in sorted(known, key=lambda each: each.hit)),
            answers=tuple(answers) if able else (),
            others="" if able else _others((command,), language),
        )


def _hit(award: JackpotAward, language: str) -> Word:
    at = award.time.partition("T")[2].removesuffix("Z")
    number = said("carrousel.hit", language, hit=award.hit)
    return Word(number, f"{_where(award, language)} · {at} UTC")


def _slow(seen: SeenJackpot, state: JackpotState) -> Iterable[Item]:
    """Hits whose tables have not said for long what they did until then."""
    language, command = seen.language, "hit.fix"
    able = role_for(seen.person, command) is not None
    awards = {
        award.hit: award
        for award in reversed(state.awards)
        if (award.status, award.why) == ("pending", "tables")
    }
    for hit, award in sorted(awards.items()):
        if moment(state.time) - moment(award.time) < SLOW:
            continue
        yield Item(
            id=f"{seen.name} fix {hit}",
            what="ask",
            since=award.time,
            title=said("carrousel.slow", language, hit=hit),
            detail=_where(award, language),
            answers=(_answer(command, forms(language)[command].text, {"hit": hit}),)
            if able
            else (),
            others="" if able else _others((command,), language),
        )


def _gaps(seen: SeenJackpot, state: JackpotState) -> Iterable[Item]:
    """Tables whose events are missing, and nobody can tell them any more."""
    language, command = seen.language, "gap.settle"
    able = role_for(seen.person, command) is not None
    for name, table in state.tables.items():
        if table.why != "gap":
            continue
        named = {"table": name, "gap": table.since}
        fill = _fill(command, f"{forms(language)[command].text} …", named)
        yield Item(
            id=f"{seen.name} gap {name} {table.since}",
            what="ask",
            since=table.since,
            title=said("carrousel.gap", language, table=name),
            detail=said("carrousel.gap_detail", language),
            answers=(fill,) if able else (),
            others="" if able else _others((command,), language),
        )


def _others(commands: Iterable[str], language: str) -> str:
    return named(dict.fromkeys(role for each in commands for role in may(each).roles), language)


def _offers(seen: SeenJackpot, state: JackpotState) -> Iterable[Offer]:
    """What this person may order beside what is asked."""
    moving = any(award.status == "pending" for award in state.awards)
    suspended = state.why == "suspended"
    shut = {
        "jackpot.suspend": suspended,
        "jackpot.resume": not suspended,
        "pool.transfer": moving or not seen.others,
        "pool.close": moving or bool(state.awards),
    }
    for command in OFFERED:
        if shut.get(command) or role_for(seen.person, command) is None:
            continue
        to = tuple(Choice(each, each) for each in seen.others)
        choices = {"to": to} if command.startswith("pool.") and to else {}
        named = {"generation": state.generation}
        yield Offer(command=command, choices=choices, fields=named, two=may(command).two)
