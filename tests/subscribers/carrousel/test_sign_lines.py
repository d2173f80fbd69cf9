"""Several signs: a failure at one port does not end the others."""

from __future__ import annotations

import asyncio
import errno
import os
import pty
import select
import termios
import tty
from collections.abc import Iterator
from typing import Any

import pytest
import serial

from common.line import LINE_ERRORS
from subscribers import line_port
from subscribers.carrousel import sign_line
from subscribers.carrousel.sign import BLANK_VALUE
from subscribers.carrousel.sign_line import LedSign, SignSettings
from tests.subscribers.carrousel.signs import AlphaSign
from tests.support.waiting import until_async

ERRORS: dict[str, Exception] = {
    "EIO": OSError(errno.EIO, "Input/output error"),
    "unplugged": serial.SerialException(errno.ENOENT, "could not open port"),
    "not configured": serial.SerialException("Could not configure port: (5, 'EIO')"),
    "write timeout": serial.SerialTimeoutException("Write timeout"),
    "settings": termios.error(errno.EINVAL, "Invalid argument"),
    "speed": ValueError("Failed to set custom baud rate (250000)"),
    "system": NotImplementedError("non-standard baudrates are not supported"),
}
MOMENTS = ("open", "fileno", "write", "close")


class Port:
    """A pseudo-terminal with a sign at its end."""

    def __init__(self) -> None:
        self._own, self._other = pty.openpty()
        tty.setraw(self._other)
        self.name = os.ttyname(self._other)
        self.sign = AlphaSign()

    def shows(self, text: str) -> bool:
        while select.select([self._own], [], [], 0)[0]:
            self.sign.hear(os.read(self._own, 4096))
        return self.sign.shows == text

    def close(self) -> None:
        os.close(self._own)
        os.close(self._other)


@pytest.fixture
def ports(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Port, Port]]:
    for name, seconds in {
        "RESET_DELAY_SECONDS": 0.01,
        "PACKET_INTERVAL_SECONDS": 0.01,
        "UPDATE_INTERVAL_SECONDS": 0.02,
    }.items():
        monkeypatch.setattr(sign_line, name, seconds)
    monkeypatch.setattr(line_port, "PORT_TIMEOUT_SECONDS", 0.02)
    good, bad = Port(), Port()
    yield good, bad
    good.close()
    bad.close()


def at(port: Port) -> LedSign:
    return LedSign(SignSettings(port=port.name, jackpot="gran", format="8N1"))


def failing(monkeypatch: pytest.MonkeyPatch, name: str, moment: str, error: Exception) -> list[int]:
    """Return a list that grows with each attempt of a port that raises at some operation."""
    attempts: list[int] = []
    real = serial.Serial

    class Failing(serial.Serial):
        def _fail(self, method: str, *arguments: Any) -> Any:
            if self.port == name and method == moment:
                attempts.append(len(attempts))
                if method == "close":
                    real.close(self)
                raise error
            return getattr(super(), method)(*arguments)

        def open(self) -> None:
            self._fail("open")

        def fileno(self) -> int:
            number: int = self._fail("fileno")
            return number

        def write(self, data: Any) -> int | None:
            if self.port == name and moment == "close":
                raise OSError(errno.EIO, "Input/output error")
            written: int = self._fail("write", data)
            return written

        def close(self) -> None:
            if self.is_open:
                self._fail("close")

    monkeypatch.setattr(serial, "Serial", Failing)
    return attempts


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("moment", MOMENTS)
async def test_one_port_that_fails_leaves_the_other_sign_alone(
    moment: str, error: str, ports: tuple[Port, Port], monkeypatch: pytest.MonkeyPatch
) -> None:
    good, bad = ports
    attempts = failing(monkeypatch, bad.name, moment, ERRORS[error])
    stop = asyncio.Event()
    showing = asyncio.gather(at(bad).show(stop), at(good).show(stop))
    await until_async(lambda: len(attempts) >= 3)
    await until_async(lambda: good.shows(f"gran {BLANK_VALUE}"))
    assert not showing.done()
    stop.set()
    await showing


def test_every_error_of_a_line_is_handled() -> None:
    assert all(isinstance(error, LINE_ERRORS) for error in ERRORS.values())


async def test_a_sign_whose_port_cannot_be_set_is_reported_and_retried(
    ports: tuple[Port, Port], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = ports
    monkeypatch.setattr(line_port, "is_pty", lambda _: False)  # the only port that we have
    stop = asyncio.Event()
    unable = LedSign(SignSettings(port=bad.name, jackpot="gran", format="7E1"))
    showing = asyncio.gather(unable.show(stop), at(good).show(stop))
    await until_async(lambda: good.shows(f"gran {BLANK_VALUE}"))
    stop.set()
    await showing
    assert "the port does not support bytesize=7, parity=E" in capsys.readouterr().out
    assert bad.sign.shows != f"gran {BLANK_VALUE}"
