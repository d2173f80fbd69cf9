"""The state machine of an MQTT broker: bytes of a connection in, bytes of connections out.

Synchronous and deterministic: no I/O, no logging; the caller gives the time, in seconds of any
clock that does not go back. It answers as Mosquitto 2.0 does, with ``max_qos 1`` and
``max_topic_alias 0``; ``tests/world/broker/test_against_mosquitto.py`` names the differences.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Literal, TypeAlias

import msgspec

from tests.world.broker.faults import (
    ActiveFaults,
    Duplicate,
    Forget,
    Lag,
    LoseQos0,
    RefusePublish,
)
from tests.world.broker.packets import (
    MAX_LENGTH,
    NONE,
    V5,
    V311,
    Acknowledgement,
    Connack,
    Connect,
    Disconnect,
    InvalidPacketError,
    Kind,
    Packet,
    Ping,
    Properties,
    Publish,
    Reason,
    Subscribe,
    SubscribeReply,
    Subscription,
    Unsubscribe,
    Value,
    Will,
    encode,
    parse,
    split,
)
from tests.world.broker.sessions import Message, Outgoing, Session
from tests.world.broker.topics import is_filter, is_name, matches, search_order

NEVER = 0xFFFF_FFFF
"""The session expiry of a session that does not expire (3.1.2.11.2)."""
_REFUSED_V311 = {Reason.IDENTIFIER_NOT_VALID: 2, Reason.PACKET_TOO_LARGE: 5}
"""Return codes of MQTT 3.1.1 for reasons of MQTT 5. Without one there is no CONNACK."""

Access: TypeAlias = Callable[[str, str | None, Literal["read", "write"], str], bool]
"""Whether a client (id, user name) may read from or write to a topic."""


class Limits(msgspec.Struct, frozen=True):
    """The limits of a broker; those of Mosquitto where it has nothing configured."""

    max_in_flight: int = 20
    """Messages with QoS 1 that one client may leave unacknowledged, if it does not limit itself."""
    max_queued: int = 1000
    """Messages queued beyond that for one client; 0 for any number."""
    max_packet_bytes: int = 0
    """0 for no limit."""
    max_payload_bytes: int = 0
    """A larger message is refused; 0 for no limit."""
    max_keep_alive: int = 0xFFFF


class Connection:
    """A connection as the broker sees it. ``outgoing`` collects bytes for the client; ``changed``
    all connections that have some, or are closed.
    """

    def __init__(self, peer: str, changed: dict[Connection, None]) -> None:
        self.peer = peer
        self.names = {peer} - {""}
        """How faults name this client."""
        self.outgoing = bytearray()
        self.closed = False
        self.client_id = ""
        self.version = 0
        """0 until there was a CONNECT."""
        self.keep_alive = math.inf
        """Seconds of silence after which the connection is closed."""
        self.last_received = 0.0
        self.will: Will | None = None
        self.received = bytearray()
        self._changed = changed

    def write(self, data: bytes) -> None:
        """Send bytes to the client."""
        self.outgoing += data
        self._changed[self] = None

    def close(self) -> None:
        """End the connection, after what was written."""
        self.closed = True
        self._changed[self] = None


class Broker:
    """``connect`` a client, and pass what it sends to ``receive``. ``changed`` has the connections
    that have bytes for their client, or are closed. ``advance`` runs timers; the next is due at
    ``deadline``.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        access: Access = lambda _client, _user, _action, _topic: True,
        faults: ActiveFaults | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.access = access
        self.faults = faults or ActiveFaults()
        self._largest = self.limits.max_packet_bytes or MAX_LENGTH + 5
        self.changed: dict[Connection, None] = {}
        self.connections: dict[Connection, None] = {}
        self.sessions: dict[str, Session] = {}
        self.retained: dict[str, Message] = {}
        self.on_acknowledged: Callable[[str, Message], None] = lambda _client, _message: None
        """Called when a client has acknowledged a message."""
        self.kills = 0
        """How often it was killed."""
        self._online: dict[str, Connection] = {}
        self._subscribers: dict[str, list[tuple[Session, Subscription, int]]] = {}
        """By topic: those of which a filter matches. A cache."""
        self._wills: dict[str, Will] = {}
        """Delayed wills, by client id."""
        self._lagging: dict[str, deque[tuple[float, Message, str]]] = {}
        """By topic: messages that a fault holds, when they are routed, and who published them."""
        self._now = 0.0
        self._timers: list[tuple[float, int, Callable[[], object]]] = []
        self._numbers = count(1)

    # Called by the transport

    def connect(self, peer: str, now: float) -> Connection:
        """A client has opened a connection."""
        self.advance(now)
        connection = Connection(peer, self.changed)
        self.connections[connection] = None
        return connection

    def receive(self, connection: Connection, data: bytes, now: float) -> None:
        """Handle bytes of a client."""
        self.advance(now)
        if connection.closed:
            return
        connection.last_received = self._now
        connection.received += data
        try:
            for first, body in split(connection.received, self._largest):
                self._handle(connection, first, body)
                if connection.closed:
                    return
        except InvalidPacketError as error:
            self._end(connection, error.reason)

    def lose(self, connection: Connection, now: float) -> None:
        """A connection has ended without DISCONNECT."""
        self.advance(now)
        self._close(connection)

    def advance(self, now: float) -> None:
        """Run all timers that are due."""
        while self._timers and self._timers[0][0] <= now:
            due, _, action = heapq.heappop(self._timers)
            self._now = max(self._now, due)
            action()
        if now > self._now:
            self._now = now

    @property
    def deadline(self) -> float:
        """When the next timer is due; infinity for never."""
        return self._timers[0][0] if self._timers else math.inf

    # Called by faults

    def disconnect(self, connection: Connection, reason: int, now: float) -> None:
        """End a connection for a reason."""
        self.advance(now)
        self._end(connection, reason)

    def end_session(self, client_id: str, now: float) -> None:
        """End the session of a client, and its connection."""
        self.advance(now)
        if (connection := self._online.get(client_id)) is not None:
            self._close(connection)
        if (session := self.sessions.get(client_id)) is not None:
            self._forget(session)

    def kill(self, now: float, *, keeps_sessions: bool, keeps_retained: bool) -> None:
        """Close all connections without a word, and forget what is not on the disk."""
        self.advance(now)
        self.kills += 1
        for connection in self.connections:
            connection.close()
        if keeps_sessions:  # what it has acknowledged is on the disk
            for topic, held in self._lagging.items():
                while held:
                    self._route_held(topic)
        self._timers.clear()
        self._lagging.clear()
        self._wills.clear()
        for session in list(self.sessions.values()):
            session.detach()
            if not keeps_sessions:
                session.expiry = 0.0
            self._expire_later(session)
        if not keeps_retained:
            self.retained.clear()
        self.connections.clear()
        self._online.clear()

    def send_queued(self) -> None:
        """Send what was held by a fault that has ended."""
        for connection in self._online.values():
            self._send_queued(connection)

    # Packets

    def _handle(self, connection: Connection, first: int, body: bytes) -> None:
        if connection.version == 0:
            if first >> 4 != Kind.CONNECT:
                self._close(connection)
            else:
                self._on_connect_bytes(connection, first, body)
            return
        match parse(first, body, connection.version):
            case Publish() as packet:
                self._on_publish(connection, packet)
            case Acknowledgement(kind=Kind.PUBACK, packet_id=packet_id):
                acknowledged = self.sessions[connection.client_id].acknowledge(packet_id)
                if acknowledged is not None:
                    self.on_acknowledged(connection.client_id, acknowledged.message)
                self._send_queued(connection)
            case Subscribe() as packet:
                self._on_subscribe(connection, packet)
            case Unsubscribe() as packet:
                self._on_unsubscribe(connection, packet)
            case Ping(kind=Kind.PINGREQ):
                self._send(connection, Ping(Kind.PINGRESP))
            case Disconnect() as packet:
                self._on_disconnect(connection, packet)
            case _:  # not a packet that a client sends, or a second CONNECT
                self._close(connection)

    def _on_connect_bytes(self, connection: Connection, first: int, body: bytes) -> None:
        try:
            packet = parse(first, body, V5)
        except InvalidPacketError as error:
            if error.reason == Reason.UNSUPPORTED_VERSION:
                self._send(connection, Connack(1))
            self._close(connection)
        else:
            assert isinstance(packet, Connect)
            self._on_connect(connection, packet)

    def _on_connect(self, connection: Connection, packet: Connect) -> None:
        reason, properties = self._judge(packet), dict[str, Value]()
        connection.version = packet.version
        if reason:
            if packet.version == V5:
                self._send(connection, Connack(reason, properties={"maximum_qos": 1}))
            elif reason in _REFUSED_V311:
                self._send(connection, Connack(_REFUSED_V311[reason]))
            self._close(connection)
            return
        client_id = packet.client_id
        if not client_id:
            client_id = f"auto-{next(self._numbers)}"
            properties["assigned_client_id"] = client_id
        if (before := self._online.get(client_id)) is not None:
            self._take_over(before, packet.clean_start)
        session = self.sessions.get(client_id)
        self._wills.pop(client_id, None)
        if session is not None and packet.clean_start:
            self._forget(session)
            session = None
        present = session is not None
        if session is None:
            session = self.sessions[client_id] = Session(client_id, packet.version)
        session.version = packet.version
        session.expiry = _expiry(packet)
        session.window = _number(packet.properties, "receive_maximum", self.limits.max_in_flight)
        session.largest = _number(packet.properties, "maximum_packet_size", MAX_LENGTH + 5)
        session.write = connection.write
        session.username, session.expires = packet.username, math.inf
        connection.client_id, connection.will = client_id, packet.will
        connection.names.add(client_id)
        self._online[client_id] = connection
        keep_alive = packet.keep_alive
        if packet.version == V5:
            properties |= self._announced()
            if not 0 < keep_alive <= self.limits.max_keep_alive:
                properties["server_keep_alive"] = keep_alive = self.limits.max_keep_alive
        if keep_alive:
            connection.keep_alive = keep_alive * 1.5
            self._at(self._now + connection.keep_alive, partial(self._check_silence, connection))
        self._send(connection, Connack(0, present, properties if packet.version == V5 else NONE))
        self._send_queued(connection)

    def _judge(self, packet: Connect) -> Reason:
        """Why a CONNECT is refused. Raises ``InvalidPacketError`` if it gets no answer."""
        will, properties = packet.will, packet.properties
        if not packet.client_id and packet.version == V311 and not packet.clean_start:
            return Reason.IDENTIFIER_NOT_VALID
        if "authentication_method" in properties:
            return Reason.BAD_AUTHENTICATION_METHOD
        if 0 in (properties.get("receive_maximum"), properties.get("maximum_packet_size")):
            raise InvalidPacketError("a limit of 0", Reason.PROTOCOL_ERROR)
        if will is not None and not is_name(will.topic):
            raise InvalidPacketError("topic of the will", Reason.PROTOCOL_ERROR)
        if will is not None and will.qos > 1:
            return Reason.QOS_NOT_SUPPORTED
        if will is not None and 0 < self.limits.max_payload_bytes < len(will.payload):
            return Reason.PACKET_TOO_LARGE
        return Reason.SUCCESS

    def _announced(self) -> dict[str, Value]:
        """What CONNACK says of the limits of this broker."""
        found: dict[str, Value] = {"maximum_qos": 1, "receive_maximum": self.limits.max_in_flight}
        if self.limits.max_packet_bytes:
            found["maximum_packet_size"] = self.limits.max_packet_bytes
        return found

    def _take_over(self, connection: Connection, clean_start: bool) -> None:
        """End the connection of a client whose id another one uses. A session that goes on keeps
        its will to itself, as at Mosquitto.
        """
        if not clean_start and self.sessions[connection.client_id].expiry > 0:
            connection.will = None
        self._end(connection, Reason.SESSION_TAKEN_OVER)

    def _on_publish(self, connection: Connection, packet: Publish) -> None:
        if "topic_alias" in packet.properties:
            raise InvalidPacketError("topic alias", Reason.TOPIC_ALIAS_INVALID)
        if packet.qos > 1:
            raise InvalidPacketError("QoS 2", Reason.QOS_NOT_SUPPORTED)
        if not is_name(packet.topic):
            raise InvalidPacketError("topic name", Reason.PROTOCOL_ERROR)
        reason = self._publish(connection, packet)
        if packet.qos:
            code = reason if connection.version == V5 else 0
            self._send(connection, Acknowledgement(Kind.PUBACK, packet.packet_id, code))

    def _publish(self, connection: Connection, packet: Publish) -> int:
        """Accept a message; returns the reason code of its PUBACK."""
        if 0 < self.limits.max_payload_bytes < len(packet.payload):
            return Reason.PACKET_TOO_LARGE
        if not self._may(self.sessions[connection.client_id], "write", packet.topic):
            return Reason.NOT_AUTHORIZED
        for refusal in self.faults.of_topic(RefusePublish, packet.topic):
            return refusal.reason
        return self._accept(self._message(packet), connection.client_id)

    def _on_subscribe(self, connection: Connection, packet: Subscribe) -> None:
        if not all(is_filter(each.topic_filter) for each in packet.subscriptions):
            raise InvalidPacketError("topic filter")
        session = self.sessions[connection.client_id]
        identifier = _number(packet.properties, "subscription_identifier", 0)
        if packet.properties.get("subscription_identifier") == 0:
            raise InvalidPacketError("subscription identifier 0")
        reasons, new = list[int](), set[str]()
        for each in packet.subscriptions:
            if each.topic_filter.startswith("$share/"):
                shared = Reason.SHARED_SUBSCRIPTIONS_NOT_SUPPORTED
                reasons.append(shared if connection.version == V5 else Reason.UNSPECIFIED_ERROR)
                continue
            if each.topic_filter not in session.subscriptions:
                new.add(each.topic_filter)
            session.subscriptions[each.topic_filter] = each, identifier
            reasons.append(min(each.qos, 1))
        self._subscribers.clear()
        self._send(connection, SubscribeReply(Kind.SUBACK, packet.packet_id, tuple(reasons)))
        for each in packet.subscriptions:
            wanted = each.retain_handling == 0 or (
                each.retain_handling == 1 and each.topic_filter in new
            )
            if wanted and each.topic_filter in session.subscriptions:
                self._send_retained(session, each, identifier)

    def _on_unsubscribe(self, connection: Connection, packet: Unsubscribe) -> None:
        if not all(map(is_filter, packet.topic_filters)):
            raise InvalidPacketError("topic filter")
        session = self.sessions[connection.client_id]
        reasons = tuple(
            Reason.NO_SUBSCRIPTION_EXISTED
            if session.subscriptions.pop(each, None) is None
            else Reason.SUCCESS
            for each in packet.topic_filters
        )
        self._subscribers.clear()
        code = reasons if connection.version == V5 else ()
        self._send(connection, SubscribeReply(Kind.UNSUBACK, packet.packet_id, code))

    def _on_disconnect(self, connection: Connection, packet: Disconnect) -> None:
        session = self.sessions[connection.client_id]
        if "session_expiry" in packet.properties:
            expiry = _number(packet.properties, "session_expiry", 0)
            if expiry and not session.expiry:
                raise InvalidPacketError("session expiry of 0 changed", Reason.PROTOCOL_ERROR)
            session.expiry = math.inf if expiry == NEVER else expiry
        if packet.reason != Reason.DISCONNECT_WITH_WILL:
            connection.will = None
        self._close(connection)

    # Messages

    def _message(self, packet: Publish | Will) -> Message:
        """A message of a PUBLISH or a will, without what is only for the broker."""
        properties, expiry = packet.properties, math.inf
        if properties:
            if "message_expiry" in properties:
                expiry = _number(properties, "message_expiry", 0)
            only_for_broker = {"will_delay", "message_expiry"}
            properties = {
                name: value for name, value in properties.items() if name not in only_for_broker
            }
        return Message(
            packet.topic,
            packet.payload,
            packet.qos,
            packet.retain,
            properties,
            self._now + expiry,
        )

    def _accept(self, message: Message, source: str) -> int:
        """Route a message now, or when its topic no longer lags."""
        if not self.faults.active and not self._lagging.get(message.topic):  # as mostly
            return self._route(message, source)
        lag = max((each.seconds for each in self.faults.of_topic(Lag, message.topic)), default=0.0)
        held = self._lagging.setdefault(message.topic, deque())
        due = max(self._now + lag, held[-1][0] if held else 0.0)
        if due <= self._now and not held:
            return self._route(message, source)
        held.append((due, message, source))
        self._at(due, partial(self._route_held, message.topic))
        return Reason.SUCCESS

    def _route_held(self, topic: str) -> None:
        _, message, source = self._lagging[topic].popleft()
        self._route(message, source)

    def _route(self, message: Message, source: str) -> int:
        """Retain a message and deliver it to subscribers."""
        if not self.faults.active:
            self._retain(message)
            return self._deliver_all(message, source)
        forgets = self.faults.of_topic(Forget, message.topic)
        if not any(each.retained for each in forgets):
            self._retain(message)
        if any(each.live for each in forgets):
            return Reason.SUCCESS
        if message.qos:
            for duplicate in self.faults.of_topic(Duplicate, message.topic):
                later = partial(self._deliver_all, message, source)
                self._at(self._now + duplicate.seconds, later)
        return self._deliver_all(message, source)

    def _retain(self, message: Message) -> None:
        if message.retain:
            if message.payload:
                self.retained[message.topic] = message
            else:
                self.retained.pop(message.topic, None)

    def _deliver_all(self, message: Message, source: str) -> int:
        subscribers = self._subscribers.get(message.topic)
        if subscribers is None:
            subscribers = self._subscribers[message.topic] = self._matching(message.topic)
        one_copy = set[str]()
        loses_qos0 = bool(self.faults.of_topic(LoseQos0, message.topic))
        for session, subscription, identifier in subscribers:
            client_id, qos = session.client_id, min(message.qos, subscription.qos)
            if subscription.no_local and client_id == source:
                continue
            if qos == 0 and (session.write is None or loses_qos0):
                continue
            if session.version != V5:  # one copy for all subscriptions of a client, as at Mosquitto
                if client_id in one_copy:
                    continue
                one_copy.add(client_id)
            retain = message.retain and subscription.retain_as_published
            self._deliver(session, message, qos, retain, identifier)
        return Reason.SUCCESS if subscribers else Reason.NO_MATCHING_SUBSCRIBERS

    def _matching(self, topic: str) -> list[tuple[Session, Subscription, int]]:
        found = [
            (session, subscription, identifier)
            for session in self.sessions.values()
            for subscription, identifier in session.subscriptions.values()
            if matches(subscription.topic_filter, topic)
        ]
        return sorted(found, key=lambda each: search_order(each[1].topic_filter))

    def _send_retained(self, session: Session, subscription: Subscription, identifier: int) -> None:
        for topic, message in list(self.retained.items()):
            if message.expires <= self._now:
                del self.retained[topic]
            elif matches(subscription.topic_filter, topic):
                self._deliver(session, message, subscription.qos, True, identifier)

    def _deliver(
        self, session: Session, message: Message, qos: int, retain: bool, identifier: int
    ) -> None:
        if self._may(session, "read", message.topic):
            session.deliver(
                Outgoing(message, min(message.qos, qos, 1), retain, identifier),
                self._now,
                max_queued=self.limits.max_queued,
                window=self._window(self._online.get(session.client_id)),
            )

    def _may(self, session: Session, action: Literal["read", "write"], topic: str) -> bool:
        return self.access(session.client_id, session.username, action, topic)

    def _window(self, connection: Connection | None) -> int:
        return 0 if connection is None else self.faults.window(connection.names)

    def _send_queued(self, connection: Connection) -> None:
        session = self.sessions[connection.client_id]
        session.send_queued(self._now, self._window(connection))

    # Ends

    def _end(self, connection: Connection, reason: int) -> None:
        """Tell a client of MQTT 5 why, and close its connection."""
        if connection.version == V5 and not connection.closed:
            self._send(connection, Disconnect(reason))
        self._close(connection)

    def _close(self, connection: Connection) -> None:
        if connection.closed:
            return
        connection.close()
        del self.connections[connection]
        if self._online.get(connection.client_id) is not connection:
            return
        del self._online[connection.client_id]
        session = self.sessions[connection.client_id]
        session.detach()
        if (will := connection.will) is not None:
            self._wills[session.client_id] = will
            publish = partial(self._publish_will, session, will)
            if delay := min(_number(will.properties, "will_delay", 0), session.expiry):
                self._at(self._now + delay, publish)
            else:
                publish()
        self._expire_later(session)

    def _publish_will(self, session: Session, will: Will) -> None:
        if self._wills.get(session.client_id) is will:
            del self._wills[session.client_id]
            if self._may(session, "write", will.topic):
                self._accept(self._message(will), session.client_id)

    def _expire_later(self, session: Session) -> None:
        session.expires = self._now + session.expiry
        if session.expiry == 0:
            self._forget(session)
        elif session.expiry < math.inf:
            self._at(session.expires, partial(self._expire, session))

    def _expire(self, session: Session) -> None:
        if session.expires <= self._now and self.sessions.get(session.client_id) is session:
            self._forget(session)

    def _forget(self, session: Session) -> None:
        del self.sessions[session.client_id]
        self._subscribers.clear()

    def _check_silence(self, connection: Connection) -> None:
        if connection.closed:
            return
        due = connection.last_received + connection.keep_alive
        if due <= self._now:
            self._end(connection, Reason.KEEP_ALIVE_TIMEOUT)
        else:
            self._at(due, partial(self._check_silence, connection))

    def _at(self, due: float, action: Callable[[], object]) -> None:
        heapq.heappush(self._timers, (due, next(self._numbers), action))

    def _send(self, connection: Connection, packet: Packet) -> None:
        connection.write(encode(packet, connection.version or V311))


def _expiry(packet: Connect) -> float:
    """Seconds that the session of a CONNECT outlives its connection."""
    if packet.version == V311:
        return 0.0 if packet.clean_start else math.inf
    found = _number(packet.properties, "session_expiry", 0)
    return math.inf if found == NEVER else found


def _number(properties: Properties, name: str, default: int) -> int:
    found = properties.get(name, default)
    assert isinstance(found, int)
    return found
