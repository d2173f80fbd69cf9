"""A USB keypad, read through Linux evdev and grabbed from other programs."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from typing import Protocol

import msgspec
from evdev import InputDevice, InputEvent, ecodes

from common import clock
from subscribers.keypad.pad import DIGITS, Press

REOPEN_DELAY_SECONDS = 2.0
"""Delay between attempts to open an unavailable keypad."""
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
KEY_DOWN = 1
"""Event value of a key press: 0 is a release, 2 an automatic repetition."""


class KeyPress(msgspec.Struct, frozen=True):
    """A key press. ``at``: kernel timestamp, in seconds of the wall clock."""

    key: Press
    at: float


class Keypad(Protocol):
    """An input device, such as :class:`evdev.InputDevice`."""

    def grab(self) -> None:
        """Grab it exclusively."""

    def close(self) -> None:
        """Release it."""

    def async_read_loop(self) -> AsyncIterator[InputEvent]:
        """Yield its events. Raise ``OSError`` when it is unplugged."""


def key_press(event: InputEvent) -> KeyPress | None:
    """Return the key press of an event; None for any other event, including repetitions."""
    key = CODES.get(event.code)
    if event.type != ecodes.EV_KEY or event.value != KEY_DOWN or key is None:
        return None
    return KeyPress(key, event.timestamp())


async def key_presses(
    path: str,
    open_device: Callable[[str], Keypad] = InputDevice,
    delay: float = REOPEN_DELAY_SECONDS,
) -> AsyncGenerator[KeyPress | OSError, None]:
    """Yield the key presses of a keypad, reopening it whenever it was unplugged. An error is
    yielded once each time the keypad becomes unreadable.
    """
    failed = False
    while True:
        try:
            device = open_device(path)
            try:
                device.grab()
                failed = False
                async for event in device.async_read_loop():
                    key = key_press(event)
                    if key is not None:
                        yield key
            finally:
                device.close()
        # evdev raises ``ValueError`` for a name that is not text
        except (OSError, ValueError) as error:
            if not failed:
                yield error if isinstance(error, OSError) else OSError(str(error))
            failed = True
        await clock.sleep(delay)
