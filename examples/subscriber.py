"""Print every event of a site once and in order: ``python subscriber.py --site casino-mayor``.
Needs paho-mqtt 2.

The duties of a subscriber, from docs/integrator/events.md:

- begin after the event that the retained state of a table names, or with the first event of a run
  that begins while it listens: an event may overtake the one before it, also the very first;
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

    def begin(self, seq: int) -> None:
        """Events up to ``seq`` were before us. Has no effect once it is known where we begin."""
        if self.last is None:
            self.last = min([seq, *(waiting - 1 for waiting in self.waiting)])

    def on_event(self, event: dict[str, Any]) -> None:
        """Keep an event until it is its turn."""
        if self.last is None or event["seq"] > self.last:
            self.waiting[event["seq"]] = event

    def ready(self) -> list[dict[str, Any]]:
        """The events that can be printed now."""
        found = []
        while (
            self.last is not None
            and (following := self.waiting.pop(self.last + 1, None)) is not None
        ):
            self.last += 1
            found.append(following)
        return found

    @property
    def missing(self) -> tuple[int, int] | None:
        """The first and the last ``seq`` of a gap before what waits."""
        if self.last is None or not self.waiting:
            return None
        return self.last + 1, min(self.waiting) - 1


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
    arguments = parser.parse_args()
    root = f"{'novamas-sim' if arguments.simulated else 'novamas'}/v1/{arguments.site}"
    tables: dict[tuple[str, str], Table] = {}
    printed = 0

    def go_on(client: mqtt.Client, name: str, boot: str) -> None:
        """Print what can be printed, and ask for what is missing."""
        nonlocal printed
        table = tables[name, boot]
        for ready in table.ready():
            print(name, boot, ready["seq"], ready["type"], flush=True)  # noqa: T201
            printed += 1
        if table.missing is not None:
            first, last = table.missing
            order = {"boot": boot, "from": first, "to": last, "client": CLIENT}
            client.publish(f"{root}/{name}/command/recall", json.dumps(order), qos=1)
        if arguments.count is not None and printed >= arguments.count:
            client.disconnect()

    def on_connect(client: mqtt.Client, *_: object) -> None:
        topics = ("state", "event", f"reply/{CLIENT}")
        client.subscribe([(f"{root}/+/{topic}", 1) for topic in topics])

    def on_message(client: mqtt.Client, _: object, message: mqtt.MQTTMessage) -> None:
        if not message.payload:  # the state of a table that is gone
            return
        body = json.loads(message.payload)
        name = message.topic.split("/")[3]
        if message.topic.endswith("/state"):
            known = any(table == name and boot != body["boot"] for table, boot in tables)
            run = tables.setdefault((name, body["boot"]), Table())
            # a run that is new at a table that we know has begun while we listened, or were away
            run.begin(body["seq"] if message.retain and not known else 0)
            go_on(client, name, body["boot"])
            return
        # an answer to a recall has events too
        for event in [body] if message.topic.endswith("/event") else body.get("events", []):
            tables.setdefault((name, event["boot"]), Table()).on_event(event)
            go_on(client, name, event["boot"])

    client = mqtt.Client(CallbackAPIVersion.VERSION2, client_id=CLIENT, protocol=mqtt.MQTTv5)
    client.on_connect = on_connect
    client.on_message = on_message
    if arguments.username is not None:
        password = arguments.password_file and Path(arguments.password_file).read_text().rstrip(
            "\r\n"
        )
        client.username_pw_set(arguments.username, password)
    if arguments.ca_file is not None:
        client.tls_set(arguments.ca_file, arguments.cert_file, arguments.key_file)
    client.connect(arguments.host, arguments.port)
    client.loop_forever()


if __name__ == "__main__":
    main()
