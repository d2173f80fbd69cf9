"""A web server with its own broker for the duration of a test."""

from __future__ import annotations

import json
import signal
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import urlsplit

from common.contract.topics import Topics
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.prepared import PreparedProgram
from tests.support.waiting import TIMEOUT_SECONDS, until

SITE = "casino-mayor"
BREATH_SECONDS = 20.0
"""Interval of the health, in which nothing else need be said: that of a daemon is 30 seconds."""


class WebServer:
    """``python -m subscribers.web``. ``address``: where it answers."""

    def __init__(
        self,
        folder: Path,
        broker_port: int,
        tables: Sequence[tuple[str, bool]],
        program: Sequence[str] = ("-m", "subscribers.web"),
        **settings: Any,
    ) -> None:
        """``program``: the first arguments of Python."""
        folder.mkdir(parents=True, exist_ok=True)
        ready, self._log = folder / "web.ready", folder / "web.log"
        ready.unlink(missing_ok=True)
        given = {
            "site": SITE,
            "broker": {"url": f"mqtt://127.0.0.1:{broker_port}"},
            "tables": [{"id": name, "simulated": simulated} for name, simulated in tables],
            "port": 0,
            "state": str(folder),
            "ready": str(ready),
            **settings,
        }
        with self._log.open("wb") as log:
            self._program = PreparedProgram([*program, "--settings", json.dumps(given)], stderr=log)
        until("the web server", lambda: ready.is_file() and ready.read_text().endswith("\n"))
        self.address = ready.read_text().strip()

    def get(self, path: str) -> str:
        """The body of a page."""
        with urllib.request.urlopen(self.address + path, timeout=TIMEOUT_SECONDS) as answer:
            return str(answer.read().decode())

    @property
    def pid(self) -> int:
        return self._program.pid

    @property
    def port(self) -> int:
        port = urlsplit(self.address).port
        assert port is not None
        return port

    def memory(self) -> int:
        """Bytes that it holds in memory."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        [held] = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")]
        return int(held) * 1024

    def metric(self, name: str) -> int:
        """One of its metrics."""
        lines = self.get("/metrics").splitlines()
        [value] = [line.split()[1] for line in lines if line.startswith(f"novamas_web_{name} ")]
        return int(float(value))

    def hears(self) -> None:
        """Wait until it is subscribed: earlier messages that are not retained never reach it."""
        until("the server is subscribed", lambda: "} 1.0\n" in self.get("/metrics"))

    def signal(self, number: signal.Signals) -> None:
        self._program.send_signal(number)

    def log(self) -> str:
        return self._log.read_text()

    def kill(self) -> None:
        self._program.kill()
        self._program.wait()

    def stop(self) -> int:
        """Ask it to end. Returns its exit code."""
        self._program.send_signal(signal.SIGTERM)
        return self._program.wait(timeout=TIMEOUT_SECONDS)


class Teller:
    """Says at the broker what a daemon would say of its tables. As a daemon's, its health comes
    again and again: without a sign of life, a table is not current after a while.
    """

    def __init__(self, broker: Mosquitto, boot: str = "b1", simulated: bool = False) -> None:
        self._client, self._topics = Subscriber(broker.port), Topics(SITE, simulated)
        self._closed = Event()
        self._breath = Thread(target=self._breathe, daemon=True)
        self._breath.start()
        self.online(boot)

    def _breathe(self) -> None:
        while not self._closed.wait(BREATH_SECONDS):
            self._client.publish_nowait(self._topics.node("node-1", "health"), b"{}")

    def online(self, boot: str) -> None:
        self.node("status", {"status": "online", "boot": boot})

    def node(self, leaf: str, body: Any) -> None:
        self._client.publish(self._topics.node("node-1", leaf), body, retain=True)

    def tell(self, table: str, leaf: str, body: Any) -> None:
        """One message of a table: an event, or a retained topic."""
        self._client.publish(self._topics.table(table, leaf), body, retain=leaf != "event")

    def tell_soon(self, table: str, leaf: str, body: bytes) -> None:
        """Publish without waiting until the broker has it, without encoding."""
        self._client.publish_nowait(self._topics.table(table, leaf), body, retain=leaf != "event")

    def move(self, table: str, body: Any) -> None:
        """What moves at a table."""
        self._client.publish(self._topics.table(table, "motion"), body, retain=False)

    def say(self, topic: str, body: Any) -> None:
        """One retained message on any topic."""
        self._client.publish(topic, body, retain=True)

    def close(self) -> None:
        self._closed.set()
        self._breath.join()
        self._client.close()
