"""A USB keypad. No test can plug one in, so the kernel's reports are given as the library's own
events.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from evdev import InputEvent, ecodes

from subscribers.keypad.keys import SLOTS
from subscribers.keypad.pad import DIGITS
from subscribers.keypad.usb import CODES, KeyPress, key_press, key_presses
from tests.support.waiting import TIMEOUT_SECONDS


def event(code: int, value: int = 1, kind: int = ecodes.EV_KEY) -> InputEvent:
    return InputEvent(1_700_000_000, 250_000, kind, code, value)


def test_every_key_of_a_keypad_has_a_code() -> None:
    assert set(CODES.values()) == {*DIGITS, *SLOTS, "lock"}
    assert CODES[ecodes.KEY_KP0] == "0"
    assert CODES[ecodes.KEY_9] == "9"


def test_only_a_key_that_goes_down_is_pressed() -> None:
    assert key_press(event(ecodes.KEY_KPENTER)) == KeyPress("enter", 1_700_000_000.25)
    assert key_press(event(ecodes.KEY_KPENTER, 0)) is None
    assert key_press(event(ecodes.KEY_KPENTER, 2)) is None
    assert key_press(event(ecodes.KEY_A)) is None
    assert key_press(event(ecodes.KEY_KPENTER, 1, ecodes.EV_REL)) is None


class Plugged:
    """A keypad that reports these events, and is then unplugged. ``grabbed``: taken, and left."""

    def __init__(self, *events: InputEvent) -> None:
        self.events, self.grabbed = events, [0, 0]

    def grab(self) -> None:
        self.grabbed[0] += 1

    def close(self) -> None:
        self.grabbed[1] += 1

    async def async_read_loop(self) -> AsyncIterator[InputEvent]:
        for event in self.events:
            yield event
        raise OSError(19, "No such device")


async def test_a_keypad_that_comes_back_is_read_again_and_each_absence_is_reported_once() -> None:
    first, second = Plugged(event(ecodes.KEY_KP7)), Plugged(event(ecodes.KEY_KPPLUS))
    there = iter([first, None, None, second])

    def opened(path: str) -> Plugged:
        assert path == "/dev/input/by-id/keypad"
        found = next(there)
        if found is None:
            raise FileNotFoundError(2, "No such file or directory")
        return found

    told: list[object] = []
    keys = key_presses("/dev/input/by-id/keypad", opened, delay=0)
    async with asyncio.timeout(TIMEOUT_SECONDS):
        async for key in keys:
            told.append(key.key if isinstance(key, KeyPress) else key.errno)
            if len(told) == 4:
                break
    await keys.aclose()
    assert told == ["7", 19, "plus", 19]
    assert (first.grabbed, second.grabbed) == ([1, 1], [1, 1])


async def test_a_file_that_is_no_keypad_is_an_error_and_no_end() -> None:
    keys = key_presses("/dev/null", delay=0)
    assert isinstance(await anext(keys), OSError)
    await keys.aclose()


@pytest.mark.parametrize("moment", ["open", "grab", "read", "close"])
@pytest.mark.parametrize(
    "error",
    [
        OSError(19, "No such device"),
        PermissionError(13, "Permission denied"),
        OSError(16, "Device or resource busy"),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_no_error_of_a_keypad_ends_the_program(moment: str, error: Exception) -> None:
    class Failing(Plugged):
        def grab(self) -> None:
            if moment == "grab":
                raise error

        def close(self) -> None:
            if moment == "close":
                raise error

        async def async_read_loop(self) -> AsyncIterator[InputEvent]:
            if moment == "read":
                raise error
            async for each in super().async_read_loop():
                yield each

    there = iter([Failing(), Plugged(event(ecodes.KEY_KP7))])

    def opened(_path: str) -> Plugged:
        found = next(there)
        if moment == "open" and isinstance(found, Failing):
            raise error
        return found

    told: list[object] = []
    keys = key_presses("/dev/input/by-id/keypad", opened, delay=0)
    async with asyncio.timeout(5):
        async for key in keys:
            told.append(key.key if isinstance(key, KeyPress) else type(key))
            if told[-1] == "7":
                break
    await keys.aclose()
    assert len(told) == 2
