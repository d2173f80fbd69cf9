"""Packets for an LED sign, and a real run of the program on a pseudo-terminal."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import sys
import termios
import tty
from contextlib import ExitStack
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.contract.messages.messages import LANGUAGES
from common.contract.times import format_utc
from common.contract.topics import Topics
from controller.cli import CommandLineError, sign
from subscribers.carrousel.sign import (
    BLANK_VALUE,
    MAX_STRING_BYTES,
    SignContent,
    clear_packet,
    configure_packet,
    encode_truncated,
    hit_packet,
    sign_content,
    title_packet,
    update_packets,
    value_packet,
)
from subscribers.feed.meter import Meter, on_state
from tests.subscribers.carrousel.signs import AlphaSign
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.process import table
from tests.support.jackpot import award, statement
from tests.support.programs import running
from tests.support.waiting import TIMEOUT_SECONDS

STATEMENT_TIME = 1_774_000_000.0
HEAD = bytes(5) + b"\x01Z00\x02"


def test_the_bytes_of_each_packet() -> None:
    """Checked by hand against the protocol document, and once against another implementation."""
    assert clear_packet() == HEAD + b"E$\x03006E\x04"
    assert configure_packet() == HEAD + b"E$AAU0100FFFFbBL007D0000\x0305A9\x04"
    assert title_packet("Gran") == HEAD + b"AA\x1b\x20b\x1e1Gran \x10b\x03038D\x04"
    assert title_packet("") == HEAD + b"AA\x1b\x20b\x1e1\x10b\x0301E5\x04"
    assert value_packet("12.345,67 EUR") == HEAD + b"Gb12.345,67 EUR\x030380\x04"
    assert hit_packet("HIT") == HEAD + b"A0\x1b\x20cHIT\x0301F9\x04"
    assert hit_packet(None) == HEAD + b"A0\x030076\x04"
    assert encode_truncated("Póquer ñ ü ç Í € ~ 漢") == b"P\x08Bquer \x08D \x08! \x08' I ? ? ?"


def told(**fields: object) -> Meter:
    state = statement(now=STATEMENT_TIME, **fields)  # type: ignore[arg-type]
    return on_state(Meter(jackpot="gran"), msgspec.json.encode(state), format_utc(STATEMENT_TIME))


def test_what_a_sign_shows() -> None:
    now = format_utc(STATEMENT_TIME + 1)
    assert sign_content(told(), None, now, "es") == SignContent(
        "Gran Carrusel de Póquer", "12.345,67\u00a0EUR"
    )
    won = told(won=award())
    hit = "12.500,00\u00a0EUR escalera real mesa poker-2"
    assert sign_content(won, None, now, "es").hit == hit
    for no_broker, at, meter in (
        (now, now, won),
        (None, format_utc(STATEMENT_TIME + 15), won),
        (None, now, told(in_play=False, why="suspended", won=award())),
        (None, now, Meter(jackpot="gran")),
        (None, now, on_state(won, b"[", now)),
    ):
        got = sign_content(meter, no_broker, at, "es")
        assert (got.value, got.hit) == (BLANK_VALUE, None)


@given(
    st.lists(
        st.tuples(
            st.text(max_size=300),
            st.integers(0, 10**12),
            st.booleans(),
            st.sampled_from(LANGUAGES),
            st.floats(0, 30),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_a_sign_shows_the_value_exactly_while_it_holds_and_nothing_else(
    course: list[tuple[str, int, bool, str, float]],
) -> None:
    there = AlphaSign()
    there.hear(clear_packet() + configure_packet())
    before = None
    for named, value, won, language, after in course:
        meter = told(value=value, title={language: named}, won=award() if won else None)
        what = sign_content(meter, None, format_utc(STATEMENT_TIME + after), language)
        blinks = there.blinks
        for each in update_packets(before, what):
            there.hear(each)
        if before is not None and (before.title, before.hit) == (what.title, what.hit):
            assert there.blinks == blinks, "a value alone makes no sign blink"
        holds = STATEMENT_TIME + after < STATEMENT_TIME + 15
        assert (what.value == BLANK_VALUE) == (not holds)
        assert there.strings["b"] == what.value.replace("\u00a0", " ")
        assert ("0" in there.texts) == (won and holds)
        before = what


@given(st.text(), st.integers(0, MAX_STRING_BYTES))
def test_a_text_is_cut_between_characters(said: str, most: int) -> None:
    found = encode_truncated(said, most)
    assert len(found) <= most
    assert not found.endswith(b"\x08")
    assert encode_truncated(said, 10_000).startswith(found)


class Line:
    """A pseudo-terminal with a sign at its end."""

    def __init__(self) -> None:
        self._own, other = pty.openpty()
        tty.setraw(other)
        self.port = os.ttyname(other)
        self._other = other
        self.sign = AlphaSign()

    def until(self, what: str, shows: str) -> None:
        """Wait until this can be read on the sign."""
        waited = 0.0
        while self.sign.shows != shows:
            if select.select([self._own], [], [], 0.1)[0]:
                self.sign.hear(os.read(self._own, 4096))
            else:
                waited += 0.1
            assert waited < TIMEOUT_SECONDS, f"{what}: the sign shows {self.sign.shows!r}"

    def close(self) -> None:
        os.close(self._own)
        os.close(self._other)


@pytest.mark.usefixtures("programs")
def test_a_real_run_at_a_port(tmp_path: Path, ending: ExitStack) -> None:
    broker = Mosquitto(tmp_path / "mosquitto")
    ending.callback(broker.kill)
    broker.start()
    line = Line()
    ending.callback(line.close)
    settings = {
        "site": "casino-mayor",
        "broker": {"url": f"mqtt://127.0.0.1:{broker.port}"},
        "signs": [{"port": line.port, "jackpot": "gran", "language": "es"}],
    }
    words = [sys.executable, "-m", "subscribers.carrousel.sign_line"]
    program = ending.enter_context(running([*words, "--settings", json.dumps(settings)]))
    teller = Subscriber(broker.port)
    ending.callback(teller.close)
    topic = Topics("casino-mayor").table("jackpot/gran", "state")

    def say(value: int, seconds: float, **fields: object) -> None:
        state = statement(value, seconds, **fields)  # type: ignore[arg-type]
        teller.publish(topic, msgspec.to_builtins(state), retain=True)

    line.until("nothing is heard", f"gran {BLANK_VALUE}")
    speed = termios.tcgetattr(line._other)[4]
    assert speed == termios.B9600
    title = "Gran Carrusel de Póquer"
    say(1_234_567, 3600)
    line.until("the value", f"{title} 12.345,67 EUR")
    blinks = line.sign.blinks
    for value in (1_234_667, 1_234_767):
        say(value, 3600)
        line.until("a coin", f"{title} 12.34{value // 100 - 12340},67 EUR")
    assert line.sign.blinks == blinks
    say(100_000, 3600, won=award())
    line.until("a hit", "12.500,00 EUR escalera real mesa poker-2")
    say(100_100, 3600)
    line.until("the hit was shown", f"{title} 1.001,00 EUR")
    say(100_100, 0.5)
    line.until("its time is up", f"{title} {BLANK_VALUE}")
    say(100_200, 3600)
    line.until("it goes on", f"{title} 1.002,00 EUR")
    program.send_signal(signal.SIGTERM)
    line.until("it ends", f"{title} {BLANK_VALUE}")
    assert program.wait(timeout=TIMEOUT_SECONDS) == 0
    assert line.sign.cleared == 1


DEAF = """
import asyncio, pathlib, sys
from subscribers.carrousel import sign_line

listen, when = sign_line.LedSign.listen, pathlib.Path(sys.argv.pop())

async def deaf(self, *of):
    hearing = asyncio.create_task(listen(self, *of))
    while not when.exists():
        await asyncio.sleep(0.05)
    hearing.cancel()
    raise RuntimeError("injected")

sign_line.LedSign.listen = deaf
sys.exit(sign_line.main())
"""
"""A program whose feed ends once a file is there: its last argument."""


@pytest.mark.usefixtures("programs")
def test_a_failed_reader_removes_its_value_and_ends(tmp_path: Path, ending: ExitStack) -> None:
    broker = Mosquitto(tmp_path / "mosquitto")
    ending.callback(broker.kill)
    broker.start()
    line = Line()
    ending.callback(line.close)
    settings = {
        "site": "casino-mayor",
        "broker": {"url": f"mqtt://127.0.0.1:{broker.port}"},
        "signs": [{"port": line.port, "jackpot": "gran", "language": "es"}],
    }
    when = tmp_path / "deaf"
    words = [sys.executable, "-c", DEAF, "--settings", json.dumps(settings), str(when)]
    program = ending.enter_context(running(words))
    teller = Subscriber(broker.port)
    ending.callback(teller.close)
    state = msgspec.to_builtins(statement(1_234_567, 3600))
    teller.publish(Topics("casino-mayor").table("jackpot/gran", "state"), state, retain=True)
    line.until("the value", "Gran Carrusel de Póquer 12.345,67 EUR")
    when.touch()
    line.until("it takes its value away", f"Gran Carrusel de Póquer {BLANK_VALUE}")
    assert program.wait(timeout=TIMEOUT_SECONDS) == 1


CONFIGURATION = """[site]
id = "palma"

[broker]
url = "mqtt://127.0.0.1:1883"

[people]
required = "accept-the-risk"

[web]
username = "display-1"
password_file = "display.password"
"""


def configuration(folder: Path, more: str) -> Path:
    file = folder / "novamas.toml"
    device = '[[table.device]]\nid = "w"\ndriver = "cammegh-ss2"\nlink = "tcp://127.0.0.1:4001"\n'
    file.write_text(CONFIGURATION + table("r1", None) + device + more)
    return file


def test_the_configuration_of_signs(tmp_path: Path) -> None:
    port = '[[sign]]\nport = "/dev/ttyUSB0"\njackpot = "gran"\n'
    settings = sign.sign_settings(configuration(tmp_path, port + 'language = "eu"\n'))
    assert settings["signs"] == [
        {
            "port": "/dev/ttyUSB0",
            "jackpot": "gran",
            "language": "eu",
            "baud": 9600,
            "format": "7E1",
            "simulated": False,
        }
    ]
    assert settings["broker"]["username"] == "display-1"
    with pytest.raises(CommandLineError, match="no sign is configured"):
        sign.sign_settings(configuration(tmp_path, ""))
    with pytest.raises(CommandLineError, match="another section has the port"):
        sign.sign_settings(configuration(tmp_path, port + port))
    with pytest.raises(CommandLineError, match="language"):
        sign.sign_settings(configuration(tmp_path, port + 'language = "fr"\n'))
