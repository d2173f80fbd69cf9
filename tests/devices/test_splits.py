"""One property of every driver: a stream gives the same readings however a line splits it."""

from __future__ import annotations

import tomllib
from functools import cache

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devices.codec import Codec
from devices.drivers import DRIVERS, driver
from devices.recording import Recording, read_recording
from tests.conftest import cases
from tests.devices.test_recordings import FOLDER, RECORDINGS
from tests.support.devices.splits import assert_any_split_gives_the_same

BURST = 4000
"""Bytes of a recording that come at once."""


@cache
def recordings(name: str) -> tuple[Recording, ...]:
    found = (read_recording(path) for path in RECORDINGS)
    return tuple(recording for recording in found if recording.header["driver"] == name)


def make(recording: Recording) -> Codec:
    found = driver(recording.header["driver"])
    options = tomllib.loads("\n".join(recording.header.get("options", "").split(", ")))
    if found.described is not None:
        options["text"] = (FOLDER / options["file"]).read_text()
    return found.make("device", msgspec.convert(options, found.options))


@st.composite
def bursts(draw: st.DrawFn, name: str) -> tuple[Recording, bytes]:
    """Recorded bytes of such a device, with junk in between that may be longer than any frame, or
    without line ends.
    """
    recording = draw(st.sampled_from(recordings(name)))
    data = b"".join(chunk.data for chunk in recording if not chunk.sent)
    begin = draw(st.integers(0, max(0, len(data) - 1)))
    data = data[begin : begin + draw(st.integers(0, BURST))]
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(data)))
        junk = draw(
            st.binary(max_size=40)
            | st.builds(
                lambda one, times: one * times,
                st.binary(min_size=1, max_size=3),
                st.integers(0, 3000),
            )
        )
        gone = draw(st.sampled_from([0, 0, 1, 2, 50, 400]))
        data = data[:at] + junk + data[at + gone :]
    return recording, data


@pytest.mark.parametrize("name", DRIVERS)
@settings(max_examples=cases(15, 60), deadline=None)
@given(data=st.data())
def test_any_split_gives_the_same_readings(name: str, data: st.DataObject) -> None:
    recording, stream = data.draw(bursts(name))
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=8))
    assert_any_split_gives_the_same(lambda: make(recording), stream, cuts)
