"""A real Mosquitto on a free loopback port, and a recording subscriber."""

from __future__ import annotations

import getpass
import json
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Iterable, Sequence
from itertools import count, cycle
from pathlib import Path
from typing import Any

import msgspec
import paho.mqtt.client as paho
import pytest
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

from tests.support.brokers import paho_client
from tests.support.waiting import TIMEOUT_SECONDS, until


def free_port() -> int:
    """Return a free port and reserve it for the life of this process: only a process that binds it
    by number gets it.
    """
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    port = int(holder.getsockname()[1])
    holder.detach()
    return port


def once(events: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without doubles, as every consumer drops them: by table, boot and number."""
    first: dict[tuple[str, str, int], dict[str, Any]] = {}
    for event in events:
        first.setdefault((event["table"], event["boot"], event["seq"]), event)
    return list(first.values())


class Mosquitto:
    """One broker that stores nothing: after a kill and a start it has forgotten everything."""

    def __init__(self, folder: Path, *settings: str) -> None:
        self.program = shutil.which(
            "mosquitto", path="/usr/local/sbin:/usr/sbin:/usr/local/bin:/usr/bin"
        )
        if self.program is None:
            pytest.fail(
                "mosquitto is not installed; tests/debian-packages names what the tests need"
            )
        folder.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        self.file, self.log_file = folder / "mosquitto.conf", folder / "mosquitto.log"
        self.configure(*(settings or ("allow_anonymous true",)))
        self.process: subprocess.Popen[bytes] | None = None

    def configure(self, *settings: str) -> None:
        # As root it would become another user, who may not read the files of this test.
        lines = (
            f"user {getpass.getuser()}",
            f"listener {self.port} 127.0.0.1",
            "set_tcp_nodelay true",
            "persistence false",
            f"log_dest file {self.log_file}",
            *(f"log_type {kind}" for kind in ("error", "warning", "notice")),
            *settings,
        )
        self.file.write_text("\n".join(lines) + "\n")

    def start(self) -> None:
        assert self.program is not None
        self.process = subprocess.Popen(
            [self.program, "-c", str(self.file)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until("mosquitto listens", self._listens)

    def _listens(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, (
            f"mosquitto ended with {self.process.returncode}: {self.file.read_text()}"
        )
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def log(self) -> str:
        """Its whole log over all starts: connections, disconnections and messages dropped for slow
        clients.
        """
        return self.log_file.read_text() if self.log_file.exists() else ""

    def signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


class ReceivedMessage(msgspec.Struct, frozen=True):
    topic: str
    payload: bytes
    retain: bool
    properties: Any

    @property
    def body(self) -> Any:
        return json.loads(self.payload) if self.payload else None


MARK = "test/mark"
"""Below this topic is what tests say to themselves."""
_MARKS = count()


class Subscriber:
    """A client that records every message on a port and may publish.

    ``nodes``: host and port of each node of a broker, in place of ``port``; where one is lost the
    next is tried. ``session``: the client id under which the broker keeps what comes while we are
    away (MQTT 3.1.1).
    """

    def __init__(
        self,
        port: int,
        *topics: str,
        username: str | None = None,
        password: str | None = None,
        v5: bool = True,
        nodes: Sequence[tuple[str, int]] = (),
        session: str = "",
    ) -> None:
        self.messages: list[ReceivedMessage] = []
        self.subscribed = threading.Event()
        self.refused: list[int] = []
        """Reason codes of refused subscriptions."""
        self._client = paho.Client(
            CallbackAPIVersion.VERSION2,
            client_id=session,
            clean_session=None if v5 else not session,
            protocol=MQTTProtocolVersion.MQTTv5 if v5 else MQTTProtocolVersion.MQTTv311,
        )
        self._nodes = cycle(nodes or [("127.0.0.1", port)])
        if username is not None:
            self._client.username_pw_set(username, password)
        self._client.on_message = lambda _c, _u, m: self.messages.append(
            ReceivedMessage(m.topic, bytes(m.payload), m.retain, m.properties)
        )
        self._client.on_subscribe = self._granted
        self._topics = topics or ("#",)
        self._ended = False
        self._client.on_connect = self._connected
        self._client.reconnect_delay_set(1, 1)
        self._keepalive = 3 if nodes else 60
        if nodes:
            self._client.connect_timeout = 3.0
            self._client.on_disconnect = self._next
            self._client.on_connect_fail = self._next
        self._client.connect(*next(self._nodes), self._keepalive)
        self._client.loop_start()
        assert self.subscribed.wait(TIMEOUT_SECONDS)

    def _next(self, *_: Any) -> None:
        if not self._ended:
            self._client.connect_async(*next(self._nodes), self._keepalive)

    def _connected(self, *_: Any) -> None:
        self._client.subscribe([(topic, 1) for topic in self._topics])

    def _granted(self, _client: Any, _userdata: Any, _mid: int, codes: Any, _: Any) -> None:
        self.refused += [code.value for code in codes if code.value >= 0x80]
        self.subscribed.set()

    def publish(
        self, topic: str, body: Any, *, retain: bool = False, properties: Any = None
    ) -> None:
        payload = body if isinstance(body, bytes) else json.dumps(body).encode()
        self._client.publish(topic, payload, 1, retain, properties).wait_for_publish(
            TIMEOUT_SECONDS
        )

    def publish_nowait(
        self, topic: str, body: bytes, *, retain: bool = False, properties: Any = None
    ) -> None:
        """Publish without waiting until the broker has it."""
        self._client.publish(topic, body, 1, retain, properties)

    def catch_up(self) -> None:
        """Wait until all has come that the broker has for us by now, retained or live: it delivers
        that before a mark of our own. Only for a client that is subscribed to everything.
        """
        mark = f"{MARK}/{next(_MARKS)}"
        self.publish(mark, {})
        until("the mark comes back", lambda: self.on(mark), self.transcript)

    def on(self, ending: str) -> list[ReceivedMessage]:
        """The messages on topics with that ending."""
        return [message for message in list(self.messages) if message.topic.endswith(ending)]

    def events(self, kind: str | None = None) -> list[dict[str, Any]]:
        """The received events of one type or of all, in order of arrival, without duplicates: a
        daemon that was killed or lost its broker republishes events whose receipt is not
        acknowledged.
        """
        return [
            event
            for event in once(message.body for message in self.on("/event"))
            if kind is None or event["type"] == kind
        ]

    def latest(self, ending: str) -> Any:
        """The last body on a topic that ends so; None if no message has arrived."""
        found = self.on(ending)
        return found[-1].body if found else None

    def number(self) -> Any:
        """The number of the last result that is retained."""
        result = self.latest("/result")
        return result["outcome"]["number"] if result else None

    def is_cleared(self, ending: str) -> bool:
        """Whether the retained message of a topic with that ending was cleared."""
        found = self.on(ending)
        return bool(found) and found[-1].payload == b""

    def transcript(self) -> str:
        """The last 100 messages, for diagnosis of a failed test."""
        return "\n".join(
            f"{message.topic} {message.payload[:300]!r}" for message in self.messages[-100:]
        )

    def close(self) -> None:
        self._ended = True
        paho_client.end(self._client)
