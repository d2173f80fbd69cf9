"""A display that needs only retained topics, and meets what a display must."""

import json
import os
import sys
import threading
from typing import Any
from urllib.parse import urlsplit

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion

BROKER, ROOT = os.environ["NOVAMAS_BROKER"], os.environ["NOVAMAS_ROOT"]
STATUS = {"round.result": "final", "result.corrected": "corrected"}
states: dict[str, Any] = {}
nodes: dict[str, Any] = {}
current: dict[str, bool] = {}


def show(**line: Any) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def show_current() -> None:
    for table, state in states.items():
        daemon = nodes.get(state["node"], {})
        alive = daemon.get("status") == "online" and daemon["boot"] == state["boot"]
        now = alive and state["status"] not in ("stale", "fault")
        if now != current.get(table, False):
            current[table] = now
            show(table=table, current=now)


def on_connect(client: mqtt.Client, *_: Any) -> None:
    client.subscribe([(f"{ROOT}/{leaf}", 1) for leaf in ("+/state", "+/result", "node/+/status")])


def on_disconnect(*_: Any) -> None:
    nodes.clear()
    show_current()


def on_message(_client: mqtt.Client, _: Any, message: mqtt.MQTTMessage) -> None:
    name, leaf = message.topic.removeprefix(f"{ROOT}/").split("/")[:2]
    body = json.loads(message.payload) if message.payload else None
    if name == "node":
        nodes[leaf] = body or {}
    elif leaf == "state" and body is not None:
        states[name] = body
    elif leaf == "result" and body is not None:
        round_ = {key: body[key] for key in ("table", "session", "round", "outcome")}
        show(**round_, status=STATUS[body["type"]])
    show_current()


client = mqtt.Client(CallbackAPIVersion.VERSION2)
client.on_connect, client.on_disconnect, client.on_message = on_connect, on_disconnect, on_message
client.reconnect_delay_set(min_delay=1, max_delay=1)
client.connect(urlsplit(BROKER).hostname or "", urlsplit(BROKER).port or 1883)
client.loop_start()
threading.Event().wait()
