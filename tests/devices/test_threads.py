"""What a link's thread reads later than the event loop runs counts as waiting since the thread last
knew that nothing had arrived, on every kind of link with a thread.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from math import inf
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest
import serial.rfc2217
from hypothesis import given, settings
from hypothesis import strategies as st

from common import clock
from common.broker.library import SilenceAwareClient
from devices.links import http
from devices.links import usb as usb_link
from devices.links.threaded import MIN_WAIT_SECONDS, ThreadedLink
from devices.loop_watch import (
    SAME_TIME_SECONDS,
    TICK_SECONDS,
    LoopWatch,
    loop_watch,
    normal_delay,
    running_seconds,
)
from devices.reader import LinkReader, open_to_read
from simulators.usb import VENDOR_READER, PluggedDevice, VirtualBus
from tests.conftest import cases
from tests.devices.links.test_mqtt import Broker
from tests.devices.test_stalls import apart
from tests.support.brokers.mosquitto import free_port
from tests.support.devices.parts import Rfc2217Peer
from tests.support.programs import running
from tests.support.waiting import TIMEOUT_SECONDS, next_line, until, until_async

pytestmark = pytest.mark.filterwarnings(  # how pyserial makes its thread
    "ignore:set(Daemon|Name):DeprecationWarning"
)

IAC_NOP = b"\xff\xf1"
TOKEN = "d3b07384d113edec49eaa6238ad5ff00"
STOPS = 4
"""Times that a program is stopped."""


class Peer(NamedTuple):
    """``say`` returns when the bytes wait in the kernel, or on the bus. ``hold`` keeps the link's
    thread from running until the event is set, from the next bytes on or at once.
    """

    url: str
    say: Callable[[bytes], None]
    hold: Callable[[threading.Event], None]


Make = Callable[[Path, pytest.MonkeyPatch], Iterator[Peer]]


def mqtt(_: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Peer]:
    def hold(go: threading.Event) -> None:
        read = SilenceAwareClient.loop_read

        def loop_read(client: SilenceAwareClient, max_packets: int = 1) -> Any:
            go.wait()
            return read(client, max_packets)

        monkeypatch.setattr(SilenceAwareClient, "loop_read", loop_read)

    with closing(Broker()) as broker:
        yield Peer(broker.url, lambda data: broker.publish(b"dice/says", data), hold)


def rfc2217(_: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Peer]:
    with closing(Rfc2217Peer()) as peer:

        def hold(go: threading.Event) -> None:
            held = threading.Event()

            def process(_port: object, _command: bytes) -> None:
                held.set()
                go.wait()

            monkeypatch.setattr(serial.rfc2217.Serial, "_telnet_process_command", process)
            peer.write(IAC_NOP)
            assert held.wait(TIMEOUT_SECONDS)

        yield Peer(peer.url, peer.write, hold)


def post(folder: Path, _: pytest.MonkeyPatch) -> Iterator[Peer]:
    secret, port = folder / "token", free_port()
    secret.write_text(f"{TOKEN}\n")
    connections: list[socket.socket] = []

    def say(data: bytes) -> None:
        connections.append(socket.create_connection(("127.0.0.1", port), TIMEOUT_SECONDS))
        head = f"POST /camera HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n"
        connections[-1].sendall(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)

    def hold(go: threading.Event) -> None:
        (listener,) = http._listeners.values()
        listener._loop.call_soon_threadsafe(go.wait)

    yield Peer(f"http://127.0.0.1:{port}/camera?secret_file={secret}", say, hold)
    for connection in connections:
        connection.close()


def usb(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Peer]:
    bus = VirtualBus()
    monkeypatch.setattr(usb_link, "usb_backend", lambda: bus)
    monkeypatch.setattr(usb_link, "SYSFS", folder / "none")
    plugged = bus.plug(VENDOR_READER)

    def hold(go: threading.Event) -> None:
        read, begun = PluggedDevice.next, threading.Event()

        def held(device: PluggedDevice, timeout: float) -> bytes:
            begun.set()
            data = read(device, timeout)
            go.wait()
            return data

        monkeypatch.setattr(PluggedDevice, "next", held)
        assert begun.wait(TIMEOUT_SECONDS)

    yield Peer(
        "usb://0c2e:0b61?timeout=0.2&read=82&write=02",
        lambda data: plugged.report(data, interface=1),
        hold,
    )


KINDS: dict[str, Make] = {"mqtt": mqtt, "rfc2217": rfc2217, "http": post, "usb": usb}


@pytest.fixture
def peer(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Peer]:
    yield from KINDS[request.param](tmp_path, monkeypatch)


async def polled_again() -> None:
    """The loop has polled since now, twice."""
    begin = running_seconds()
    await until_async(lambda: loop_watch().polled() > begin)


@pytest.mark.parametrize("peer", KINDS, indirect=True)
async def test_a_thread_that_runs_later_than_the_loop_delivers_nothing_fresh(peer: Peer) -> None:
    """As after a stop of the whole process."""
    received: list[tuple[bytes, float, float]] = []
    go = threading.Event()
    link = await asyncio.to_thread(open_to_read, peer.url, "wheel")
    reader = LinkReader(
        link, lambda data, waited: received.append((data, waited, running_seconds())), None
    )
    await polled_again()
    await asyncio.to_thread(peer.hold, go)
    peer.say(b"17")
    arrived = running_seconds()
    time.sleep(0.3)  # noqa: ASYNC251 - the loop is kept from running
    for _ in range(3):
        await polled_again()
    reader._on_timer()  # a deadline is over
    (silence,) = received
    assert not silence[0]
    assert silence[1] >= silence[2] - arrived - SAME_TIME_SECONDS
    go.set()
    await until_async(lambda: len(received) > 1)
    data, waited, now = received[1]
    assert b"17" in data
    assert waited >= now - arrived - SAME_TIME_SECONDS
    reader.end("closed")
    await asyncio.to_thread(link.close)


@pytest.mark.parametrize("peer", ["mqtt", "rfc2217", "http"], indirect=True)
def test_what_arrives_while_the_process_is_stopped_waited_for_as_long(
    peer: Peer, programs: None
) -> None:
    del programs
    words = [sys.executable, "-m", "tests.devices.waits", peer.url]
    with running(words, stdout=-1, text=True) as program:
        assert next_line(program, lambda: None) == "open\n"
        for number in range(STOPS):
            program.send_signal(signal.SIGSTOP)
            until("stopped", lambda: is_stopped(program.pid))
            peer.say(b"%d" % number)
            arrived = running_seconds()
            time.sleep(0.1 + 0.1 * number)
            program.send_signal(signal.SIGCONT)
            data, waited, now = next_line(program, lambda: None).split()
            assert data == str(number)
            assert float(waited) >= float(now) - arrived - SAME_TIME_SECONDS
            assert float(waited) < inf


Interval = tuple[float, float]


class Played:
    """A USB device, the thread that reads it, and an event loop, in virtual time. The process does
    not run during ``stops``; after one, its thread starts ``slow`` seconds later than the loop.
    """

    def __init__(self, arrivals: list[float], stops: list[Interval], slow: float) -> None:
        self.arrivals, self.stops, self.slow = arrivals, stops, slow
        self.now = 0.0
        self.next_tick = 0.0
        self.chunks: list[tuple[float, float, float, bool]] = []
        """Of each: when it arrived and was read; when it is known not to have arrived; whether a
        read that waited began after the last stop.
        """

    def run(self, moment: float) -> float:
        for begin, end in self.stops:
            if begin <= moment < end:
                moment = end
        return moment

    def until(self, moment: float) -> None:
        """Let the loop tick until then."""
        while self.next_tick < moment:
            self.now = self.run(self.next_tick)
            self.watch._on_tick()
            self.next_tick = self.now + TICK_SECONDS
        self.now = moment

    def play(self) -> None:
        source = clock._source._replace(
            monotonic=lambda: self.now, boottime_ns=lambda: round(self.now * 1e9)
        )
        loop = SimpleNamespace(time=lambda: self.now, call_at=lambda *_: None)
        with clock.use(source), patch.object(asyncio, "get_running_loop", lambda: loop):
            self.watch = LoopWatch()
            self.watch.begin(TICK_SECONDS, lambda _: None)
            self._read()

    def _read(self) -> None:
        reader, link = object.__new__(LinkReader), object.__new__(ThreadedLink)
        reader._link, reader._loop_watch, reader._silent = link, self.watch, -inf
        waiting, began, idle_at, has_settled = [*self.arrivals], 0.1, -inf, False
        last_stop = max((end + self.slow for _, end in self.stops), default=0.0)
        while waiting:
            timeout = self.run(began + TIMEOUT)
            ends = max(waiting[0], began) if waiting[0] <= timeout else timeout
            resumed = self.run(ends)
            if any(began <= begin and end - begin > SHORT_STOP for begin, end in self.stops):
                resumed += self.slow if resumed in [end for _, end in self.stops] else 0.0
            ended = self.run(resumed)
            self.until(ended)
            if waiting[0] <= timeout:
                link.silent_at = idle_at
                link.waiting_since = began if ended - began >= MIN_WAIT_SECONDS else idle_at
                silent = reader._silent_before()
                polled = self.watch.polled() if silent is None else silent
                self.chunks.append((waiting.pop(0), ended, polled, has_settled))
                has_settled |= ended - began >= MIN_WAIT_SECONDS and began > last_stop
            else:
                idle_at = began
                has_settled |= began > last_stop
            began = ended


TIMEOUT = 0.3
SHORT_STOP = normal_delay(1.0) - TICK_SECONDS
"""A stop that may pass unnoticed."""
arrivals = st.lists(st.floats(0.2, 12.0), min_size=1, max_size=30).map(sorted)
stops = st.lists(st.tuples(st.floats(0.2, 10.0), st.floats(0.001, 3.0)), max_size=6)


@given(arrivals, stops, st.floats(0.0, 0.3))
@settings(max_examples=cases(150, 1000))
def test_what_waited_for_a_thread_is_never_fresh(
    given_arrivals: list[float], given_stops: list[Interval], slow: float
) -> None:
    played = Played(given_arrivals, apart(given_stops, 3.0), slow)
    played.play()
    for arrived, _, silent, _ in played.chunks:
        assert silent <= arrived + 2 * normal_delay(1.0)


@given(arrivals, stops, st.floats(0.0, 0.3))
@settings(max_examples=cases(150, 1000))
def test_once_a_thread_has_waited_again_its_bytes_are_fresh(
    given_arrivals: list[float], given_stops: list[Interval], slow: float
) -> None:
    """Without a stop, always."""
    played = Played(given_arrivals, apart(given_stops, 3.0), slow)
    played.play()
    for _, read, silent, has_settled in played.chunks:
        if has_settled or not given_stops:
            assert read - silent <= normal_delay(1.0)


def is_stopped(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
    return False
