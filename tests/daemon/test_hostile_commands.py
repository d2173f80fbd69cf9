"""Hostile messages through a real broker: the daemon answers what it can, and continues."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from tests.daemon.conftest import SUBSCRIBED_TOPICS, Shared
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import HEAD, TABLE, command, spin, until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.waiting import until

BODIES = {
    "deep": b'{"id":' + b"[" * 8000 + b"]" * 8000 + b"}",
    "deeper": b'{"a":' * 3000,
    "id": b'{"id":' + b"[" * 700 + b"]" * 700 + b',"client":"desk-1"}',
    "large": b" " * 200_000,
    "fields": b'{"by":"x","role":"inspector",'
    + b",".join(b'"f%d":0' % n for n in range(1300))
    + b"}",
    "number": b'{"by":"x","role":"inspector","minimum":' + b"9" * 9000 + b"}",
    "surrogate": b'{"by":"\\ud800","role":"inspector"}',
    "bytes": b'{"by":"\xff\xfe","role":"inspector"}',
    "nan": b'{"by":"x","role":"inspector","minimum":NaN}',
    "nothing": b"\0",
}
TOPICS = (
    *(
        "$SYS/broker/clients",
        "$share/a/b",
        f"{TABLE}/state",
        "/",
        "a" * 60_000,
        "/".join("a" * 250),
        "\ufeff",
        "desk/7",
    ),
    *(
        f"{TABLE}/reply/{'a/' * 250}",
        f"{TABLE}/reply/{'a' * 60_000}",
        f"{TABLE}/reply/\ufeff",
        f"{TABLE}/reply/\u200b",
    ),
)
"""Where an answer is wanted, and none is given. Invalid text is refused by the broker."""


@pytest.fixture
def connected(
    mosquitto: Mosquitto,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
) -> tuple[Subscriber, Daemon]:
    made = daemon(configuration(mosquitto.port, table("r1", wheel)))
    made.start()
    made.until_logged("broker connected")
    listening = subscribe(
        mosquitto.port, *(f"novamas/v1/palma/{topic}" for topic in SUBSCRIBED_TOPICS)
    )
    until_up(listening, made)
    return listening, made


def say(
    subscriber: Subscriber,
    name: str,
    body: bytes,
    answer: str | None = None,
    *,
    correlation: bytes | None = None,
    note: str | None = None,
    retain: bool = False,
) -> None:
    properties: Any = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
    if answer is not None:
        properties.ResponseTopic = answer
    if correlation is not None:
        properties.CorrelationData = correlation
    if note is not None:
        properties.UserProperty = ("note", note)
    subscriber.publish(f"{TABLE}/command/{name}", body, retain=retain, properties=properties)


@pytest.mark.parametrize("name", ["session-open", "recall", "device-command", "x" * 5000])
def test_no_body_is_too_much(shared_daemon: Shared, name: str) -> None:
    subscriber, running = shared_daemon
    for body in BODIES.values():
        say(subscriber, name, body)
    assert command(subscriber, "session.open")["ok"]
    assert command(subscriber, "session.close")["ok"]
    assert running.log().count("daemon up") == 1
    assert running.log().count("broker connected") == 1


def test_a_retained_one_does_not_keep_it_from_starting(
    connected: tuple[Subscriber, Daemon],
) -> None:
    subscriber, running = connected
    say(subscriber, "session-open", BODIES["deep"], retain=True)
    assert running.stop() == 0
    running.start()
    until_up(subscriber, running)
    assert command(subscriber, "session.open")["ok"]


def recall(subscriber: Subscriber, **fields: Any) -> Any:
    count = len(subscriber.on(f"{TABLE}/reply/t"))
    subscriber.publish(
        f"{TABLE}/command/recall", {"boot": "x", "client": "t", "id": count, **fields}
    )
    return until("a reply", lambda: subscriber.on(f"{TABLE}/reply/t")[count:])[0].body


def counted(subscriber: Subscriber, running: Daemon, wheel: Wheel) -> dict[str, int]:
    """The counters of ``health``, which is published at once when a wheel is gone."""
    known = len(subscriber.on("/health"))
    wheel.unplug()
    until("health is told", lambda: subscriber.on("/health")[known:], running.log)
    body = subscriber.latest("/health")
    return {**body, **body["broker"]}


def test_no_number_in_a_recall_is_too_large(connected: tuple[Subscriber, Daemon]) -> None:
    subscriber, running = connected
    for key in ("from", "to", "limit"):
        for number in (2**63, 2**63 - 1, -(2**63), 2**64, 10**400, -1, 0, True, 1e300):
            answer = recall(subscriber, **{"from": 1, key: number})
            assert key in answer["error"]
    assert recall(subscriber, **{"from": 2**53 - 1, "to": 2**53 - 1, "limit": 100}) == {
        "id": 27,
        "ok": True,
        "events": [],
    }
    assert command(subscriber, "session.open")["ok"]
    assert running.log().count("broker connected") == 1


def test_no_topic_for_an_answer_is_too_much(
    connected: tuple[Subscriber, Daemon], wheel: Wheel
) -> None:
    subscriber, running = connected
    for topic in TOPICS:
        say(subscriber, "session-close", b"{}", topic)
        assert not command(subscriber, "session.close")["ok"]
    assert running.log().count("broker connected") == 1
    answered = [
        message
        for message in subscriber.messages
        if "/reply/" in message.topic and not message.topic.endswith("/reply/t")
    ]
    assert answered == []
    told = counted(subscriber, running, wheel)
    assert (told["answers_withheld"], told["thrown_away"]) == (len(TOPICS) - 2, 2), (
        "two that the library cannot read"
    )


@pytest.mark.parametrize("size", [1025, 60_000])
def test_no_correlation_data_is_too_much(shared_daemon: Shared, size: int) -> None:
    subscriber, running = shared_daemon
    say(subscriber, "session-close", b"{}", f"{TABLE}/reply/t", correlation=b"x" * size)
    assert command(subscriber, "session.open")["ok"]
    assert command(subscriber, "session.close")["ok"]
    assert running.log().count("broker connected") == 1


def test_a_site_may_allow_other_topics_for_answers(
    mosquitto: Mosquitto,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
) -> None:
    allowed = 'response_topics = ["consoles/answers"]'
    running = daemon(configuration(mosquitto.port, table("r1", wheel), broker=allowed))
    running.start()
    subscriber = subscribe(
        mosquitto.port, *(f"novamas/v1/palma/{topic}" for topic in SUBSCRIBED_TOPICS), "consoles/#"
    )
    until_up(subscriber, running)
    say(subscriber, "session-close", b"{}", "consoles/answers")
    say(subscriber, "session-close", b"{}", "consoles/answersheet")
    say(subscriber, "session-close", b"{}", "consoles/answers/7")
    until("an answer", lambda: subscriber.on("consoles/answers/7"), running.log)
    assert [
        message.topic for message in subscriber.messages if message.topic.startswith("consoles")
    ] == ["consoles/answers/7"]


@pytest.mark.parametrize("protocol", ["5", "3.1.1"])
def test_a_packet_of_many_bytes_costs_neither_memory_nor_the_connection(
    mosquitto: Mosquitto,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    protocol: str,
) -> None:
    text = configuration(mosquitto.port, table("r1", wheel), broker=f'protocol = "{protocol}"')
    running = daemon(text)
    running.prepared = False  # it has no modules of other programs
    running.start()
    subscriber = subscribe(
        mosquitto.port, *(f"novamas/v1/palma/{topic}" for topic in SUBSCRIBED_TOPICS), "consoles/#"
    )
    until_up(subscriber, running)
    assert command(subscriber, "session.open")["ok"]
    assert running.process is not None
    status = Path(f"/proc/{running.process.pid}/status")
    for _ in range(2):
        say(subscriber, "session-close", b"x" * 100_000_000)
    assert command(subscriber, "session.close")["ok"]
    assert running.log().count("broker connected") == 1
    peak = next(
        int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")
    )
    assert peak < 150_000, f"{peak} kB"


def test_what_the_library_cannot_read_costs_nothing(shared_daemon: Shared) -> None:
    """It takes U+FEFF for malformed; the broker does not. More than may be under way at
    one time.
    """
    subscriber, running = shared_daemon
    for _ in range(50):
        say(subscriber, "session-close", b"{}", note="\ufeff")
    assert command(subscriber, "session.open")["ok"]
    assert command(subscriber, "session.close")["ok"]
    assert running.log().count("broker connected") == 1


def test_a_reply_is_no_larger_than_the_broker_accepts(
    tmp_path: Path,
    ending: ExitStack,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
) -> None:
    broker = Mosquitto(tmp_path / "small", "allow_anonymous true", "max_packet_size 6000")
    ending.callback(broker.kill)
    broker.start()
    running = daemon(configuration(broker.port, table("r1", wheel)))
    running.start()
    subscriber = subscribe(broker.port)
    until_up(subscriber, running)
    for _ in range(20):
        assert command(subscriber, "session.open")["ok"]
        assert command(subscriber, "session.close")["ok"]
    known: list[int] = []
    asked = 1
    while reply := recall(subscriber, **{"boot": running.boot(), "from": asked})["events"]:
        known += [event["seq"] for event in reply]
        asked = known[-1] + 1
    assert known == list(range(1, len(known) + 1))
    assert len(known) > 40


def test_the_flood_of_one_client_keeps_back_no_other(
    tmp_path: Path,
    ending: ExitStack,
    mosquitto: Mosquitto,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
) -> None:
    second = Wheel(tmp_path / "second")
    ending.callback(second.close)
    running = daemon(configuration(mosquitto.port, table("r1", wheel), table("r2", second)))
    running.start()
    subscriber = subscribe(
        mosquitto.port, *(f"novamas/v1/palma/{topic}" for topic in SUBSCRIBED_TOPICS), "consoles/#"
    )
    until_up(subscriber, running)
    other = TABLE.replace("r1", "r2")
    for _ in range(900):  # the broker itself throws away what comes when 1000 wait for us
        subscriber.publish_nowait(
            f"{TABLE}/command/session-close", b'{"by":"x","role":"inspector","client":"flood"}'
        )
    assert command(subscriber, "bets.close")["error"] == "no session is open; send session-open"
    assert command(subscriber, "session.open", other)["ok"]
    running.until_logged("commands are discarded: too many wait")
    assert counted(subscriber, running, wheel)["commands_discarded"] >= 1
    assert running.log().count("broker connected") == 1


def test_large_commands_without_end_delay_neither_results_nor_others(
    tmp_path: Path,
    ending: ExitStack,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
) -> None:
    """A thousand commands a second of 60 KB: every round has its result, in its order, and each
    command of another client is answered.
    """
    broker = Mosquitto(
        tmp_path / "roomy", "allow_anonymous true", "max_queued_messages 0", "max_queued_bytes 0"
    )
    ending.callback(broker.kill)
    broker.start()
    text = configuration(broker.port, table("r1", wheel))
    running = daemon(text)  # the machine may be busy
    running.start()
    subscriber = subscribe(
        broker.port, *(f"novamas/v1/palma/{topic}" for topic in SUBSCRIBED_TOPICS)
    )
    until_up(subscriber, running)
    assert command(subscriber, "session.open")["ok"]
    flooder = subscribe(broker.port, f"{TABLE}/reply/flood")
    body = json.dumps({**HEAD, "client": "flood", "note": "x" * 60_000}).encode()
    stop = threading.Event()
    said: list[int] = []

    def flood() -> None:
        """A thousand wait at most: a machine that takes fewer a second is flooded too."""
        while not stop.wait(0.001):
            if len(said) - 200 * len(flooder.messages) >= 1000:
                continue
            flooder.publish_nowait(f"{TABLE}/command/session-open", body)
            said.append(1)
            if len(said) % 200 == 0:
                flooder.publish_nowait(f"{TABLE}/command/nothing", b'{"client":"flood"}')

    flooding = threading.Thread(target=flood)
    flooding.start()
    ending.callback(flooding.join)
    ending.callback(stop.set)
    numbers = ["17", "32", "11", "29", " 0"]
    for count, number in enumerate(numbers, 1):
        before = "  " if count == 1 else numbers[count - 2]
        spin(wheel, subscriber, number, count, before)
        assert command(subscriber, "session.open")["ok"] is False
    until("the flood was one", lambda: len(said) >= 2000)
    stop.set()
    results = subscriber.events("round.result")
    assert [result["outcome"]["number"] for result in results] == [int(each) for each in numbers]
    seqs = [event["seq"] for event in subscriber.events()]
    assert seqs == list(range(seqs[0], seqs[0] + len(seqs)))
    running.until_logged("commands are discarded: too many wait")
    assert running.log().count("broker connected") == 1
