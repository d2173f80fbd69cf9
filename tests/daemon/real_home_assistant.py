"""The example at a real Home Assistant, which discovers the table and reports its entities. `make
integrations`: it needs a separate environment.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.daemon.test_home_assistant import PROGRAM, ROOT
from tests.support.brokers.mosquitto import Mosquitto, Subscriber, free_port
from tests.support.daemon.play import TABLE, command, spin, until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.programs import running
from tests.support.waiting import until

PYTHON = ROOT / "build" / "home-assistant" / "bin" / "python"
HERE = ROOT / "tests" / "integrations" / "home_assistant.py"


class HomeAssistant:
    """Home Assistant at a broker; what it says of its entities, by their names."""

    def __init__(self, folder: Path, broker: int) -> None:
        folder.mkdir()
        self._log = folder.with_suffix(".log")
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [PYTHON, HERE, folder, str(broker), str(free_port())],
                stdout=subprocess.PIPE,
                stderr=log,
            )
        self.told: dict[str, dict[str, Any]] = {}
        self._listening = threading.Thread(target=self._listen)
        self._listening.start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                body = json.loads(line)
                if body["state"] is not None:
                    self.told[body["attributes"]["friendly_name"]] = body

    def states(self) -> dict[str, str]:
        return {name: told["state"] for name, told in list(self.told.items())}

    def log(self) -> str:
        return f"{self.states()}\n{self._log.read_text()[-4000:]}"

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self._listening.join()


def test_home_assistant_shows_the_daemons_values(
    tmp_path: Path,
    ending: ExitStack,
    mosquitto: Mosquitto,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
) -> None:
    made = daemon(configuration(mosquitto.port, table("r1", wheel, stale_after=3.0)))
    subscriber = subscribe(mosquitto.port)
    made.start()
    until_up(subscriber, made)
    ending.enter_context(running([*PROGRAM, "--port", str(mosquitto.port), "--single"]))
    home = HomeAssistant(tmp_path / "home-assistant", mosquitto.port)
    ending.callback(home.end)

    def shows(**expected: str) -> None:
        wanted = {
            f"Ruleta francesa r1 {name.replace('_', ' ')}": value
            for name, value in expected.items()
        }
        until(str(wanted), lambda: wanted.items() <= home.states().items(), home.log)

    shows(Status="closed", Phase="closed", Last_result="unavailable", Alerts="off")
    command(subscriber, "session.open")
    spin(wheel, subscriber, "17", 2)
    shows(Status="open", Last_result="17", Phase="waiting")
    result = home.told["Ruleta francesa r1 Last result"]["attributes"]
    body = subscriber.latest(f"{TABLE}/result")
    assert {key: result[key] for key in ("session", "round", "outcome")} == {
        key: body[key] for key in ("session", "round", "outcome")
    }
    spin(wheel, subscriber, "0", 3, before="17")
    shows(Last_result="0")
    wheel.unplug()
    shows(Status="stale", Phase="unavailable", Last_result="unavailable", Alerts="on")
    assert "wheel-link" in home.told["Ruleta francesa r1 Alerts"]["attributes"]["alerts"]
    wheel.plug()
    shows(Alerts="off", Last_result="0")
    made.kill()
    shows(Status="unavailable", Last_result="unavailable", Alerts="unavailable")
    until("the daemon is away", lambda: home.states()["Novamás pit-1 Connection"] == "off")
    assert {"Novamás pit-1", "Ruleta francesa r1"} <= set(
        home.told["Ruleta francesa r1 Alerts"]["devices"]
    )
    said_by_it = [
        message.topic
        for message in subscriber.messages
        if message.topic.startswith("homeassistant/")
    ]
    assert not [topic for topic in said_by_it if not topic.endswith(("/config", "/status"))]
