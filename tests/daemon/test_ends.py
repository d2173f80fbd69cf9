"""Every service ends at SIGTERM, in any state and while waiting for anything."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.brokers.mosquitto import free_port
from tests.support.daemon.process import UNSIGNED
from tests.support.programs import running as started
from tests.support.waiting import TIMEOUT_SECONDS, until

SITE = """
[site]
id = "palma"
node = "pit-1"
{unsigned}
[web]
listen = "127.0.0.1:{web}"
[carrousel]
path = "{folder}/ledger.sqlite3"
elsewhere = ["poker-9"]
[[table]]
id = "r1"
game = "roulette-french"
decree = "ARA02"
[[table.device]]
id = "wheel"
driver = "cammegh-ss2"
link = "tcp://127.0.0.1:{away}"
[[sign]]
port = "{folder}/no-such-sign"
jackpot = "linked"
language = "es"
[[jackpot]]
id = "linked"
title = {{ es = "Linked" }}
decree = "BAL05"
games = ["poker-no-draw"]
currency = "EUR"
stake = "1.00"
[jackpot.authorisation]
number = "7/2026"
date = "2026-01-15"
authority = "Joc"
percentage = [9, 10]
tables = ["poker-9"]
"""


class State(NamedTuple):
    """``broker``, ``database``: ``away`` or ``deaf``. ``log``: what shows that it got there; where
    that is empty, it has connected to what is deaf.
    """

    service: str
    broker: str
    more: str = '[archive]\npath = "{folder}/archive.sqlite3"'
    log: str = ""


AWAY = '[archive]\ndatabase = "postgresql://somebody@127.0.0.1:{away}/archive"'
DEAF = '[archive]\ndatabase = "postgresql://somebody@127.0.0.1:{deaf_database}/archive"'
NOWHERE = '[archive]\npath = "/proc/nowhere/archive.sqlite3"'
PAIR = '[standby]\nlease = 2.0\nservers = ["nats://127.0.0.1:{{{}}}"]'
PAIR_AWAY, PAIR_DEAF = PAIR.format("away"), PAIR.format("deaf_database")
NO_CONNECTION = "no connection to the broker"
NOT_STORED = "the archive takes nothing"

STATES = {
    "daemon, broker away": State("run", "away", log="daemon up"),
    "daemon, broker deaf": State("run", "deaf"),
    "daemon of a pair, store away": State("run", "away", PAIR_AWAY, "waits"),
    "daemon of a pair, store deaf": State("run", "away", PAIR_DEAF),
    "web, broker away": State("web", "away", log="web server answers"),
    "web, broker deaf": State("web", "deaf"),
    "carrousel, broker away": State("carrousel", "away", log=NO_CONNECTION),
    "carrousel, broker deaf": State("carrousel", "deaf"),
    "sign, no port": State("sign", "away", log="the port cannot be used"),
    "sign, broker deaf": State("sign", "deaf"),
    "recorder, broker away": State("surveillance", "away", log=NO_CONNECTION),
    "recorder, broker deaf": State("surveillance", "deaf"),
    "recorder, archive nowhere": State("surveillance", "away", NOWHERE, NOT_STORED),
    "recorder, archive nowhere, broker deaf": State("surveillance", "deaf", NOWHERE),
    "recorder, database away": State("surveillance", "away", AWAY, NOT_STORED),
    "recorder, database deaf": State("surveillance", "away", DEAF),
    "recorder, database and broker deaf": State("surveillance", "deaf", DEAF),
}


class Deaf:
    """Accepts connections and never answers."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._listening.setblocking(False)
        self._open: list[socket.socket] = []

    @property
    def port(self) -> int:
        return int(self._listening.getsockname()[1])

    def has_accepted(self) -> bool:
        try:
            self._open.append(self._listening.accept()[0])
        except BlockingIOError:
            return bool(self._open)
        return True

    def close(self) -> None:
        for each in (*self._open, self._listening):
            each.close()


class Running(NamedTuple):
    process: subprocess.Popen[bytes]
    path: Path

    def log(self) -> str:
        return self.path.read_text()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(TIMEOUT_SECONDS)


@contextmanager
def running(folder: Path, state: State) -> Iterator[Running]:
    """The service in that state."""
    with ExitStack() as ending:
        broker, database = Deaf(), Deaf()
        ending.callback(broker.close)
        ending.callback(database.close)
        away = free_port()
        file, log = folder / "novamas.toml", folder / "log"
        port = broker.port if state.broker == "deaf" else away
        more = state.more.format(folder=folder, away=away, deaf_database=database.port)
        file.write_text(
            SITE.format(folder=folder, web=free_port(), unsigned=UNSIGNED, away=away)
            + f'[broker]\nurl = "mqtt://127.0.0.1:{port}"\n{more}\n'
        )
        words = [sys.executable, "-m", "controller.cli", state.service, str(file)]
        output = ending.enter_context(log.open("wb"))
        environment = {**os.environ, "STATE_DIRECTORY": str(folder)}
        process = ending.enter_context(
            started(words, stdout=output, stderr=subprocess.STDOUT, env=environment)
        )
        made = Running(process, log)
        deaf = database if state.more in (DEAF, PAIR_DEAF) else broker

        def is_there() -> bool:
            assert process.poll() is None, made.log()
            return state.log in made.log() if state.log else deaf.has_accepted()

        until("it is in that state", is_there, made.log)
        yield made


@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_it_ends(programs: None, tmp_path: Path, state: State) -> None:
    """Well, but for a thread that waits for a database: then with a word of it."""
    with running(tmp_path, state) as made:
        code = made.stop()
        assert code == (1 if "not ended in time" in made.log() else 0), made.log()
        assert state.more == DEAF or code == 0, made.log()


def test_a_side_task_that_fails_is_reported_once(programs: None, tmp_path: Path) -> None:
    """And not at all while there is no archive that it could use."""
    with running(tmp_path, STATES["recorder, archive nowhere"]) as made:
        assert made.stop() == 0
        assert "a task beside" not in made.log()
