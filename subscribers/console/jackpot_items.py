"""What waits for a person at a jackpot, computed from its state. No clock, no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import permutations
from typing import Any

import msgspec

from common.contract.jackpot import KEPT_ALERTS, JackpotAward, JackpotState
from common.contract.messages.messages import word
from common.contract.retained import Alert
from common.contract.times import parse_utc
from subscribers.console.forms import forms
from subscribers.console.jackpot_awards import award_item, is_waiting, place_of
from subscribers.console.jackpot_context import (
    JackpotContext,
    authority_of,
    form_button,
    order_button,
    other_roles,
    role_for,
)
from subscribers.console.view import WorkItem
from subscribers.console.words import console_text
from subscribers.console.work import ITEM_ORDER, second_person_items
from subscribers.display.picture import Word

SLOW_HIT_SECONDS = 30.0
"""Time that a hit may wait for its tables before a person is asked; most are final
within a second.
"""
BUTTON_TEXTS = {"alert.acknowledge": "pit.seen", "alert.clear": "carrousel.settled"}
"""Text keys of the buttons."""
MAX_LISTED_HITS = 2
"""Up to this number of unordered hits there is a button for each order; more are typed."""


def items(context: JackpotContext, state: JackpotState) -> Iterable[WorkItem]:
    """Return what waits, most urgent first."""
    waiting = [
        *_seconds(context, state),
        *_orders(context, state),
        *_slow(context, state),
        *(award_item(context, state, award) for award in state.awards if is_waiting(award)),
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
            order_button(
                command, console_text(BUTTON_TEXTS[command], language), {"alert": alert.alert}
            )
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
            others="" if answers or not commands else other_roles(commands, language),
        )


def _acknowledged(alert: Alert, language: str) -> Word:
    moment_text = (alert.acknowledged or "").partition(".")[0].replace("T", " ").removesuffix("Z")
    return Word(
        console_text("carrousel.seen", language), f"{alert.acknowledged_by} · {moment_text} UTC"
    )


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
    return next((place_of(award, context.language) for award in matching), None)


def _orders(context: JackpotContext, state: JackpotState) -> Iterable[WorkItem]:
    """Yield hits whose order is unknown."""
    language, command = context.language, "hits.order"
    may_order = role_for(context.person, command) is not None
    awards = {award.hit: award for award in reversed(state.awards)}
    for group in state.unordered:
        awards_known = [awards[hit] for hit in group if hit in awards]
        answers = [
            order_button(
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
            form = order_button(
                command, f"{forms(language)[command].text} …", {"hits": list(group)}
            )
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
            others="" if may_order else other_roles((command,), language),
        )


def _hit(award: JackpotAward, language: str) -> Word:
    time = award.time.partition("T")[2].removesuffix("Z")
    number = console_text("carrousel.hit", language, hit=award.hit)
    return Word(number, f"{place_of(award, language)} · {time} UTC")


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
            detail=place_of(award, language),
            answers=(order_button(command, forms(language)[command].text, {"hit": hit}),)
            if may_order
            else (),
            others="" if may_order else other_roles((command,), language),
        )


def _gaps(context: JackpotContext, state: JackpotState) -> Iterable[WorkItem]:
    """Yield tables with missing events that can no longer be recalled."""
    language, command = context.language, "gap.settle"
    may_order = role_for(context.person, command) is not None
    for name, table in state.tables.items():
        if table.why != "gap":
            continue
        fields = {"table": name, "gap": table.since}
        fill = form_button(command, f"{forms(language)[command].text} …", fields)
        yield WorkItem(
            id=f"{context.name} gap {name} {table.since}",
            what="ask",
            since=table.since,
            title=console_text("carrousel.gap", language, table=name),
            detail=console_text("carrousel.gap_detail", language),
            answers=(fill,) if may_order else (),
            others="" if may_order else other_roles((command,), language),
        )
