"""The awards of a jackpot that wait: their details, and the orders that decide or pay them. No
clock, no I/O.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from common.contract.jackpot import JackpotAward, JackpotState
from common.contract.messages.messages import text, word
from subscribers.console.field_texts import card_text
from subscribers.console.forms import forms
from subscribers.console.jackpot_context import (
    JackpotContext,
    form_button,
    order_button,
    other_roles,
    role_for,
)
from subscribers.console.view import AnswerButton, WorkItem
from subscribers.console.words import console_text
from subscribers.display.picture import Word
from subscribers.money import money
from subscribers.words import who


def award_item(context: JackpotContext, state: JackpotState, award: JackpotAward) -> WorkItem:
    """Return a waiting award with its details and buttons."""
    language = context.language
    place = place_of(award, language)
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
        others="" if answers else other_roles(_waited_orders(award), language),
    )


def place_of(award: JackpotAward, language: str) -> str:
    """Return hand, table, box and round of an award, as text."""
    table = text("jackpot.table", language, table=award.table)
    played = text("display.round", language, round=award.round)
    hand = word("hand", award.hand, language)
    return f"{hand} · {table}, {who(award.box, language)}, {played}"


def is_waiting(award: JackpotAward) -> bool:
    """Return True if an award itself waits for a person."""
    return award.status != "pending" or award.why == "amount"


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
                yield order_button(command, choice.text, {**fields, "how": choice.value})
        elif command == "award.decide":
            yield form_button(command, f"{forms(language)[command].text} …", fields)
        else:
            yield order_button(command, forms(language)[command].text, fields)
    disputable = award.status == "payable" or (award.status == "pending" and award.paid == 0)
    if disputable and role_for(context.person, "award.dispute") is not None:
        yield form_button("award.dispute", forms(language)["award.dispute"].text, fields)


def _payments(state: JackpotState, award: JackpotAward, language: str) -> Iterable[AnswerButton]:
    """Yield buttons for the amount due and for a part. The amount already paid is sent along, so
    that a repeated order does not pay twice.
    """
    if award.value is None:
        return
    due = award.value - award.paid
    pay = console_text("carrousel.pay", language, amount=money(due, state.currency, language))
    paid_before = {"award": award.award, "paid": award.paid}
    yield order_button("award.pay", pay, {**paid_before, "amount": due})
    yield form_button("award.pay", console_text("carrousel.pay_part", language), paid_before)
