"""A real Mosquitto whose rules forbid the daemon to publish on some topics, or to read them: that
is noticed, with MQTT 5 and with MQTT 3.1.1, where the broker acknowledges what it drops; and no
event is lost.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from common.contract.node import BrokerConnection
from controller.configuration.file import load
from controller.doctor import broker as doctor
from controller.mqtt.delivery import (
    ECHO_TIMEOUT_SECONDS,
    MAX_AWAITED,
    MAX_HELD,
    NO_ECHO_REASON,
    NOT_AUTHORIZED,
    REFUSED_REASON,
    DeliveryTracker,
    topic_kind,
)
from controller.mqtt.outgoing import OutgoingMessage
from tests.support.brokers.mosquitto import Mosquitto, Subscriber, free_port, once
from tests.support.daemon.play import NODE, TABLE, command, until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.programs import with_constants
from tests.support.waiting import until

Make = Callable[[str], Daemon]
Subscribe = Callable[..., Subscriber]
PALMA = "novamas/v1/palma"
KINDS = ("event", "info", "state", "result", "history", "alert", "reply")
NODE_KINDS = ("status", "claim", "checkpoint")
TABLES = tuple(f"no-{each}" for each in KINDS)
LEAVES = ("event", "info", "state", "result", "history", "alert/+", "reply/+", "sealed", "shoe")
TOPICS = (
    *(f"{PALMA}/{name}/{leaf}" for name in ("r1", *TABLES) for leaf in LEAVES),
    *(f"{NODE}/{leaf}" for leaf in (*NODE_KINDS, "health")),
)
HURRIED = with_constants("controller.mqtt.delivery", ECHO_TIMEOUT_SECONDS=4.0) + with_constants(
    "controller.mqtt.publisher", FORBIDDEN_RETRY_SECONDS=4.0
)
"""A daemon waits ten seconds for a message to come back, and half a minute to try again."""
ABSENT = """
[[table.device]]
id = "wheel"
driver = "cammegh-ss2"
link = "tcp://127.0.0.1:{port}"
"""


class Guarded(NamedTuple):
    """A broker with rules for the user ``daemon``; ``admin`` may everything."""

    broker: Mosquitto
    file: Path

    def forbid(self, *, write: Iterable[str] = (), read: Iterable[str] = ()) -> None:
        """The daemon's permissions, except for these topics, from this moment."""
        lines = [
            "user admin",
            "topic readwrite #",
            "user daemon",
            f"topic read {PALMA}/+/command/+",
        ]
        lines += [f"topic read {PALMA}/node/+/claim"]
        for topic in TOPICS:
            may = [w for w, these in (("read", read), ("write", write)) if topic not in {*these}]
            lines += [f"topic {''.join(may)} {topic}"] if may else []
        self.file.write_text("\n".join(lines) + "\n")
        if self.broker.process is not None:
            self.broker.signal(signal.SIGHUP)


@pytest.fixture
def guarded(programs: None, tmp_path: Path, ending: ExitStack) -> Guarded:
    made = Mosquitto(tmp_path / "guarded", "allow_anonymous true", f"acl_file {tmp_path / 'acl'}")
    ending.callback(made.kill)
    return Guarded(made, tmp_path / "acl")


@pytest.fixture
def hurried(daemon: Make) -> Make:
    """Daemons that soon notice that the rules are mended."""

    def make(text: str) -> Daemon:
        made = daemon(text)
        made.program = ("-c", HURRIED + made.program[1])
        return made

    return make


def topic_of(name: str, kind: str) -> str:
    return f"{PALMA}/{name}/{kind}{'/+' if kind in ('alert', 'reply') else ''}"


def forbidden(subscriber: Subscriber) -> Any:
    health = subscriber.latest("/health")
    return health and health["broker"]["forbidden"]


def told(subscriber: Subscriber, name: str = "r1") -> str:
    alert = subscriber.latest(f"{PALMA}/{name}/alert/broker-rules")
    return str(alert["detail"]) if alert else ""


@pytest.mark.parametrize("protocol", ["5", "3.1.1"])
def test_each_kind_of_forbidden_topic_is_reported(
    guarded: Guarded, wheel: Wheel, hurried: Make, subscribe: Subscribe, protocol: str
) -> None:
    """At each table another kind."""
    guarded.forbid(write=[topic_of(f"no-{each}", each) for each in KINDS])
    guarded.broker.start()
    subscriber = subscribe(guarded.broker.port, username="admin")
    tables = [
        table(name, None, settings=ABSENT.format(port=port)) for port, name in enumerate(TABLES, 1)
    ]
    broker = f'username = "daemon"\nprotocol = "{protocol}"'
    made = hurried(configuration(guarded.broker.port, table("r1", wheel), *tables, broker=broker))
    made.start()
    until_up(subscriber, made)
    for number in range(2):
        order = {"by": "S", "role": "croupier", "client": "t", "id": number}
        subscriber.publish(f"{PALMA}/no-reply/command/session-open", order)
    expected = dict.fromkeys(KINDS, 1)

    def all_told() -> bool:
        found = forbidden(subscriber)
        return bool(found) and {*found} == {*expected}

    until("all kinds are reported", all_told, made.log)

    def named(kind: str) -> bool:
        return f"no-{kind}/{kind}" in told(subscriber)

    for each in KINDS:
        until(f"{each} is named", partial(named, each), made.log)
    [fault] = [each for each in doctor.check(load(made.file)) if "does not pass on" in each.what]
    assert fault.level == "fault"
    assert "novamas acl" in fault.do
    assert made.logged("the broker's rules keep messages back")
    guarded.forbid()
    for number in range(2, 4):
        order = {"by": "S", "role": "croupier", "client": "t", "id": number}
        subscriber.publish(f"{PALMA}/no-reply/command/session-open", order)
    until("all is well", lambda: forbidden(subscriber) == {}, made.log)
    until(
        "the alert is gone", lambda: subscriber.is_cleared(f"{TABLE}/alert/broker-rules"), made.log
    )
    until(
        "the event", lambda: [e for e in subscriber.events() if e["table"] == "no-event"], made.log
    )
    assert made.stop() == 0


@pytest.mark.parametrize("protocol", ["5", "3.1.1"])
def test_topics_of_the_node_too(
    guarded: Guarded, wheel: Wheel, hurried: Make, subscribe: Subscribe, protocol: str
) -> None:
    guarded.forbid(write=[f"{NODE}/{leaf}" for leaf in NODE_KINDS])
    guarded.broker.start()
    subscriber = subscribe(guarded.broker.port, username="admin")
    broker = f'username = "daemon"\nprotocol = "{protocol}"'
    made = hurried(configuration(guarded.broker.port, table("r1", wheel), broker=broker))
    made.start()
    until(
        "all are told",
        lambda: {*(forbidden(subscriber) or ())} == {f"node/{leaf}" for leaf in NODE_KINDS},
        made.log,
    )
    assert made.stop() == 0


@pytest.mark.parametrize(
    ("protocol", "restarts"),
    [
        pytest.param("5", True, marks=pytest.mark.essential),
        ("5", False),
        ("3.1.1", True),
        ("3.1.1", False),
    ],
)
def test_events_that_were_forbidden_arrive_once_the_rules_are_mended(
    guarded: Guarded,
    wheel: Wheel,
    hurried: Make,
    subscribe: Subscribe,
    protocol: str,
    restarts: bool,
) -> None:
    guarded.forbid()
    guarded.broker.start()
    subscriber = subscribe(guarded.broker.port, username="admin")
    broker = f'username = "daemon"\nprotocol = "{protocol}"'
    made = hurried(configuration(guarded.broker.port, table("r1", wheel), broker=broker))
    made.start()
    until_up(subscriber, made)
    guarded.forbid(write=[f"{TABLE}/event"])
    for _ in range(3):
        for name in ("session.open", "session.close"):
            assert command(subscriber, name)["ok"]
    until("it is told", lambda: forbidden(subscriber) == {"event": 1}, made.log)
    for name in ("session.open", "session.close"):
        assert command(subscriber, name)["ok"]
    last = subscriber.latest(f"{TABLE}/state")["seq"]
    boot = made.boot()
    assert all(event["seq"] < last for event in subscriber.events())
    if restarts:
        assert made.stop() == 0
        guarded.forbid()
        made.start()
    else:
        guarded.forbid()

    def arrived() -> list[int]:
        return [
            e["seq"] for e in once(subscriber.events()) if e["boot"] == boot and e["table"] == "r1"
        ]

    until("all have arrived", lambda: {*range(1, last + 1)} <= {*arrived()}, made.log)
    if protocol == "5":
        assert arrived() == sorted(arrived()), "in order"
    until("all is well", lambda: forbidden(subscriber) == {}, made.log)
    assert made.stop() == 0


def test_a_broker_that_hides_the_topics_is_reported_and_gets_all_events(
    guarded: Guarded, wheel: Wheel, hurried: Make, subscribe: Subscribe
) -> None:
    """As the rules of earlier releases do."""
    guarded.forbid(read=[f"{TABLE}/event", f"{TABLE}/reply/+"])
    guarded.broker.start()
    subscriber = subscribe(guarded.broker.port, username="admin")
    broker = 'username = "daemon"\nprotocol = "3.1.1"'
    made = hurried(configuration(guarded.broker.port, table("r1", wheel), broker=broker))
    made.start()
    until_up(subscriber, made)
    assert command(subscriber, "session.open")["ok"]
    until("it is told", lambda: "event" in (forbidden(subscriber) or ()), made.log)
    until("in words", lambda: NO_ECHO_REASON in told(subscriber), made.log)
    assert command(subscriber, "session.close")["ok"]
    until("events go on", lambda: subscriber.events("session.closed"), made.log)
    guarded.forbid()
    assert command(subscriber, "session.open")["ok"]
    until("all is well", lambda: forbidden(subscriber) == {}, made.log)
    assert made.stop() == 0


def test_the_embedded_broker_gives_everything_back(
    wheel: Wheel, daemon: Make, subscribe: Subscribe
) -> None:
    """What does not come back is due."""
    port = free_port()
    made = daemon(configuration(port, table("r1", wheel), scheme="embedded"))
    made.start()
    made.until_logged("broker connected")
    subscriber = subscribe(port, v5=False)
    until_up(subscriber, made)
    assert command(subscriber, "session.open")["ok"]
    wheel.unplug()  # health is published

    def delivered() -> bool:
        health = subscriber.latest("/health")
        events = {event["type"] for event in subscriber.events()}
        return "alert.raised" in events and health["outbox"]["depth"] == 0

    until("all is delivered", delivered, made.log)
    wheel.plug()
    assert made.stop() == 0


@pytest.mark.parametrize("protocol", ["5", "3.1.1"])
def test_no_alarm_at_outages_and_with_a_broker_that_stops(
    mosquitto: Mosquitto, wheel: Wheel, daemon: Make, subscribe: Subscribe, protocol: str
) -> None:
    subscriber = subscribe(mosquitto.port)
    broker = f'protocol = "{protocol}"'
    made = daemon(configuration(mosquitto.port, table("r1", wheel), broker=broker, keepalive=10))
    made.start()
    until_up(subscriber, made)
    for number in range(3):
        for name in ("session.open", "session.close"):
            assert command(subscriber, name)["ok"]
        if number == 0:
            mosquitto.signal(signal.SIGSTOP)  # longer than a message may take to come back
            made.until_logged("broker lost")
            mosquitto.signal(signal.SIGCONT)
        else:
            mosquitto.kill()
            made.until_logged("broker lost", number + 1)
            mosquitto.start()
        made.until_logged("broker connected", number + 2)
        subscriber = subscribe(mosquitto.port)
        until_up(subscriber, made)
    assert not made.logged("the broker's rules keep messages back")
    assert made.stop() == 0
    assert [
        f for f in (h.body for h in subscriber.on("/health")) if f and f["broker"]["forbidden"]
    ] == []


T = "novamas/v1/palma/r1/event"


def posted(made: DeliveryTracker, *positions: int) -> list[Any]:
    return [made.track(OutgoingMessage(T, b"%d" % position), position) for position in positions]


def test_a_slow_echo_or_a_lost_one_is_no_alarm() -> None:
    made, late = DeliveryTracker(), ECHO_TIMEOUT_SECONDS + 1
    made.on_connected(echoing=True)
    first, second = posted(made, 5, 6)
    assert made.overdue(late) == [], "not acknowledged: the broker is slow"
    for each in (first, second):
        made.on_acknowledged(each, None, 0.0)
    assert made.delivered_through(9) == 4
    assert made.overdue(late) == [first]
    assert made.expire([first], late) == [first], "it is sent once more"
    made.on_message(T, b"6")
    assert (made.delivered_through(9), made.overdue(9 * late), made.forbidden) == (9, [], {})


def test_what_does_not_come_back_is_held_for_a_while() -> None:
    made, late = DeliveryTracker(), ECHO_TIMEOUT_SECONDS + 1
    made.on_connected(echoing=True)
    sent = posted(made, *range(1, 2 * MAX_AWAITED))
    for each in sent:
        made.on_acknowledged(each, None, 0.0)
    made.expire(made.overdue(late), late)
    made.expire(made.overdue(2 * late), 2 * late)
    assert made.forbidden == {T: NO_ECHO_REASON}
    assert made.delivered_through(500) == 0
    assert made.delivered_through(MAX_HELD + 500) == 500
    assert made.on_message(T, b"100") == 1, "all are sent again"
    assert made.delivered_through(500) == 0, "until they have come"
    for each in range(1, 2 * MAX_AWAITED):
        posted(made, each)
        made.on_message(T, b"%d" % each)
    assert (made.delivered_through(500), made.forbidden) == (500, {})


def test_what_was_refused_is_due_in_order() -> None:
    made = DeliveryTracker()
    made.on_connected(echoing=False)
    first, second, third = posted(made, 5, 6, 7)
    assert made.on_acknowledged(first, NOT_AUTHORIZED, 0.0) is None
    assert made.on_acknowledged(second, NOT_AUTHORIZED, 0.0) is None
    assert (made.forbidden, made.withholds(T), made.delivered_through(9)) == (
        {T: REFUSED_REASON},
        True,
        4,
    )
    assert made.on_acknowledged(third, None, 0.0) == 5, "it passed before them"
    for each in posted(made, 5, 6):
        assert made.delivered_through(9) == each.position - 1
        assert made.on_acknowledged(each, None, 0.0) is None
    assert made.delivered_through(9) == 9


def test_what_is_too_large_holds_nothing_back() -> None:
    made = DeliveryTracker()
    made.on_connected(echoing=False)
    (sent,) = posted(made, 5)
    made.on_acknowledged(sent, NOT_AUTHORIZED, 0.0)
    made.on_acknowledged(sent, "Packet too large", 0.0)
    assert made.delivered_through(9) == 9


def test_kinds() -> None:
    assert [
        topic_kind(f"{PALMA}/{each}") for each in ("r1/event", "r1/alert/a", "node/n/health")
    ] == [
        "event",
        "alert",
        "node/health",
    ]
    assert BrokerConnection().forbidden == {}
