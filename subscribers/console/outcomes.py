"""The outcome of a touch, in the person's language."""

from __future__ import annotations

from collections import Counter

import msgspec

from common.contract.messages.messages import catalogue
from subscribers.console.field_texts import fields_as_text
from subscribers.console.forms import PIN_COMMANDS, forms
from subscribers.console.rights import command_rule, with_second_person
from subscribers.console.sending import Touch
from subscribers.console.view import AnswerButton, TableContext, TouchOutcome, currency_of
from subscribers.console.words import console_text
from subscribers.money import money


def touch_outcome(context: TableContext, touch: Touch) -> TouchOutcome:
    """Return the outcome of a touch, in the person's language."""
    undo = _undo(context, touch) if touch.how == "followed" else None
    outcome = outcome_of(touch, context.language, currency_of(context))
    return msgspec.structs.replace(outcome, undo=undo, summary=_summary(context, touch))


def outcome_of(touch: Touch, language: str, currency: str | None = None) -> TouchOutcome:
    """Return the outcome without an undo button. ``currency``: that of the amounts, unless the
    command names another.
    """
    currency = touch.fields.get("currency") or currency
    details = " · ".join(
        f"{word_.id}: {word_.text}"
        for word_ in fields_as_text(touch.command, touch.fields, language, currency)
    )
    text = forms(language)[touch.command].text
    return TouchOutcome(
        number=touch.number,
        how=touch.how,
        text=f"{text} ({details})" if details else text,
        at=touch.at,
        why=refusal_text(touch, language, currency),
        wait=_wait(touch),
        found=_found(touch, language) if touch.how == "unknown" and touch.asked else None,
    )


def refusal_text(touch: Touch, language: str, currency: str | None = None) -> str | None:
    """Return the refusal with its amounts as money; one of a newer daemon in English."""
    refusal = touch.refusal
    if refusal is not None and currency is not None:
        refusal = refusal.with_amounts(lambda amount: money(amount, currency, language))
    has_text = refusal is not None and f"refusal.{refusal.key}" in catalogue(language)
    return refusal.message(language) if refusal is not None and has_text else touch.error


def _wait(touch: Touch) -> int | None:
    refusal = touch.refusal
    if refusal is None or refusal.key != "signed_before_start":
        return None
    seconds = refusal.fields.get("seconds")
    return seconds if isinstance(seconds, int) else None


def _found(touch: Touch, language: str) -> str:
    if not touch.events:
        return console_text("pit.found_nothing", language)
    return console_text("pit.found", language, events=", ".join(touch.events))


def _summary(context: TableContext, touch: Touch) -> str | None:
    """Return the rounds of the session that this touch has closed; their kinds only if all of them
    are known here.
    """
    state = context.known.state
    if touch.command != "session.close" or touch.how != "followed":
        return None
    if state is None or state.shown.phase != "closed":
        return None
    session, last = state.shown.session, state.shown.round
    counts = Counter[str]()
    for round_ in context.rounds:
        if round_.session == session:
            counts[round_.kind] += 1
            counts["corrected"] += round_.corrected
    kinds = ("void", "unresolved")
    key = (
        "pit.summary" if sum(counts[kind] for kind in ("result", *kinds)) == last else "pit.rounds"
    )
    return console_text(
        key,
        context.language,
        session=session,
        rounds=last,
        corrected=counts["corrected"],
        **{kind: counts[kind] for kind in kinds},
    )


def _undo(context: TableContext, touch: Touch) -> AnswerButton | None:
    """Return the button that undoes a command, while the table accepts that."""
    state, rule = context.known.state, command_rule(context, touch.command)
    undo = None if rule is None else rule.undone_by
    if undo is None or state is None or undo.command not in state.takes:
        return None
    if undo.command == touch.command and undo.fields.items() <= touch.fields.items():
        return None  # it was itself an undo
    names = {field.name for field in forms(context.language)[undo.command].fields}
    kept_fields = {name: value for name, value in touch.fields.items() if name in names}
    answer = AnswerButton(
        command=undo.command,
        text=console_text("pit.undo", context.language),
        fields={**kept_fields, **undo.fields},
        grave=undo.command in PIN_COMMANDS,
    )
    return with_second_person(context, answer)
