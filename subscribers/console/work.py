"""What waits for a person at a table, and what that person may do there now: made anew of what is
known, without clock or I/O.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

import msgspec

from controller.contract.commands import VoidReason
from controller.contract.events import Frame, Irregularity
from controller.contract.history import ResultLine, UnresolvedLine
from controller.contract.messages.messages import catalogue, word
from controller.contract.retained import Alert, Allowed, State
from controller.contract.shown import CirclePokerShown, Shown
from controller.contract.times import utc
from controller.people.register import Person
from devices.money import EURO
from subscribers.console.evidence import Evidence
from subscribers.console.forms import GRAVE, KINDS, Asked, Choice, forms
from subscribers.console.sending import Touch, Waits
from subscribers.console.words import said
from subscribers.display.hands import bet_name
from subscribers.display.picture import Trouble, Word, called, trouble_of
from subscribers.money import money
from subscribers.table_snapshot import Outdated, TableSnapshot

What = Literal["second", "fault", "ask", "unresolved", "warning"]
GRAVEST: tuple[What, ...] = ("second", "fault", "ask", "unresolved", "warning")
"""The order of the list: what has least time first."""

REASONS = frozenset(get_args(VoidReason))
REASON_OF: Mapping[str, str] = {
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
"""The reason for a void round that an irregularity suggests, where it has another name."""
MISDEALT = ("punto-banca", "chemin-de-fer", "trente-et-quarante", "blackjack")
"""Views of games in which a round that cannot be put in order is a misdeal."""
CARD_ANSWERS = ("remove", "accept", "next_round")
"""What most often becomes of a card that stopped the table."""


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One button."""

    command: str
    text: str
    fields: dict[str, Any] = {}
    """What it says already."""
    open: bool = False
    """The person must fill in more."""
    grave: bool = False
    two: bool = False
    """It takes a second person, as is known before it is given."""
    may_take_two: bool = False
    """It takes one or not, depending on what the person fills in or the table knows."""
    fixed: tuple[str, ...] = ()
    """Fields of what it says already that the person is not asked for."""
    about: str = ""
    """What it is about, told again where it is confirmed."""


class Item(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that waits."""

    id: str
    """The same as long as it is the same thing."""
    what: What
    since: str
    """UTC, ISO 8601."""
    title: str
    round: int | None = None
    detail: str | None = None
    article: str | None = None
    printed: str | None = None
    """The words of the decree."""
    frames: tuple[Frame, ...] = ()
    answers: tuple[Answer, ...] = ()
    others: str = ""
    """Who may answer, where this person may not."""
    left: float | None = None
    """Seconds until it is over, as it is drawn."""
    says: tuple[Word, ...] = ()
    """What the first person said, field by field, for the second to read."""


class Offer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A command that this person may give now."""

    command: str
    choices: dict[str, tuple[Choice, ...]] = {}
    """What a field can say at this table, where the table tells."""
    leaves_out: tuple[str, ...] = ()
    """Fields that are not asked here."""
    fields: dict[str, Any] = {}
    """Fields that are sent with it and not asked."""
    two: bool = False
    """It takes a second person, whatever it says."""
    may_take_two: bool = False
    """It takes one or not, depending on what it says."""


class Done(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A touch of this session, and what became of it."""

    number: str
    how: str
    text: str
    at: float
    why: str | None = None
    """The refusal, in the person's language."""
    wait: int | None = None
    """Seconds after which it may be given again: a daemon that has just started."""
    found: str | None = None
    """What is known of one without an answer."""
    receipt: str | None = None
    """The number of the receipt, in words, and how it is printed."""
    undo: Answer | None = None


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """One table, or jackpot, for one person."""

    table: str
    """Its id; of a jackpot ``jackpot/<id>``."""
    name: str
    """Its id as it is shown."""
    title: str
    decree: str
    simulated: bool
    status: Word
    phase: Word
    session: int | None
    round: int | None
    minimum: int | None
    currency: str | None
    trouble: Trouble | None
    boot: str
    seq: int
    view: str
    whos: tuple[Word, ...]
    """The hands, boxes and seats that can be named, and common cards."""
    taken: tuple[int, ...]
    """The boxes or seats that are taken."""
    parts: tuple[Word, ...]
    """Whose cards a result can be corrected to."""
    staff: tuple[Word, ...]
    """Who is at the table, by duty."""
    unresolved: tuple[int, ...]
    offers: tuple[Offer, ...]
    items: tuple[Item, ...]
    done: tuple[Done, ...]
    meter: str | None = None
    """The value of a jackpot; None: it is a table, or it was never heard."""
    awards: tuple[Item, ...] = ()
    """The awards of a jackpot that wait, with all that may be done about each."""


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is known of one table, and who looks."""

    known: TableSnapshot
    outdated: Outdated | None
    evidence: Evidence
    person: Person
    language: str
    touches: tuple[Touch, ...]
    """Of this session, newest first."""
    waits: tuple[Waits, ...]
    laws: Mapping[str, str]
    """The words of each rule of a decree, by its id."""
    currency: str = EURO
    """The site's: of a session that names none."""


TO_DECIDE = ("unresolved", "decision")
"""What greys a display and is no trouble here: it stands in the list."""


def place(seen: Seen) -> Place:
    """The table as this person may see and act on it."""
    known, language = seen.known, seen.language
    state = known.state
    title = called({} if known.info is None else known.info.about.title, language)
    shown = None if state is None else state.shown
    trouble = trouble_of(known, (), seen.outdated, language)
    if trouble is not None and trouble.why in TO_DECIDE:
        trouble = None
    status = "unknown" if state is None else state.status
    phase = "unknown" if shown is None else shown.phase
    may = seen.outdated is None and state is not None
    return Place(
        table=known.table,
        name=known.table,
        title=known.table if title is None else title.text,
        decree="" if state is None else state.decree,
        simulated=known.simulated,
        status=Word(status, word("status", status, language)),
        phase=Word(phase, word("phase", phase, language)),
        session=None if shown is None else shown.session,
        round=None if shown is None else shown.round,
        minimum=None if shown is None else shown.minimum,
        currency=_currency(seen),
        trouble=trouble,
        boot="" if state is None else state.boot,
        seq=0 if state is None else state.seq,
        view="" if shown is None else str(shown.__struct_config__.tag),
        whos=tuple(Word(who, who_text(who, language)) for who in hands_of(shown)),
        taken=tuple(int(who.partition(":")[2]) for who in taken(shown)),
        parts=tuple(Word(who, who_text(who, language)) for who in parts_of(shown)),
        staff=()
        if state is None
        else tuple(
            Word(word("role", duty, language), ", ".join(names))
            for duty, names in state.staff.items()
        ),
        unresolved=tuple(getattr(shown, "unresolved", ())),
        offers=tuple(offers(seen)) if may else (),
        items=tuple(items(seen)) if may else (),
        done=tuple(done(seen, touch) for touch in seen.touches[:12]),
    )


def _currency(seen: Seen) -> str:
    """Of the session, or else of the site."""
    state = seen.known.state
    return (None if state is None else state.shown.currency) or seen.currency


def view_of(shown: Shown | None) -> str:
    """The name of a view's shape; empty where nothing is known."""
    return "" if shown is None else str(shown.__struct_config__.tag)


NAMED: Mapping[str, str] = {"seated": "seat", "seats": "seat", "boxes": "box"}
"""The fields of views that list seats and boxes; in others they are how many there are."""


ALSO: Mapping[str, tuple[str, ...]] = {
    "circle-poker": ("board",),
    "circle-draw": ("discards",),
    "texas-house": ("dealer", "board"),
    "trijoker": ("common:1", "common:2", "common"),
    "pai-gow": ("dealer",),
}
"""What else cards belong to, by view: also while none lie there."""
SEATS = 10
"""Of a circle whose decree has no number."""


def hands_of(shown: Shown | None) -> list[str]:
    """The hands, boxes, seats and common cards that a table has, by the names of the wire; at a
    circle also the seats that nobody has taken.
    """
    found = [*getattr(shown, "hands", ()), *getattr(shown, "rows", ()), *taken(shown)]
    found += ["dealer"] if hasattr(shown, "dealer") else []
    found += [*getattr(shown, "boards", ())] or ALSO.get(view_of(shown), ())
    if isinstance(shown, CirclePokerShown):
        found += [f"seat:{number}" for number in range(1, (shown.players[1] or SEATS) + 1)]
    return list(dict.fromkeys(found))


def taken(shown: Shown | None) -> list[str]:
    """The boxes or seats that are taken."""
    found: list[str] = []
    for field, kind in NAMED.items():
        numbers = getattr(shown, field, None)
        found += [f"{kind}:{each}" for each in numbers] if isinstance(numbers, tuple) else []
    return found


LOW = ".low"
"""What follows the name of a hand of pai gow for the cards of its low one."""


def parts_of(shown: Shown | None) -> list[str]:
    """The same, all boxes of a table whose round is over, and the low hand of each that has one."""
    boxes = getattr(shown, "boxes", 0)
    hands = hands_of(shown)
    if isinstance(boxes, int):
        hands = list(dict.fromkeys([*hands, *(f"box:{n}" for n in range(1, boxes + 1))]))
    return [*hands, *(f"{who}{LOW}" for who in hands if view_of(shown) == "pai-gow")]


def who_text(who: str, language: str) -> str:
    """``box:3`` as people say it; what is no hand is shown as it is on the wire."""
    texts = catalogue(language)
    if who.endswith(LOW):
        return f"{who_text(who.removesuffix(LOW), language)}: {texts['mark.low']}"
    name, _, number = who.partition(":")
    numbered = texts.get(f"who.{name}_numbered")
    if number and numbered is not None:
        return numbered.replace("{number}", number)
    plain = texts.get(f"who.{who}") or texts.get(f"mark.{who}")
    return plain or who.replace("_", " ").replace(":", " ")


def allowed(seen: Seen, command: str) -> Allowed | None:
    """What the table tells of a command; None: it does not know it."""
    info = seen.known.info
    return None if info is None else info.about.commands.get(command)


def role_for(seen: Seen, command: str, reason: object = None) -> str | None:
    """The role in which this person gives it, or None. ``reason``: what the command says of it,
    since a decree may leave one reason to another role.
    """
    told = allowed(seen, command)
    if told is None:
        return None
    named = told.reasons.get(str(reason), ())
    held = [role for role in seen.person.roles if role in named or role in told.roles]
    return next((role for role in held if role in named), next(iter(held), None))


def offers(seen: Seen) -> Iterable[Offer]:
    """What this person may say at the table as it stands."""
    state = seen.known.state
    assert state is not None
    for command in state.takes:
        told = allowed(seen, command)
        if command not in OFFERED or told is None or role_for(seen, command) is None:
            continue
        two = takes_two(seen, command, None)
        yield Offer(
            command=command,
            two=two is True,
            may_take_two=two is None,
            choices={
                field: tuple(_choice(seen, command, field, value) for value in values)
                for field, values in told.choices.items()
            },
            leaves_out=told.leaves_out,
        )


def takes_two(seen: Seen, command: str, fields: Mapping[str, Any] | None) -> bool | None:
    """Whether a command takes a second person here, by the rules of docs/inspector/security.md.
    ``fields``: what it says; None: the person fills it in. Returns None where that decides, or
    the table knows and this server does not.
    """
    told, state = allowed(seen, command), seen.known.state
    if told is None or state is None or not told.two_persons:
        return False
    if command == "round.confirm" and fields is not None:
        return _confirms_unseen(seen, state.shown, fields)
    if command == "round.void" and fields is not None:
        return _has_result(seen, state.shown, fields.get("round"))
    return None if command in ("round.confirm", "round.void") else True


def _confirms_unseen(seen: Seen, shown: Shown, fields: Mapping[str, Any]) -> bool | None:
    """Whether a confirmation names a result that no device saw. One that names none vouches for
    what was seen.
    """
    named = {name: fields[name] for name in ("number", "winner", "dice") if name in fields}
    if not named:
        return False
    candidate, dice = _witnessed(seen, shown, fields.get("round"))
    saw = {"number": candidate, "dice": None if dice is None else list(dice)}
    if any(saw.get(name) == each for name, each in named.items()):
        return False
    return True if candidate is not None or dice is not None else None


def _has_result(seen: Seen, shown: Shown, number: int | None) -> bool | None:
    """Whether a round has a result that was told; None: that is not known here."""
    number = shown.round if number is None else number
    latest = seen.known.result
    if latest is not None and (latest.session, latest.round) == (shown.session, number):
        return True
    lines = {line.round: line for line in seen.known.history}
    if number in getattr(shown, "unresolved", ()):
        # a result that a second witness denies was told all the same
        why = seen.evidence.why(shown.session, number)
        return None if why is None or why.why == "witnesses_disagree" else False
    if number in lines:
        return isinstance(lines[number], ResultLine)
    return False if number == shown.round and number > max(lines, default=0) else None


def _witnessed(seen: Seen, shown: Shown, number: int | None) -> tuple[Any, tuple[int, ...] | None]:
    """The number and the dice that were seen of an unresolved round."""
    why = seen.evidence.why(shown.session, number or 0)
    if why is not None:
        return why.candidate, why.dice
    for line in seen.known.history:
        if isinstance(line, UnresolvedLine) and line.round == number:
            return line.candidate, line.dice
    return None, None


def _choice(seen: Seen, command: str, field: str, value: str) -> Choice:
    """A word that a field can say, as people read it; one that the contract leaves to the game may
    be a bet or a hand, and else is told as it is.
    """
    if field == "bet":
        return Choice(value, bet_name(value, seen.language))
    form = forms(seen.language)[command]
    known = {
        each.value: each.text
        for asked in form.fields
        if asked.name == field
        for each in asked.choices
    }
    return Choice(value, known.get(value) or who_text(value, seen.language))


def items(seen: Seen) -> Iterable[Item]:
    """What waits at the table, gravest first."""
    found = [
        *seconds(seen.waits, seen.person, seen.language, _currency(seen)),
        *_asks(seen),
        *_unresolved(seen),
        *_alerts(seen),
    ]
    told = [
        msgspec.structs.replace(item, answers=tuple(_second(seen, each) for each in item.answers))
        if item.what != "second"
        else item
        for item in found
    ]
    return sorted(told, key=lambda item: (GRAVEST.index(item.what), item.since))


def _second(seen: Seen, answer: Answer) -> Answer:
    """An answer with whether it takes a second person."""
    two = takes_two(seen, answer.command, None if answer.open else answer.fields)
    return msgspec.structs.replace(answer, two=two is True, may_take_two=two is None)


def seconds(
    waiting: Iterable[Waits], person: Person, language: str, currency: str | None = None
) -> Iterable[Item]:
    """What waits for a second person. ``currency``: of its amounts."""
    for waits in waiting:
        touch = waits.touch
        mine = touch.person.id == person.id
        able = not mine and set(waits.roles) & set(person.roles)
        text = forms(language)[touch.command].text
        own = touch.fields.get("currency") or currency
        says = tuple(_says(touch.command, touch.fields, language, own))
        answer = Answer(
            command=touch.command,
            text=said("pit.say_the_same", language),
            fields=touch.fields,
            grave=touch.command in GRAVE,
            about=" · ".join((text, *(f"{each.id}: {each.text}" for each in says))),
        )
        yield Item(
            id=f"{touch.table} second {touch.number}",
            what="second",
            since=utc(touch.at),
            title=said("pit.second", language, person=touch.person.name, command=text),
            round=touch.fields.get("round"),
            answers=(answer,) if able else (),
            others="" if able else named(waits.roles, language),
            left=waits.left,
            says=says,
        )


def _asks(seen: Seen) -> Iterable[Item]:
    state = seen.known.state
    assert state is not None
    shown = state.shown
    if not shown.asks:
        return
    why = seen.evidence.asked(shown.session, shown.round, shown.asks)
    answers = [each for command in shown.asks for each in _answers(seen, state, command, why)]
    yield Item(
        id=f"{seen.known.table} ask {shown.session} {shown.round} {' '.join(shown.asks)}",
        what="ask",
        since=why.time if why is not None and why.time else state.time,
        title=word("irregularity", why.what, seen.language)
        if why is not None
        else word("phase", shown.phase, seen.language),
        round=shown.round or None,
        detail=None if why is None else why.detail,
        article=None if why is None else f"{why.law}, {why.article}",
        printed=None if why is None else seen.laws.get(why.law),
        frames=() if why is None else why.frames,
        answers=tuple(answers),
        others="" if answers else _allowed(seen, shown.asks),
    )


def _answers(seen: Seen, state: State, command: str, why: Irregularity | None) -> Iterable[Answer]:
    """The buttons for a command that a table asks for."""
    if command not in forms(seen.language) or role_for(seen, command) is None:
        return
    form, shown = forms(seen.language)[command], state.shown
    number = {"round": shown.round} if shown.round else {}
    if command == "round.void":
        yield _void(seen, form.text, number, _reason(seen, why, view_of(shown)))
        yield _more(seen, command, number)
    elif command == "round.confirm":
        yield Answer(command=command, text=form.text, fields=number, grave=True)
        yield _more(seen, command, number)
    elif command == "card.decide":
        for action in _of(seen, command, "action", CARD_ANSWERS):
            text = word("choice", action, seen.language)
            yield Answer(command=command, text=text, fields={"action": action})
        yield _more(seen, command, {})
    else:
        asked = any(field.required for field in form.fields) or command in PREFER_FORM
        yield Answer(command=command, text=form.text, open=asked, grave=form.grave)


OFFERED = frozenset(KINDS) - {"alert.acknowledge"}
"""An alert is answered where it is told."""
PREFER_FORM = ("session.open", "deal.error", "hand.act", "cards.show", "cards.deal")
"""Commands whose fields a person mostly fills in, though none has to be."""


def _void(seen: Seen, text: str, number: dict[str, Any], reason: str) -> Answer:
    return Answer(
        command="round.void",
        text=f"{text}: {word('void_reason', reason, seen.language)}",
        fields={**number, "reason": reason},
        grave=True,
    )


def _more(seen: Seen, command: str, fields: dict[str, Any]) -> Answer:
    text = f"{forms(seen.language)[command].text} …"
    return Answer(command=command, text=text, fields=fields, open=True, grave=command in GRAVE)


def _of(seen: Seen, command: str, field: str, values: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the values that the table takes in a field."""
    told = allowed(seen, command)
    taken = () if told is None else told.choices.get(field, ())
    return tuple(value for value in values if not taken or value in taken)


def _reason(seen: Seen, why: Irregularity | None, view: str) -> str:
    """The reason that the evidence suggests for a void round."""
    what = "" if why is None else why.what
    suggested = (
        what if what in REASONS else REASON_OF.get(what, ""),
        "misdeal" if view in MISDEALT else "",
    )
    return next(
        iter(_of(seen, "round.void", "reason", tuple(each for each in suggested if each))),
        "inspector",
    )


def _unresolved(seen: Seen) -> Iterable[Item]:
    state = seen.known.state
    assert state is not None
    shown = state.shown
    for number in getattr(shown, "unresolved", ()):
        why = seen.evidence.why(shown.session, number)
        answers = list(_resolutions(seen, number, *_witnessed(seen, shown, number)))
        yield Item(
            id=f"{seen.known.table} unresolved {shown.session} {number}",
            what="unresolved",
            since=why.time if why is not None and why.time else state.time,
            title=said("pit.unresolved", seen.language, round=number),
            round=number,
            detail=None if why is None else word("unresolved", why.why, seen.language),
            frames=() if why is None else why.frames,
            answers=tuple(answers),
            others="" if answers else _allowed(seen, ("round.confirm", "round.void")),
        )


def _resolutions(
    seen: Seen, number: int, candidate: Any, dice: tuple[int, ...] | None
) -> Iterable[Answer]:
    language = seen.language
    if role_for(seen, "round.confirm") is not None:
        given: dict[str, Any] = {"round": number}
        text = forms(language)["round.confirm"].text
        if candidate is not None:
            given, text = {**given, "number": candidate}, f"{text}: {candidate}"
        elif dice:
            given = {**given, "dice": list(dice)}
            text = f"{text}: {' + '.join(map(str, dice))}"
        certain = len(given) > 1
        if certain:
            yield Answer(command="round.confirm", text=text, fields=given, grave=True)
        yield _more(seen, "round.confirm", {"round": number})
    if role_for(seen, "round.void") is not None:
        yield _void(seen, forms(language)["round.void"].text, {"round": number}, "inspector")
        yield _more(seen, "round.void", {"round": number})


def _alerts(seen: Seen) -> Iterable[Item]:
    for alert in seen.known.alerts.values():
        if alert.acknowledged_by is not None:
            continue
        able = role_for(seen, "alert.acknowledge") is not None
        answer = Answer(
            command="alert.acknowledge",
            text=said("pit.seen", seen.language),
            fields={"alert": alert.alert},
        )
        yield Item(
            id=f"{seen.known.table} alert {alert.alert}",
            what="fault" if alert.severity == "fault" else "warning",
            since=alert.raised,
            title=_alert_text(alert, seen.language),
            detail=" · ".join(each for each in (alert.device, alert.detail) if each) or None,
            answers=(answer,) if able else (),
            others="" if able else _allowed(seen, ("alert.acknowledge",)),
        )


def _alert_text(alert: Alert, language: str) -> str:
    found = word("alert", alert.what, language)
    return (
        found
        if found != alert.what.replace("_", " ")
        else word("irregularity", alert.what, language)
    )


def _allowed(seen: Seen, commands: Iterable[str]) -> str:
    told = [each for command in commands if (each := allowed(seen, command)) is not None]
    return named(dict.fromkeys(role for each in told for role in each.roles), seen.language)


def named(roles: Iterable[str], language: str) -> str:
    """Roles as people say them."""
    return ", ".join(word("role", role, language) for role in roles)


def _says(
    command: str, fields: Mapping[str, Any], language: str, currency: str | None = None
) -> Iterable[Word]:
    """The fields of a command as a person reads them."""
    for field in forms(language)[command].fields:
        if field.name in fields:
            yield Word(field.text, _value(field, fields[field.name], language, currency))


def _value(field: Asked, given: Any, language: str, currency: str | None = None) -> str:
    """What a field says, or a part of it."""
    chosen = {choice.value: choice.text for choice in field.choices}
    if isinstance(given, bool):
        return said("pit.yes" if given else "pit.no", language)
    if isinstance(given, dict):
        hands = (f"{who_text(w, language)}: {_value(field, v, language)}" for w, v in given.items())
        return "; ".join(hands)
    if isinstance(given, list):
        return " ".join(_value(field, each, language) for each in given)
    if field.kind == "amount":
        return money(given, currency or EURO, language)
    if field.kind.startswith("card"):
        return card_text(given, language)
    if not isinstance(given, str) or given in chosen:
        return chosen.get(given, str(given))
    if field.name == "bet":
        return bet_name(given, language)
    return who_text(given, language) if field.kind == "hand" else given


SUITS = {"s": "♠", "h": "♥", "d": "♦", "c": "♣"}


def card_text(card: str, language: str) -> str:
    """``Th`` as people write it."""
    if card == "X":
        return word("symbol", "joker", language)
    rank, suit = card[:1], card[1:]
    return f"{'10' if rank == 'T' else rank}{SUITS.get(suit, suit)}"


def done(seen: Seen, touch: Touch) -> Done:
    """What became of a touch, in the person's language."""
    undo = _undo(seen, touch) if touch.how == "followed" else None
    became_of = became(touch, seen.language, _currency(seen))
    return msgspec.structs.replace(became_of, undo=undo)


def became(touch: Touch, language: str, currency: str | None = None) -> Done:
    """The same without a button that takes it back. ``currency``: of its amounts, unless the
    command names another.
    """
    currency = touch.fields.get("currency") or currency
    says = " · ".join(
        f"{each.id}: {each.text}" for each in _says(touch.command, touch.fields, language, currency)
    )
    text = forms(language)[touch.command].text
    return Done(
        number=touch.number,
        how=touch.how,
        text=f"{text} ({says})" if says else text,
        at=touch.at,
        why=refused(touch, language, currency),
        wait=_wait(touch),
        found=_found(touch, language) if touch.how == "unknown" and touch.asked else None,
    )


def refused(touch: Touch, language: str, currency: str | None = None) -> str | None:
    """The refusal, its amounts as money; one that only a newer daemon knows is told in English."""
    refusal = touch.refusal
    if refusal is not None and currency is not None:
        refusal = refusal.with_amounts(lambda amount: money(amount, currency, language))
    known = refusal is not None and f"refusal.{refusal.key}" in catalogue(language)
    return refusal.told(language) if refusal is not None and known else touch.error


def _wait(touch: Touch) -> int | None:
    refusal = touch.refusal
    if refusal is None or refusal.key != "signed_before_start":
        return None
    seconds = refusal.fields.get("seconds")
    return seconds if isinstance(seconds, int) else None


def _found(touch: Touch, language: str) -> str:
    if not touch.events:
        return said("pit.found_nothing", language)
    return said("pit.found", language, events=", ".join(touch.events))


def _undo(seen: Seen, touch: Touch) -> Answer | None:
    """The button that takes a command back, while the table takes that."""
    state, told = seen.known.state, allowed(seen, touch.command)
    back = None if told is None else told.undone_by
    if back is None or state is None or back.command not in state.takes:
        return None
    if back.command == touch.command and back.fields.items() <= touch.fields.items():
        return None  # it took something back itself
    names = {field.name for field in forms(seen.language)[back.command].fields}
    same = {name: value for name, value in touch.fields.items() if name in names}
    answer = Answer(
        command=back.command,
        text=said("pit.undo", seen.language),
        fields={**same, **back.fields},
        grave=back.command in GRAVE,
    )
    return _second(seen, answer)
