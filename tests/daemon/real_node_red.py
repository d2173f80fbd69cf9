"""The example flow in a real Node-RED at a real broker: its addresses report the daemon's values,
and it publishes nothing. `make integrations`: Node-RED is in a separate folder.
"""

from __future__ import annotations

import json
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.support.brokers.mosquitto import Mosquitto, Subscriber, free_port
from tests.support.daemon.play import NODE, TABLE, command, spin, until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.waiting import until

ROOT = Path(__file__).parents[2]
FLOWS = ROOT / "examples" / "node-red.json"
PROGRAM = ROOT / "tests" / "integrations" / "node-red" / "node_modules" / "node-red" / "red.js"
RULES = """\
topic read #
user novamas
topic readwrite #
"""


class NodeRed:
    """Node-RED with the flow of the example, at another port of the broker."""

    def __init__(self, folder: Path, broker: int) -> None:
        folder.mkdir()
        self._port = free_port()
        self._log = folder / "node-red.log"
        text = FLOWS.read_text()
        assert text.count('"port": "1883"') == 1
        text = text.replace('"port": "1883"', f'"port": "{broker}"')
        (folder / "flows.json").write_text(text)
        settings = {
            "flowFile": "flows.json",
            "uiHost": "127.0.0.1",
            "uiPort": self._port,
            "httpAdminRoot": False,
            "credentialSecret": False,
            "telemetry": {"enabled": False, "updateNotification": False},
        }
        (folder / "settings.js").write_text(f"module.exports = {json.dumps(settings)};\n")
        words = ["node", str(PROGRAM), "--userDir", str(folder)]
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(words, stdout=log, stderr=log)

    def get(self, path: str) -> Any:
        """The reply of an address of the flow; None while it does not respond."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/{path}") as answer:
                return json.loads(answer.read())
        except urllib.error.URLError:
            return None

    def log(self) -> str:
        return self._log.read_text()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def test_the_flow_reports_the_daemons_values_and_publishes_nothing(
    tmp_path: Path,
    ending: ExitStack,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
) -> None:
    rules = tmp_path / "acl"
    rules.write_text(RULES)
    settings = ("allow_anonymous true", f"acl_file {rules}", "log_type debug")
    broker = Mosquitto(tmp_path / "mosquitto", *settings)
    ending.callback(broker.kill)
    broker.start()
    wheel_table = table("r1", wheel, stale_after=3.0)
    made = daemon(configuration(broker.port, wheel_table, broker='username = "novamas"'))
    made.start()
    subscriber = subscribe(broker.port, username="novamas")
    until_up(subscriber, made)
    red = NodeRed(tmp_path / "node-red", broker.port)
    ending.callback(red.end)

    def shows(number: int, *, current: bool) -> None:
        def same() -> bool:
            told = (red.get("last-results") or {}).get("palma/r1")
            result = subscriber.latest(f"{TABLE}/result")
            names = ("game", "session", "round", "time", "outcome")
            wanted = {name: result[name] for name in names}
            return told == {**wanted, "current": current, "outcome": result["outcome"]} and bool(
                result["outcome"]["number"] == number
            )

        until(f"{number}", same, lambda: f"{red.get('last-results')}\n{red.log()}")

    until("no result yet", lambda: red.get("last-results") == {}, red.log)
    command(subscriber, "session.open")
    spin(wheel, subscriber, "17", 2)
    shows(17, current=True)
    spin(wheel, subscriber, "0", 3, before="17")
    shows(0, current=True)
    health = f"{NODE}/health"
    until("its health", lambda: red.get("health").get(health) == subscriber.latest(health), red.log)
    assert red.get("alerts") == {}
    wheel.unplug()
    shows(0, current=False)
    alert = f"{TABLE}/alert/wheel-link"
    until("an alert", lambda: red.get("alerts") == {alert: subscriber.latest(alert)}, red.log)
    wheel.plug()
    until("no alert", lambda: red.get("alerts") == {}, red.log)
    shows(0, current=True)
    made.kill()
    shows(0, current=False)
    clients = {line.split(" from ")[1].split()[0] for line in _lines(broker, "Received SUBSCRIBE")}
    (client,) = (each for each in clients if each.startswith("nodered"))
    assert not [line for line in _lines(broker, "Received PUBLISH") if client in line]


def _lines(broker: Mosquitto, begin: str) -> list[str]:
    return [line for line in broker.log().splitlines() if begin in line]


def test_the_flow_has_no_node_that_could_publish() -> None:
    nodes = json.loads(FLOWS.read_text())
    assert {node["type"] for node in nodes} == {
        *("tab", "mqtt-broker", "mqtt in", "function", "debug", "http in", "http response")
    }
    (broker,) = (node for node in nodes if node["type"] == "mqtt-broker")
    assert not any(broker[f"{when}Topic"] for when in ("birth", "close", "will"))
    topics = {node["topic"] for node in nodes if node["type"] == "mqtt in"}
    assert not [topic for topic in topics if "command" in topic or "sealed" in topic]
