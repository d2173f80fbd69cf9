"""Show the tables of a site in Home Assistant: ``python home_assistant.py --site casino-mayor``.
Needs paho-mqtt 2.

It reads which tables there are (``info``) and which daemon has each (``node/<node>/status``), and
publishes for each a retained message of MQTT discovery below ``homeassistant/``. Home Assistant
then reads the retained topics of the tables itself. Nothing is published on a topic of the tables,
and no entity has a command. It needs no more rights than a display, and those to write below
``homeassistant/``.

Values are interpreted by templates (Jinja), which Home Assistant evaluates. A table that is
stale or at fault, and one whose daemon is away, shows no phase and no result.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion

ONLINE = "{{ value_json.status }}"
CURRENT = "{{ 'offline' if value_json.status in ('stale', 'fault') else 'online' }}"
KNOWN = "{{ 'online' if value_json else 'offline' }}"
PROBLEM = """
{%- if value_json.alerts or value_json.status in ('stale', 'fault') %}ON{% else %}OFF{% endif -%}
"""
PROBLEMS = """
{{- {'alerts': value_json.alerts, 'fault': value_json.fault} | tojson -}}
"""
RESULT = """
{%- set outcome = value_json.outcome if value_json else none -%}
{%- if not outcome %}None
{%- elif 'number' in outcome %}{{ outcome.number }}
{%- elif 'dice' in outcome %}{{ outcome.dice | join(' + ') }}
{%- elif outcome.winner | default(none) %}{{ outcome.winner }}
{%- else %}
  {%- set said %}
    {%- for hand in outcome.hands %}
      {{- ', ' if not loop.first }}{{ hand.who }} {{ hand.outcome | default('shown') }}
    {%- endfor %}
  {%- endset %}
  {{- said[:255] or 'nobody' }}
{%- endif -%}
"""
"""The outcome of a round in one line. It depends only on the outcome's shape, so it also works for
games added later.
"""
RESULTS = """
{%- set result = value_json or {} -%}
{{- {'session': result.session | default(none), 'round': result.round | default(none),
     'time': result.time | default(none), 'outcome': result.outcome | default(none)} | tojson -}}
"""
"""Without the name of the person who corrected it, because Home Assistant stores what it receives.
"""


def table_device(root: str, table: str, node: str, about: dict[str, Any]) -> dict[str, Any]:
    """The discovery message of a table: a device with four entities."""
    state, result = f"{root}/{table}/state", f"{root}/{table}/result"
    served = availability(f"{root}/node/{node}/status", ONLINE)
    current = [*served, *availability(state, CURRENT)]
    titles = about["about"].get("title", {})
    title = next(iter(titles.values()), about["game"])
    name = identifier(root, table)
    entities: dict[str, dict[str, Any]] = {
        "status": {
            "platform": "sensor",
            "name": "Status",
            "state_topic": state,
            "value_template": "{{ value_json.status }}",
            "availability": served,
        },
        "phase": {
            "platform": "sensor",
            "name": "Phase",
            "state_topic": state,
            "value_template": "{{ value_json.shown.phase }}",
            "availability": current,
        },
        "result": {
            "platform": "sensor",
            "name": "Last result",
            "state_topic": result,
            "value_template": RESULT,
            "json_attributes_topic": result,
            "json_attributes_template": RESULTS,
            "availability": [*current, *availability(result, KNOWN)],
        },
        "problem": {
            "platform": "binary_sensor",
            "name": "Alerts",
            "device_class": "problem",
            "state_topic": state,
            "value_template": PROBLEM,
            "json_attributes_topic": state,
            "json_attributes_template": PROBLEMS,
            "availability": served,
        },
    }
    device = {
        "identifiers": [name],
        "name": f"{title} {table}",
        "manufacturer": "Novamás",
        "model": about["game"],
        "sw_version": about["about"].get("software", ""),
        "via_device": identifier(root, f"node-{node}"),
    }
    return message(device, name, entities)


def node_device(root: str, node: str) -> dict[str, Any]:
    """The discovery message of a daemon: a device with one entity."""
    name = identifier(root, f"node-{node}")
    entities: dict[str, dict[str, Any]] = {
        "online": {
            "platform": "binary_sensor",
            "name": "Connection",
            "device_class": "connectivity",
            "state_topic": f"{root}/node/{node}/status",
            "value_template": "{{ 'ON' if value_json.status == 'online' else 'OFF' }}",
        }
    }
    device = {"identifiers": [name], "name": f"Novamás {node}", "manufacturer": "Novamás"}
    return message(device, name, entities)


def message(
    device: dict[str, Any], name: str, entities: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """A discovery message of a device, whose entities have unique ids of their own."""
    return {
        "device": device,
        "origin": {"name": "novamas examples/home_assistant.py"},
        "components": {
            key: {
                "unique_id": f"{name}-{key}",
                "qos": 1,
                **({"availability_mode": "all"} if "availability" in entity else {}),
                **entity,
            }
            for key, entity in entities.items()
        },
    }


def availability(topic: str, template: str) -> list[dict[str, str]]:
    """That an entity is available as far as this topic goes. ``online`` and ``offline`` are also
    what Home Assistant expects by default.
    """
    return [{"topic": topic, "value_template": template}]


def identifier(root: str, name: str) -> str:
    """One for each device of all sites: ``novamas-v1-casino-mayor-ruleta-1``."""
    return f"{root}/{name}".replace("/", "-")


def messages(
    prefix: str, device: dict[str, Any], *, single: bool
) -> Iterator[tuple[str, dict[str, Any]]]:
    """What to publish for a device, by topic: one message, or one for each entity."""
    name = device["device"]["identifiers"][0]
    if not single:
        yield f"{prefix}/device/{name}/config", device
        return
    shared = {key: device[key] for key in ("device", "origin")}
    for key, entity in device["components"].items():
        platform = entity["platform"]
        own = {field: value for field, value in entity.items() if field != "platform"}
        yield f"{prefix}/{platform}/{name}/{key}/config", {**own, **shared}


class Site:
    """The known tables and daemons of a site."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._tables: dict[str, dict[str, Any]] = {}
        self._nodes: set[str] = set()

    def table(self, table: str, info: dict[str, Any] | None) -> None:
        """The ``info`` of a table; none if the table is gone."""
        if info is None:
            self._tables.pop(table, None)
        else:
            self._tables[table] = info

    def node(self, node: str) -> None:
        """Record that a daemon exists."""
        self._nodes.add(node)

    def devices(self) -> Iterator[dict[str, Any]]:
        """The device of each daemon, then of each table whose daemon is known."""
        for node in sorted(self._nodes):
            yield node_device(self._root, node)
        for table, info in sorted(self._tables.items()):
            if info["node"] in self._nodes:
                yield table_device(self._root, table, info["node"], info)


def main() -> None:
    """Listen until Ctrl-C."""
    parser = argparse.ArgumentParser(description="Show the tables of a site in Home Assistant.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=1883)
    parser.add_argument("--site", required=True)
    parser.add_argument("--simulated", action="store_true", help="the simulated tables of the site")
    parser.add_argument("--prefix", default="homeassistant", help="Home Assistant's own")
    parser.add_argument(
        "--single",
        action="store_true",
        help="publish one message per entity, for a Home Assistant without device discovery",
    )
    parser.add_argument("--username")
    parser.add_argument("--password-file", help="file that contains the password")
    parser.add_argument("--ca-file", help="TLS: the CA of the broker's certificate")
    parser.add_argument("--cert-file", help="TLS: our certificate")
    parser.add_argument("--key-file", help="TLS: its private key")
    arguments = parser.parse_args()
    root = f"{'novamas-sim' if arguments.simulated else 'novamas'}/v1/{arguments.site}"
    site = Site(root)
    published: dict[str, dict[str, Any]] = {}

    def publish(client: mqtt.Client) -> None:
        """Publish what changed, and remove what is gone."""
        wanted = {
            topic: body
            for device in site.devices()
            for topic, body in messages(arguments.prefix, device, single=arguments.single)
        }
        for topic in published.keys() - wanted.keys():
            client.publish(topic, b"", qos=1, retain=True)
        for topic, body in wanted.items():
            if published.get(topic) != body:
                client.publish(topic, json.dumps(body, ensure_ascii=False), qos=1, retain=True)
                print(topic, flush=True)  # noqa: T201
        published.clear()
        published.update(wanted)

    def on_connect(client: mqtt.Client, *_: object) -> None:
        published.clear()  # the broker may have forgotten it
        client.subscribe([(f"{root}/node/+/status", 1), (f"{root}/+/info", 1)])

    def on_message(client: mqtt.Client, _: object, message: mqtt.MQTTMessage) -> None:
        levels = message.topic.removeprefix(f"{root}/").split("/")
        body = json.loads(message.payload) if message.payload else None
        if levels[-1] == "info":
            site.table(levels[0], body)
        elif body is not None:
            site.node(levels[1])
        publish(client)

    client = mqtt.Client(CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv5)
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
