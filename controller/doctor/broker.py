"""The broker: whether it takes us, what it is, what it allows, and whether a daemon of this name is
there already.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import aiomqtt
import msgspec
from paho.mqtt.client import Client as PahoClient
from paho.mqtt.client import ConnectFlags
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from controller.broker.address import addresses
from controller.broker.client import BrokerClient
from controller.broker.failures import describe_error
from controller.broker.login import BrokerUnusableError
from controller.configuration.settings import BrokerConfig, Configuration, SiteConfig
from controller.contract.node import Health, NodeStatus
from controller.contract.topics import Topics
from controller.doctor.finding import Finding

VERSION = "$SYS/broker/version"
"""Where Mosquitto says what it is."""
PATIENCE = 5.0
"""Seconds for the connection."""
LISTENS = 1.0
"""Seconds for what is retained."""
PACKET = 65_536
"""Bytes that the broker should accept: the daemon's own limit (docs/integrator/commands.md)."""


class _Client(BrokerClient):
    """Keeps what the broker said of itself when it took us."""

    said: Any = None

    def _on_connect(
        self,
        client: PahoClient,
        userdata: Any,
        flags: ConnectFlags,
        reason_code: ReasonCode,
        properties: Properties | None = None,
    ) -> None:
        self.said = properties
        super()._on_connect(client, userdata, flags, reason_code, properties)


def look(configuration: Configuration) -> Iterator[Finding]:
    """The broker of the configuration; nothing is published."""
    if configuration.broker.url.startswith("embedded://"):
        yield Finding("ok", "broker", "it is part of the daemon")
        return
    for node in addresses(configuration.broker.url):
        broker = msgspec.structs.replace(configuration.broker, url=node)
        yield from asyncio.run(_asked(broker, configuration.site))


async def _asked(broker: BrokerConfig, site: SiteConfig) -> list[Finding]:
    about = f"broker {broker.url}"
    five = broker.protocol == "5"
    topics = [
        Topics(site.id, simulated=simulated).node(site.node, leaf)
        for simulated in (False, True)
        for leaf in ("status", "health")
    ]
    heard: dict[str, bytes] = {}
    try:
        client = _Client(
            broker,
            identifier=f"novamas-doctor-{site.node}",
            protocol=aiomqtt.ProtocolVersion.V5 if five else aiomqtt.ProtocolVersion.V311,
            timeout=PATIENCE,
        )
        async with client:
            await client.subscribe([(topic, 1) for topic in (VERSION, *topics)])
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LISTENS):
                    async for message in client.messages:
                        if isinstance(message.payload, bytes):
                            heard[str(message.topic)] = message.payload
    except BrokerUnusableError as error:
        do = "run this as the unit does, or correct [broker]"
        return [Finding("fault", about, str(error), do)]
    except aiomqtt.MqttError as error:
        why = describe_error(error, broker)
        do = "start it, or correct [broker]; docs/inspector/broker-access.md says how"
        if "expired" in why:
            do = "renew the certificate of the broker"
        return [Finding("fault", about, why, do)]
    version = heard.pop(VERSION, b"").decode(errors="replace")
    found = [Finding("ok", about, f"it takes us{f'; it is {version}' if version else ''}")]
    if client.said is not None:
        found += allowed(about, client.said.json())
    else:
        found.append(Finding("note", about, "by MQTT 3.1.1 it does not say what it allows"))
    for topic, body in heard.items():
        found += (passed_on if topic.endswith("/health") else there)(site.node, body)
    if not heard:
        do = "if one runs, let the user of [broker] write and read its topics: `novamas acl`"
        found.append(Finding("note", f"node {site.node}", "the broker has nothing of a daemon", do))
    return found


def allowed(about: str, said: Mapping[str, Any]) -> list[Finding]:
    """What the broker's own limits mean for us; ``said``: by MQTT 5's names of properties."""
    found = []
    if said.get("RetainAvailable", 1) == 0:
        found.append(
            Finding(
                "fault", about, "it keeps no retained messages",
                "allow them: displays, jackpots and births rest on them",
            )
        )  # fmt: skip
    if said.get("MaximumQoS", 2) < 1:
        found.append(
            Finding(
                "fault", about, "it acknowledges nothing (QoS 0 alone)",
                "allow QoS 1: else no event is known to have arrived",
            )
        )  # fmt: skip
    if said.get("WildcardSubscriptionAvailable", 1) == 0:
        found.append(
            Finding(
                "fault", about, "it refuses wildcards in subscriptions",
                "allow them: commands are heard by one",
            )
        )  # fmt: skip
    packet = said.get("MaximumPacketSize", PACKET)
    if packet < PACKET:
        found.append(
            Finding(
                "warning", about, f"it takes at most {packet} bytes at once",
                f"allow {PACKET} (Mosquitto: max_packet_size)",
            )
        )  # fmt: skip
    return found


def there(node: str, body: bytes) -> Iterator[Finding]:
    """What the retained status of a node says."""
    try:
        status = msgspec.json.decode(body, type=NodeStatus)
    except (ValueError, RecursionError):
        yield Finding(
            "warning", f"node {node}", "its retained status is not one of ours",
            "let nobody but the daemon write below its topics: `novamas acl`",
        )  # fmt: skip
        return
    yield Finding("ok", f"node {node}", f"a daemon of this name is {status.status} at the broker")


def passed_on(node: str, body: bytes) -> Iterator[Finding]:
    """What a daemon says of what the broker does with its messages."""
    try:
        broker = msgspec.json.decode(body, type=Health).broker
    except (ValueError, RecursionError):
        yield Finding(
            "warning", f"node {node}", "its retained health is not one of ours",
            "let nobody but the daemon write below its topics: `novamas acl`",
        )  # fmt: skip
        return
    if broker.forbidden:
        counted = ", ".join(f"{kind} ({count})" for kind, count in broker.forbidden.items())
        yield Finding(
            "fault", f"node {node}", f"the broker does not pass on what it publishes: {counted}",
            "let the user of [broker] write and read these topics: `novamas acl` prints the rules; "
            "the alert `broker-rules` names each",
        )  # fmt: skip
