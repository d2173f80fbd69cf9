"""Time from an event at the broker to a picture in a browser, with one browser and with many.

In each round, one table's result and state are published, and every stream is read until it has the
picture of that round. The time starts just before the first message is published. The pictures of
200 browsers are sent one after the other, so the figure for many is that of all of them, not of the
first.
"""

from __future__ import annotations

import contextlib
import json
import selectors
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.figures import milliseconds, row
from benchmarks.processes import START_TIMEOUT_SECONDS, mosquitto, running
from benchmarks.subscriber import ROOT, STATUS, Subscriber
from benchmarks.usage import cpu
from tests.support.brokers.mosquitto import free_port

TABLE = "table-1"
ROUND_INTERVAL_SECONDS = 0.1
"""Seconds between two results."""
WARM_UP_ROUNDS = 5
"""Rounds at the beginning that are not measured."""
LEAF = {
    "site": "bench",
    "table": TABLE,
    "game": "roulette-french",
    "decree": "ARA02",
    "boot": "b1",
    "simulated": True,
}
SHOWN: dict[str, Any] = {
    "view": "roulette",
    "phase": "waiting",
    "session": 1,
    "asks": [],
    "minimum": 500,
    "currency": "EUR",
    "settings": {},
    "spin": None,
    "relaunch": False,
    "last_of_session": False,
    "unresolved": [],
    "bets": [],
    "last_rounds": None,
    "rounds_at_this_minimum": None,
    "last_colour": "red",
    "zeros": 0,
    "zero_choices": [],
}
OUTCOME: dict[str, Any] = {
    "family": "roulette",
    "colour": "red",
    "parity": "odd",
    "half": "falta",
    "dozen": 1,
    "column": 1,
    "zeros": 0,
    "last_of_session": False,
}


def main(browsers: Sequence[int], rounds: int) -> None:
    """Measure for each number of browsers and print."""
    print("From an event at the broker to its picture at a browser, ms")
    print(row("browsers", "p50", "p99", "most", "CPU/result"))
    for count in browsers:
        found, spent = measured(count, rounds)
        print(row(str(count), *milliseconds(found), spent * 1e3), flush=True)


def measured(browsers: int, rounds: int) -> tuple[list[float], float]:
    """Return the seconds until each browser had each picture, and the server's CPU seconds per
    round. Raises ``TimeoutError`` if a picture is missing.
    """
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder, port = Path(name), free_port()
        stack.enter_context(mosquitto(folder, port))
        publisher = stack.enter_context(Subscriber(port, [STATUS]))
        sending = publisher.client.socket()
        assert isinstance(sending, socket.socket)
        # the daemon's does not wait either: the state would go when the event is acknowledged
        sending.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        publisher.client.publish(STATUS, json.dumps({"status": "online", "boot": "b1"}), 1, True)
        publish_result(publisher, 0)
        server, address = stack.enter_context(serving(folder, port))
        streams = [stack.enter_context(stream(address)) for _ in range(browsers)]
        found: list[float] = []
        arrivals(streams, 0)
        before = cpu(server)
        for number in range(1, WARM_UP_ROUNDS + rounds + 1):
            if number == WARM_UP_ROUNDS + 1:
                before = cpu(server)
            started = time.monotonic()
            publish_result(publisher, number)
            latencies = [at - started for at in arrivals(streams, number)]
            found += latencies if number > WARM_UP_ROUNDS else []
            time.sleep(max(0.0, started + ROUND_INTERVAL_SECONDS - time.monotonic()))
        return found, (cpu(server) - before) / rounds


def publish_result(publisher: Subscriber, number: int) -> None:
    """Publish a result as a daemon does: the event, then the state."""
    stamp = {"seq": number, "time": "2026-03-20T02:10:16.215319Z"}
    place = {"session": 1, "round": number}
    event = {**LEAF, **stamp, **place, "type": "round.result", "mono_ns": 0, "frames": []}
    outcome = {**OUTCOME, "number": number % 37}
    if number:
        publisher.client.publish(f"{ROOT}/{TABLE}/event", json.dumps(event | {"outcome": outcome}))
    shown = {**SHOWN, **place, "last_number": number % 37}
    optional: dict[str, Any] = {
        "status": "open",
        "takes": [],
        "staff": {},
        "fault": None,
        "devices": {},
        "alerts": [],
    }
    state = LEAF | stamp | optional | {"shown": shown}
    publisher.client.publish(f"{ROOT}/{TABLE}/state", json.dumps(state), 1, True)


@contextlib.contextmanager
def serving(folder: Path, port: int, **more: Any) -> Iterator[tuple[int, tuple[str, int]]]:
    """Run the web server, with ``more`` settings; yield its process id and address."""
    ready = folder / "web.ready"
    settings = {
        "site": "bench",
        "broker": {"url": f"mqtt://127.0.0.1:{port}"},
        "tables": [{"id": TABLE, "simulated": True}],
        "port": 0,
        "state": str(folder),
        "ready": str(ready),
        **more,
    }
    words = (sys.executable, "-m", "subscribers.web", "--settings", json.dumps(settings))
    with running(*words, stderr=subprocess.DEVNULL) as process:
        end = time.monotonic() + START_TIMEOUT_SECONDS
        while not (ready.is_file() and ready.read_text().endswith("\n")):
            if time.monotonic() > end:
                raise TimeoutError("the web server did not start")
            time.sleep(0.02)
        yield process.pid, ("127.0.0.1", int(ready.read_text().rpartition(":")[2]))


@contextlib.contextmanager
def stream(address: tuple[str, int]) -> Iterator[socket.socket]:
    """Open a browser's stream of pictures."""
    with socket.create_connection(address, START_TIMEOUT_SECONDS) as made:
        made.sendall(b"GET /stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        yield made


def arrivals(streams: Sequence[socket.socket], number: int) -> list[float]:
    """Return when each stream had the picture of that round."""
    wanted, end = b'"round":%d,"minimum"' % number, time.monotonic() + START_TIMEOUT_SECONDS
    with selectors.DefaultSelector() as selector:
        read = dict.fromkeys(streams, b"")
        for stream in streams:
            selector.register(stream, selectors.EVENT_READ)
        found: list[float] = []
        while len(found) < len(streams):
            if time.monotonic() > end:
                raise TimeoutError(f"{len(streams) - len(found)} browsers miss a picture")
            for key, _ in selector.select(1.0):
                made = key.fileobj
                assert isinstance(made, socket.socket)
                read[made] += made.recv(1 << 16)
                if wanted in read[made]:
                    selector.unregister(made)
                    found.append(time.monotonic())
    return found
