"""The forms of commands: fields with their kinds and bounds, and the keys of the texts that name
them. All of it is derived from the types of the commands.

A table publishes its restrictions in the retained topic ``info``, under ``about.commands``: the
roles, the choices of its game and decree, and the command that takes a command back.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, get_args, get_type_hints

import msgspec
from msgspec import UNSET

from common.contract import bounds, jackpot
from common.contract.commands import COMMANDS, tag_of
from common.contract.topics import level
from common.readings import MAX_EXACT_INTEGER

Kind = Literal[
    "integer",
    "integers",
    "amount",
    "round",
    "number",
    "text",
    "texts",
    "name",
    "choice",
    "flag",
    "hand",
    "card",
    "cards",
    "cards_by_hand",
    "choice_by_hand",
]
"""How a field is filled in. ``amount``: in minor units of the session's currency. ``round``: the
number of a round. ``number``: a pocket of the wheel. ``name``: of a person. ``hand``: a hand, box
or seat as the table names it (``box:3``). ``..._by_hand``: an object, by hand.
"""

KINDS: Mapping[Any, tuple[Kind, int | None, int | None]] = {
    bounds.Money: ("amount", 1, 1_000_000_000_000),
    bounds.Count: ("integer", 0, 1000),
    bounds.Counts: ("integers", 0, 1000),
    bounds.Rounds: ("round", 1, 1_000_000_000),
    bounds.Number: ("number", None, None),
    bounds.Card: ("card", None, 8),
    bounds.Cards: ("cards", None, 8),
    bounds.Name: ("name", None, 128),
    bounds.Note: ("text", None, 1024),
    bounds.Word: ("text", None, 64),
    bounds.Words: ("texts", None, 64),
    jackpot.Count: ("integer", 1, MAX_EXACT_INTEGER),
    jackpot.Counts: ("integers", 1, MAX_EXACT_INTEGER),
    jackpot.Paid: ("amount", 1, 1_000_000_000_000),
    jackpot.AlertId: ("text", None, 256),
    jackpot.Proved: ("amount", 0, 1_000_000_000_000),
    bool: ("flag", None, None),
    str: ("text", None, None),
}
"""By type: the kind, and the minimum and maximum of a number, or the maximum length of a text. The
contract itself allows negative numbers, so that a game can explain why it refuses them.
"""
AMOUNT_MINIMUMS: Mapping[tuple[str, str], int] = {
    ("award.decide", "amount"): 0,
    ("meter.adjust", "amount"): -1_000_000_000_000,
}
"""By command and field: the minimum of an amount, if it is not 1."""
HANDS = ("who", "winner")
"""Fields that name a hand."""
SENT_OTHERWISE = ("at", "by", "role", "signed")
"""Fields of every command that are not filled in: the sign-in determines them."""

TEXTS: Mapping[tuple[str, str], str] = {
    ("shoe.start", "index"): "indices",
    ("shoe.start", "cards"): "cards_counted",
    ("deck.check", "cards"): "cards_counted",
    ("claim.settle", "how"): "claim_how",
    ("gap.settle", "amount"): "stakes_proved",
    ("meter.adjust", "note"): "why",
    ("award.decide", "amount"): "award_value",
}
"""By command and field: the text of a field whose name has another meaning elsewhere."""
GROUPS: Mapping[tuple[str, str], str] = {
    ("round.void", "reason"): "void_reason",
    ("hand.act", "action"): "decision",
    ("result.correct", "decisions"): "decision",
    ("staff.on", "duty"): "role",
    ("staff.off", "duty"): "role",
    ("device.service", "work"): "work",
    ("claim.settle", "how"): "claim",
}
"""By command and field: the group of texts of its choices, if it is not ``choice``."""


class CommandFormField(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One field of a command."""

    name: str
    """As in the body of the command."""
    kind: Kind
    """How it is filled in."""
    text: str
    """The key of its name in the messages: ``field.reason``."""
    required: bool = False
    """Whether the command needs it. Other fields may be omitted."""
    default: bool | int | str | None = None
    """The value if it is omitted; null: see docs/integrator/vocabulary/commands.md."""
    least: int | None = None
    """Minimum of a number."""
    most: int | None = None
    """Maximum of a number; maximum length of a text."""
    choices: Mapping[str, str] = {}
    """For a choice: the values, and the key of each one's text."""


class Form(msgspec.Struct, frozen=True, kw_only=True):
    """The form of a command."""

    command: str
    """The name of the command: ``round.void``."""
    text: str
    """The key of its name in the messages."""
    fields: tuple[CommandFormField, ...]
    """In the order of docs/integrator/vocabulary/commands.md; ``note`` comes last."""


_KINDS: Mapping[str, type[msgspec.Struct]] = {tag_of(kind): kind for kind in COMMANDS} | {
    str(kind.__struct_config__.tag): kind for kind in jackpot.JACKPOT_ORDERS
}

NAMES: tuple[str, ...] = tuple(_KINDS)
"""Every command of a table and every order of a jackpot: ``round.void``."""


def full_name(name: str) -> str:
    """Return the name of a command or order; ``session-open``, as in topics, is ``session.open``.
    An unknown name is returned unchanged.
    """
    return next((known for known in NAMES if level(known) == level(name)), name)


def amount_fields(command: str) -> tuple[str, ...]:
    """Return the fields of a command or order that are amounts of money; empty for an unknown
    name.
    """
    if command not in _KINDS:
        return ()
    return tuple(field.name for field in form(command).fields if field.kind == "amount")


@cache
def form(command: str) -> Form:
    """Return the form of a command, such as ``round.void``, or of an order to a jackpot. Raises
    ``KeyError`` for an unknown name.
    """
    kind = _KINDS[command]
    hints = get_type_hints(kind, include_extras=True)
    fields = [each for each in msgspec.structs.fields(kind) if each.name not in SENT_OTHERWISE]
    fields.sort(key=lambda each: each.name == "note")
    return Form(
        command=command,
        text=f"command.{command}",
        fields=tuple(_field(command, each, hints[each.name]) for each in fields),
    )


def _field(command: str, field: msgspec.structs.FieldInfo, hint: Any) -> CommandFormField:
    hint = _without_none(hint)
    own = get_args(hint) if _is_literal(hint) else ()
    kind, least, most = _kind(field.name, hint)
    if kind == "choice_by_hand":
        own = ("go", "pass")
    group = GROUPS.get((command, field.name), "choice")
    default = (
        None if field.default is UNSET or field.default is msgspec.NODEFAULT else field.default
    )
    return CommandFormField(
        name=field.name,
        kind=kind,
        text=f"field.{TEXTS.get((command, field.name), field.name)}",
        required=field.required,
        default=default if isinstance(default, bool | int | str) else None,
        least=AMOUNT_MINIMUMS.get((command, field.name), least),
        most=most,
        choices={value: _text(group, value) for value in own},
    )


def _kind(name: str, hint: Any) -> tuple[Kind, int | None, int | None]:
    if name in HANDS:
        return "hand", None, 64
    if _is_literal(hint):
        return "choice", None, None
    if hint in KINDS:
        return KINDS[hint]
    return ("cards_by_hand" if name == "hands" else "choice_by_hand"), None, None


def _text(group: str, value: str) -> str:
    return f"{group}.{value}"


def _without_none(hint: Any) -> Any:
    """Return the type of an optional field without None."""
    if hint in KINDS:
        return hint
    others = [each for each in get_args(hint) if each is not type(None)]
    if type(None) not in get_args(hint):
        return hint
    for each in KINDS:
        if others == [each] or {*others} == {*get_args(each)}:
            return each
    return others[0]


def _is_literal(hint: Any) -> bool:
    return getattr(hint, "__origin__", None) is Literal
