"""A USB keypad, read through Linux' evdev and kept from every other program."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from typing import Protocol

import msgspec
from evdev import InputDevice, InputEvent, ecodes

from subscribers.keypad.pad import DIGITS, Press

AGAIN = 2.0
"""Seconds between two attempts to open a keypad that is not there."""
CODES: Mapping[int, Press] = {
    **{ecodes.ecodes[f"KEY_{row}{digit}"]: digit for row in ("", "KP") for digit in DIGITS},
    ecodes.KEY_KPENTER: "enter",
    ecodes.KEY_ENTER: "enter",
    ecodes.KEY_KPPLUS: "plus",
    ecodes.KEY_KPMINUS: "minus",
    ecodes.KEY_KPASTERISK: "times",
    ecodes.KEY_KPSLASH: "divide",
    ecodes.KEY_KPDOT: "point",
    ecodes.KEY_KPCOMMA: "point",
    ecodes.KEY_BACKSPACE: "clear",
    ecodes.KEY_NUMLOCK: "lock",
}
"""The codes of linux/input-event-codes.h that a numeric keypad sends."""
DOWN = 1
"""The value of a key that goes down: 0 is up, 2 is the repetition of one that is held."""


class KeyPress(msgspec.Struct, frozen=True):
    """A key that went down. ``at``: when the kernel heard of it, in seconds of the clock."""

    key: Press
    at: float


class Keypad(Protocol):
    """A device that tells of keys, as :class:`evdev.InputDevice` does."""

    def grab(self) -> None:
        """Take it from other programs."""

    def close(self) -> None:
        """Leave it."""

    def async_read_loop(self) -> AsyncIterator[InputEvent]:
        """What it tells. Raises ``OSError`` when it is unplugged."""


def pressed(event: InputEvent) -> KeyPress | None:
    """The key that an event means; None for any other. A key that is held is pressed once."""
    key = CODES.get(event.code)
    if event.type != ecodes.EV_KEY or event.value != DOWN or key is None:
        return None
    return KeyPress(key, event.timestamp())


async def presses(
    path: str, opened: Callable[[str], Keypad] = InputDevice, again: float = AGAIN
) -> AsyncGenerator[KeyPress | OSError, None]:
    """The keys of a keypad for as long as it is wanted, across any number of times that it is
    unplugged. An error says that it cannot be read now, once for each time; it never ends this
    program, nor another keypad.
    """
    gone = False
    while True:
        try:
            device = opened(path)
            try:
                device.grab()
                gone = False
                async for event in device.async_read_loop():
                    key = pressed(event)
                    if key is not None:
                        yield key
            finally:
                device.close()
        # evdev raises ``ValueError`` for a name that is no text
        except (OSError, ValueError) as error:
            if not gone:
                yield error if isinstance(error, OSError) else OSError(str(error))
            gone = True
        await asyncio.sleep(again)
