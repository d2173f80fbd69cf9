"""The numbers of a device, live, while a person watches. Nothing is sent to it."""

from __future__ import annotations

import threading
from collections.abc import Callable

import msgspec

from common import clock
from common.readings import WheelNumber
from controller.setup.facts import FoundDevice
from controller.setup.words import say
from devices.codec import feed
from devices.drivers import driver
from devices.links import LinkFailedError, open_link

READ_SECONDS = 0.1


class DeviceView(msgspec.Struct, frozen=True):
    """The decoded data of a device so far. ``number``: the last one of a wheel. Cards are counted,
    and never shown: they may lie face down.
    """

    number: int | str | None = None
    frames: int = 0
    failed: str = ""

    def text(self, language: str) -> str:
        """Return it in a language."""
        if self.failed:
            return self.failed
        if self.number is not None:
            return say("say.number", language, number=self.number)
        if self.frames:
            return say("say.frames", language, frames=self.frames)
        return say("say.waiting", language)


class LiveDevice:
    """Reads a device in a thread. ``on_change`` is called there with each :class:`DeviceView`."""

    def __init__(self, device: FoundDevice, on_change: Callable[[DeviceView], None]) -> None:
        self._device, self._on_change = device, on_change
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop reading, and release the port."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        driver_of = driver(self._device.driver)
        options = msgspec.convert(dict(self._device.options), driver_of.options)
        codec = driver_of.make("device", options)
        shown, number = DeviceView(), None
        try:
            link = open_link(self._device.link)
            try:
                while not self._stopped.is_set():
                    data = link.read(READ_SECONDS)
                    for reading in feed(codec, data, clock.monotonic()):
                        if isinstance(reading, WheelNumber):
                            number = reading.number
                    # a count that rises with each message would be a line for each
                    frames = shown.frames or codec.counters.frames
                    if (now := DeviceView(number, frames)) != shown:
                        shown = now
                        self._on_change(shown)
            finally:
                link.close()
        except LinkFailedError as error:
            self._on_change(DeviceView(failed=str(error)))
