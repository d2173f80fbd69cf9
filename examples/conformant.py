"""A subscriber that meets every requirement of the contract, for `novamas conform subscriber`.

It prints what it believes, one JSON line for each change. It needs paho-mqtt and novamas-client.
"""

import json
import os
import sys
import threading
from typing import Any
from urllib.parse import urlsplit

import paho.mqtt.client as mqtt
from novamas_client import Follower, Gap, Refusal
from paho.mqtt.enums import CallbackAPIVersion

BROKER, ROOT, CLIENT = (os.environ[f"NOVAMAS_{name}"] for name in ("BROKER", "ROOT", "CLIENT"))
STATUS = {
    "round.result": "final",
    "result.corrected": "corrected",
    "round.void": "void",
    "round.unresolved": "unresolved",
}
follower = Follower(ROOT, CLIENT)
states: dict[str, Any] = {}  # table -> its retained state
nodes: dict[str, Any] = {}  # node -> the status of its daemon; empty while we are not connected
current: dict[str, bool] = {}  # table -> what was printed last


def show(**line: Any) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def show_item(item: Any) -> None:
    if isinstance(item, Gap | Refusal):
        show(table=item.table, gap=True)
    elif status := STATUS.get(item["type"]):
        outcome = {"outcome": item["outcome"]} if "outcome" in item else {}
        round_ = {name: item[name] for name in ("table", "session", "round")}
        show(**round_, status=status, live=not item.get("historical", False), **outcome)


def show_current() -> None:
    for table, state in states.items():
        daemon = nodes.get(state["node"], {})
        alive = daemon.get("status") == "online" and daemon["boot"] == state["boot"]
        now = alive and state["status"] not in ("stale", "fault")
        if now != current.get(table, False):
            current[table] = now
            show(table=table, current=now)


def on_connect(client: mqtt.Client, *_: Any) -> None:
    client.subscribe([(topic, 1) for topic in (*follower.topics(), f"{ROOT}/node/+/status")])
    publish(client, follower.retry())


def on_disconnect(*_: Any) -> None:
    nodes.clear()
    show_current()


def on_message(client: mqtt.Client, _: Any, message: mqtt.MQTTMessage) -> None:
    name, leaf = message.topic.removeprefix(f"{ROOT}/").split("/")[:2]
    body = json.loads(message.payload) if message.payload else None
    if name == "node":
        nodes[leaf] = body or {}
    else:
        step = follower.on_message(message.topic, bytes(message.payload))
        for item in step.items:
            show_item(item)
        publish(client, step.publish)
        if leaf == "state" and body is not None:
            states[name] = body
    show_current()


def publish(client: mqtt.Client, messages: Any) -> None:
    for topic, body in messages:
        client.publish(topic, body, qos=1)


client = mqtt.Client(CallbackAPIVersion.VERSION2)
client.on_connect, client.on_disconnect, client.on_message = on_connect, on_disconnect, on_message
client.reconnect_delay_set(min_delay=1, max_delay=1)
client.connect(urlsplit(BROKER).hostname or "", urlsplit(BROKER).port or 1883)
client.loop_start()
while True:
    threading.Event().wait(10)
    publish(client, follower.retry())
