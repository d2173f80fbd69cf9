"""Whatever faults are drawn: messages of a topic arrive in order, none is invented, and all that
the broker neither refuses nor drops is there when the faults are over. The same seed gives the
same bytes.
"""

from __future__ import annotations

from collections import defaultdict
from random import Random

import pytest

from tests.conftest import cases
from tests.world.broker.broker import Broker, Limits
from tests.world.broker.faults import (
    Delay,
    Duplicate,
    Fault,
    ForcedDisconnect,
    Forget,
    HalfOpen,
    Lag,
    Outage,
    Partition,
    RefusePublish,
    SlowReader,
)
from tests.world.broker.packets import (
    V5,
    V311,
    Acknowledgement,
    Connack,
    Connect,
    Kind,
    Packet,
    Ping,
    Publish,
    Subscribe,
    Subscription,
    encode,
    parse,
    split,
)
from tests.world.broker.wires import Wire, Wires

KEEP_ALIVE = 4
NAMES = ("daemon", "archive", "display")
TOPICS = ("r1/event", "r2/event")


class Client:
    """A client that keeps its session, connects again, and gives a silent broker up."""

    def __init__(self, wires: Wires, name: str, version: int) -> None:
        self.wires, self.name, self.version = wires, name, version
        self.wire: Wire | None = None
        self.connected = False
        self.received: defaultdict[str, list[int]] = defaultdict(list)
        self.transcript = bytearray()
        self.unacknowledged: dict[int, tuple[str, int]] = {}
        self._unread = bytearray()
        self._heard = 0.0

    def send(self, packet: Packet, now: float) -> None:
        if self.wire is not None and self.wire.open:
            self.wires.send(self.wire, encode(packet, self.version), now)

    def publish(self, topic: str, number: int, now: float) -> None:
        packet_id = number % 0xFFFF + 1
        self.unacknowledged[packet_id] = topic, number
        if self.connected:
            self._publish(packet_id, now)

    def _publish(self, packet_id: int, now: float) -> None:
        topic, number = self.unacknowledged[packet_id]
        self.send(Publish(topic, b"%d" % number, 1, packet_id=packet_id), now)

    def live(self, now: float) -> None:
        """Do what a client does: connect, read, acknowledge, ping."""
        if self.wire is None:
            try:
                self.wire = self.wires.connect(self.name, now)
            except ConnectionRefusedError:
                return
            self._heard, self._unread = now, bytearray()
            keeps = {"session_expiry": 0xFFFF_FFFF} if self.version == V5 else {}
            connect = Connect(self.name, self.version, False, KEEP_ALIVE, properties=keeps)
            self.send(connect, now)
        data = self.wires.receive(self.wire, now)
        self.transcript += data
        self._unread += data
        if data:
            self._heard = now
        for first, body in split(self._unread):
            self._handle(parse(first, body, self.version), now)
        if self.wire.open and now - self._heard > 1.5 * KEEP_ALIVE:
            self.wires.close(self.wire, now)
        if not self.wire.open:
            self.wire, self.connected = None, False
        elif self.connected:
            self.send(Ping(Kind.PINGREQ), now)

    def _handle(self, packet: Packet, now: float) -> None:
        match packet:
            case Connack():
                self.connected = True
                if self.name != "daemon":
                    self.send(Subscribe(1, (Subscription("#", 1),)), now)
                for packet_id in self.unacknowledged:
                    self._publish(packet_id, now)
            case Publish():
                self.received[packet.topic].append(int(packet.payload))
                self.send(Acknowledgement(Kind.PUBACK, packet.packet_id), now)
            case Acknowledgement(packet_id=packet_id):
                self.unacknowledged.pop(packet_id, None)


def drawn_fault(random: Random, *, drops: bool) -> Fault:
    """``drops``: also one that drops messages. A refusal does so, and reorders: if its PUBACK is
    lost with the connection, the message is sent again after later ones.
    """
    name, topic = random.choice(NAMES), random.choice((*TOPICS, "#", "+/event"))
    seconds = random.choice((0.1, 1.0, 5.0))
    faults: list[Fault] = [
        Lag(topic, seconds),
        Duplicate(topic, seconds),
        SlowReader(name, random.randrange(3)),
        ForcedDisconnect(name),
        HalfOpen(name, random.choice(("to_broker", "to_client"))),
        Delay(name, seconds),
        Partition(frozenset(random.sample(NAMES, 2))),
        Outage(keeps_sessions=True, keeps_retained=random.random() < 0.5),
    ]
    if drops:
        faults += [Forget(topic), Outage(), RefusePublish(topic)]
    return random.choice(faults)


def play(seed: int, *, drops: bool) -> tuple[dict[str, list[int]], list[Client]]:
    """What was published on each topic, and the clients after faults and a time of rest."""
    random = Random(seed)
    wires = Wires(Broker(Limits(max_queued=0)))
    daemon = Client(wires, "daemon", V5)
    clients = [daemon, Client(wires, "archive", V311), Client(wires, "display", V5)]
    published: dict[str, list[int]] = {topic: [] for topic in TOPICS}
    now = 0.0
    for _ in range(3):  # all are there and subscribed before anything is published
        for client in clients:
            client.live(now)
    lasting: list[Fault] = []
    for step in range(300):
        now += random.choice((0.0, 0.01, 0.3, 1.0))
        if random.random() < 0.5:
            topic = random.choice(TOPICS)
            published[topic].append(step)
            daemon.publish(topic, step, now)
        if random.random() < 0.08:
            lasting.append(drawn_fault(random, drops=drops))
            wires.begin(lasting[-1], now)
        if lasting and random.random() < 0.1:
            wires.end(lasting.pop(random.randrange(len(lasting))), now)
        for client in random.sample(clients, 2):
            client.live(now)
    for fault in lasting:
        wires.end(fault, now)
    for _ in range(100):
        now += 0.5
        for client in clients:
            client.live(now)
    return published, clients


@pytest.mark.parametrize("drops", [False, True])
def test_faults_reorder_no_topic_and_lose_only_what_is_dropped(drops: bool) -> None:
    for seed in range(cases(12, 3000)):
        published, (daemon, *subscribers) = play(seed, drops=drops)
        assert not daemon.unacknowledged, seed
        for subscriber in subscribers:
            for topic, numbers in published.items():
                first = list(dict.fromkeys(subscriber.received[topic]))
                where = (seed, subscriber.name, topic)
                if drops:
                    assert set(first) <= set(numbers), where
                else:
                    assert first == numbers, where


def test_a_seed_gives_the_same_bytes() -> None:
    for seed in range(2):
        (_, once), (_, again) = play(seed, drops=True), play(seed, drops=True)
        for client, other in zip(once, again, strict=True):
            assert client.transcript == other.transcript
