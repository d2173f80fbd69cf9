"""The proof of a frame: only the device's own frames show that it is there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from common.readings import AnyReading, DeviceReport, LinkGap, LinkGarbage, LinkOpen, LinkUp
from devices.codec import GREETING_SECONDS, Codec, FrameProof
from devices.drivers import DRIVERS, driver
from devices.profiles.drivers import driver_of
from devices.profiles.profile import parse_profile
from devices.recording import read_recording
from devices.watch import Watch
from tests.support.for_each import for_each

TESTS = Path(__file__).parents[1]
RECORDINGS = sorted((TESTS / "recordings").glob("*.txt"))

FREE = """
name = "free"
kind = "shoe"
title = "A shoe whose every line is a card"
source = "a test"

[[message]]
name = "code"
match = "(?P<text>.+)"

[message.fields.code]
of = "text"
map = { S1 = "As" }
optional = true

[[message.say]]
reading = "card.drawn"
with = { card = "{code}" }
"""
"""A profile that takes any line for a frame."""

FOUND = """
name = "found"
kind = "wheel"
title = "A wheel that may say anything"
source = "a test"

[framing]
find = "[ -~]+"

[[message]]
name = "words"
match = "(?P<text>[ -~]+)"

[[message.say]]
reading = "device.report"
with = { report = "words", value = "{text}" }
"""
"""The proof where frames are searched in a line."""


def built_in(name: str) -> Callable[[], Codec]:
    def make() -> Codec:
        found, options = driver(name), driver(name).options
        if found.described is not None:
            text = (TESTS / "profiles" / "acme-rota.toml").read_text()
            return driver_of(parse_profile(text)).make("device", options())
        return found.make("device", options())

    return make


def profile(text: str) -> Callable[[], Codec]:
    def make() -> Codec:
        found = driver_of(parse_profile(text))
        return found.make("device", found.options())

    return make


CODECS: dict[str, Callable[[], Codec]] = {
    **{name: built_in(name) for name in DRIVERS},
    **{
        f"{path.stem}.toml": profile(path.read_text())
        for path in sorted((TESTS / "profiles").glob("*.toml"))
    },
    "free": profile(FREE),
    "found": profile(FOUND),
}
PROOFS = {
    "free": FrameProof.TEXT,
    "found": FrameProof.TEXT,
    "angel-eye": FrameProof.CHECKED,
    "cctalk-acceptor": FrameProof.CHECKED,
    "saturn": FrameProof.CHECKED,
    "profile": FrameProof.CHECKED,
    "acme-rota.toml": FrameProof.CHECKED,
    "slot-board.toml": FrameProof.CHECKED,
    **{name: FrameProof.CHECKED for name in CODECS if name.endswith("-board")},
}
"""Of all that prove something else than their form."""

WORDS = {
    "taken": b"Port already in use\r\n",
    "device taken": b"Port's device already in use\r\n",
    "no device": b"Device open failure: Value or file not found\r\n",
    "banner": b"Welcome\r\n",
    "long banner": b"ser2net port 4001 device serialdev,/dev/ttyUSB0,9600n81,local [9600N81]\r\n",
    "login": b"Debian GNU/Linux 12 casino ttyS0\r\n\r\ncasino login: ",
    "telnet": bytes.fromhex("fffb03fffb01fffd00fffb00fffd2c") + b"Password: ",
    "HTTP": b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n",
    "no line end": b"busy",
    "NMEA": b"$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47\r\n" * 3,
    "heartbeat": b"OK\r\n" * 3 + b"ALIVE 17\r\n",
    "one number": b"17\r\n",
}
"""Bytes from something other than the device."""


@for_each("name", CODECS)
def test_every_codec_states_how_much_a_frame_proves(name: str) -> None:
    assert CODECS[name]().proof is PROOFS.get(name, FrameProof.FORM)


@for_each("words", WORDS)
@for_each("name", CODECS)
def test_a_servers_greeting_is_no_frame(name: str, words: str) -> None:
    """At the first opening and after each other one."""
    codec = CODECS[name]()
    watch = Watch(codec, "device", 5.0)
    for opened in (10.0, 20.0):
        readings: list[AnyReading] = watch.opened(opened, kept=True)
        readings += watch.feed(WORDS[words], opened + GREETING_SECONDS / 2)
        assert {type(reading) for reading in readings} <= {
            LinkOpen,
            LinkGarbage,
            LinkGap,
            DeviceReport,
        }
        said = [reading.report for reading in readings if isinstance(reading, DeviceReport)]
        assert set(said) <= {"echo"}  # of a bus: its own requests do not come back
        assert watch.state == "connecting"
        assert watch.last_frame is None
        watch.lost(opened + GREETING_SECONDS / 2, "the server hung up")
    assert codec.counters.frames == 0


@for_each("words", WORDS)
@for_each("name", sorted(CODECS.keys() - {"free", "found"}))
def test_other_text_never_proves_that_the_device_is_there(name: str, words: str) -> None:
    codec = CODECS[name]()
    watch = Watch(codec, "device", 5.0)
    watch.opened(0.0, kept=True)
    readings = [
        reading
        for second in range(60, 120)
        for reading in watch.feed(WORDS[words] + b"\r\n", float(second))
    ]
    assert not [each for each in readings if isinstance(each, LinkUp)]
    assert codec.counters.frames == 0


ASKED_FOR = {
    ("bee-tek", "cammegh-ss2-win-log"): "a page of the wheel's log may have text in brackets",
}
"""What a wheel sends only if its own driver asks for it: text that another driver takes for unknown
content of its own device, never for a known one.
"""


@for_each("path", RECORDINGS, ids=lambda path: path.stem)
@for_each("name", [name for name in DRIVERS if driver(name).scheme == "serial"])
def test_another_device_is_not_mistaken_for_this_one(name: str, path: Path) -> None:
    recording = read_recording(path)
    codec = CODECS[name]()
    watch = Watch(codec, "device", 5.0)
    watch.opened(-60.0, kept=True)
    for chunk in recording:
        if not chunk.sent:
            watch.feed(chunk.data, chunk.at)
    if (name, path.stem) in ASKED_FOR:
        assert codec.counters.frames == codec.counters.unknown
    else:
        assert codec.counters.frames == 0 or recording.header["driver"] == name


@pytest.mark.parametrize("name", ["free", "found"])
def test_free_lines_count_once_the_link_has_outlasted_a_greeting(name: str) -> None:
    codec = CODECS[name]()
    watch = Watch(codec, "device", 5.0)
    watch.opened(0.0, kept=True)
    assert not [reading for reading in watch.feed(b"S1\n", 0.9) if isinstance(reading, LinkUp)]
    assert [type(reading) for reading in watch.feed(b"S1\n", 1.1)][:1] == [LinkUp]
    assert codec.counters.frames == 1
