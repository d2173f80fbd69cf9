"""Bookmarks beside the recorder, as ``novamas surveillance`` runs: real daemon, broker, archive."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from common.webhook_keys import make_webhook_key
from tests.daemon.conftest import daemon as daemon
from tests.daemon.conftest import mosquitto as mosquitto
from tests.daemon.conftest import subscribe as subscribe
from tests.daemon.conftest import tell as tell
from tests.daemon.conftest import wheel as wheel
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import command, spin, until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.surveillance.recorder import Recorder
from tests.support.video.receivers import HTTPReceiver
from tests.support.waiting import until

pytestmark = pytest.mark.usefixtures("programs")


def test_a_receiver_and_a_recorder_that_were_away_lose_no_bookmark(
    mosquitto: Mosquitto,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    ending: ExitStack,
    tmp_path: Path,
) -> None:
    receiver = HTTPReceiver()
    ending.callback(receiver.stop)
    key = tmp_path / "hook.key"
    key.write_text(make_webhook_key())
    given = (
        configuration(mosquitto.port, table("r1", wheel))
        + f"""
[[bookmark]]
id = "hook"
kind = "webhook"
address = "{receiver.address}/novamas"
events = ["round.result"]
secret_file = "hook.key"
[video]
folder = "recordings"
"""
    )
    run = daemon(given)
    folder = tmp_path / "surveillance"
    folder.mkdir()
    file = folder / "novamas.toml"
    file.write_text(given.replace('"hook.key"', f'"{key}"'))
    recorder = Recorder(file)
    ending.callback(recorder.kill)
    recorder.start()
    until("it has begun", lambda: "sent" in said(file, "bookmarks"), recorder.log)
    subscriber = subscribe(mosquitto.port)
    run.start()
    until_up(subscriber, run)
    assert command(subscriber, "session.open")["ok"]

    def numbers() -> list[int]:
        """The receiver's requests, without duplicates."""
        told = {request.headers["webhook-id"]: request.told for request in receiver.requests}
        return [int(each["text"].split(": ")[1].split()[0]) for each in told.values()]

    spin(wheel, subscriber, "17", 1)
    until("the first", lambda: numbers() == [17], recorder.log)
    assert receiver.requests[0].headers["webhook-signature"].startswith("v1,")
    receiver.stop()
    spin(wheel, subscriber, "32", 2, before="17")
    until("it waits", lambda: "hook: waiting since" in said(file, "bookmarks"), recorder.log)
    recorder.until_logged("bookmarks wait")
    recorder.kill()
    spin(wheel, subscriber, "5", 3, before="32")
    receiver.start()
    recorder.start()
    until("all of them", lambda: numbers() == [17, 32, 5], recorder.log)
    assert said(file, "clip", "--table", "r1", "--round", "9", str(tmp_path / "c.mp4")).startswith(
        "novamas surveillance clip: the archive has no event of round 9 at table r1"
    )
    assert recorder.stop() == 0
    assert "Traceback" not in recorder.log()


def said(file: Path, action: str, *options: str) -> str:
    """Return the output of an action of ``novamas surveillance``."""
    words = "import sys; from controller.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", words, "surveillance", action, str(file), *options],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "STATE_DIRECTORY": str(file.parent)},
    )
    return done.stdout + done.stderr
