"""Time from an event at the broker to a program that reads it over HTTP, with one stream and with
many, beside that of an MQTT subscriber in the same run; and the memory of the server.

In each round an event of one table is published, and every stream is read until it has it. The time
starts just before it is published. The messages of 1,000 streams are sent one after the other, so
the figure for many is that of all of them, not of the first. Half of the streams are of the table,
half of all tables.
"""

from __future__ import annotations

import contextlib
import json
import selectors
import socket
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.figures import milliseconds, row
from benchmarks.processes import START_TIMEOUT_SECONDS, mosquitto
from benchmarks.subscriber import EVENTS, ROOT, STATUS, Subscriber
from benchmarks.usage import cpu, usage
from benchmarks.web import LEAF, OUTCOME, TABLE, publish_result, serving
from common import clock
from common.people.tokens import add_token
from tests.support.brokers.mosquitto import free_port

EVENT_INTERVAL_SECONDS = 0.2
"""Seconds between two events."""
WARM_UP_EVENTS = 10
"""Events at the beginning that are not measured."""
PATHS = (f"/v1/tables/{TABLE}/events", "/v1/events")


def main(streams: Sequence[int], events: int) -> None:
    """Measure for each number of streams and print."""
    print("From an event at the broker to its reader, ms; CPU ms and memory MB of the server")
    print(row("streams", "p50", "p99", "most", "MQTT p50", "MQTT p99", "CPU", "before", "after"))
    for count in streams:
        found = measured(count, events)
        cells = (*milliseconds(found.http), *milliseconds(found.mqtt)[:2], found.cpu * 1e3)
        print(row(str(count), *cells, *found.memory), flush=True)


class StreamFigures:
    """Seconds until each stream had each event, until the subscriber had it; CPU seconds of the
    server for each event; megabytes of its memory after the warm-up and at the end.
    """

    def __init__(self) -> None:
        self.http: list[float] = []
        self.mqtt: list[float] = []
        self.cpu = 0.0
        self.memory = (0.0, 0.0)


def measured(streams: int, events: int) -> StreamFigures:
    """Measure with this number of streams. Raises ``TimeoutError`` if an event is missing."""
    found = StreamFigures()
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder, port = Path(name), free_port()
        stack.enter_context(mosquitto(folder, port))
        publisher = stack.enter_context(Subscriber(port, [STATUS]))
        sending = publisher.client.socket()
        assert isinstance(sending, socket.socket)
        sending.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        arrived: dict[int, float] = {}

        def on_event(_: str, body: bytes, at: float) -> None:
            arrived.setdefault(json.loads(body)["seq"], at)

        stack.enter_context(Subscriber(port, [EVENTS], on_event))
        publisher.client.publish(STATUS, json.dumps({"status": "online", "boot": "b1"}), 1, True)
        publish_result(publisher, 0)
        tokens = folder / "tokens.jsonl"
        _, token = add_token(tokens, "bench", [], None, clock.wall())
        api = {"tokens": str(tokens), "streams": streams + 1, "token_streams": streams + 1}
        server, address = stack.enter_context(serving(folder, port, api=api))
        open_streams = [
            stack.enter_context(_stream(address, PATHS[number % len(PATHS)], token))
            for number in range(streams)
        ]
        _until_followed(publisher, open_streams[0])
        before = cpu(server)
        for number in range(2, WARM_UP_EVENTS + events + 2):
            if number == WARM_UP_EVENTS + 2:
                before, found.memory = cpu(server), (usage(server).rss, 0.0)
            started = time.monotonic()
            _publish(publisher, number)
            latencies = [at - started for at in _arrivals(open_streams, number)]
            if number >= WARM_UP_EVENTS + 2:
                found.http += latencies
                found.mqtt.append(_arrival(arrived, number) - started)
            time.sleep(max(0.0, started + EVENT_INTERVAL_SECONDS - time.monotonic()))
        found.cpu = (cpu(server) - before) / events
        found.memory = (found.memory[0], usage(server).rss)
    return found


def _until_followed(publisher: Subscriber, stream: socket.socket) -> None:
    """Publish the first event until the server, once it is subscribed, sends it."""
    stream.settimeout(0.5)
    end, read = time.monotonic() + START_TIMEOUT_SECONDS, b""
    while b'"seq":1,' not in read:
        if time.monotonic() > end:
            raise TimeoutError("the first event does not come")
        _publish(publisher, 1)
        with contextlib.suppress(TimeoutError):
            read += stream.recv(1 << 16)
    stream.settimeout(START_TIMEOUT_SECONDS)


def _publish(publisher: Subscriber, number: int) -> None:
    event = {
        **LEAF,
        "seq": number,
        "time": "2026-03-20T02:10:16.215319Z",
        "session": 1,
        "round": number,
        "type": "round.result",
        "mono_ns": 0,
        "frames": [],
        "outcome": OUTCOME | {"number": number % 37},
    }
    body = json.dumps(event, separators=(",", ":"))
    publisher.client.publish(f"{ROOT}/{TABLE}/event", body)


@contextlib.contextmanager
def _stream(address: tuple[str, int], path: str, token: str) -> Iterator[socket.socket]:
    with socket.create_connection(address, START_TIMEOUT_SECONDS) as made:
        head = (f"GET {path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {token}")
        made.sendall("\r\n".join((*head, "", "")).encode())
        read = b""
        while b"retry: " not in read:
            part = made.recv(1 << 12)
            if not part:
                raise TimeoutError(f"no stream: {read[:200]!r}")
            read += part
        yield made


def _arrivals(streams: Sequence[socket.socket], number: int) -> list[float]:
    """Return when each stream had the event of that number."""
    wanted, end = b'"seq":%d,' % number, time.monotonic() + START_TIMEOUT_SECONDS
    found: list[float] = []
    with selectors.DefaultSelector() as selector:
        read = dict.fromkeys(streams, b"")
        for each in streams:
            selector.register(each, selectors.EVENT_READ)
        while len(found) < len(streams):
            if time.monotonic() > end:
                raise TimeoutError(f"{len(streams) - len(found)} streams miss an event")
            for key, _ in selector.select(1.0):
                made = key.fileobj
                assert isinstance(made, socket.socket)
                read[made] += made.recv(1 << 16)
                if wanted in read[made]:
                    selector.unregister(made)
                    found.append(time.monotonic())
    return found


def _arrival(arrived: Mapping[int, float], number: int) -> float:
    end = time.monotonic() + START_TIMEOUT_SECONDS
    while number not in arrived:
        if time.monotonic() > end:
            raise TimeoutError("the subscriber misses an event")
        time.sleep(0.001)
    return arrived[number]
