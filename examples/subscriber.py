"""Print every event of a site once and in order: ``python subscriber.py --site casino-mayor``.
Needs paho-mqtt 2.

What a subscriber must do, as docs/mqtt.md says:

- skip an event that it has already seen: the daemon repeats what the broker did not acknowledge;
- detect a gap in ``seq`` and request the missing events with ``recall``, up to 100 at a time;
- hold back later events until the gap is filled.
"""

from __future__ import annotations

import argparse
import json
import uuid
from pathlib import Path
from typing import Any

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion

CLIENT = f"example-{uuid.uuid4().hex[:8]}"
"""Our name in ``reply/<client>``."""


class Table:
    """Puts the events of one run (``boot``) of the daemon at one table in order."""

    def __init__(self) -> None:
        self.last: int | None = None
        """The ``seq`` of the last event printed."""
        self.waiting: dict[int, dict[str, Any]] = {}
        """Events held back after a gap, by ``seq``."""

    def take(self, event: dict[str, Any]) -> tuple[list[dict[str, Any]], int | None]:
        """The events that can be printed now, and the first missing ``seq`` if there is a gap."""
        if self.last is None:
            self.last = event["seq"] - 1  # we start in the middle: earlier events are not missing
        if event["seq"] > self.last:
            self.waiting[event["seq"]] = event
        ready = []
        while (following := self.waiting.pop(self.last + 1, None)) is not None:
            self.last += 1
            ready.append(following)
        return ready, self.last + 1 if self.waiting else None


def main() -> None:
    """Listen until Ctrl-C."""
    parser = argparse.ArgumentParser(description="Print every event of a site once and in order.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=1883)
    parser.add_argument("--site", required=True)
    parser.add_argument("--simulated", action="store_true", help="the simulated tables of the site")
    parser.add_argument("--username")
    parser.add_argument("--password-file", help="file that contains the password")
    parser.add_argument("--ca-file", help="TLS: the CA of the broker's certificate")
    parser.add_argument("--cert-file", help="TLS: our certificate")
    parser.add_argument("--key-file", help="TLS: its private key")
    parser.add_argument("--count", type=int, help="stop after this many events")
    given = parser.parse_args()
    root = f"{'novamas-sim' if given.simulated else 'novamas'}/v1/{given.site}"
    tables: dict[tuple[str, str], Table] = {}
    printed = 0

    def take(client: mqtt.Client, event: dict[str, Any]) -> None:
        nonlocal printed
        ready, missing = tables.setdefault((event["table"], event["boot"]), Table()).take(event)
        for each in ready:
            print(each["table"], each["boot"], each["seq"], each["type"], flush=True)  # noqa: T201
            printed += 1
        if missing is not None:
            order = {
                "boot": event["boot"],
                "from": missing,
                "to": event["seq"] - 1,
                "client": CLIENT,
            }
            client.publish(f"{root}/{event['table']}/command/recall", json.dumps(order), qos=1)
        if given.count is not None and printed >= given.count:
            client.disconnect()

    def on_connect(client: mqtt.Client, *_: object) -> None:
        client.subscribe([(f"{root}/+/event", 1), (f"{root}/+/reply/{CLIENT}", 1)])

    def on_message(client: mqtt.Client, _: object, message: mqtt.MQTTMessage) -> None:
        body = json.loads(message.payload)
        if message.topic.endswith("/event"):
            take(client, body)
        else:
            for event in body.get("events", []):  # the answer to a recall
                take(client, event)

    client = mqtt.Client(CallbackAPIVersion.VERSION2, client_id=CLIENT, protocol=mqtt.MQTTv5)
    client.on_connect = on_connect
    client.on_message = on_message
    if given.username is not None:
        password = given.password_file and Path(given.password_file).read_text().rstrip("\r\n")
        client.username_pw_set(given.username, password)
    if given.ca_file is not None:
        client.tls_set(given.ca_file, given.cert_file, given.key_file)
    client.connect(given.host, given.port)
    client.loop_forever()


if __name__ == "__main__":
    main()
