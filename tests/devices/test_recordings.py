"""Golden recordings: each ``recordings/NAME.txt`` gives, byte for byte, the readings in
``recordings/NAME.readings.jsonl``.

The header names the driver and its options. After an intended change, write the readings again with
``novamas decode DRIVER RECORDING --device device``, with an ``--option`` for each option of the
header, and look at the difference.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import msgspec
import pytest

from common.contract.notation import read_input, write
from common.readings import AnyReading
from devices.drivers import DRIVERS, driver
from devices.recording import Recording, read_recording
from devices.watch import Watch

FOLDER = Path(__file__).parents[1] / "recordings"
RECORDINGS = sorted(FOLDER.glob("*.txt"))


def readings_of(recording: Recording) -> list[AnyReading]:
    found = driver(recording.header["driver"])
    options = tomllib.loads("\n".join(recording.header.get("options", "").split(", ")))
    if found.described is not None:
        options["text"] = (FOLDER / options["file"]).read_text()
    watch = Watch(
        found.make("device", msgspec.convert(options, found.options)), "device", stale_after=5.0
    )
    watch.opened(recording.chunks[0].at)
    return [
        reading
        for chunk in recording
        if not chunk.sent
        for reading in watch.feed(chunk.data, chunk.at)
    ]


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_a_recording_gives_its_golden_readings(path: Path) -> None:
    recording = read_recording(path)
    assert recording.problems == []
    assert {"device", "driver", "line-settings", "framing", "note"} <= set(recording.header)
    golden = path.with_suffix(".readings.jsonl").read_bytes().splitlines()
    assert [write(reading) for reading in readings_of(recording)] == golden
    assert [write(read_input(line)) for line in golden] == golden


def test_every_driver_has_a_recording() -> None:
    assert {read_recording(path).header["driver"] for path in RECORDINGS} == set(DRIVERS)
