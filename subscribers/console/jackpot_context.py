"""A jackpot as one person views it: which orders that person may give, and the buttons for them.
No clock, no I/O.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from common.contract.jackpot_authority import ORDERS, OrderRight
from common.people.register import Person
from subscribers.console.forms import JACKPOT_ORDER_TYPES as KINDS
from subscribers.console.forms import PIN_COMMANDS
from subscribers.console.rights import role_names
from subscribers.console.sending import SecondPersonWait, Touch
from subscribers.console.view import AnswerButton
from subscribers.feed.meter import Meter, MeterSilence


class JackpotContext(msgspec.Struct, frozen=True, kw_only=True):
    """A jackpot, and the person who views it."""

    name: str
    """``jackpot/<id>``."""
    meter: Meter
    silent: MeterSilence | None
    """Why the state is not current; None if it is."""
    here: bool
    """True if the person is enrolled for one of its tables."""
    others: tuple[str, ...]
    """The ids of the other jackpots."""
    person: Person
    language: str
    touches: tuple[Touch, ...]
    """Those of this session, newest first."""
    waits: tuple[SecondPersonWait, ...]
    has_ledger: bool = False
    """The ledger is on this machine, and its receipts can be printed here."""


def authority_of(command: str) -> OrderRight:
    """Return who may give an order. Raise ``KeyError`` for an unknown name."""
    return ORDERS[KINDS[command]]


def role_for(person: Person, command: str) -> str | None:
    """Return the role in which this person gives an order, the most senior if there are several;
    None if the person may not.
    """
    authority = authority_of(command) if command in KINDS else None
    if authority is None:
        return None
    held = [role for role in (*authority.among, *authority.roles) if role in person.roles]
    return held[0] if held else None


def order_button(command: str, text: str, fields: dict[str, Any]) -> AnswerButton:
    grave = command in PIN_COMMANDS
    return AnswerButton(
        command=command, text=text, fields=fields, grave=grave, two=authority_of(command).two
    )


def form_button(command: str, text: str, fields: dict[str, Any]) -> AnswerButton:
    """Return a button whose other fields the person fills in."""
    answer = order_button(command, text, fields)
    return msgspec.structs.replace(answer, open=True, fixed=tuple(fields))


def other_roles(commands: Iterable[str], language: str) -> str:
    return role_names(
        dict.fromkeys(role for command in commands for role in authority_of(command).roles),
        language,
    )
