"""The form of each command in the person's language, and how the page groups the commands."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec

from common.contract.commands import COMMANDS, tag_of
from common.contract.forms import SENT_OTHERWISE, CommandFormField, Form, form
from common.contract.jackpot import JACKPOT_ORDERS, STATE_FIELDS
from common.contract.messages.messages import word

COMMAND_GROUPS: Mapping[str, tuple[str, ...]] = {
    "session": (
        "session.open",
        "session.close",
        "bets.open",
        "bets.close",
        "limit.announce",
        "last_rounds.announce",
    ),
    "round": ("round.confirm", "round.void", "result.correct", "witness.report"),
    "shoe": (
        "shoe.start",
        "shoe.end",
        "deck.check",
        "dice.set",
        "dice.choose",
        "die.report",
        "dice.tell",
    ),
    "players": (
        "boxes.set",
        "button.set",
        "shooter.set",
        "bet.place",
        "bet.withdraw",
        "betting.close",
        "table.follow",
    ),
    "hands": (
        "hand.draw",
        "hand.stand",
        "hand.double",
        "hand.split",
        "hand.surrender",
        "hand.even_money",
        "hand.act",
        "cards.deal",
        "cards.burn",
        "cards.turn",
        "cards.show",
    ),
    "staff": ("staff.on", "staff.off"),
    "devices": ("device.service",),
    "errors": ("card.decide", "deal.error"),
    "awards": (
        "award.pay",
        "award.decide",
        "award.dispute",
        "award.uphold",
        "award.withdraw",
        "claim.settle",
        "hits.order",
        "hit.fix",
    ),
    "jackpot": (
        "jackpot.suspend",
        "jackpot.resume",
        "alert.clear",
        "gap.settle",
        "meter.adjust",
        "pool.transfer",
        "pool.close",
    ),
}
"""The commands by their group on the page."""
OTHER_GROUP = "other"
"""Group of commands that only a newer contract knows."""

JACKPOT_ORDER_TYPES: Mapping[str, type[msgspec.Struct]] = {
    str(kind.__struct_config__.tag): kind for kind in JACKPOT_ORDERS
}
"""The orders of a jackpot, by name."""
STOPPING_ORDERS = ("alert.acknowledge", "alert.clear", "award.dispute", "jackpot.suspend")
"""Orders of a jackpot that release no money."""
PIN_COMMANDS = (
    "result.correct",
    "round.confirm",
    "round.void",
    "session.close",
    *(name for name in JACKPOT_ORDER_TYPES if name not in STOPPING_ORDERS),
)
"""Commands for which the person gives the PIN again."""


HIDDEN_FIELDS = ("note", "valid", *STATE_FIELDS.values())
"""Fields without an input: a button takes a command back, and every jackpot order carries the state
that the person saw.
"""
HIDDEN_BY_COMMAND: Mapping[str, tuple[str, ...]] = {"cards.turn": ("round", "count")}
"""Fields without an input, by command: they tell copies apart, and a signed command has none."""
LOOKED_AT: Mapping[str, tuple[str, ...]] = {"session.close": ("locked",)}
"""Fields that are asked although they have a default, by command: nobody reports a lid as open or
closed without having looked.
"""
REASON_REQUIRED = ("meter.adjust",)
"""Commands that require a reason in ``note``."""
NOTE_COMMANDS = (*REASON_REQUIRED, "device.service")
"""Commands with an input for ``note``."""


class FormChoice(msgspec.Struct, frozen=True):
    """An allowed value of a field."""

    value: str
    text: str


class FormField(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A field of a command, in the person's language."""

    name: str
    text: str
    kind: str
    required: bool = False
    default: bool | int | str | None = None
    least: int | None = None
    most: int | None = None
    choices: tuple[FormChoice, ...] = ()


class CommandForm(msgspec.Struct, frozen=True, kw_only=True):
    """A command, in the person's language."""

    command: str
    text: str
    group: str
    grave: bool
    fields: tuple[FormField, ...]


COMMAND_TYPES: Mapping[str, type[msgspec.Struct]] = {
    **{tag_of(kind): kind for kind in COMMANDS},
    **JACKPOT_ORDER_TYPES,
}
"""The commands and orders, by name."""


@cache
def forms(language: str) -> Mapping[str, CommandForm]:
    """Return every command that people give, by name."""
    return {name: _command_form(form(name), language) for name in COMMAND_TYPES}


def is_readable(command: str, fields: dict[str, Any]) -> bool:
    """Return True if these can be the fields of this command. Their content is judged by the
    daemon.
    """
    if command not in COMMAND_TYPES or set(fields) & {"type", *SENT_OTHERWISE}:
        return False
    stamped = {} if command in JACKPOT_ORDER_TYPES else {"at": 0.0}
    body = {**fields, **stamped, "type": command, "by": "", "role": "table_head"}
    try:
        msgspec.convert(body, COMMAND_TYPES[command])
    except msgspec.ValidationError:
        return False
    return True


def _command_form(form_: Form, language: str) -> CommandForm:
    return CommandForm(
        command=form_.command,
        text=_text(form_.text, language),
        group=next(
            (group for group, names in COMMAND_GROUPS.items() if form_.command in names),
            OTHER_GROUP,
        ),
        grave=form_.command in PIN_COMMANDS,
        fields=tuple(
            _form_field(
                field,
                language,
                required=field.required
                or field.name in LOOKED_AT.get(form_.command, ())
                or (field.name == "note" and form_.command in REASON_REQUIRED),
            )
            for field in form_.fields
            if field.name not in (*HIDDEN_FIELDS, *HIDDEN_BY_COMMAND.get(form_.command, ()))
            or (field.name == "note" and form_.command in NOTE_COMMANDS)
        ),
    )


def _form_field(field: CommandFormField, language: str, *, required: bool) -> FormField:
    return FormField(
        name=field.name,
        text=_text(field.text, language),
        kind=field.kind,
        required=required,
        default=None if required else field.default,
        least=field.least,
        most=field.most,
        choices=tuple(
            FormChoice(value, _text(key, language)) for value, key in field.choices.items()
        ),
    )


def _text(key: str, language: str) -> str:
    group, _, name = key.partition(".")
    return word(group, name, language)
