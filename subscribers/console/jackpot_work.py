"""What waits for a person at a jackpot, and what that person may order there: computed from its
state. No clock, no I/O.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import permutations
from typing import Any

import msgspec

from common.contract.jackpot import KEPT_ALERTS, JackpotAward, JackpotState
from common.contract.jackpot_authority import ORDERS, OrderRight
from common.contract.messages.messages import text, word
from common.contract.retained import Alert
from common.contract.times import parse_utc
from common.people.register import Person
from subscribers.console.forms import JACKPOT_ORDER_TYPES as KINDS
from subscribers.console.forms import PIN_COMMANDS, FormChoice, forms
from subscribers.console.sending import SecondPersonWait, Touch
from subscribers.console.words import console_text
from subscribers.console.work import (
    ITEM_ORDER,
    AnswerButton,
    CommandOffer,
    ConsoleView,
    TouchOutcome,
    WorkItem,
    card_text,
    outcome_of,
    role_names,
    second_person_items,
)
from subscribers.display.picture import TableTrouble, Word
from subscribers.feed.meter import Meter, MeterSilence, out_of_play_text, silence_text, title
from subscribers.money import money
from subscribers.words import who

SLOW_HIT_SECONDS = 30.0
"""Time that a hit may wait for its tables before a person is asked; most are final
within a second.
"""
OFFERED_ORDERS = (
    "jackpot.suspend",
    "jackpot.resume",
    "meter.adjust",
    "pool.transfer",
    "pool.close",
)
"""Orders that concern no award and no table."""
BUTTON_TEXTS = {"alert.acknowledge": "pit.seen", "alert.clear": "carrousel.settled"}
"""Text keys of the buttons."""
MAX_LISTED_HITS = 2
"""Up to this number of unordered hits there is a button for each order; more are typed."""
RECEIPT_COMMAND = (
    "novamas carrousel receipt LEDGER --jackpot {jackpot} --number {number} --output {file}"
)
"""The command that prints a receipt, on the controller's machine."""


class JackpotContext(msgspec.Struct, frozen=True, kw_only=True):
    """A jackpot, and the person who views it."""

    name: str
    """``jackpot/<id>``."""
    meter: Meter
    silent: MeterSilence | None
    """Why the state is not current; None if it is."""
    here: bool
    """True if the person is enrolled for one of its tables."""
    others: tuple[str, ...]
    """The ids of the other jackpots."""
    person: Person
    language: str
    touches: tuple[Touch, ...]
    """Those of this session, newest first."""
    waits: tuple[SecondPersonWait, ...]


def jackpot_view(context: JackpotContext) -> ConsoleView:
    """Return the jackpot as this person may see and act on it."""
    state, language = (context.meter.state if context.here else None), context.language
    current = state if context.silent is None else None
    status = "" if state is None else "in_play" if state.in_play else "not_in_play"
    why = "" if state is None else out_of_play_text(state.why, language)
    phase_text = " · ".join(
        filter(None, (text(f"jackpot.{status}", language) if status else "", why))
    )
    return ConsoleView(
        table=context.name,
        name=context.meter.jackpot,
        title=title(context.meter, language),
        decree="" if state is None else state.decree,
        simulated=context.meter.simulated,
        status=Word("", ""),
        phase=Word(status, phase_text),
        session=None,
        round=None,
        minimum=None,
        currency=None if state is None else state.currency,
        trouble=None
        if context.silent is None
        else TableTrouble(
            why=context.silent.why,
            text=silence_text(context.silent, language),
            since=context.silent.since,
        ),
        boot="" if state is None else state.boot,
        seq=0 if state is None else state.seq,
        view="jackpot",
        whos=(),
        taken=(),
        parts=(),
        staff=(),
        unresolved=(),
        offers=() if current is None else tuple(_offers(context, current)),
        items=() if current is None else tuple(items(context, current)),
        done=tuple(jackpot_outcome(context, touch) for touch in context.touches[:12]),
        meter=None if state is None else money(state.value, state.currency, language),
        awards=()
        if current is None
        else tuple(_award(context, current, award) for award in current.awards),
    )


def authority_of(command: str) -> OrderRight:
    """Return who may give an order. Raise ``KeyError`` for an unknown name."""
    return ORDERS[KINDS[command]]


def role_for(person: Person, command: str) -> str | None:
    """Return the role in which this person gives an order, the most senior if there are several;
    None if the person may not.
    """
    authority = authority_of(command) if command in KINDS else None
    if authority is None:
        return None
    held = [role for role in (*authority.among, *authority.roles) if role in person.roles]
    return held[0] if held else None


def jackpot_outcome(context: JackpotContext, touch: Touch) -> TouchOutcome:
    """Return the outcome of an order, with the number of its receipt."""
    state, language = context.meter.state, context.language
    currency = None if state is None else state.currency
    outcome = outcome_of(touch, language, currency)
    if touch.how == "unknown":
        return msgspec.structs.replace(outcome, found=console_text("carrousel.look", language))
    if touch.receipt is None:
        return outcome
    jackpot, number = context.meter.jackpot, touch.receipt
    file = f"{jackpot}-{number}.pdf"
    command = RECEIPT_COMMAND.format(jackpot=jackpot, number=number, file=file)
    receipt = console_text("carrousel.receipt", language, number=number, command=command)
    return msgspec.structs.replace(outcome, receipt=receipt)


def items(context: JackpotContext, state: JackpotState) -> Iterable[WorkItem]:
    """Return what waits, most urgent first."""
    waiting = [
        *_seconds(context, state),
        *_orders(context, state),
        *_slow(context, state),
        *(_award(context, state, award) for award in state.awards if _waits(award)),
        *_gaps(context, state),
        *_alerts(context),
    ]
    return sorted(waiting, key=lambda item: (ITEM_ORDER.index(item.what), item.since))


def _alerts(context: JackpotContext) -> Iterable[WorkItem]:
    """Yield the controller's alerts. A gap is asked about by table already. An alert about a past
    fault remains until a person clears it.
    """
    language = context.language
    for alert in context.meter.alerts.values():
        if alert.what == "jackpot.gap":
            continue
        is_new = alert.acknowledged_by is None
        commands: tuple[str, ...] = ()
        if alert.what.removeprefix("jackpot.") in KEPT_ALERTS:
            commands = ("alert.acknowledge", "alert.clear") if is_new else ("alert.clear",)
        answers = tuple(
            _answer(command, console_text(BUTTON_TEXTS[command], language), {"alert": alert.alert})
            for command in commands
            if role_for(context.person, command) is not None
        )
        yield WorkItem(
            id=f"{context.name} alert {alert.alert} {alert.acknowledged}",
            what=alert.severity,
            since=alert.raised,
            title=word("alert", alert.what, language),
            detail=alert.detail,
            says=() if is_new else (_acknowledged(alert, language),),
            answers=answers,
            others="" if answers or not commands else _others(commands, language),
        )


def _acknowledged(alert: Alert, language: str) -> Word:
    moment_text = (alert.acknowledged or "").partition(".")[0].replace("T", " ").removesuffix("Z")
    return Word(
        console_text("carrousel.seen", language), f"{alert.acknowledged_by} · {moment_text} UTC"
    )


def _waits(award: JackpotAward) -> bool:
    """Return True if an award itself waits for a person."""
    return award.status != "pending" or award.why == "amount"


def _seconds(context: JackpotContext, state: JackpotState) -> Iterable[WorkItem]:
    """Yield what waits for a second person. If one of the two must have a certain role, and the
    first has not, the second must.
    """
    for wait in context.waits:
        touch = wait.touch
        required = authority_of(touch.command).among
        roles = wait.roles if not required or touch.role in required else required
        remaining = msgspec.structs.replace(wait, roles=tuple(roles))
        (item,) = second_person_items(
            (remaining,), context.person, context.language, state.currency
        )
        about = _about(context, state, touch.fields)
        answers = tuple(
            msgspec.structs.replace(answer, about=" · ".join(filter(None, (answer.about, about))))
            for answer in item.answers
        )
        yield msgspec.structs.replace(item, round=None, detail=about, answers=answers)


def _about(context: JackpotContext, state: JackpotState, fields: Mapping[str, Any]) -> str | None:
    """Return the hand that an order concerns."""
    matching = (award for award in state.awards if award.award == fields.get("award"))
    return next((_where(award, context.language) for award in matching), None)


def _where(award: JackpotAward, language: str) -> str:
    table = text("jackpot.table", language, table=award.table)
    played = text("display.round", language, round=award.round)
    hand = word("hand", award.hand, language)
    return f"{hand} · {table}, {who(award.box, language)}, {played}"


def _award(context: JackpotContext, state: JackpotState, award: JackpotAward) -> WorkItem:
    """Return a waiting award with its details and buttons."""
    language = context.language
    place = _where(award, language)
    answers = tuple(
        msgspec.structs.replace(answer, about=f"{award.award} · {place}")
        for answer in _answers(context, state, award)
    )
    return WorkItem(
        id=f"{context.name} award {award.award} {award.status} {award.value} {award.paid}",
        what="ask",
        since=award.time,
        title=console_text(
            "carrousel.award", language, award=award.award, what=_status_text(award, language)
        ),
        detail=place,
        says=tuple(_amounts(award, state, language)),
        answers=answers,
        others="" if answers else _others(_waited_orders(award), language),
    )


def _status_text(award: JackpotAward, language: str) -> str:
    status = word("jackpot", f"award.{award.status}", language)
    if award.why is None:
        return status
    return f"{status}: {word('jackpot', f'pending.{award.why}', language)}"


def _amounts(award: JackpotAward, state: JackpotState, language: str) -> Iterable[Word]:
    cards = " ".join(card_text(card, language) for card in award.cards)
    yield Word(word("field", "cards", language), cards)
    if award.value is not None:
        value = "provisional" if award.status == "pending" else "value"
        amount = money(award.value, state.currency, language)
        yield Word(console_text(f"carrousel.{value}", language), amount)
    if award.paid:
        yield Word(
            console_text("carrousel.paid", language), money(award.paid, state.currency, language)
        )
    if award.status == "payable" and award.value is not None and award.paid:
        due = money(award.value - award.paid, state.currency, language)
        yield Word(console_text("carrousel.due", language), due)


def _waited_orders(award: JackpotAward) -> tuple[str, ...]:
    """Return the orders that an award waits for."""
    match award.status:
        case "payable":
            return ("award.pay",)
        case "disputed":
            return ("award.uphold",) if award.paid else ("award.uphold", "award.withdraw")
        case "claimed":
            return ("claim.settle",)
        case _:
            return ("award.decide",) if award.why == "amount" else ()


def _answers(
    context: JackpotContext, state: JackpotState, award: JackpotAward
) -> Iterable[AnswerButton]:
    language, fields = context.language, {"award": award.award}
    for command in _waited_orders(award):
        if role_for(context.person, command) is None:
            continue
        if command == "award.pay":
            yield from _payments(state, award, language)
        elif command == "claim.settle":
            (how_field,) = (
                field for field in forms(language)[command].fields if field.name == "how"
            )
            for choice in how_field.choices:
                yield _answer(command, choice.text, {**fields, "how": choice.value})
        elif command == "award.decide":
            yield _fill(command, f"{forms(language)[command].text} …", fields)
        else:
            yield _answer(command, forms(language)[command].text, fields)
    disputable = award.status == "payable" or (award.status == "pending" and award.paid == 0)
    if disputable and role_for(context.person, "award.dispute") is not None:
        yield _fill("award.dispute", forms(language)["award.dispute"].text, fields)


def _payments(state: JackpotState, award: JackpotAward, language: str) -> Iterable[AnswerButton]:
    """Yield buttons for the amount due and for a part. The amount already paid is sent along, so
    that a repeated order does not pay twice.
    """
    if award.value is None:
        return
    due = award.value - award.paid
    pay = console_text("carrousel.pay", language, amount=money(due, state.currency, language))
    paid_before = {"award": award.award, "paid": award.paid}
    yield _answer("award.pay", pay, {**paid_before, "amount": due})
    yield _fill("award.pay", console_text("carrousel.pay_part", language), paid_before)


def _answer(command: str, text: str, fields: dict[str, Any]) -> AnswerButton:
    grave = command in PIN_COMMANDS
    return AnswerButton(
        command=command, text=text, fields=fields, grave=grave, two=authority_of(command).two
    )


def _fill(command: str, text: str, fields: dict[str, Any]) -> AnswerButton:
    """Return a button whose other fields the person fills in."""
    answer = _answer(command, text, fields)
    return msgspec.structs.replace(answer, open=True, fixed=tuple(fields))


def _orders(context: JackpotContext, state: JackpotState) -> Iterable[WorkItem]:
    """Yield hits whose order is unknown."""
    language, command = context.language, "hits.order"
    may_order = role_for(context.person, command) is not None
    awards = {award.hit: award for award in reversed(state.awards)}
    for group in state.unordered:
        awards_known = [awards[hit] for hit in group if hit in awards]
        answers = [
            _answer(
                command,
                console_text(
                    "carrousel.first", language, hit=order[0], table=awards[order[0]].table
                )
                if order[0] in awards
                else str(order[0]),
                {"hits": list(order)},
            )
            for order in (permutations(group) if len(group) == MAX_LISTED_HITS else ())
        ]
        if not answers:
            form = _answer(command, f"{forms(language)[command].text} …", {"hits": list(group)})
            answers = [msgspec.structs.replace(form, open=True)]
        yield WorkItem(
            id=f"{context.name} order {' '.join(map(str, group))}",
            what="ask",
            since=min((award.time for award in awards_known), default=state.time),
            title=console_text("carrousel.order", language),
            says=tuple(
                _hit(award, language) for award in sorted(awards_known, key=lambda award: award.hit)
            ),
            answers=tuple(answers) if may_order else (),
            others="" if may_order else _others((command,), language),
        )


def _hit(award: JackpotAward, language: str) -> Word:
    time = award.time.partition("T")[2].removesuffix("Z")
    number = console_text("carrousel.hit", language, hit=award.hit)
    return Word(number, f"{_where(award, language)} · {time} UTC")


def _slow(context: JackpotContext, state: JackpotState) -> Iterable[WorkItem]:
    """Yield hits whose tables have not reported for long."""
    language, command = context.language, "hit.fix"
    may_order = role_for(context.person, command) is not None
    awards = {
        award.hit: award
        for award in reversed(state.awards)
        if (award.status, award.why) == ("pending", "tables")
    }
    for hit, award in sorted(awards.items()):
        if parse_utc(state.time) - parse_utc(award.time) < SLOW_HIT_SECONDS:
            continue
        yield WorkItem(
            id=f"{context.name} fix {hit}",
            what="ask",
            since=award.time,
            title=console_text("carrousel.slow", language, hit=hit),
            detail=_where(award, language),
            answers=(_answer(command, forms(language)[command].text, {"hit": hit}),)
            if may_order
            else (),
            others="" if may_order else _others((command,), language),
        )


def _gaps(context: JackpotContext, state: JackpotState) -> Iterable[WorkItem]:
    """Yield tables with missing events that can no longer be recalled."""
    language, command = context.language, "gap.settle"
    may_order = role_for(context.person, command) is not None
    for name, table in state.tables.items():
        if table.why != "gap":
            continue
        fields = {"table": name, "gap": table.since}
        fill = _fill(command, f"{forms(language)[command].text} …", fields)
        yield WorkItem(
            id=f"{context.name} gap {name} {table.since}",
            what="ask",
            since=table.since,
            title=console_text("carrousel.gap", language, table=name),
            detail=console_text("carrousel.gap_detail", language),
            answers=(fill,) if may_order else (),
            others="" if may_order else _others((command,), language),
        )


def _others(commands: Iterable[str], language: str) -> str:
    return role_names(
        dict.fromkeys(role for command in commands for role in authority_of(command).roles),
        language,
    )


def _offers(context: JackpotContext, state: JackpotState) -> Iterable[CommandOffer]:
    """Yield the orders that this person may give without being asked."""
    pending = any(award.status == "pending" for award in state.awards)
    suspended = state.why == "suspended"
    unavailable = {
        "jackpot.suspend": suspended,
        "jackpot.resume": not suspended,
        "pool.transfer": pending or not context.others,
        "pool.close": pending or bool(state.awards),
    }
    for command in OFFERED_ORDERS:
        if unavailable.get(command) or role_for(context.person, command) is None:
            continue
        targets = tuple(FormChoice(other, other) for other in context.others)
        choices = {"to": targets} if command.startswith("pool.") and targets else {}
        fields = {"generation": state.generation}
        yield CommandOffer(
            command=command, choices=choices, fields=fields, two=authority_of(command).two
        )
