"""The broker of the simulated world answers what Mosquitto answers, but for named differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, TypeVar

import pytest
from msgspec.structs import replace

from tests.conftest import cases
from tests.support.brokers.mosquitto import Mosquitto
from tests.world.broker.broker import Broker, Limits
from tests.world.broker.packets import (
    V5,
    V311,
    Acknowledgement,
    Connect,
    Disconnect,
    Kind,
    Ping,
    Publish,
    Reason,
    Subscribe,
    Subscription,
    Unsubscribe,
    Value,
    Will,
    encode,
)
from tests.world.conversations import DROP, InMemory, SocketServer, Step, clear, run

CLIENTS = ("a", "b", "c")
TOPICS = ("x", "x/z", "x/y", "x/y/z", "x/w", "/x", "x/", "will")
FILTERS = ("#", "x/#", "x/+", "+/+", "x/y", "x", "+", "/+", "x/+/z", "will")
SETTINGS = (
    "max_topic_alias 0",
    "max_qos 1",
    "allow_anonymous true",
    "max_inflight_messages 3",
    "max_queued_messages 5",
    "message_size_limit 200",
    "max_packet_size 400",
)
LIMITS = Limits(max_in_flight=3, max_queued=5, max_payload_bytes=200, max_packet_bytes=400)

_WINDOW = "Mosquitto 2.0 sends more than the window allows when the oldest is acknowledged"
_SHARED = "the world has no shared subscriptions: it refuses them"
_LENIENT = "Mosquitto ignores bytes after the end of a PUBACK"
_BRIDGE = "Mosquitto, which can be a bridge, ignores some packets that only a broker sends"
_TAKEOVER = "Mosquitto 2.0.11 closes without the DISCONNECT that MQTT 5 wants (3.1.4)"
_SILENT = "Mosquitto closes without DISCONNECT"
DIFFERENCES: Mapping[str, str] = {
    "shared subscription (3.1.1)": _SHARED,
    "shared subscription (5)": _SHARED,
    "packet of a server (3.1.1)": _BRIDGE,
    "packet of a server (5)": _BRIDGE,
    "SUBACK of a client (3.1.1)": _BRIDGE,
    "bytes after the end (3.1.1)": _LENIENT,
    "bytes after the end (5)": _LENIENT,
    "window of a client (3.1.1)": _WINDOW,
    "window of a client (5)": _WINDOW,
    "redelivery (3.1.1)": _WINDOW,
    "redelivery (5)": _WINDOW,
    "full queue of a client (3.1.1)": _WINDOW,
    "full queue of a client (5)": _WINDOW,
    "full queue of an absent client (3.1.1)": _WINDOW,
    "full queue of an absent client (5)": _WINDOW,
    "receive maximum (5)": _WINDOW,
    "will at a takeover (5)": _TAKEOVER,
    "will at a takeover of a session (5)": _TAKEOVER,
    "takeover of a session (5)": _TAKEOVER,
    "remaining length of five bytes (5)": _SILENT,
    "property twice (5)": _SILENT,
    "options of a second subscription (5)": (
        "Mosquitto 2.0.11 leaves the options of the first; MQTT 5 replaces them (3.8.4)"
    ),
    "delayed will of a session that ends with its connection (5)": (
        "Mosquitto waits for the whole delay; MQTT 5 ends it with the session (3.1.3.2.2)"
    ),
}
"""What the world's broker answers otherwise, and why."""


def subscribe(*filters: str, **options: Any) -> Subscribe:
    return Subscribe(1, tuple(Subscription(each, **{"qos": 1, **options}) for each in filters))


def publish(topic: str, payload: bytes = b"1", **more: Any) -> Publish:
    return Publish(topic, payload, **{"qos": 1, "packet_id": 7, **more})


def puback(number: int) -> Acknowledgement:
    return Acknowledgement(Kind.PUBACK, number)


_Packet = TypeVar("_Packet", Connect, Disconnect, Subscribe)


def with_properties(packet: _Packet, **properties: Value) -> _Packet:
    return replace(packet, properties=properties)


def scripts(version: int) -> dict[str, list[Step]]:
    """Scripts by name, for clients of one version."""

    def connect(name: str, **more: Any) -> Step:
        return name, Connect(name, version, **more)

    a, b = connect("a"), connect("b")
    keeps: dict[str, Any] = {"clean_start": False}
    if version == V5:
        keeps["properties"] = {"session_expiry": 1000}
    will = Will("will", b"gone", 1, True)
    return {
        "publish without a subscriber": [a, ("a", publish("x"))],
        "publish to a subscriber": [a, b, ("b", subscribe("x/#")), ("a", publish("x/y"))],
        "publish to oneself": [a, ("a", subscribe("#")), ("a", publish("x/y"))],
        "publish with QoS 0": [a, b, ("b", subscribe("#")), ("a", Publish("x", b"1"))],
        "QoS of the subscription": [
            a,
            b,
            ("b", subscribe("#", qos=0)),
            ("a", publish("x")),
            ("b", subscribe("x", qos=2)),
        ],
        "publish with QoS 2": [a, ("a", publish("x", qos=2))],
        "publish with QoS 3": [a, ("a", b"\x36\x05\0\1x\0\1")],
        "publish again with DUP": [a, ("a", publish("x", duplicate=True))],
        "publish to a wildcard": [a, ("a", publish("x/#"))],
        "publish to no topic": [a, ("a", publish(""))],
        "publish text that is not allowed": [a, ("a", publish("x\1"))],
        "publish text that is no UTF-8": [a, ("a", b"\x30\x04\0\2\xff\xfe")],
        "publish U+0000": [a, ("a", publish("x\0"))],
        "packet identifier 0": [a, ("a", b"\x32\x05\0\1x\0\0" + (b"\0" if version == V5 else b""))],
        "payload too large": [a, ("a", publish("x", b"." * 300))],
        "packet too large": [a, ("a", publish("x", b"." * 500))],
        "overlapping subscriptions": [
            a,
            b,
            ("b", subscribe("#", "x/+", "x/y", "+/y", "x/#")),
            ("a", publish("x/y")),
        ],
        "overlapping subscriptions of other QoS": [
            a,
            b,
            ("b", subscribe("#", qos=1)),
            ("b", subscribe("x/+", qos=0)),
            ("a", publish("x/y")),
        ],
        "retained": [
            a,
            ("a", publish("x/y", b"1", retain=True)),
            ("a", publish("x", b"2", retain=True)),
            ("a", publish("x", b"3", retain=True)),
            ("a", publish("x/w", b"4", retain=True)),
            ("a", publish("x/w", b"", retain=True)),
            b,
            ("b", subscribe("x/#")),
            ("b", subscribe("x/y")),
            ("b", subscribe("x")),
            ("a", publish("x", b"", retain=True)),
            ("b", subscribe("x")),
        ],
        "retained with QoS 0": [
            a,
            ("a", Publish("x", b"1", 0, True)),
            b,
            ("b", subscribe("x")),
        ],
        "unsubscribe": [
            a,
            ("a", subscribe("x", "x/y")),
            ("a", Unsubscribe(2, ("x", "nothing"))),
            ("a", publish("x")),
            ("a", publish("x/y")),
        ],
        "filters that are not allowed": [a, ("a", subscribe("x#"))],
        "filter with # before its end": [a, ("a", subscribe("#/x"))],
        "empty filter": [a, ("a", subscribe(""))],
        "no filter": [a, ("a", Subscribe(1, ()))],
        "unsubscribe from no filter": [a, ("a", Unsubscribe(1, ()))],
        "unsubscribe from a filter that is not allowed": [a, ("a", Unsubscribe(1, ("x#",)))],
        "shared subscription": [a, ("a", subscribe("$share/g/x")), ("a", publish("x"))],
        "topics of the server": [a, ("a", subscribe("#", "+/x")), ("a", publish("$own/x"))],
        "subscription with QoS 3": [a, ("a", b"\x82\x06\0\1\0\1x\3")],
        "flags of a SUBSCRIBE": [a, ("a", b"\x80\x06\0\1\0\1x\1")],
        "first packet is no CONNECT": [("a", encode(publish("x"), version))],
        "second CONNECT": [a, ("a", encode(Connect("a", version), version))],
        "packet of a server": [a, ("a", Ping(Kind.PINGRESP))],
        "CONNACK of a client": [a, ("a", b"\x20\2\0\0")],
        "SUBACK of a client": [a, ("a", b"\x90\3\0\1\0")],
        "AUTH": [a, ("a", b"\xf0\0")],
        "type 0": [a, ("a", b"\0\0")],
        "remaining length of five bytes": [a, ("a", b"\x30\xff\xff\xff\xff\1")],
        "bytes after the end": [a, ("a", b"\x40\x05\0\1\0\0\0")],
        "PUBACK of an unknown packet": [a, ("a", puback(99)), ("a", publish("x"))],
        "no client id": [("a", Connect("", version))],
        "no client id, but a session": [("a", Connect("", version, clean_start=False))],
        "name and password": [connect("a", username="u", password=b"p")],
        "version 3": [("a", b"\x10\x0d\0\4MQTT\3\2\0\0\0\1a")],
        "version 6": [("a", b"\x10\x0e\0\4MQTT\6\2\0\0\0\0\1a")],
        "other protocol": [("a", b"\x10\x0d\0\4NQTT\4\2\0\0\0\1a")],
        "reserved flag of CONNECT": [("a", b"\x10\x0d\0\4MQTT\4\3\0\0\0\1a")],
        "flags of a will without one": [("a", b"\x10\x0d\0\4MQTT\4\x0a\0\0\0\1a")],
        "will at a lost connection": [
            connect("a", will=will),
            b,
            ("b", subscribe("#")),
            ("a", DROP),
            connect("c"),
            ("c", subscribe("will")),
        ],
        "will at a protocol error": [
            connect("a", will=will),
            b,
            ("b", subscribe("#")),
            ("a", publish("#")),
        ],
        "will at DISCONNECT": [
            connect("a", will=will),
            b,
            ("b", subscribe("#")),
            ("a", Disconnect()),
        ],
        "will at a takeover": [
            connect("a", will=will),
            b,
            ("b", subscribe("#")),
            connect("a"),
        ],
        "will at a takeover of a session": [
            connect("a", will=will, **keeps),
            b,
            ("b", subscribe("#")),
            connect("a", **keeps),
        ],
        "will on a topic that is not allowed": [connect("a", will=Will("#", b"x"))],
        "will with QoS 2": [connect("a", will=Will("x", b"x", 2))],
        "will that is too large": [
            connect("a", will=Will("will", b"x" * 250, 1)),
            b,
            ("b", subscribe("#")),
            ("a", DROP),
        ],
        "takeover of a session": [
            connect("a", **keeps),
            ("a", subscribe("x")),
            connect("a", **keeps),
            b,
            ("b", publish("x")),
        ],
        "session over an absence": [
            connect("a", **keeps),
            ("a", subscribe("x/#")),
            ("a", Disconnect()),
            b,
            ("b", publish("x/y", b"1")),
            ("b", Publish("x/y", b"QoS 0")),
            ("b", publish("x/z", b"2", retain=True)),
            connect("a", **keeps),
            ("a", puback(1)),
            ("a", puback(2)),
            ("a", DROP),
            connect("a", **keeps),
        ],
        "session that is not resumed": [
            connect("a", **keeps),
            ("a", subscribe("x")),
            ("a", Disconnect()),
            connect("a"),
            b,
            ("b", publish("x")),
            ("a", Disconnect()),
            connect("a", **keeps),
        ],
        "window of a client": [
            a,
            b,
            ("b", subscribe("x")),
            *(("a", publish("x", b"%d" % number)) for number in range(6)),
            ("b", puback(1)),
            ("b", puback(3)),
            ("b", puback(3)),
            ("b", puback(2)),
            ("b", puback(4)),
        ],
        "redelivery": [
            connect("b", **keeps),
            ("b", subscribe("x")),
            a,
            *(("a", publish("x", b"%d" % number)) for number in range(5)),
            ("b", puback(2)),
            ("b", DROP),
            connect("b", **keeps),
            *(("b", puback(number)) for number in range(1, 6)),
        ],
        "full queue of a client": [
            a,
            b,
            ("b", subscribe("x")),
            *(("a", publish("x", b"%d" % number)) for number in range(12)),
            *(("b", puback(number)) for number in range(1, 13)),
        ],
        "full queue of an absent client": [
            connect("b", **keeps),
            ("b", subscribe("x")),
            ("b", Disconnect()),
            a,
            *(("a", publish("x", b"%d" % number)) for number in range(8)),
            connect("b", **keeps),
            *(("b", puback(number)) for number in range(1, 9)),
        ],
    }


def scripts_of_mqtt_5() -> dict[str, list[Step]]:
    a, b = ("a", Connect("a")), ("b", Connect("b"))

    def connect(name: str, **properties: Value) -> Step:
        return name, with_properties(Connect(name, clean_start=False), **properties)

    return {
        "no local": [
            a,
            b,
            ("a", subscribe("#", no_local=1)),
            ("a", publish("x")),
            ("b", publish("x")),
        ],
        "options of a second subscription": [
            a,
            ("a", subscribe("#")),
            ("a", subscribe("#", no_local=1)),
            ("a", publish("x")),
        ],
        "no local alone": [a, ("a", subscribe("#", no_local=1)), ("a", publish("x"))],
        "retain as published": [
            a,
            b,
            ("b", subscribe("x", retain_as_published=1)),
            ("b", subscribe("x/y")),
            ("a", publish("x", retain=True)),
            ("a", publish("x/y", retain=True)),
        ],
        "retain handling": [
            a,
            ("a", publish("x", retain=True)),
            ("a", publish("x/y", retain=True)),
            ("a", subscribe("x", retain_handling=1)),
            ("a", subscribe("x", retain_handling=1)),
            ("a", subscribe("x", retain_handling=2)),
            ("a", subscribe("x/y", retain_handling=2)),
            ("a", subscribe("x/y", retain_handling=1)),
            ("a", subscribe("x/y", retain_handling=0)),
        ],
        "retain handling 3": [a, ("a", subscribe("x", retain_handling=3))],
        "properties of a message": [
            a,
            b,
            ("b", subscribe("#")),
            (
                "a",
                publish(
                    "x",
                    retain=True,
                    properties={
                        "payload_format": 1,
                        "content_type": "application/json",
                        "response_topic": "x/y",
                        "correlation": b"\0\1",
                        "user": (("k", "v"), ("k", "w")),
                        "message_expiry": 100,
                    },
                ),
            ),
            ("b", subscribe("#")),
        ],
        "message that has expired": [
            a,
            ("a", publish("x", retain=True, properties={"message_expiry": 0})),
        ],
        "subscription identifiers": [
            a,
            ("a", with_properties(subscribe("x"), subscription_identifier=5)),
            ("a", with_properties(subscribe("#"), subscription_identifier=300)),
            ("a", publish("x", retain=True)),
            ("a", with_properties(subscribe("x"), subscription_identifier=6)),
            ("a", publish("x")),
        ],
        "subscription identifier 0": [
            a,
            ("a", with_properties(subscribe("x"), subscription_identifier=0)),
        ],
        "subscription identifier from a client": [
            a,
            ("a", publish("x", properties={"subscription_identifier": 5})),
        ],
        "topic alias": [a, ("a", publish("x", properties={"topic_alias": 1}))],
        "unknown property": [a, ("a", b"\x30\x06\0\1x\2\x7f\1")],
        "property in a wrong packet": [a, ("a", b"\x30\x07\0\1x\3\x21\0\1")],
        "property twice": [a, ("a", b"\x30\x08\0\1x\4\1\1\1\1")],
        "properties longer than the packet": [a, ("a", b"\x30\x05\0\1x\x09\1")],
        "payload format 2": [a, ("a", publish("x", properties={"payload_format": 2}))],
        "response topic with a wildcard": [
            a,
            ("a", publish("x", properties={"response_topic": "#"})),
        ],
        "receive maximum": [
            b,
            connect("a", receive_maximum=2),
            ("a", subscribe("x")),
            *(("b", publish("x", b"%d" % number)) for number in range(4)),
            ("a", puback(1)),
            ("a", puback(2)),
        ],
        "receive maximum 0": [connect("a", receive_maximum=0)],
        "receive maximum above the broker's": [
            b,
            connect("a", receive_maximum=5),
            ("a", subscribe("x")),
            *(("b", publish("x", b"%d" % number)) for number in range(7)),
        ],
        "maximum packet size": [
            b,
            connect("a", maximum_packet_size=30),
            ("a", subscribe("x")),
            ("b", publish("x", b"." * 100)),
            ("b", publish("x", b"2")),
            ("b", Publish("x", b"." * 100)),
            ("b", publish("x", b"3")),
        ],
        "maximum packet size 0": [connect("a", maximum_packet_size=0)],
        "authentication method": [connect("a", authentication_method="x")],
        "will with DISCONNECT": [
            ("a", Connect("a", will=Will("will", b"gone"))),
            b,
            ("b", subscribe("#")),
            ("a", Disconnect(Reason.DISCONNECT_WITH_WILL)),
        ],
        "delayed will, and back in time": [
            connect("a", session_expiry=1000),
            ("a", Disconnect()),
            (
                "a",
                Connect(
                    "a",
                    clean_start=False,
                    will=Will("will", b"gone", properties={"will_delay": 500}),
                    properties={"session_expiry": 1000},
                ),
            ),
            b,
            ("b", subscribe("#")),
            ("a", DROP),
            connect("a", session_expiry=1000),
        ],
        "delayed will of a session that ends with its connection": [
            ("a", Connect("a", will=Will("will", b"gone", properties={"will_delay": 500}))),
            b,
            ("b", subscribe("#")),
            ("a", DROP),
        ],
        "properties of a will": [
            (
                "a",
                Connect(
                    "a",
                    will=Will(
                        "will", b"gone", properties={"content_type": "text", "user": (("k", "v"),)}
                    ),
                ),
            ),
            b,
            ("b", subscribe("#")),
            ("a", DROP),
        ],
        "session ended by DISCONNECT": [
            connect("a", session_expiry=1000),
            ("a", with_properties(Disconnect(), session_expiry=0)),
            connect("a", session_expiry=1000),
        ],
        "session kept by DISCONNECT": [
            connect("a"),
            ("a", with_properties(Disconnect(), session_expiry=1000)),
            connect("a"),
        ],
        "session of MQTT 3.1.1 resumed by 5": [
            ("a", Connect("a", V311, clean_start=False)),
            ("a", subscribe("x")),
            ("a", Disconnect()),
            b,
            ("b", publish("x", properties={"content_type": "text"})),
            connect("a", session_expiry=1000),
        ],
        "session ends with its connection": [
            connect("a"),
            ("a", subscribe("x")),
            ("a", DROP),
            connect("a"),
        ],
    }


SCRIPTS: dict[str, Sequence[Step]] = {
    **{f"{name} (3.1.1)": script for name, script in scripts(V311).items()},
    **{f"{name} (5)": script for name, script in scripts(V5).items()},
    **{f"{name} (5)": script for name, script in scripts_of_mqtt_5().items()},
}


@pytest.fixture(scope="module")
def mosquitto(programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SocketServer]:
    broker = Mosquitto(tmp_path_factory.mktemp("mosquitto"), *SETTINGS)
    broker.start()
    yield SocketServer(broker.port)
    broker.kill()


def test_scripts_are_answered_as_by_mosquitto(mosquitto: SocketServer) -> None:
    different = {}
    for name, script in SCRIPTS.items():
        clear(mosquitto, CLIENTS, TOPICS)
        expected = run(mosquitto, script)
        found = run(InMemory(Broker(LIMITS)), script)
        if found != expected:
            different[name] = "\n".join(
                f"  {step[:90]}\n    mosquitto {theirs}\n    world     {ours}"
                for (step, theirs), (_, ours) in zip(expected, found, strict=False)
                if theirs != ours
            )
    told = "\n".join(f"{name}\n{what}" for name, what in different.items())
    assert different.keys() == DIFFERENCES.keys(), told


def drawn_script(random: Random) -> list[Step]:
    """Whatever clients may do within their limits."""
    script: list[Step] = []
    versions = {name: random.choice((V311, V5)) for name in CLIENTS}
    online = set[str]()
    for number in range(40):
        name = random.choice(CLIENTS)
        if name not in online:
            online.add(name)
            script.append((name, drawn_connect(random, name, versions[name])))
            continue
        match random.randrange(10):
            case 0:
                script.append((name, random.choice((DROP, Disconnect()))))
                online.remove(name)
            case 1 | 2 | 3:
                script.append((name, drawn_subscribe(random, versions[name])))
            case 4:
                script.append((name, Unsubscribe(3, tuple(random.sample(FILTERS, 2)))))
            case 5:
                script.append((name, puback(random.randint(1, 5))))
            case _:
                script.append((name, drawn_publish(random, number, versions[name])))
    return script


def drawn_connect(random: Random, name: str, version: int) -> Connect:
    will = None
    if random.random() < 0.3:
        will = Will(random.choice(TOPICS), b"will", random.randrange(2), random.random() < 0.5)
    lasts = version == V5 and random.random() < 0.7
    properties = {"session_expiry": 1000} if lasts else {}
    return Connect(name, version, random.random() < 0.3, will=will, properties=properties)


def drawn_subscribe(random: Random, version: int) -> Subscribe:
    """A filter always has the same options: Mosquitto leaves them when it is subscribed again."""
    found = []
    for each in random.sample(FILTERS, random.randint(1, 3)):
        options = FILTERS.index(each) if version == V5 else 0
        found.append(
            Subscription(
                each,
                random.randrange(3),
                bool(options & 1),
                bool(options & 2),
                random.randrange(3) if version == V5 else 0,
            )
        )
    return Subscribe(1, tuple(found))


def drawn_publish(random: Random, number: int, version: int) -> Publish:
    qos = random.randrange(2)
    properties: Mapping[str, int | str] = {}
    if version == V5 and random.random() < 0.5:
        properties = {"content_type": "text", "message_expiry": 1000}
    return Publish(
        random.choice(TOPICS),
        random.choice((b"", b"%d" % number, b"%d" % number)),
        qos,
        random.random() < 0.4,
        packet_id=number + 1 if qos else 0,
        properties=properties,
    )


def test_drawn_scripts_are_answered_as_by_mosquitto(
    programs: None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """With a window that is never full: see ``DIFFERENCES``."""
    settings = ("max_topic_alias 0", "max_qos 1", "allow_anonymous true")
    broker = Mosquitto(tmp_path_factory.mktemp("drawn"), *settings, "max_inflight_messages 1000")
    broker.start()
    server = SocketServer(broker.port)
    try:
        for seed in range(cases(60, 1000)):
            clear(server, CLIENTS, TOPICS)
            script = drawn_script(Random(seed))
            expected = run(server, script)
            found = run(InMemory(Broker(Limits(max_in_flight=1000))), script)
            assert found == expected, f"seed {seed}"
    finally:
        broker.kill()
