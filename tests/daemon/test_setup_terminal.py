"""``novamas setup`` on a real terminal: from nothing to the first number, and left at any
question.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.brokers.mosquitto import free_port
from tests.support.programs import running, with_constants
from tests.support.terminal import Terminal
from tests.support.waiting import TIMEOUT_SECONDS, until

pytestmark = pytest.mark.usefixtures("programs")

SPINS = 4 * TIMEOUT_SECONDS
"""Seconds for two spins of the wheel, which take a minute, on a starved machine."""
NOVAMAS = [sys.executable, "-m", "controller.cli"]


def typed(folder: Path, link: Path, web: int) -> list[tuple[str, str]]:
    """The questions, and what a person types."""
    return [
        ("Id of the casino", "Casino Mayor"),
        ("Perhaps casino-mayor?", "casino-mayor"),
        ("Which decree", ""),
        ("An answer is needed", "ARA03"),
        ("is none of these", "ARA02"),
        ("Languages", ""),
        ("Id of the table", ""),
        ("Which device", "nowhere"),
        ("is none of these", str(link)),
        ("last number:", "no"),
        ("choose another device", str(link)),
        ("Is this what the device", ""),
        ("Which game", ""),
        ("Set up another one?", ""),
        ("Which MQTT broker", ""),
        ("Where the broker listens", "<"),
        ("Which MQTT broker", "1"),
        ("Where the broker listens", f"127.0.0.1:{free_port()}"),
        ("Enrol an inspector", "yes"),
        ("name, as every event", "A. Riera"),
        ("badge", "4711"),
        ("PIN of the inspector", "123456"),
        ("(again)", "123456"),
        ("no row such as", "271828"),
        ("(again)", "314159"),
        ("The two entries differ", "271828"),
        ("(again)", "271828"),
        ("Passphrase", "una frase muy larga"),
        ("(again)", "una frase muy larga"),
        ("Where browsers reach", f"127.0.0.1:{web}"),
        ("surveillance?", ""),
        ("Start everything", ""),
        ("Open the tables", ""),
        ("Write this?", ""),
    ]


@pytest.fixture
def link(tmp_path_factory: pytest.TempPathFactory, ending: ExitStack) -> Path:
    """A wheel at an adapter."""
    link = tmp_path_factory.mktemp("wheel") / "wheel"
    words = [*NOVAMAS, "simulate", "wheel", "--link", str(link), "--games-per-hour", "120"]
    ending.enter_context(running(words, stdout=subprocess.DEVNULL))
    until("the wheel", link.is_symlink)
    return link


def asked(terminal: Terminal, question: str, since: int) -> int:
    """Wait until it is asked. A prompt for a secret drops what was typed before it."""
    terminal.wait_for(question, since)
    terminal.wait_for("> ", since)
    return terminal.drawn


def command(folder: Path, *program: str) -> list[str]:
    env = shutil.which("env")
    assert env is not None
    words = [env, "TERM=dumb", "LC_ALL=C.UTF-8", *(program or NOVAMAS), "setup"]
    return [*words, str(folder / "novamas.toml"), "--language", "en"]


def test_from_nothing_to_the_first_number(tmp_path: Path, link: Path) -> None:
    web = free_port()
    with Terminal(command(tmp_path)) as terminal:
        since = 0
        for question, answer in typed(tmp_path, link, web):
            since = asked(terminal, question, since)
            terminal.type(answer)
        terminal.wait_for(f"http://127.0.0.1:{web}/pit", since)
        terminal.wait_for("ruleta-1: first number", since, SPINS)
        assert "una frase" not in terminal.text
        assert "271828" not in terminal.text
        terminal.press_ctrl_c()
        assert terminal.end() == 0
    assert (tmp_path / "pins" / "a-riera.pin-key").exists()


def test_left_at_any_question_nothing_is_written(tmp_path: Path) -> None:
    rows = [
        row
        for row in typed(tmp_path, Path("simulated"), free_port())
        if row[0] not in ("last number:", "choose another device", "Is this what the device")
    ]
    # this machine may have ports at which nothing comes
    quick = with_constants("controller.cli.setup", LISTEN_SECONDS=0.1)
    code = f"import sys; {quick}from controller.cli import main; sys.exit(main())"
    program = [sys.executable, "-c", code]
    for last in range(len(rows)):
        with Terminal(command(tmp_path, *program)) as terminal:
            since = 0
            for question, answer in rows[:last]:
                since = asked(terminal, question, since)
                terminal.type(answer)
            asked(terminal, rows[last][0], since)
            terminal.press_ctrl_c()
            assert terminal.end() == 130, rows[last]
            assert "Traceback" not in terminal.text
            assert "such as\r\ncasino-mayor" in terminal.text, "broken between words"
        assert [*tmp_path.iterdir()] == [], rows[last]
