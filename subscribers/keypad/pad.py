"""One keypad, as a pure machine: keys in, orders and what the person is told out.

A key that was pressed and not answered stands on the screen until the person has seen it. Nothing
is sent again by itself, and nothing else is sent before: whoever cannot know what the table took
looks at the table first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

import msgspec

from subscribers.keypad.keys import SETTLED, SLOTS, Meaning, Slot, TypedError, fields

Digit = Literal["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]
DIGITS: tuple[Digit, ...] = get_args(Digit)
Press = Digit | Slot | Literal["lock"]
Sound = Literal["done", "refused", "unknown", "none"]
LONGEST = 2
"""Digits that can be typed before a key."""
LATE = 1.0
"""Seconds after which a key that was pressed is not acted on: it lay in a queue meanwhile."""


class Order(msgspec.Struct, frozen=True):
    """A command to be sent, once. ``number``: the press it came from."""

    number: int
    command: str
    fields: Mapping[str, Any]


class Told(msgspec.Struct, frozen=True):
    """What the person sees of the last key: the key of the text, and what is heard. ``detail``: why
    it was refused, for a person.
    """

    text: str = ""
    sound: Sound = "none"
    detail: str = ""


class Pad(msgspec.Struct, frozen=True, kw_only=True):
    """A keypad. ``presses``: how many orders it gave; ``pending``: the one that waits for its
    answer; ``unknown``: the one whose answer never came, until the person has seen that.
    """

    locked: bool = True
    typed: str = ""
    presses: int = 0
    pending: Order | None = None
    unknown: Order | None = None
    told: Told = Told()


def press(
    pad: Pad, key: Press, means: Mapping[Slot, Meaning], stood: float, late: float = 0.0
) -> tuple[Pad, Order | None]:
    """The keypad after a key, and what is to be sent. ``stood``: seconds for which the meanings
    have stood; ``late``: seconds since the key was pressed.
    """
    change = msgspec.structs.replace
    if key == "lock":
        return change(pad, locked=True, typed="", told=Told("keypad.locked")), None
    if late > LATE:
        return change(pad, typed="", told=Told("keypad.late", "refused")), None
    if pad.locked:
        return change(pad, told=Told("keypad.locked", "refused")), None
    if pad.unknown is not None:
        if key == "clear":
            return change(pad, unknown=None, typed="", told=Told()), None
        return change(pad, told=Told("keypad.look_first", "unknown")), None
    if pad.pending is not None:
        return change(pad, told=Told("keypad.waits", "refused")), None
    if key in DIGITS:
        return change(pad, typed=(pad.typed + key)[-LONGEST:], told=Told()), None
    if key == "clear" and pad.typed:
        return change(pad, typed="", told=Told()), None
    meaning = next((means[slot] for slot in SLOTS if slot == key and slot in means), None)
    if meaning is None:
        return change(pad, typed="", told=Told("keypad.means_nothing", "refused")), None
    if stood < SETTLED:
        return change(pad, typed="", told=Told("keypad.just_changed", "refused")), None
    try:
        given = fields(meaning, pad.typed)
    except TypedError as error:
        return change(pad, typed="", told=Told(str(error), "refused")), None
    order = Order(pad.presses + 1, meaning.command, given)
    sent = change(pad, typed="", presses=order.number, pending=order, told=Told("keypad.sent"))
    return sent, order


def answered(pad: Pad, number: int, refusal: str | None) -> Pad:
    """The keypad after the table's answer to an order; ``refusal``: its words, None if it was
    followed. An answer that comes late settles what was unknown.
    """
    waiting = [each for each in (pad.pending, pad.unknown) if each is not None]
    if not any(each.number == number for each in waiting):
        return pad
    told = Told("keypad.done", "done") if refusal is None else Told("", "refused", refusal)
    return msgspec.structs.replace(pad, pending=None, unknown=None, told=told)


def unanswered(pad: Pad, number: int) -> Pad:
    """The keypad after its patience with an order is over."""
    if pad.pending is None or pad.pending.number != number:
        return pad
    told = Told("keypad.unknown", "unknown")
    return msgspec.structs.replace(pad, pending=None, unknown=pad.pending, told=told)


def unlocked(pad: Pad) -> Pad:
    """The keypad after its person has signed in. An order without an answer stays."""
    return msgspec.structs.replace(pad, locked=False, typed="", told=Told())
