"""The state machine of a keypad: keys in, orders and feedback out. Pure.

An order without a reply stays on the screen until the person has seen it. Nothing is sent again
automatically, and no other order is accepted before: first the person checks what the table did.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

import msgspec

from subscribers.keypad.keys import (
    MIN_STABLE_SECONDS,
    SLOTS,
    Meaning,
    Slot,
    TypedError,
    command_fields,
)

Digit = Literal["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]
DIGITS: tuple[Digit, ...] = get_args(Digit)
Press = Digit | Slot | Literal["lock"]
Sound = Literal["done", "refused", "unknown", "none"]
MAX_DIGITS = 2
"""Maximum number of digits typed before a key."""
MAX_KEY_AGE_SECONDS = 1.0
"""An older key press is ignored: it was delayed in a queue."""


class Order(msgspec.Struct, frozen=True):
    """A command to send once. ``number``: the key press that caused it."""

    number: int
    command: str
    fields: Mapping[str, Any]


class KeyFeedback(msgspec.Struct, frozen=True):
    """Feedback to the last key: the key of its text, and a sound. ``detail``: why it was refused,
    as text.
    """

    text: str = ""
    sound: Sound = "none"
    detail: str = ""


class Pad(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a keypad. ``presses``: number of orders so far; ``pending``: the order that
    waits for its reply; ``unknown``: an order without a reply, until the person has seen that.
    """

    locked: bool = True
    typed: str = ""
    presses: int = 0
    pending: Order | None = None
    unknown: Order | None = None
    feedback: KeyFeedback = KeyFeedback()


def press(
    pad: Pad,
    key: Press,
    key_meanings: Mapping[Slot, Meaning],
    stable_seconds: float,
    age: float = 0.0,
) -> tuple[Pad, Order | None]:
    """Return the state after a key, and the order to send. ``stable_seconds``: time since the
    meanings last changed; ``age``: seconds since the key was pressed.
    """
    replace = msgspec.structs.replace
    if key == "lock":
        return replace(pad, locked=True, typed="", feedback=KeyFeedback("keypad.locked")), None
    if age > MAX_KEY_AGE_SECONDS:
        return replace(pad, typed="", feedback=KeyFeedback("keypad.late", "refused")), None
    if pad.locked:
        return replace(pad, feedback=KeyFeedback("keypad.locked", "refused")), None
    if pad.unknown is not None:
        if key == "clear":
            return replace(pad, unknown=None, typed="", feedback=KeyFeedback()), None
        return replace(pad, feedback=KeyFeedback("keypad.look_first", "unknown")), None
    if pad.pending is not None:
        return replace(pad, feedback=KeyFeedback("keypad.waits", "refused")), None
    if key in DIGITS:
        return replace(pad, typed=(pad.typed + key)[-MAX_DIGITS:], feedback=KeyFeedback()), None
    if key == "clear" and pad.typed:
        return replace(pad, typed="", feedback=KeyFeedback()), None
    meaning = next(
        (key_meanings[slot] for slot in SLOTS if slot == key and slot in key_meanings), None
    )
    if meaning is None:
        return replace(pad, typed="", feedback=KeyFeedback("keypad.means_nothing", "refused")), None
    if stable_seconds < MIN_STABLE_SECONDS:
        return replace(pad, typed="", feedback=KeyFeedback("keypad.just_changed", "refused")), None
    try:
        typed_fields = command_fields(meaning, pad.typed)
    except TypedError as error:
        return replace(pad, typed="", feedback=KeyFeedback(str(error), "refused")), None
    order = Order(pad.presses + 1, meaning.command, typed_fields)
    sent = replace(
        pad, typed="", presses=order.number, pending=order, feedback=KeyFeedback("keypad.sent")
    )
    return sent, order


def on_reply(pad: Pad, number: int, refusal: str | None) -> Pad:
    """Return the state after the reply to an order. ``refusal``: its text; None if the order was
    followed. A late reply resolves an unknown order.
    """
    waiting = [order for order in (pad.pending, pad.unknown) if order is not None]
    if not any(order.number == number for order in waiting):
        return pad
    feedback = (
        KeyFeedback("keypad.done", "done")
        if refusal is None
        else KeyFeedback("", "refused", refusal)
    )
    return msgspec.structs.replace(pad, pending=None, unknown=None, feedback=feedback)


def on_timeout(pad: Pad, number: int) -> Pad:
    """Return the state after the reply to an order timed out."""
    if pad.pending is None or pad.pending.number != number:
        return pad
    feedback = KeyFeedback("keypad.unknown", "unknown")
    return msgspec.structs.replace(pad, pending=None, unknown=pad.pending, feedback=feedback)


def unlock(pad: Pad) -> Pad:
    """Return the state after the person has signed in. An order without a reply remains."""
    return msgspec.structs.replace(pad, locked=False, typed="", feedback=KeyFeedback())
