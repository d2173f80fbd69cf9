"""A jackpot for the console, computed from its state: what waits there, and what a person may
order. No clock, no I/O.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from common.contract.jackpot import JackpotState
from common.contract.messages.messages import text
from subscribers.console.forms import FormChoice
from subscribers.console.jackpot_awards import award_item
from subscribers.console.jackpot_context import JackpotContext, authority_of, role_for
from subscribers.console.jackpot_items import items
from subscribers.console.outcomes import outcome_of
from subscribers.console.sending import Touch
from subscribers.console.view import CommandOffer, ConsoleView, TouchOutcome
from subscribers.console.words import console_text
from subscribers.display.picture import TableTrouble, Word
from subscribers.feed.meter import out_of_play_text, silence_text, title
from subscribers.money import money

OFFERED_ORDERS = (
    "jackpot.suspend",
    "jackpot.resume",
    "meter.adjust",
    "pool.transfer",
    "pool.close",
)
"""Orders that concern no award and no table."""
RECEIPT_COMMAND = (
    "novamas carrousel receipt LEDGER --jackpot {jackpot} --number {number} --output {file}"
)
"""The command that prints a receipt, on the controller's machine."""


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
        else tuple(award_item(context, current, award) for award in current.awards),
    )


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
    if context.has_ledger:
        receipt = console_text("carrousel.receipt_number", language, number=number)
        path = f"/pit/receipt/{jackpot}/{number}"
        return msgspec.structs.replace(outcome, receipt=receipt, receipt_path=path)
    file = f"{jackpot}-{number}.pdf"
    command = RECEIPT_COMMAND.format(jackpot=jackpot, number=number, file=file)
    receipt = console_text("carrousel.receipt", language, number=number, command=command)
    return msgspec.structs.replace(outcome, receipt=receipt)


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
