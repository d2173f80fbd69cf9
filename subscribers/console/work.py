"""What waits for a person at a table, and what that person may do there now: computed from its
state. No clock, no I/O.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, get_args

import msgspec

from common.contract.commands import VoidReason
from common.contract.events import Irregularity
from common.contract.messages.messages import ENGLISH, word
from common.contract.retained import Alert, State
from common.contract.shown import WheelShown
from common.contract.times import format_utc
from common.people.register import Person
from subscribers.console.details import detail_text, device_name
from subscribers.console.field_texts import fields_as_text
from subscribers.console.forms import COMMAND_TYPES, PIN_COMMANDS, FormChoice, forms
from subscribers.console.hands import correctable_hands, hand_text, hands_of, view_of
from subscribers.console.outcomes import touch_outcome
from subscribers.console.rights import (
    allowed_roles,
    command_rule,
    needs_two_persons,
    role_for,
    role_names,
    seen_result,
    with_second_person,
)
from subscribers.console.sending import SecondPersonWait
from subscribers.console.tile import correction_of, on_duty, table_tile
from subscribers.console.view import (
    AnswerButton,
    CommandOffer,
    ConsoleView,
    ItemType,
    TableContext,
    WorkItem,
    currency_of,
)
from subscribers.console.words import console_text
from subscribers.display.hands import bet_name
from subscribers.display.picture import Word, decree_text, trouble_of

ITEM_ORDER: tuple[ItemType, ...] = ("second", "fault", "ask", "unresolved", "warning")
"""Order of the list: the most urgent first."""
VOID_REASONS = frozenset(get_args(VoidReason))
SUGGESTED_REASONS: Mapping[str, str] = {
    "failed_launch": "bad_launch",
    "launched_again": "bad_launch",
    "die_cocked": "die_on_chips",
    "deal_too_many": "wrong_count",
    "deal_too_few": "wrong_count",
    "deal_order": "wrong_order",
    "deal_exposed": "card_exposed",
    "deck_wrong": "deck_defective",
    "overdraw": "cards_stuck",
}
"""The void reason that an irregularity suggests, if it has another name."""
MISDEAL_VIEWS = ("punto-banca", "chemin-de-fer", "trente-et-quarante", "blackjack")
"""Views of games in which a round that cannot be repaired is a misdeal."""
CARD_ACTIONS = ("remove", "accept", "next_round")
"""The most frequent decisions about a card that stopped the table."""
DISCRETIONARY_REASON = "inspector"
"""The void reason of a person who decides without one of the decree's."""
DECISION_TROUBLES = ("unresolved", "decision")
"""Reasons that grey out a display but are listed as items here."""


def console_view(context: TableContext) -> ConsoleView:
    """Return the table as this person may see and act on it."""
    snapshot, language = context.known, context.language
    state = snapshot.state
    title = decree_text({} if snapshot.info is None else snapshot.info.about.title, language)
    shown = None if state is None else state.shown
    trouble = trouble_of(snapshot, (), context.outdated, language)
    if trouble is not None and trouble.why in DECISION_TROUBLES:
        trouble = None
    status = "unknown" if state is None else state.status
    phase = "unknown" if shown is None else shown.phase
    current = context.outdated is None and state is not None
    return ConsoleView(
        table=snapshot.table,
        name=snapshot.table,
        title=snapshot.table if title is None else title.text,
        decree="" if state is None else state.decree,
        simulated=snapshot.simulated,
        status=Word(status, word("status", status, language)),
        phase=Word(phase, word("phase", phase, language)),
        session=None if shown is None else shown.session,
        round=None if shown is None else shown.round,
        minimum=None if shown is None else shown.minimum,
        currency=currency_of(context),
        trouble=trouble,
        boot="" if state is None else state.boot,
        seq=0 if state is None else state.seq,
        view="" if shown is None else str(shown.__struct_config__.tag),
        whos=tuple(Word(hand, hand_text(hand, language)) for hand in hands_of(shown)),
        taken=() if shown is None else tuple(int(place.partition(":")[2]) for place in shown.taken),
        parts=tuple(Word(hand, hand_text(hand, language)) for hand in correctable_hands(shown)),
        staff=()
        if state is None
        else tuple(
            Word(word("role", duty, language), ", ".join(names))
            for duty, names in state.staff.items()
        ),
        unresolved=() if shown is None else shown.unresolved,
        offers=tuple(offers(context)) if current else (),
        items=tuple(items(context)) if current else (),
        done=tuple(touch_outcome(context, touch) for touch in context.touches[:12]),
        tile=table_tile(context),
        on_duty=on_duty(context),
    )


def offers(context: TableContext) -> Iterable[CommandOffer]:
    """Yield the commands that this person may give at the table now."""
    state = context.known.state
    assert state is not None
    for command in state.takes:
        rule = command_rule(context, command)
        if command not in OFFERED_COMMANDS or rule is None or role_for(context, command) is None:
            continue
        needs_two = needs_two_persons(context, command, None)
        yield CommandOffer(
            command=command,
            two=needs_two is True,
            may_take_two=needs_two is None,
            choices={
                field: tuple(_choice(context, command, field, value) for value in values)
                for field, values in rule.choices.items()
            },
            leaves_out=(*rule.leaves_out, *_not_here(command, state)),
        )


def _not_here(command: str, state: State) -> tuple[str, ...]:
    """Return the fields of a command that ask about what this table has not: a lid is a wheel's."""
    has_wheel = isinstance(state.shown, WheelShown)
    return () if command != "session.close" or has_wheel else ("locked",)


def _choice(context: TableContext, command: str, field: str, value: str) -> FormChoice:
    """Return a field's value with its text. A value that is specific to the game may be a bet or a
    hand; otherwise its text is the value itself.
    """
    if field == "bet":
        return FormChoice(value, bet_name(value, context.language))
    if field == "device":
        return FormChoice(value, device_name(value, context.language))
    form = forms(context.language)[command]
    texts = {
        choice.value: choice.text
        for form_field in form.fields
        if form_field.name == field
        for choice in form_field.choices
    }
    return FormChoice(value, texts.get(value) or hand_text(value, context.language))


def items(context: TableContext) -> Iterable[WorkItem]:
    """Return what waits at the table, most urgent first."""
    waiting = [
        *_second_persons(context),
        *_pending_question(context),
        *_unresolved(context),
        *_alerts(context),
    ]
    with_seconds = [
        msgspec.structs.replace(
            item, answers=tuple(with_second_person(context, answer) for answer in item.answers)
        )
        if item.what != "second"
        else item
        for item in waiting
    ]
    return sorted(with_seconds, key=lambda item: (ITEM_ORDER.index(item.what), item.since))


def _second_persons(context: TableContext) -> Iterable[WorkItem]:
    """Yield what waits for a second person, with what a correction changes."""
    currency = currency_of(context)
    for wait in context.waits:
        is_correction = wait.touch.command == "result.correct"
        correction = correction_of(context, wait.touch.fields) if is_correction else None
        for item in second_person_items((wait,), context.person, context.language, currency):
            answers = tuple(
                msgspec.structs.replace(answer, correction=correction) for answer in item.answers
            )
            yield msgspec.structs.replace(item, answers=answers, correction=correction)


def second_person_items(
    waits_: Iterable[SecondPersonWait], person: Person, language: str, currency: str | None = None
) -> Iterable[WorkItem]:
    """Yield what waits for a second person. ``currency``: that of its amounts."""
    for wait in waits_:
        touch = wait.touch
        is_own = touch.person.id == person.id
        may_answer = not is_own and set(wait.roles) & set(person.roles)
        text = forms(language)[touch.command].text
        amount_currency = touch.fields.get("currency") or currency
        field_texts = tuple(fields_as_text(touch.command, touch.fields, language, amount_currency))
        answer = AnswerButton(
            command=touch.command,
            text=console_text("pit.say_the_same", language),
            fields=touch.fields,
            grave=touch.command in PIN_COMMANDS,
            about=" · ".join((text, *(f"{word_.id}: {word_.text}" for word_ in field_texts))),
        )
        yield WorkItem(
            id=f"{touch.table} second {touch.number}",
            what="second",
            since=format_utc(touch.at),
            title=console_text("pit.second", language, person=touch.person.name, command=text),
            round=touch.fields.get("round"),
            answers=(answer,) if may_answer else (),
            others="" if may_answer else role_names(wait.roles, language),
            left=wait.left,
            says=field_texts,
        )


def _pending_question(context: TableContext) -> Iterable[WorkItem]:
    state = context.known.state
    assert state is not None
    shown = state.shown
    if not shown.asks:
        return
    irregularity = context.evidence.find_irregularity(shown.session, shown.round, shown.asks)
    answers = [
        button
        for command in shown.asks
        for button in _answers(context, state, command, irregularity)
    ]
    answers.sort(key=lambda answer: not answer.recommended)
    detail, detail_language = _detail(
        None if irregularity is None else irregularity.detail, context.language
    )
    yield WorkItem(
        id=f"{context.known.table} ask {shown.session} {shown.round} {' '.join(shown.asks)}",
        what="ask",
        since=irregularity.time if irregularity is not None and irregularity.time else state.time,
        title=word("irregularity", irregularity.what, context.language)
        if irregularity is not None
        else word("phase", shown.phase, context.language),
        round=shown.round or None,
        detail=detail,
        detail_language=detail_language,
        article=None if irregularity is None else f"{irregularity.law}, {irregularity.article}",
        printed=None if irregularity is None else context.laws.get(irregularity.law),
        frames=() if irregularity is None else irregularity.frames,
        says=tuple(_witnessed(context, shown.round)),
        answers=tuple(answers),
        others="" if answers else allowed_roles(context, shown.asks),
    )


def _answers(
    context: TableContext, state: State, command: str, irregularity: Irregularity | None
) -> Iterable[AnswerButton]:
    """Yield the buttons for a command that a table asks for."""
    if command not in forms(context.language) or role_for(context, command) is None:
        return
    form, shown = forms(context.language)[command], state.shown
    round_fields = {"round": shown.round} if shown.round else {}
    if command == "round.void":
        suggested = _suggested_reason(context, irregularity)
        fallback = "misdeal" if view_of(shown) in MISDEAL_VIEWS else DISCRETIONARY_REASON
        reason = suggested or next(
            iter(_accepted(context, command, "reason", (fallback,))), DISCRETIONARY_REASON
        )
        answer = _void(context, form.text, round_fields, reason)
        yield msgspec.structs.replace(answer, recommended=suggested is not None)
        yield _form_button(context, command, round_fields)
    elif command == "round.confirm":
        yield AnswerButton(command=command, text=form.text, fields=round_fields, grave=True)
        yield _form_button(context, command, round_fields)
    elif command == "card.decide":
        for action in _accepted(context, command, "action", CARD_ACTIONS):
            text = word("choice", action, context.language)
            yield AnswerButton(command=command, text=text, fields={"action": action})
        yield _form_button(context, command, {})
    else:
        needs_input = any(field.required for field in form.fields) or command in FORM_COMMANDS
        yield AnswerButton(command=command, text=form.text, open=needs_input, grave=form.grave)


OFFERED_COMMANDS = frozenset(COMMAND_TYPES) - {"alert.acknowledge"}
"""Commands that are offered; an alert is acknowledged where it is listed."""
FORM_COMMANDS = ("session.open", "deal.error", "hand.act", "cards.show", "cards.deal")
"""Commands whose optional fields are usually filled in."""


def _void(
    context: TableContext, text: str, round_fields: dict[str, Any], reason: str
) -> AnswerButton:
    return AnswerButton(
        command="round.void",
        text=f"{text}: {word('void_reason', reason, context.language)}",
        fields={**round_fields, "reason": reason},
        grave=True,
    )


def _form_button(context: TableContext, command: str, fields: dict[str, Any]) -> AnswerButton:
    text = f"{forms(context.language)[command].text} …"
    return AnswerButton(
        command=command, text=text, fields=fields, open=True, grave=command in PIN_COMMANDS
    )


def _accepted(
    context: TableContext, command: str, field: str, values: tuple[str, ...]
) -> tuple[str, ...]:
    """Return those of the values that the table accepts in a field."""
    rule = command_rule(context, command)
    allowed = () if rule is None else rule.choices.get(field, ())
    return tuple(value for value in values if not allowed or value in allowed)


def _suggested_reason(context: TableContext, irregularity: Irregularity | None) -> str | None:
    """Return the void reason that the evidence suggests, if the table accepts it."""
    type_ = "" if irregularity is None else irregularity.what
    reason = type_ if type_ in VOID_REASONS else SUGGESTED_REASONS.get(type_)
    if reason is None:
        return None
    return next(iter(_accepted(context, "round.void", "reason", (reason,))), None)


def _unresolved(context: TableContext) -> Iterable[WorkItem]:
    state = context.known.state
    assert state is not None
    shown = state.shown
    for number in shown.unresolved:
        event = context.evidence.find_unresolved(shown.session, number)
        answers = list(_resolutions(context, number, *seen_result(context, shown, number)))
        yield WorkItem(
            id=f"{context.known.table} unresolved {shown.session} {number}",
            what="unresolved",
            since=event.time if event is not None and event.time else state.time,
            title=console_text("pit.unresolved", context.language, round=number),
            round=number,
            detail=None if event is None else word("unresolved", event.why, context.language),
            frames=() if event is None else event.frames,
            says=tuple(_witnessed(context, number)),
            answers=tuple(answers),
            others="" if answers else allowed_roles(context, ("round.confirm", "round.void")),
        )


def _witnessed(context: TableContext, number: int) -> Iterable[Word]:
    """Yield what each second witness saw of a round, and what the wheel's own log has: evidence for
    the person, never an answer.
    """
    state, language = context.known.state, context.language
    assert state is not None
    session = state.shown.session
    for report in context.evidence.find_reports(session, number):
        dice = " + ".join(map(str, report.dice)) if report.dice else str(report.number)
        yield Word(device_name(report.device, language), dice)
    if (log := context.evidence.find_log(session, number)) is not None:
        key = "pit.log" if log.what == "unresolved" else "pit.log_ambiguous"
        yield Word(console_text(key, language), " ".join(map(str, log.wheel)) or "-")


def _resolutions(
    context: TableContext, number: int, candidate: Any, dice: tuple[int, ...] | None
) -> Iterable[AnswerButton]:
    language = context.language
    if role_for(context, "round.confirm") is not None:
        fields: dict[str, Any] = {"round": number}
        text = forms(language)["round.confirm"].text
        if candidate is not None:
            fields, text = {**fields, "number": candidate}, f"{text}: {candidate}"
        elif dice:
            fields = {**fields, "dice": list(dice)}
            text = f"{text}: {' + '.join(map(str, dice))}"
        has_result = len(fields) > 1
        if has_result:
            yield AnswerButton(
                command="round.confirm", text=text, fields=fields, grave=True, recommended=True
            )
        yield _form_button(context, "round.confirm", {"round": number})
    if role_for(context, "round.void") is not None:
        yield _void(
            context, forms(language)["round.void"].text, {"round": number}, DISCRETIONARY_REASON
        )
        yield _form_button(context, "round.void", {"round": number})


def _alerts(context: TableContext) -> Iterable[WorkItem]:
    for alert in context.known.alerts.values():
        if alert.acknowledged_by is not None:
            continue
        may_acknowledge = role_for(context, "alert.acknowledge") is not None
        detail, detail_language = _detail(alert.detail, context.language, alert.device)
        answer = AnswerButton(
            command="alert.acknowledge",
            text=console_text("pit.seen", context.language),
            fields={"alert": alert.alert},
        )
        yield WorkItem(
            id=f"{context.known.table} alert {alert.alert}",
            what="fault" if alert.severity == "fault" else "warning",
            since=alert.raised,
            title=_alert_text(alert, context.language),
            detail=detail,
            detail_language=detail_language,
            answers=(answer,) if may_acknowledge else (),
            others="" if may_acknowledge else allowed_roles(context, ("alert.acknowledge",)),
        )


def _detail(
    detail: str | None, language: str, device: str | None = None
) -> tuple[str | None, str | None]:
    """Return the detail of an item, with its device, and the language if it is another one."""
    text = None if detail is None else detail_text(detail, language)
    named = None if device is None else device_name(device, language)
    parts = [part for part in (named, text or detail) if part]
    is_foreign = detail is not None and text is None and language != ENGLISH
    return " · ".join(parts) or None, ENGLISH if is_foreign else None


def _alert_text(alert: Alert, language: str) -> str:
    alert_word = word("alert", alert.what, language)
    return (
        alert_word
        if alert_word != alert.what.replace("_", " ")
        else word("irregularity", alert.what, language)
    )
