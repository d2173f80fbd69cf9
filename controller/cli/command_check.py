"""A command of ``novamas send`` before it is sent: its name, role and fields are checked here, so
that a mistake is reported also when the broker cannot be reached.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from common.contract.commands import COMMANDS, DeviceCommand, Role, tag_of
from common.contract.forms import amount_fields, full_name
from common.contract.jackpot import JACKPOT_ORDERS, STATE_FIELDS
from common.contract.orders import RECALL, UnreadableCommandError, read_order
from common.contract.topics import level
from common.plain_errors import describe
from common.suggestions import unknown_word

TABLE_COMMANDS = sorted((*map(tag_of, COMMANDS), tag_of(DeviceCommand)))
ANY_AMOUNT = 1
"""In place of an amount, whose currency only the daemon may know."""
ANY_NAME = "-"
ANY_ROLE: Role = "inspector"
"""In place of what the key of a signed command states."""


def command_mistake(
    name: str,
    fields: Mapping[str, Any],
    by: str | None,
    role: str | None,
    *,
    is_jackpot: bool,
) -> str | None:
    """Return what is wrong with a command, or None. ``fields`` are as in its body, amounts as they
    were typed. ``by`` and ``role`` are None if a key signs the command, or if it needs neither.
    """
    amounts = dict.fromkeys(fields.keys() & amount_fields(full_name(name)), ANY_AMOUNT)
    fields = {**fields, **amounts}
    identity = {"by": by or ANY_NAME, "role": role or ANY_ROLE}
    if is_jackpot:
        return _order_mistake(name, {**fields, **identity})
    if level(name) == RECALL:
        identity = {}
    elif level(name) not in map(level, TABLE_COMMANDS):
        return unknown_word("command", name, TABLE_COMMANDS)
    try:
        read_order(level(name), msgspec.json.encode({**fields, **identity}), 0.0)
    except UnreadableCommandError as error:
        return str(error)
    return None


def _order_mistake(name: str, fields: Mapping[str, Any]) -> str | None:
    """Return what is wrong with an order to a jackpot, or None."""
    kinds = {str(kind.__struct_config__.tag): kind for kind in JACKPOT_ORDERS}
    if (tag := full_name(name)) not in kinds:
        return unknown_word("order", name, sorted(kinds))
    kind = kinds[tag]
    if STATE_FIELDS.get(kind, "by") not in fields:
        return None  # the jackpot controller answers what it must be
    try:
        msgspec.convert({**fields, "type": tag}, kind)
    except msgspec.ValidationError as error:
        return describe(error, kind)
    return None
