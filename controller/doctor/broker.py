"""Checks the broker: whether it accepts the daemon, its version and limits, and whether a daemon
with this name is already online.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import aiomqtt
import msgspec
from paho.mqtt.properties import Properties

from common.broker.address import addresses
from common.broker.client import BrokerClient
from common.broker.failures import describe_error
from common.broker.login import BrokerUnusableError
from common.contract.node import Health, NodeStatus
from common.contract.topics import Topics
from controller.configuration.settings import BrokerConfig, Configuration, SiteConfig
from controller.doctor.finding import Finding

VERSION_TOPIC = "$SYS/broker/version"
"""Topic of Mosquitto's version."""
CONNECT_TIMEOUT_SECONDS = 5.0
"""Maximum seconds to connect."""
RETAINED_WAIT_SECONDS = 1.0
"""Seconds to wait for retained messages."""
MIN_PACKET_BYTES = 65_536
"""Bytes that the broker should accept: the daemon's own limit (docs/integrator/commands.md)."""


class _InspectingClient(BrokerClient):
    """Stores the properties of the broker's CONNACK."""

    connack_properties: Any = None

    def on_connack(self, properties: Properties | None) -> None:
        """Store them."""
        self.connack_properties = properties


def check(configuration: Configuration) -> Iterator[Finding]:
    """Check the broker of the configuration, without publishing."""
    if configuration.broker.url.startswith("embedded://"):
        yield Finding("ok", "broker", "it is part of the daemon")
        return
    for node in addresses(configuration.broker.url):
        broker = msgspec.structs.replace(configuration.broker, url=node)
        yield from asyncio.run(_check_node(broker, configuration.site))


async def _check_node(broker: BrokerConfig, site: SiteConfig) -> list[Finding]:
    about = f"broker {broker.url}"
    is_mqtt5 = broker.protocol == "5"
    topics = [
        Topics(site.id, simulated=simulated).node(site.node, leaf)
        for simulated in (False, True)
        for leaf in ("status", "health")
    ]
    retained: dict[str, bytes] = {}
    try:
        client = _InspectingClient(
            broker,
            identifier=f"novamas-doctor-{site.node}",
            protocol=aiomqtt.ProtocolVersion.V5 if is_mqtt5 else aiomqtt.ProtocolVersion.V311,
            timeout=CONNECT_TIMEOUT_SECONDS,
        )
        async with client:
            await client.subscribe([(topic, 1) for topic in (VERSION_TOPIC, *topics)])
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(RETAINED_WAIT_SECONDS):
                    async for message in client.messages:
                        if isinstance(message.payload, bytes):
                            retained[str(message.topic)] = message.payload
    except BrokerUnusableError as error:
        do = "run this as the unit does, or correct [broker]"
        return [Finding("fault", about, str(error), do)]
    except aiomqtt.MqttError as error:
        reason = describe_error(error, broker)
        do = "start it, or correct [broker]; docs/inspector/broker-access.md#mosquitto-from-nothing"
        if "expired" in reason:
            do = "renew the certificate of the broker"
        return [Finding("fault", about, reason, do)]
    version = retained.pop(VERSION_TOPIC, b"").decode(errors="replace")
    findings = [
        Finding("ok", about, f"it accepts the login{f'; it is {version}' if version else ''}")
    ]
    if client.connack_properties is not None:
        findings += check_limits(about, client.connack_properties.json())
    else:
        findings.append(Finding("note", about, "with MQTT 3.1.1 it does not report its limits"))
    for topic, body in retained.items():
        findings += (check_forwarding if topic.endswith("/health") else check_status)(
            site.node, body
        )
    if not retained:
        do = "if one runs, let the user of [broker] write and read its topics: `novamas acl`"
        findings.append(
            Finding("note", f"node {site.node}", "no retained messages of a daemon", do)
        )
    return findings


def check_limits(about: str, properties: Mapping[str, Any]) -> list[Finding]:
    """Assess the broker's limits. ``properties``: properties by their names in MQTT 5."""
    findings = []
    if properties.get("RetainAvailable", 1) == 0:
        findings.append(
            Finding(
                "fault", about, "it stores no retained messages",
                "allow them: displays, jackpots and birth messages depend on them",
            )
        )  # fmt: skip
    if properties.get("MaximumQoS", 2) < 1:
        findings.append(
            Finding(
                "fault", about, "it acknowledges nothing (QoS 0 only)",
                "allow QoS 1; without it, delivery cannot be confirmed",
            )
        )  # fmt: skip
    if properties.get("WildcardSubscriptionAvailable", 1) == 0:
        findings.append(
            Finding(
                "fault", about, "it refuses wildcards in subscriptions",
                "allow them: commands are received through one",
            )
        )  # fmt: skip
    packet = properties.get("MaximumPacketSize", MIN_PACKET_BYTES)
    if packet < MIN_PACKET_BYTES:
        findings.append(
            Finding(
                "warning", about, f"it accepts packets of up to {packet} bytes",
                f"allow {MIN_PACKET_BYTES} (Mosquitto: max_packet_size)",
            )
        )  # fmt: skip
    return findings


def check_status(node: str, body: bytes) -> Iterator[Finding]:
    """Check the retained status of a node."""
    try:
        status = msgspec.json.decode(body, type=NodeStatus)
    except (ValueError, RecursionError):
        yield Finding(
            "warning", f"node {node}", "its retained status is not a status message of a daemon",
            "let only the daemon write below its topics: `novamas acl`",
        )  # fmt: skip
        return
    yield Finding("ok", f"node {node}", f"a daemon of this name is {status.status} at the broker")


def check_forwarding(node: str, body: bytes) -> Iterator[Finding]:
    """Check which of its messages a daemon reports as not passed on by the broker."""
    try:
        broker = msgspec.json.decode(body, type=Health).broker
    except (ValueError, RecursionError):
        yield Finding(
            "warning", f"node {node}", "its retained health is not a health message of a daemon",
            "let only the daemon write below its topics: `novamas acl`",
        )  # fmt: skip
        return
    if broker.forbidden:
        counted = ", ".join(f"{kind} ({count})" for kind, count in broker.forbidden.items())
        yield Finding(
            "fault", f"node {node}", f"the broker does not pass on its messages: {counted}",
            "let the user of [broker] write and read these topics: `novamas acl` prints the rules; "
            "the alert `broker-rules` names each",
            "broker.rules",
        )  # fmt: skip
