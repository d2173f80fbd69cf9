"""The subscriber of all benchmarks: calls a function with each message and its arrival time."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.reasoncodes import ReasonCode

from subscribers.feed.overtaken import Overtaken

ROOT = "novamas-sim/v1/bench"
"""The topics of a daemon whose tables are simulated."""
HEALTH, STATUS = f"{ROOT}/node/node-1/health", f"{ROOT}/node/node-1/status"
EVENTS, STATES, RESULTS = (f"{ROOT}/+/{leaf}" for leaf in ("event", "state", "result"))
RETRY_SECONDS = 15.0
"""Seconds after which an unanswered command is repeated."""
OPENING = json.dumps({"by": "benchmark", "role": "table_head"})

MessageHandler = Callable[[str, bytes, float], None]
"""Called with topic, body and time of arrival, in the client's thread."""


class Subscriber:
    """A subscriber of the broker on a loopback port until the end of the block. Times are those of
    ``time.monotonic``, which all processes share.
    """

    def __init__(
        self, broker: int, topics: list[str], on_message: MessageHandler | None = None, qos: int = 1
    ) -> None:
        self.latest: dict[str, bytes] = {}
        """The latest message of each topic."""
        self.on_message = on_message
        """The message handler; it may be replaced."""
        self._changed = threading.Condition()
        self._overtaken = Overtaken()
        self.client = paho.Client(CallbackAPIVersion.VERSION2)
        self.client.on_message = self._message
        self._subscriptions = [(topic, qos) for topic in topics]
        self.client.on_connect = lambda client, *_: client.subscribe(self._subscriptions)
        self.client.on_subscribe = self._on_subscribe
        self.client.connect("127.0.0.1", broker)
        self.client.loop_start()

    def __enter__(self) -> Subscriber:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.disconnect()
        self.client.loop_stop()

    def _on_subscribe(
        self,
        _client: paho.Client,
        _data: object,
        _mid: int,
        codes: list[ReasonCode],
        _properties: object,
    ) -> None:
        """A cluster that has just started may refuse a subscription."""
        if any(code.is_failure for code in codes):
            self.client.subscribe(self._subscriptions)

    def _message(self, _client: paho.Client, _data: object, message: paho.MQTTMessage) -> None:
        now = time.monotonic()
        topic, body = message.topic, bytes(message.payload)
        if self._overtaken(topic, message.retain):
            return
        with self._changed:
            self.latest[topic] = body
            if self.on_message is not None:
                self.on_message(topic, body, now)
            self._changed.notify_all()

    def wait(self, subject: str, condition: Callable[[], bool], seconds: float = 60.0) -> None:
        """Wait for a condition, which is checked after each message. Raises ``TimeoutError``."""
        with self._changed:
            if not self._changed.wait_for(condition, seconds):
                raise TimeoutError(f"waited {seconds:.0f} s in vain: {subject}")

    def command(
        self,
        command: str,
        body: str,
        tables: Sequence[str],
        followed: Callable[[str], bool],
        seconds: float,
    ) -> None:
        """Send a command to each table, and repeat it until it is executed. Raises
        ``TimeoutError``.

        QoS 0 is used because, of hundreds of commands sent at once with QoS 1, the last ones did
        not pass three nodes of NATS, and the library waits for acknowledgements for ever.
        """
        end = time.monotonic() + seconds
        while remaining := [table for table in tables if not followed(table)]:
            if time.monotonic() > end:
                raise TimeoutError(f"waited {seconds:.0f} s in vain: {command} at {remaining[0]}")
            for table in remaining:
                self.client.publish(f"{ROOT}/{table}/command/{command}", body)
            with suppress(TimeoutError):
                self.wait(command, lambda: all(map(followed, tables)), RETRY_SECONDS)

    def body(self, topic: str) -> Any:
        """Return the latest JSON on this topic, or None."""
        found = self.latest.get(topic)
        return json.loads(found) if found else None

    def online(self, seconds: float = 120.0) -> None:
        """Wait until the daemon is online. Raises ``TimeoutError``."""
        self.wait(
            "the daemon is online", lambda: b'"online"' in self.latest.get(STATUS, b""), seconds
        )

    def prepare(self, tables: int, show: Callable[[], None], seconds: float = 120.0) -> None:
        """Wait until each table receives its wheel, then open its session. ``show`` is called every
        half second to make the wheels send. Requires the topics ``EVENTS``. Raises
        ``TimeoutError``.
        """
        states = [f"{ROOT}/table-{number}/state" for number in range(1, tables + 1)]
        opened: set[str] = set()
        earlier, self.on_message = (
            self.on_message,
            lambda topic, body, _: opened.add(topic) if b'"session.opened"' in body else None,
        )
        self.client.subscribe(STATES, 1)
        end = time.monotonic() + seconds
        while not all(b'"state":"up"' in self.latest.get(state, b"") for state in states):
            if time.monotonic() > end:
                raise TimeoutError(
                    f"after {seconds:.0f} s not every table is connected to its wheel"
                )
            show()
            time.sleep(0.5)
        names = [f"table-{number}" for number in range(1, tables + 1)]
        self.command(
            "session-open", OPENING, names, lambda table: f"{ROOT}/{table}/event" in opened, seconds
        )
        self.client.unsubscribe(STATES)
        self.on_message = earlier
