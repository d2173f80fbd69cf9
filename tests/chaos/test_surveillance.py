"""The daemon, its broker and the recorder are killed at any moment: the archive then holds each
event of the journal once, as it was stored.
"""

from __future__ import annotations

import random
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.chaos.report import tell
from tests.support.daemon.play import command, until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.surveillance.recorder import Recorder
from tests.support.surveillance.room import RECORDER_TIMEOUT_SECONDS, told, until_kept
from tests.support.waiting import until

pytestmark = pytest.mark.usefixtures("programs")


def play(wheel: Wheel, daemon: Daemon, spin: int, number: str) -> None:
    """A spin, until the daemon has stored something of it."""
    journal = daemon.folder / "journal.sqlite3"
    before = len(told(journal))

    def stored() -> bool:
        for state in (2, 3, 4, 5):
            wheel.show(state, spin, number)
        return len(told(journal)) > before

    until("a spin is stored", stored, daemon.log, RECORDER_TIMEOUT_SECONDS)


DONE = ("daemon", "broker", "recorder", "spin", "spin", "spin")


def test_the_archive_has_each_event_once(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    steps = 6
    tell(f"seed {seed}: {steps} steps")
    with ExitStack() as ending:
        broker = Mosquitto(tmp_path / "mosquitto")
        ending.callback(broker.kill)
        wheel = Wheel(tmp_path / "wheel")
        ending.callback(wheel.close)
        daemon = Daemon(tmp_path, configuration(broker.port, table("r1", wheel)))
        ending.callback(daemon.kill)
        recorder = Recorder(daemon.file)
        ending.callback(recorder.kill)
        broker.start()
        daemon.start()
        recorder.start()
        until_kept(daemon, recorder)
        dealer = Subscriber(broker.port)
        ending.callback(dealer.close)
        until_up(dealer, daemon)
        command(dealer, "session.open")
        parts: dict[str, Mosquitto | Daemon] = {
            "daemon": daemon,
            "broker": broker,
            "recorder": recorder,
        }
        spins, kills = 1, 0
        for step in range(steps):
            what = DONE[step] if step < 3 else dice.choice(DONE)
            if what == "spin":
                spins += 1
                play(wheel, daemon, spins % 1000, str(dice.randrange(1, 37)))
            else:
                kills += 1
                parts[what].kill()
                parts[what].start()
        until_kept(daemon, recorder)
        found = recorder.findings()
        assert len(recorder.events()) > spins
        tell(f"{kills} kills, {len(recorder.events())} events, each once; findings: {found}")
        assert found == []
