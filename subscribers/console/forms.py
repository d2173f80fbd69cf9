"""What the page asks of a person for each command: the contract's forms in the person's language,
and how the page has them side by side.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec

from controller.contract.commands import COMMANDS, tag_of
from controller.contract.forms import SENT_OTHERWISE, Field, Form, form
from controller.contract.jackpot import JACKPOT_ORDERS, NAMED
from controller.contract.messages.messages import word

GROUPS: Mapping[str, tuple[str, ...]] = {
    "session": (
        "session.open",
        "session.close",
        "bets.open",
        "bets.close",
        "limit.announce",
        "last_rounds.announce",
    ),
    "round": ("round.confirm", "round.void", "result.correct"),
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
"""The commands as the page has them side by side."""
OTHER = "other"
"""Commands that only a newer contract knows."""

ORDERS: Mapping[str, type[msgspec.Struct]] = {
    str(kind.__struct_config__.tag): kind for kind in JACKPOT_ORDERS
}
"""The orders of a jackpot by name."""
STOPS = ("alert.acknowledge", "alert.clear", "award.dispute", "jackpot.suspend")
"""Orders of a jackpot that let no money go."""
GRAVE = (
    "result.correct",
    "round.confirm",
    "round.void",
    "session.close",
    *(name for name in ORDERS if name not in STOPS),
)
"""The person gives the PIN again for these."""


UNASKED = ("note", "valid", *NAMED.values())
"""Fields that the page has other ways for, or none: a button takes a command back, and the state
that the person sees goes with each order of a jackpot.
"""
REASONED = ("meter.adjust",)
"""Commands that need a reason in ``note``."""
NOTED = (*REASONED, "device.service")
"""Commands whose ``note`` the page asks for."""


class Choice(msgspec.Struct, frozen=True):
    """One of the words that a field takes."""

    value: str
    text: str


class Asked(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One field of a command, in the person's language."""

    name: str
    text: str
    kind: str
    required: bool = False
    default: bool | int | str | None = None
    least: int | None = None
    most: int | None = None
    choices: tuple[Choice, ...] = ()


class Worded(msgspec.Struct, frozen=True, kw_only=True):
    """One command, in the person's language."""

    command: str
    text: str
    group: str
    grave: bool
    fields: tuple[Asked, ...]


KINDS: Mapping[str, type[msgspec.Struct]] = {
    **{tag_of(kind): kind for kind in COMMANDS},
    **ORDERS,
}
"""The commands and orders by name."""


@cache
def forms(language: str) -> Mapping[str, Worded]:
    """Every command that people give, by name."""
    return {name: _worded(form(name), language) for name in KINDS}


def readable(command: str, fields: dict[str, Any]) -> bool:
    """Whether these can be the fields of this command; what they say, the daemon judges."""
    if command not in KINDS or set(fields) & {"type", *SENT_OTHERWISE}:
        return False
    stamped = {} if command in ORDERS else {"at": 0.0}
    given = {**fields, **stamped, "type": command, "by": "", "role": "table_head"}
    try:
        msgspec.convert(given, KINDS[command])
    except msgspec.ValidationError:
        return False
    return True


def _worded(of: Form, language: str) -> Worded:
    return Worded(
        command=of.command,
        text=_text(of.text, language),
        group=next((group for group, names in GROUPS.items() if of.command in names), OTHER),
        grave=of.command in GRAVE,
        fields=tuple(
            _asked(field, language, reasoned=of.command in REASONED)
            for field in of.fields
            if field.name not in UNASKED or (field.name == "note" and of.command in NOTED)
        ),
    )


def _asked(of: Field, language: str, *, reasoned: bool) -> Asked:
    return Asked(
        name=of.name,
        text=_text(of.text, language),
        kind=of.kind,
        required=of.required or (of.name == "note" and reasoned),
        default=of.default,
        least=of.least,
        most=of.most,
        choices=tuple(Choice(value, _text(key, language)) for value, key in of.choices.items()),
    )


def _text(key: str, language: str) -> str:
    group, _, name = key.partition(".")
    return word(group, name, language)
