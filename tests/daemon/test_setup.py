"""``novamas setup`` from nothing to the first number: real programs, a real wheel's protocol."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.support.brokers.mosquitto import free_port
from tests.support.programs import running
from tests.support.waiting import TIMEOUT_SECONDS, until

pytestmark = pytest.mark.usefixtures("programs")

NOVAMAS = [sys.executable, "-m", "controller.cli"]


@contextmanager
def wheel(folder: Path, *more: str) -> Iterator[Path]:
    """A simulated wheel on a pseudo-terminal, as at an adapter."""
    link = folder / "wheel"
    words = [*NOVAMAS, "simulate", "wheel", "--link", str(link), "--games-per-hour", "120", *more]
    with running(words, stdout=subprocess.DEVNULL):
        until("the wheel", link.is_symlink)
        yield link


class Setup:
    """``novamas setup --answers`` in the foreground."""

    def __init__(self, folder: Path, answers: str, ending: ExitStack) -> None:
        (folder / "answers.toml").write_text(answers)
        words = [*NOVAMAS, "setup", str(folder / "novamas.toml"), "--answers"]
        words += [str(folder / "answers.toml"), "--language", "en"]
        self._output = folder / "setup.log"
        with self._output.open("wb") as output:
            self.program = ending.enter_context(running(words, stdout=output, stderr=output))

    @property
    def lines(self) -> list[str]:
        return self._output.read_text().splitlines()

    def until(self, wanted: str) -> None:
        def printed() -> bool:
            assert self.program.poll() is None, self.lines
            return any(wanted in line for line in self.lines)

        until(wanted, printed, lambda: "\n".join(self.lines), timeout=4 * TIMEOUT_SECONDS)

    def stop(self, number: signal.Signals) -> None:
        self.program.send_signal(number)
        assert self.program.wait(TIMEOUT_SECONDS) == 0


def test_without_questions_to_the_first_number(tmp_path: Path, ending: ExitStack) -> None:
    web = free_port()
    with wheel(tmp_path) as link:
        answers = f"""
            site = "casino-prueba"
            decree = "ARA02"
            web = "127.0.0.1:{web}"
            broker_listen = "127.0.0.1:{free_port()}"
            [[table]]
            name = "ruleta-1"
            device = "serial://{link}"
        """
        setup = Setup(tmp_path, answers, ending)
        setup.until("first number")
        assert f"Open in the browser: http://127.0.0.1:{web}/floor" in setup.lines
        assert "ruleta-1: open" in setup.lines
        setup.stop(signal.SIGINT)
    text = (tmp_path / "novamas.toml").read_text()
    assert 'driver = "cammegh-ss2"' in text
    assert f'link = "serial://{link}?baud=9600"' in text


def test_mosquitto_refuses_who_has_no_password_and_what_is_no_ones_business(
    tmp_path: Path, ending: ExitStack
) -> None:
    web, broker = free_port(), free_port()
    for name, secret in (("pin", "271828"), ("passphrase", "una frase muy larga")):
        (tmp_path / name).write_text(secret)
        (tmp_path / name).chmod(0o600)
    answers = f"""
        site = "casino-prueba"
        decree = "GAL07"
        broker = "mosquitto"
        broker_listen = "127.0.0.1:{broker}"
        web = "127.0.0.1:{web}"
        [inspector]
        name = "A. Riera"
        badge = "4711"
        pin_file = "pin"
        passphrase_file = "passphrase"
        [[table]]
        name = "ruleta-1"
    """
    setup = Setup(tmp_path, answers, ending)
    setup.until("ruleta-1: open")

    def read(user: str, topic: str) -> subprocess.CompletedProcess[str]:
        login = []
        if user:
            password = (tmp_path / "secrets" / f"{user}.password").read_text().strip()
            login = ["-u", user, "-P", password]
        words = ["mosquitto_sub", "-p", str(broker), *login, "-t", topic, "-C", "1", "-W", "2"]
        return subprocess.run(words, capture_output=True, text=True, check=False)

    state = "novamas-sim/v1/casino-prueba/ruleta-1/state"
    assert "not authorised" in read("", state).stderr.casefold()
    assert read("display", state).stdout.startswith("{")
    assert read("display", "novamas-sim/v1/casino-prueba/ruleta-1/command/#").returncode != 0
    setup.until("first number")
    setup.stop(signal.SIGTERM)
