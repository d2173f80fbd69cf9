"""The terminal of a program is closed: a real pseudo-terminal, without prior notice to the program.
What runs for long ends as at SIGTERM.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from controller.journal.file import serving_process
from devices.recording import read_recording
from tests.subscribers.test_essential import settings
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import NODE
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.terminal import Terminal
from tests.support.waiting import until

NOVAMAS = (sys.executable, "-m", "controller.cli")
SERVICES = (
    "subscribers.web.__main__",
    "subscribers.carrousel.__main__",
    "subscribers.surveillance.__main__",
    "subscribers.carrousel.sign_line",
)
ABSENT = """
[[table.device]]
id = "wheel"
driver = "cammegh-ss2"
link = "tcp://127.0.0.1:1"
"""
Make = Callable[[str], Daemon]
Subscribe = Callable[..., Subscriber]

pytestmark = pytest.mark.usefixtures("programs")


@pytest.fixture
def configured(mosquitto: Mosquitto, wheel: Wheel, daemon: Make) -> Daemon:
    """Written down; the journal is beside the configuration."""
    made = daemon(configuration(mosquitto.port, table("r1", wheel)))
    text = made.file.read_text().replace(
        "[broker]", f'[journal]\npath = "{made.folder}/novamas.journal"\n\n[broker]', 1
    )
    made.file.write_text(text)
    return made


def journal(made: Daemon) -> Path:
    return made.folder / "novamas.journal"


def online(subscriber: Subscriber) -> bool:
    return (
        bool(subscriber.on(f"{NODE}/status"))
        and subscriber.latest(f"{NODE}/status")["status"] == "online"
    )


def said_farewell(subscriber: Subscriber) -> bool:
    """Not by its last will alone: a daemon that ends leaves its tables first."""
    return (
        subscriber.latest(f"{NODE}/claim").get("left") is True
        and subscriber.latest(f"{NODE}/status")["status"] == "offline"
    )


def catches(pid: int, number: signal.Signals) -> bool:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    [caught] = [int(line.split()[1], 16) for line in lines if line.startswith("SigCgt")]
    return bool(caught >> (number - 1) & 1)


@pytest.mark.essential
def test_a_closed_terminal_ends_the_daemon(
    configured: Daemon, mosquitto: Mosquitto, subscribe: Subscribe
) -> None:
    subscriber = subscribe(mosquitto.port)
    with Terminal([*NOVAMAS, "run", str(configured.file)]) as terminal:
        until("it is up", lambda: online(subscriber), lambda: terminal.text)
        terminal.hang_up()
        assert terminal.ended() == 0
    until("the farewell", lambda: said_farewell(subscriber))


@pytest.mark.parametrize("behind", ["", " &"], ids=["foreground", "background"])
def test_a_shell_whose_terminal_is_closed_ends_its_daemon(
    configured: Daemon, mosquitto: Mosquitto, subscribe: Subscribe, tmp_path: Path, behind: str
) -> None:
    """The kernel notifies the shell, and the shell its jobs."""
    subscriber, code = subscribe(mosquitto.port), tmp_path / "code"
    run = shlex.join([*NOVAMAS, "run", str(configured.file)])
    kept = shlex.join(["/bin/sh", "-c", f"trap : HUP; {run}; echo $? > {code}"])
    with Terminal(["/bin/bash", "--norc", "-i"]) as terminal:
        terminal.type(kept + behind)
        until("it is up", lambda: online(subscriber), lambda: terminal.text)
        terminal.hang_up()
        until("it has ended", lambda: code.exists() and code.read_text())
    assert code.read_text() == "0\n"
    until("the farewell", lambda: said_farewell(subscriber))


def test_with_nohup_a_closed_terminal_ends_nothing(
    configured: Daemon, mosquitto: Mosquitto, subscribe: Subscribe, tmp_path: Path
) -> None:
    subscriber = subscribe(mosquitto.port)
    run = shlex.join(["nohup", *NOVAMAS, "run", str(configured.file)])
    with Terminal(["/bin/bash", "--norc", "-i"]) as terminal:
        terminal.type(f"{run} > {tmp_path / 'log'} 2>&1")
        until("it is up", lambda: online(subscriber), lambda: terminal.text)
        pid = serving_process(journal(configured))
        assert pid is not None
        terminal.hang_up()
        terminal.ended()
        log = tmp_path / "log"
        try:
            os.kill(pid, signal.SIGHUP)  # it reads the configuration, as ever
            until("it reloads", lambda: '"event": "configuration taken over"' in log.read_text())
        finally:
            os.kill(pid, signal.SIGTERM)
    until("the farewell", lambda: said_farewell(subscriber))


def test_while_the_terminal_is_open_a_hangup_reloads(
    configured: Daemon, mosquitto: Mosquitto, subscribe: Subscribe
) -> None:
    """So ``novamas reload`` also works for a daemon in a terminal."""
    subscriber = subscribe(mosquitto.port)
    with Terminal([*NOVAMAS, "run", str(configured.file)]) as terminal:
        until("it is up", lambda: online(subscriber), lambda: terminal.text)
        configured.file.write_text(configured.file.read_text() + table("r2", None, settings=ABSENT))
        os.kill(terminal.leader, signal.SIGHUP)
        until("r2 is there", lambda: subscriber.on("/r2/state"), lambda: terminal.text)
        terminal.hang_up()
        assert terminal.ended() == 0
    until("the farewell", lambda: said_farewell(subscriber))


@pytest.mark.parametrize("program", SERVICES)
@pytest.mark.parametrize("how", ["closed", "signal"])
def test_a_service_ends_cleanly(program: str, how: str, tmp_path: Path) -> None:
    """Also where a service manager, which gives no terminal, or ``kill`` says it: a service has
    nothing to read again, and its unit restarts it.
    """
    given = json.dumps(settings(program, tmp_path))
    words = [sys.executable, "-m", program, "--settings", given]
    if how == "signal":
        words = ["/usr/bin/setsid", "--wait", *words]
    with Terminal(words) as terminal:
        ready = _started if how == "closed" else _started_below
        pid = until("it is up", lambda: ready(terminal.leader), lambda: terminal.text)
        if how == "closed":
            terminal.hang_up()
        else:
            os.kill(pid, signal.SIGHUP)
        assert terminal.ended() == 0


def _started(pid: int) -> int:
    return pid if catches(pid, signal.SIGTERM) else 0


def _started_below(pid: int) -> int:
    below = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return next((int(each) for each in below if catches(int(each), signal.SIGTERM)), 0)


def test_a_simulator_puts_its_link_away(tmp_path: Path) -> None:
    link = tmp_path / "wheel"
    words = [sys.executable, "-m", "simulators", "wheel", "--link", str(link)]
    with Terminal(words) as terminal:
        until("it is up", link.is_symlink, lambda: terminal.text)
        terminal.wait_for('"port"')
        until("it is up", lambda: _started(terminal.leader))
        terminal.hang_up()
        assert terminal.ended() == 0
    assert not link.is_symlink()


def test_a_recording_is_complete(wheel: Wheel, tmp_path: Path) -> None:
    file = tmp_path / "wheel.rec"
    with Terminal(
        [*NOVAMAS, "record", wheel.url, str(file), "--driver", "cammegh-ss2"]
    ) as terminal:
        until("it records", lambda: file.exists() and [*read_recording(file)])
        terminal.hang_up()
        assert terminal.ended() == 0
    assert [*read_recording(file)]
