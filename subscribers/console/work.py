"""What waits for a person at a table, and what that person may do there now: computed from its
state. No clock, no I/O.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

import msgspec

from common.contract.commands import VoidReason
from common.contract.events import Frame, Irregularity
from common.contract.history import ResultLine, UnresolvedLine
from common.contract.messages.messages import catalogue, word
from common.contract.retained import Alert, Allowed, State
from common.contract.shown import CirclePokerShown, Shown
from common.contract.times import format_utc
from common.money import EURO
from common.people.register import Person
from subscribers.console.evidence import TableEvidence
from subscribers.console.forms import COMMAND_TYPES, PIN_COMMANDS, FormChoice, FormField, forms
from subscribers.console.sending import SecondPersonWait, Touch
from subscribers.console.words import console_text
from subscribers.display.hands import bet_name
from subscribers.display.picture import TableTrouble, Word, decree_text, trouble_of
from subscribers.feed.table_snapshot import Outdated, TableSnapshot
from subscribers.money import money

ItemType = Literal["second", "fault", "ask", "unresolved", "warning"]
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


class AnswerButton(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A button of an item, with the command that it gives."""

    command: str
    text: str
    fields: dict[str, Any] = {}
    """Fields that are already set."""
    open: bool = False
    """The person must fill in more."""
    grave: bool = False
    two: bool = False
    """It needs a second person in any case."""
    may_take_two: bool = False
    """It may need one, depending on what the person fills in or on the table."""
    fixed: tuple[str, ...] = ()
    """Set fields that the person cannot change."""
    about: str = ""
    """Its subject, repeated where it is confirmed."""


class WorkItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that waits for a person."""

    id: str
    """Stable as long as it is the same item."""
    what: ItemType
    since: str
    """UTC, ISO 8601."""
    title: str
    round: int | None = None
    detail: str | None = None
    article: str | None = None
    printed: str | None = None
    """The text of the decree."""
    frames: tuple[Frame, ...] = ()
    answers: tuple[AnswerButton, ...] = ()
    others: str = ""
    """Who may answer, if this person may not."""
    left: float | None = None
    """Remaining seconds when drawn."""
    says: tuple[Word, ...] = ()
    """The fields of the first person's command, for the second to read."""


class CommandOffer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A command that this person may give now."""

    command: str
    choices: dict[str, tuple[FormChoice, ...]] = {}
    """Values of fields at this table, where the table reports them."""
    leaves_out: tuple[str, ...] = ()
    """Fields without an input here."""
    fields: dict[str, Any] = {}
    """Fields that are sent along without an input."""
    two: bool = False
    """It needs a second person in any case."""
    may_take_two: bool = False
    """It may need one, depending on its fields."""


class TouchOutcome(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A touch of this session and its outcome."""

    number: str
    how: str
    text: str
    at: float
    why: str | None = None
    """The refusal, in the person's language."""
    wait: int | None = None
    """Seconds after which it may be given again, if the daemon has just started."""
    found: str | None = None
    """The known outcome of a command without a reply."""
    receipt: str | None = None
    """The number of the receipt and how to print it, as text."""
    undo: AnswerButton | None = None


class ConsoleView(msgspec.Struct, frozen=True, kw_only=True):
    """A table or jackpot, for one person."""

    table: str
    """Its id; for a jackpot ``jackpot/<id>``."""
    name: str
    """Its id as shown."""
    title: str
    decree: str
    simulated: bool
    status: Word
    phase: Word
    session: int | None
    round: int | None
    minimum: int | None
    currency: str | None
    trouble: TableTrouble | None
    boot: str
    seq: int
    view: str
    whos: tuple[Word, ...]
    """The hands, boxes and seats that can be named, and common cards."""
    taken: tuple[int, ...]
    """The boxes or seats that are taken."""
    parts: tuple[Word, ...]
    """The hands whose cards a result can be corrected to."""
    staff: tuple[Word, ...]
    """Who is at the table, by duty."""
    unresolved: tuple[int, ...]
    offers: tuple[CommandOffer, ...]
    items: tuple[WorkItem, ...]
    done: tuple[TouchOutcome, ...]
    meter: str | None = None
    """The value of a jackpot; None for a table, or if unknown."""
    awards: tuple[WorkItem, ...] = ()
    """The waiting awards of a jackpot, with every possible order for each."""


class TableContext(msgspec.Struct, frozen=True, kw_only=True):
    """A table, and the person who views it."""

    known: TableSnapshot
    outdated: Outdated | None
    evidence: TableEvidence
    person: Person
    language: str
    touches: tuple[Touch, ...]
    """Those of this session, newest first."""
    waits: tuple[SecondPersonWait, ...]
    laws: Mapping[str, str]
    """The text of each rule of a decree, by its id."""
    currency: str = EURO
    """The site's, for a session that names none."""


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
        currency=_currency(context),
        trouble=trouble,
        boot="" if state is None else state.boot,
        seq=0 if state is None else state.seq,
        view="" if shown is None else str(shown.__struct_config__.tag),
        whos=tuple(Word(hand, hand_text(hand, language)) for hand in hands_of(shown)),
        taken=tuple(int(hand.partition(":")[2]) for hand in taken_places(shown)),
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
    )


def _currency(context: TableContext) -> str:
    state = context.known.state
    return (None if state is None else state.shown.currency) or context.currency


def view_of(shown: Shown | None) -> str:
    """Return the tag of a view; empty if there is no view."""
    return "" if shown is None else str(shown.__struct_config__.tag)


PLACE_FIELDS: Mapping[str, str] = {"seated": "seat", "seats": "seat", "boxes": "box"}
"""Fields of views that list seats or boxes; in other views they are a number."""


EXTRA_HANDS: Mapping[str, tuple[str, ...]] = {
    "circle-poker": ("board",),
    "circle-draw": ("discards",),
    "texas-house": ("dealer", "board"),
    "trijoker": ("common:1", "common:2", "common"),
    "pai-gow": ("dealer",),
}
"""Further owners of cards by view, listed even without cards."""
DEFAULT_SEATS = 10
"""Number of seats of a circle if the decree names none."""


def hands_of(shown: Shown | None) -> list[str]:
    """Return the wire names of a table's hands, boxes, seats and common cards; for a circle also
    the free seats.
    """
    if shown is None:
        return []
    names = [*shown.hands, *shown.rows, *taken_places(shown)]
    names += ["dealer"] if hasattr(shown, "dealer") else []
    names += [*shown.boards] or EXTRA_HANDS.get(view_of(shown), ())
    if isinstance(shown, CirclePokerShown):
        names += [f"seat:{number}" for number in range(1, (shown.players[1] or DEFAULT_SEATS) + 1)]
    return list(dict.fromkeys(names))


def taken_places(shown: Shown | None) -> list[str]:
    """Return the boxes or seats that are taken."""
    places: list[str] = []
    for field, kind in PLACE_FIELDS.items():
        numbers = getattr(shown, field, None)
        places += [f"{kind}:{number}" for number in numbers] if isinstance(numbers, tuple) else []
    return places


LOW_HAND_SUFFIX = ".low"
"""Suffix of a pai gow hand's name for its low cards."""


def correctable_hands(shown: Shown | None) -> list[str]:
    """Return :func:`hands_of` with all boxes of a table whose round is over, and the low hand of
    each that has one.
    """
    boxes = getattr(shown, "boxes", 0)
    hands = hands_of(shown)
    if isinstance(boxes, int):
        hands = list(dict.fromkeys([*hands, *(f"box:{number}" for number in range(1, boxes + 1))]))
    return [*hands, *(f"{hand}{LOW_HAND_SUFFIX}" for hand in hands if view_of(shown) == "pai-gow")]


def hand_text(hand: str, language: str) -> str:
    """Return a wire name such as ``box:3`` as text; other names are returned as they are."""
    texts = catalogue(language)
    if hand.endswith(LOW_HAND_SUFFIX):
        return f"{hand_text(hand.removesuffix(LOW_HAND_SUFFIX), language)}: {texts['mark.low']}"
    name, _, number = hand.partition(":")
    numbered = texts.get(f"who.{name}_numbered")
    if number and numbered is not None:
        return numbered.replace("{number}", number)
    plain = texts.get(f"who.{hand}") or texts.get(f"mark.{hand}")
    return plain or hand.replace("_", " ").replace(":", " ")


def command_rule(context: TableContext, command: str) -> Allowed | None:
    """Return what the table states about a command; None if it does not know it."""
    info = context.known.info
    return None if info is None else info.about.commands.get(command)


def role_for(context: TableContext, command: str, reason: object = None) -> str | None:
    """Return the role in which this person gives the command, or None. ``reason``: its reason, as a
    decree may assign a reason to another role.
    """
    rule = command_rule(context, command)
    if rule is None:
        return None
    reason_roles = rule.reasons.get(str(reason), ())
    held = [role for role in context.person.roles if role in reason_roles or role in rule.roles]
    return next((role for role in held if role in reason_roles), next(iter(held), None))


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
            leaves_out=rule.leaves_out,
        )


def needs_two_persons(
    context: TableContext, command: str, fields: Mapping[str, Any] | None
) -> bool | None:
    """Return True if a command needs a second person, by the rules of docs/inspector/security.md.
    ``fields``: its fields; None: the person fills them in. Return None if that depends on them, or
    on something only the table knows.
    """
    rule, state = command_rule(context, command), context.known.state
    if rule is None or state is None or not rule.two_persons:
        return False
    if command == "round.confirm" and fields is not None:
        return _confirms_unseen(context, state.shown, fields)
    if command == "round.void" and fields is not None:
        return _has_result(context, state.shown, fields.get("round"))
    return None if command in ("round.confirm", "round.void") else True


def _confirms_unseen(context: TableContext, shown: Shown, fields: Mapping[str, Any]) -> bool | None:
    """Return True if a confirmation names a result that no device saw. One that names no result
    confirms what was seen.
    """
    named = {name: fields[name] for name in ("number", "winner", "dice") if name in fields}
    if not named:
        return False
    candidate, dice = _witnessed(context, shown, fields.get("round"))
    witnessed = {"number": candidate, "dice": None if dice is None else list(dice)}
    if any(witnessed.get(name) == value for name, value in named.items()):
        return False
    return True if candidate is not None or dice is not None else None


def _has_result(context: TableContext, shown: Shown, number: int | None) -> bool | None:
    """Return True if the result of a round was published; None if that is not known here."""
    number = shown.round if number is None else number
    latest = context.known.result
    if latest is not None and (latest.session, latest.round) == (shown.session, number):
        return True
    lines = {line.round: line for line in context.known.history}
    if number in shown.unresolved:
        # a result that a second witness contradicts was published nevertheless
        event = context.evidence.find_unresolved(shown.session, number)
        return None if event is None or event.why == "witnesses_disagree" else False
    if number in lines:
        return isinstance(lines[number], ResultLine)
    return False if number == shown.round and number > max(lines, default=0) else None


def _witnessed(
    context: TableContext, shown: Shown, number: int | None
) -> tuple[Any, tuple[int, ...] | None]:
    """Return the number and the dice that were seen of an unresolved round."""
    event = context.evidence.find_unresolved(shown.session, number or 0)
    if event is not None:
        return event.candidate, event.dice
    for line in context.known.history:
        if isinstance(line, UnresolvedLine) and line.round == number:
            return line.candidate, line.dice
    return None, None


def _choice(context: TableContext, command: str, field: str, value: str) -> FormChoice:
    """Return a field's value with its text. A value that is specific to the game may be a bet or a
    hand; otherwise its text is the value itself.
    """
    if field == "bet":
        return FormChoice(value, bet_name(value, context.language))
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
        *second_person_items(context.waits, context.person, context.language, _currency(context)),
        *_pending_question(context),
        *_unresolved(context),
        *_alerts(context),
    ]
    with_seconds = [
        msgspec.structs.replace(
            item, answers=tuple(_second(context, answer) for answer in item.answers)
        )
        if item.what != "second"
        else item
        for item in waiting
    ]
    return sorted(with_seconds, key=lambda item: (ITEM_ORDER.index(item.what), item.since))


def _second(context: TableContext, answer: AnswerButton) -> AnswerButton:
    """Mark an answer as needing a second person."""
    needs_two = needs_two_persons(context, answer.command, None if answer.open else answer.fields)
    return msgspec.structs.replace(answer, two=needs_two is True, may_take_two=needs_two is None)


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
        field_texts = tuple(_field_texts(touch.command, touch.fields, language, amount_currency))
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
    yield WorkItem(
        id=f"{context.known.table} ask {shown.session} {shown.round} {' '.join(shown.asks)}",
        what="ask",
        since=irregularity.time if irregularity is not None and irregularity.time else state.time,
        title=word("irregularity", irregularity.what, context.language)
        if irregularity is not None
        else word("phase", shown.phase, context.language),
        round=shown.round or None,
        detail=None if irregularity is None else irregularity.detail,
        article=None if irregularity is None else f"{irregularity.law}, {irregularity.article}",
        printed=None if irregularity is None else context.laws.get(irregularity.law),
        frames=() if irregularity is None else irregularity.frames,
        answers=tuple(answers),
        others="" if answers else _allowed_roles(context, shown.asks),
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
        yield _void(
            context, form.text, round_fields, _reason(context, irregularity, view_of(shown))
        )
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


def _reason(context: TableContext, irregularity: Irregularity | None, view: str) -> str:
    """Return the void reason that the evidence suggests."""
    type_ = "" if irregularity is None else irregularity.what
    suggested = (
        type_ if type_ in VOID_REASONS else SUGGESTED_REASONS.get(type_, ""),
        "misdeal" if view in MISDEAL_VIEWS else "",
    )
    return next(
        iter(
            _accepted(
                context, "round.void", "reason", tuple(reason for reason in suggested if reason)
            )
        ),
        "inspector",
    )


def _unresolved(context: TableContext) -> Iterable[WorkItem]:
    state = context.known.state
    assert state is not None
    shown = state.shown
    for number in shown.unresolved:
        event = context.evidence.find_unresolved(shown.session, number)
        answers = list(_resolutions(context, number, *_witnessed(context, shown, number)))
        yield WorkItem(
            id=f"{context.known.table} unresolved {shown.session} {number}",
            what="unresolved",
            since=event.time if event is not None and event.time else state.time,
            title=console_text("pit.unresolved", context.language, round=number),
            round=number,
            detail=None if event is None else word("unresolved", event.why, context.language),
            frames=() if event is None else event.frames,
            answers=tuple(answers),
            others="" if answers else _allowed_roles(context, ("round.confirm", "round.void")),
        )


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
            yield AnswerButton(command="round.confirm", text=text, fields=fields, grave=True)
        yield _form_button(context, "round.confirm", {"round": number})
    if role_for(context, "round.void") is not None:
        yield _void(context, forms(language)["round.void"].text, {"round": number}, "inspector")
        yield _form_button(context, "round.void", {"round": number})


def _alerts(context: TableContext) -> Iterable[WorkItem]:
    for alert in context.known.alerts.values():
        if alert.acknowledged_by is not None:
            continue
        may_acknowledge = role_for(context, "alert.acknowledge") is not None
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
            detail=" · ".join(part for part in (alert.device, alert.detail) if part) or None,
            answers=(answer,) if may_acknowledge else (),
            others="" if may_acknowledge else _allowed_roles(context, ("alert.acknowledge",)),
        )


def _alert_text(alert: Alert, language: str) -> str:
    alert_word = word("alert", alert.what, language)
    return (
        alert_word
        if alert_word != alert.what.replace("_", " ")
        else word("irregularity", alert.what, language)
    )


def _allowed_roles(context: TableContext, commands: Iterable[str]) -> str:
    rules = [rule for command in commands if (rule := command_rule(context, command)) is not None]
    return role_names(
        dict.fromkeys(role for rule in rules for role in rule.roles), context.language
    )


def role_names(roles: Iterable[str], language: str) -> str:
    """Return the names of roles as text."""
    return ", ".join(word("role", role, language) for role in roles)


def _field_texts(
    command: str, fields: Mapping[str, Any], language: str, currency: str | None = None
) -> Iterable[Word]:
    """Yield the fields of a command as text."""
    for field in forms(language)[command].fields:
        if field.name in fields:
            yield Word(field.text, _value(field, fields[field.name], language, currency))


def _value(field: FormField, value: Any, language: str, currency: str | None = None) -> str:
    """Return a field's value, or a part of it, as text."""
    texts = {choice.value: choice.text for choice in field.choices}
    if isinstance(value, bool):
        return console_text("pit.yes" if value else "pit.no", language)
    if isinstance(value, dict):
        hands = (
            f"{hand_text(hand, language)}: {_value(field, part_, language)}"
            for hand, part_ in value.items()
        )
        return "; ".join(hands)
    if isinstance(value, list):
        return " ".join(_value(field, part, language) for part in value)
    if field.kind == "amount":
        return money(value, currency or EURO, language)
    if field.kind.startswith("card"):
        return card_text(value, language)
    if not isinstance(value, str) or value in texts:
        return texts.get(value, str(value))
    if field.name == "bet":
        return bet_name(value, language)
    return hand_text(value, language) if field.kind == "hand" else value


SUIT_SYMBOLS = {"s": "♠", "h": "♥", "d": "♦", "c": "♣"}


def card_text(card: str, language: str) -> str:
    """Return a card such as ``Th`` as text."""
    if card == "X":
        return word("symbol", "joker", language)
    rank, suit = card[:1], card[1:]
    return f"{'10' if rank == 'T' else rank}{SUIT_SYMBOLS.get(suit, suit)}"


def touch_outcome(context: TableContext, touch: Touch) -> TouchOutcome:
    """Return the outcome of a touch, in the person's language."""
    undo = _undo(context, touch) if touch.how == "followed" else None
    outcome = outcome_of(touch, context.language, _currency(context))
    return msgspec.structs.replace(outcome, undo=undo)


def outcome_of(touch: Touch, language: str, currency: str | None = None) -> TouchOutcome:
    """Return the outcome without an undo button. ``currency``: that of the amounts, unless the
    command names another.
    """
    currency = touch.fields.get("currency") or currency
    details = " · ".join(
        f"{word_.id}: {word_.text}"
        for word_ in _field_texts(touch.command, touch.fields, language, currency)
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
    return _second(context, answer)
