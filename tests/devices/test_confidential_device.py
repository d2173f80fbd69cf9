"""No log line or error contains bytes of a device where cards may lie face down."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from common.readings import AnyReading
from tests.devices.test_device import running
from tests.support.devices.parts import Lines, Pty
from tests.support.waiting import until_async


class Telling(Lines):
    """A codec whose exceptions contain its input, as exceptions do."""

    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        if b"boom" in data:
            raise ValueError(f"no card is {data!r}")
        return super().feed(data, now)


@pytest.fixture
def pty(tmp_path: Path) -> Iterator[Pty]:
    made = Pty(tmp_path)
    yield made
    made.unplug()


def take(readings: list[AnyReading]) -> None:
    """A table whose exceptions contain its input."""
    if any(b"ok" in msgspec.json.encode(reading) for reading in readings):
        raise RuntimeError(f"a defect with {readings}")


async def test_a_defect_is_reported_with_its_place_and_without_its_data(pty: Pty) -> None:
    async with running(pty.url, codec=Telling(), on_readings=take, confidential=True) as floor:
        await floor.until_open()
        pty.say(b"boom 7h\n")
        await until_async(lambda: floor.device.health().defects == 1)
        pty.say(b"ok 8h\n")
        await floor.until_frames(1)
        await until_async(lambda: floor.logged("readings not accepted by the table"))
        logged = str(floor.logs.entries)
        codec, table = (entry for entry in floor.logs.entries if "where" in entry)
        assert (codec["error"], table["error"]) == ("ValueError", "RuntimeError")
        assert __file__ in codec["where"]
        assert __file__ in table["where"]
        for card in ("7h", "8h"):
            assert card not in logged
            assert card not in str(floor.device.health())


async def test_how_many_bytes_came_is_not_reported_since_codes_differ_in_length(pty: Pty) -> None:
    said = [b"ok 9h\n", b"ok 10h\n"]
    async with running(pty.url, codec=Lines(), confidential=True) as floor:
        await floor.until_open()
        for frames, line in enumerate(said, 1):
            pty.say(line)
            await floor.until_frames(frames)
            assert floor.device.health().counters.bytes == 0
    async with running(pty.url, codec=Lines()) as floor:
        await floor.until_open()
        pty.say(said[0])
        await floor.until_frames(1)
        assert floor.device.health().counters.bytes == len(said[0])
