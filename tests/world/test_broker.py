"""The broker of the simulated world: what depends on time, and each fault."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import pytest

from tests.world.broker.broker import Broker, Limits
from tests.world.broker.faults import (
    Delay,
    Duplicate,
    Fault,
    ForcedDisconnect,
    Forget,
    HalfOpen,
    Lag,
    LoseQos0,
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
    Disconnect,
    Kind,
    Packet,
    Ping,
    Publish,
    Reason,
    Subscribe,
    SubscribeReply,
    Subscription,
    Will,
    encode,
    parse,
    split,
)
from tests.world.broker.wires import Wires


class World:
    """Clients at a broker, and a clock."""

    def __init__(self, limits: Limits | None = None, **options: Any) -> None:
        self.wires = Wires(Broker(limits, **options))
        self.now = 100.0

    def client(self, name: str, *filters: str, version: int = V5, **options: Any) -> Client:
        """A client that is connected, and subscribed to topics."""
        client = Client(self, name, version)
        client.send(Connect(name, version, **options))
        if filters:
            client.send(Subscribe(1, tuple(Subscription(each, 1) for each in filters)))
            assert isinstance(client.receive()[-1], SubscribeReply)
        else:
            assert isinstance(client.receive()[0], Connack)
        return client

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.wires.advance(self.now)

    def begin(self, fault: Fault) -> None:
        self.wires.begin(fault, self.now)

    def end(self, fault: Fault) -> None:
        self.wires.end(fault, self.now)


class Client:
    def __init__(self, world: World, name: str, version: int) -> None:
        self._world, self._version = world, version
        self.wire = world.wires.connect(name, world.now)
        self._buffer = bytearray()

    def send(self, packet: Packet) -> None:
        self._world.wires.send(self.wire, encode(packet, self._version), self._world.now)

    def publish(self, topic: str, payload: bytes = b"1", **more: Any) -> None:
        self.send(Publish(topic, payload, **{"qos": 1, "packet_id": 1, **more}))

    def acknowledge(self, packet_id: int) -> None:
        self.send(Acknowledgement(Kind.PUBACK, packet_id))

    def receive(self) -> list[Packet]:
        self._buffer += self._world.wires.receive(self.wire, self._world.now)
        return [parse(first, body, self._version) for first, body in split(self._buffer)]

    def messages(self) -> list[bytes]:
        """Payloads that have arrived since the last call."""
        return [each.payload for each in self.receive() if isinstance(each, Publish)]

    def reason(self) -> int:
        """The reason of the only packet that has arrived, a PUBACK or a DISCONNECT."""
        (packet,) = self.receive()
        assert isinstance(packet, Acknowledgement | Disconnect)
        return packet.reason

    def close(self) -> None:
        self._world.wires.close(self.wire, self._world.now)


def payloads(messages: Iterable[int]) -> list[bytes]:
    return [b"%d" % number for number in messages]


KEEP: dict[str, Any] = {"clean_start": False, "properties": {"session_expiry": 1000}}


# Time


@pytest.mark.parametrize("version", [V311, V5])
def test_a_client_that_is_silent_for_one_and_a_half_keep_alives_is_closed(version: int) -> None:
    world = World()
    watcher = world.client("watcher", "gone")
    client = world.client("a", version=version, keep_alive=10, will=Will("gone", b"a"))
    world.wait(14.0)
    client.send(Ping(Kind.PINGREQ))
    world.wait(14.9)
    assert client.receive() == [Ping(Kind.PINGRESP)]
    assert client.wire.open
    assert world.wires.deadline == pytest.approx(world.now + 0.1)
    world.wait(0.1)
    told = [Disconnect(Reason.KEEP_ALIVE_TIMEOUT)] if version == V5 else []
    assert client.receive() == told
    assert not client.wire.open
    assert watcher.messages() == [b"a"]


def test_a_will_waits_for_its_delay_or_the_end_of_its_session() -> None:
    world = World()
    watcher = world.client("watcher", "gone")
    for delay, expiry in ((5, 1000), (1000, 5)):
        will = Will("gone", b"a", properties={"will_delay": delay})
        client = world.client("a", will=will, properties={"session_expiry": expiry})
        client.close()
        world.wait(4.9)
        assert watcher.messages() == []
        world.wait(0.1)
        assert watcher.messages() == [b"a"]


def test_a_session_ends_at_its_expiry() -> None:
    world = World()
    for seconds, present in ((999.0, True), (1000.0, False)):
        client = world.client("a", **KEEP)
        client.close()
        world.wait(seconds)
        again = Client(world, "a", V5)
        again.send(Connect("a", **KEEP))
        (connack,) = again.receive()
        assert isinstance(connack, Connack)
        assert connack.session_present is present
        again.close()
    assert world.wires.deadline == world.now + 1000


def test_a_session_that_came_back_does_not_end_when_the_first_absence_would_have() -> None:
    world = World()
    world.client("a", **KEEP).close()
    world.wait(900.0)
    client = world.client("a", "#", **KEEP)
    client.close()
    world.wait(500.0)
    world.client("b").publish("x")
    back = Client(world, "a", V5)
    back.send(Connect("a", **KEEP))
    assert back.messages() == [b"1"]


def test_a_message_is_not_delivered_after_its_expiry() -> None:
    world = World()
    publisher = world.client("publisher")
    absent = world.client("a", "#", **KEEP)
    absent.close()
    for topic, retain in (("retained", True), ("queued", False)):
        publisher.publish(topic, retain=retain, properties={"message_expiry": 10})
    world.wait(9.0)
    reader = world.client("b")
    reader.send(Subscribe(1, (Subscription("retained", 1),)))
    _, message = reader.receive()
    assert isinstance(message, Publish)
    assert message.properties == {"message_expiry": 1}
    world.wait(1.0)
    reader.send(Subscribe(1, (Subscription("retained", 1),)))
    assert reader.messages() == []
    back = Client(world, "a", V5)
    back.send(Connect("a", **KEEP))
    assert back.messages() == []


def test_limits_are_announced_and_enforced() -> None:
    world = World(Limits(max_in_flight=7, max_packet_bytes=100, max_payload_bytes=20))
    client = Client(world, "a", V5)
    client.send(Connect("a"))
    (connack,) = client.receive()
    assert isinstance(connack, Connack)
    assert connack.properties == {
        "maximum_qos": 1,
        "receive_maximum": 7,
        "maximum_packet_size": 100,
        "server_keep_alive": 0xFFFF,
    }
    client.publish("x", b"." * 21)
    assert client.reason() == Reason.PACKET_TOO_LARGE
    client.publish("x", b"." * 101)
    assert client.reason() == Reason.PACKET_TOO_LARGE
    assert not client.wire.open


def test_who_may_not_read_or_write_is_refused_as_by_mosquitto() -> None:
    """A publication is acknowledged with a reason, a subscription is granted and stays silent."""

    def access(client: str, _user: str | None, action: str, topic: str) -> bool:
        return topic != "secret" or (client, action) == ("owner", "write")

    world = World(access=access)
    reader, other = world.client("reader", "#"), world.client("other")
    world.client("owner").publish("secret")
    assert reader.messages() == []
    other.publish("secret")
    assert other.reason() == Reason.NOT_AUTHORIZED
    old = world.client("old", version=V311)
    old.publish("secret")
    assert old.reason() == 0
    other.publish("open")
    assert reader.messages() == [b"1"]


# Faults of the broker


def test_it_acknowledges_and_forgets() -> None:
    world = World()
    publisher, reader = world.client("publisher"), world.client("reader", "a/#", "b")
    publisher.publish("a/1", b"before", retain=True)
    fault = Forget("a/#")
    world.begin(fault)
    publisher.publish("a/1", b"lost", retain=True)
    publisher.publish("b", b"kept", retain=True)
    world.end(fault)
    publisher.publish("a/2", b"after", retain=True)
    assert reader.messages() == [b"before", b"kept", b"after"]
    assert [each.reason for each in publisher.receive() if isinstance(each, Acknowledgement)] == [
        0
    ] * 4
    late = world.client("late")
    late.send(Subscribe(1, (Subscription("#", 1),)))
    assert sorted(late.messages()) == [b"after", b"before", b"kept"]


def test_it_forgets_only_what_is_retained_or_only_what_is_live() -> None:
    world = World()
    publisher, reader = world.client("publisher"), world.client("reader", "#")
    for fault in (Forget(live=False), Forget(retained=False)):
        world.begin(fault)
        publisher.publish("x", b"%r" % fault.live, retain=True)
        world.end(fault)
    assert reader.messages() == [b"False"]
    assert world.wires.broker.retained["x"].payload == b"True"


def test_it_refuses_publications() -> None:
    world = World()
    publisher, reader = world.client("publisher"), world.client("reader", "#")
    old = world.client("old", version=V311)
    fault = RefusePublish("x/#", Reason.QUOTA_EXCEEDED)
    world.begin(fault)
    publisher.publish("x/y")
    assert publisher.reason() == Reason.QUOTA_EXCEEDED
    old.publish("x/y")
    assert old.reason() == 0
    publisher.publish("y", b"other")
    world.end(fault)
    publisher.publish("x/y", b"later")
    assert reader.messages() == [b"other", b"later"]


def test_topics_are_reordered_and_messages_of_one_are_not() -> None:
    world = World()
    publisher, reader = world.client("publisher"), world.client("reader", "#")
    fault = Lag("slow", 5.0)
    world.begin(fault)
    publisher.publish("slow", b"1")
    world.wait(1.0)
    publisher.publish("slow", b"2")
    world.end(fault)
    publisher.publish("slow", b"3")
    publisher.publish("quick", b"4")
    assert reader.messages() == [b"4"]
    world.wait(5.0)
    publisher.publish("slow", b"5")
    assert reader.messages() == [b"1", b"2", b"3", b"5"]


def test_messages_are_delivered_twice() -> None:
    world = World()
    publisher, reader = world.client("publisher"), world.client("reader", "#")
    fault = Duplicate(seconds=2.0)
    world.begin(fault)
    publisher.publish("x", b"1")
    publisher.send(Publish("x", b"QoS 0"))
    world.end(fault)
    publisher.publish("x", b"2")
    world.wait(2.0)
    assert reader.messages() == [b"1", b"QoS 0", b"2", b"1"]


def test_messages_with_qos_0_are_lost() -> None:
    world = World()
    publisher, reader = world.client("publisher"), world.client("reader", "#")
    fault = LoseQos0()
    world.begin(fault)
    publisher.send(Publish("x", b"QoS 0"))
    publisher.publish("x", b"1", retain=True)
    reader.send(Subscribe(2, (Subscription("x", 0),)))
    world.end(fault)
    publisher.send(Publish("x", b"QoS 0, later"))
    assert reader.messages() == [b"1", b"1", b"QoS 0, later", b"QoS 0, later"]


def test_a_slow_reader_gets_no_more_than_its_window_and_loses_what_does_not_fit() -> None:
    world = World(Limits(max_queued=3))
    publisher, reader = world.client("publisher"), world.client("reader", "#")
    fault = SlowReader("reader", window=1)
    world.begin(fault)
    for payload in payloads(range(6)):
        publisher.publish("x", payload)
    reader.send(Ping(Kind.PINGREQ))
    first, ping = reader.receive()
    assert isinstance(first, Publish)
    assert ping == Ping(Kind.PINGRESP)
    reader.acknowledge(first.packet_id)
    assert reader.messages() == [b"1"]
    world.end(fault)
    assert reader.messages() == [b"2", b"3"]
    assert world.wires.broker.sessions["reader"].dropped == 2


@pytest.mark.parametrize("version", [V311, V5])
def test_a_client_is_disconnected_and_its_will_published(version: int) -> None:
    world = World()
    watcher = world.client("watcher", "gone")
    client = world.client("a", version=version, will=Will("gone", b"a"))
    world.begin(ForcedDisconnect("a", Reason.SERVER_BUSY))
    assert client.receive() == ([Disconnect(Reason.SERVER_BUSY)] if version == V5 else [])
    assert not client.wire.open
    assert watcher.messages() == [b"a"]


@pytest.mark.parametrize("sessions", [True, False])
@pytest.mark.parametrize("retained", [True, False])
def test_the_broker_is_killed_and_comes_back_with_or_without_its_data(
    sessions: bool, retained: bool
) -> None:
    world = World()
    publisher, reader = world.client("publisher"), world.client("a", "x", **KEEP)
    publisher.publish("x", b"unacknowledged")
    publisher.publish("y", b"retained", retain=True)
    assert reader.messages() == [b"unacknowledged"]
    fault = Outage(keeps_sessions=sessions, keeps_retained=retained)
    world.begin(fault)
    assert reader.receive() == []
    assert not reader.wire.open
    with pytest.raises(ConnectionRefusedError):
        world.client("b")
    world.end(fault)
    back = Client(world, "a", V5)
    back.send(Connect("a", **KEEP))
    connack, *again = back.receive()
    assert isinstance(connack, Connack)
    assert connack.session_present is sessions
    assert [each.payload for each in again if isinstance(each, Publish)] == (
        [b"unacknowledged"] if sessions else []
    )
    back.send(Subscribe(1, (Subscription("y", 1),)))
    assert back.messages() == ([b"retained"] if retained else [])


# Faults of the wire


def test_a_half_open_connection_loses_one_direction_until_it_is_closed() -> None:
    world = World()
    publisher, reader = world.client("publisher"), world.client("reader", "#", keep_alive=10)
    world.begin(HalfOpen("reader", "to_client"))
    publisher.publish("x", b"lost")
    assert reader.messages() == []
    world.begin(HalfOpen("reader", "to_broker"))
    world.wait(15.0)
    assert reader.receive() == []
    assert reader.wire.open  # it cannot know
    assert "reader" not in world.wires.broker.sessions
    assert world.client("reader", "#").wire.open


def test_bytes_are_late_and_in_order() -> None:
    world = World()
    publisher, reader = world.client("publisher"), world.client("reader", "#")
    fault = Delay("publisher", 3.0)
    world.begin(fault)
    publisher.publish("x", b"1")
    world.wait(1.0)
    world.end(fault)
    publisher.publish("x", b"2")
    assert reader.messages() == []
    assert world.wires.deadline == world.now + 2.0
    world.wait(2.0)
    assert reader.messages() == [b"1", b"2"]


def test_who_is_cut_off_hears_it_all_when_it_is_over() -> None:
    world = World()
    publisher, reader = world.client("publisher"), world.client("reader", "#", keep_alive=20)
    fault = Partition(frozenset({"reader", "newcomer"}))
    world.begin(fault)
    publisher.publish("x", b"1")
    reader.publish("y", b"2")
    newcomer = Client(world, "newcomer", V5)
    newcomer.send(Connect("newcomer"))
    world.wait(5.0)
    assert reader.receive() == newcomer.receive() == []
    world.end(fault)
    assert reader.messages() == [b"1", b"2"]
    assert isinstance(newcomer.receive()[0], Connack)
    world.begin(fault)
    world.wait(30.0)  # longer than the keep-alive
    assert reader.wire.open
    world.end(fault)
    assert reader.receive() == [Disconnect(Reason.KEEP_ALIVE_TIMEOUT)]
    assert not reader.wire.open


def test_without_anything_to_do_there_is_no_deadline() -> None:
    world = World()
    client = world.client("a", version=V311)
    client.close()
    assert world.wires.deadline == math.inf
