"""The reader: one loop, one hop. Bytes are handled in the event loop, in order, without a thread; a
link that hangs blocks no other.
"""

from __future__ import annotations

import asyncio
import random
import select
import threading
import time
from collections.abc import Callable, Iterator
from math import inf
from pathlib import Path
from typing import Any

import pytest

import devices.device
import devices.loop_watch
import devices.reader
from common.readings import AnyReading, LinkGarbage
from devices.calls import AnyCall, BytesReceived
from devices.device import DeviceSupervisor
from devices.drivers import driver
from devices.links import LinkFailedError, open_link
from devices.links.descriptor import MAX_READ_BYTES
from devices.loop_watch import loop_watch
from devices.reader import LinkReader, OpenLink, open_to_read
from devices.recording_writer import RecordingWriter
from tests.devices.test_device import running
from tests.support.devices.parts import Lines, Pty, TcpPeer
from tests.support.waiting import TIMEOUT_SECONDS, until_async


@pytest.fixture
def pty(tmp_path: Path) -> Iterator[Pty]:
    port = Pty(tmp_path)
    yield port
    port.unplug()


@pytest.fixture
def peer() -> Iterator[TcpPeer]:
    server = TcpPeer()
    yield server
    server.close()


async def test_a_serial_port_and_a_socket_have_no_thread_of_their_own(
    pty: Pty, peer: TcpPeer, tmp_path: Path
) -> None:
    before = set(threading.enumerate())

    def started() -> set[str]:
        return {thread.name for thread in set(threading.enumerate()) - before}

    writer = RecordingWriter(tmp_path / "wheel.rec", {})
    async with running(peer.url) as shoe, running(pty.url, recorder=writer) as wheel:
        await wheel.until_open()
        await shoe.until_open()
        await until_async(
            lambda: {thread.name for thread in set(threading.enumerate()) - before} == {"recorder"}
        )


async def test_bytes_are_noted_first_and_their_readings_are_accepted_at_once(pty: Pty) -> None:
    happened: list[Any] = []

    class Spoken(Lines):
        def feed(self, data: bytes, now: float) -> list[AnyReading]:
            happened.append("decoded")
            return super().feed(data, now)

    def note(call: AnyCall) -> None:
        happened.append(call.data if isinstance(call, BytesReceived) else type(call).__name__)

    def take(readings: list[AnyReading]) -> None:
        happened.append(len(readings))

    async with running(pty.url, codec=Spoken(), on_call=note, on_readings=take) as floor:
        await floor.until_open()
        pty.say(b"ok 1\nok 2\nok 3\n")
        await floor.until_frames(3)
        assert happened == ["LinkOpened", b"ok 1\nok 2\nok 3\n", "decoded", 4]  # and that it is up


async def test_silence_is_reported_only_when_no_byte_waits(pty: Pty) -> None:
    said: list[bytes] = []
    link = open_to_read(pty.url, "wheel")
    reader = LinkReader(link, lambda data, _: said.append(data), None)
    pty.say(b"ok\n")
    reader._on_timer()  # the deadline is over and the loop has not yet seen the bytes
    assert said == [b"ok\n"]
    reader._on_timer()
    assert said == [b"ok\n", b""]
    reader.end("closed")
    link.close()


async def test_a_deadline_that_does_not_advance_does_not_spin(pty: Pty) -> None:
    calls = 0

    def arrived(_: bytes, __: float) -> float | None:
        nonlocal calls
        calls += 1
        return -1.0

    link = open_to_read(pty.url, "wheel")
    reader = LinkReader(link, arrived, -1.0)
    turns = 0
    while calls < 5:
        await asyncio.sleep(0)
        turns += 1
    assert turns > 10 * calls
    reader.end("closed")
    link.close()


async def looked_again() -> None:
    """The loop has looked at its ports since now, twice: it knows that they are empty."""
    begin = asyncio.get_running_loop().time()
    await until_async(lambda: loop_watch().before > begin)


async def test_bytes_from_before_the_opening_may_have_waited_for_ever(peer: TcpPeer) -> None:
    waits: list[float] = []
    link = await asyncio.to_thread(open_to_read, peer.url, "wheel")
    with peer.accept() as other:
        other.sendall(b"x")
        await asyncio.to_thread(select.select, [link], [], [])
        reader = LinkReader(link, lambda _, waited: waits.append(waited), None)
        await until_async(lambda: waits)
        assert waits == [inf]
        await looked_again()
        other.sendall(b"x")
        await until_async(lambda: len(waits) == 2)
        assert waits[1] < inf
        reader.end("closed")
        link.close()


@pytest.mark.parametrize(("speed", "told"), [(1.0, True), (100.0, False)])
async def test_unread_bytes_have_the_time_of_their_arrival(
    pty: Pty, speed: float, told: bool
) -> None:
    """Up to five seconds of the table's clock; after more, they are judged as ever."""
    calls: list[BytesReceived] = []

    def note(call: AnyCall) -> None:
        if isinstance(call, BytesReceived):
            calls.append(call)

    def clock() -> float:
        return time.monotonic() * speed

    async with running(pty.url, on_call=note, speed=speed, clock=clock) as floor:
        await floor.until_open()
        await looked_again()
        begin = clock()
        time.sleep(0.1)  # noqa: ASYNC251 - the loop is kept from running
        pty.say(b"ok\n")
        time.sleep(0.1)  # noqa: ASYNC251
        await floor.until_frames(1)
        (call,) = calls
        if told:
            assert call.since is not None
            assert call.since <= begin
            assert call.at >= begin + 0.2
        else:
            assert call.since is None


async def test_a_link_that_is_empty_at_opening_is_marked_so(pty: Pty) -> None:
    waits: list[float] = []
    link = open_to_read(pty.url, "wheel")
    reader = LinkReader(link, lambda _, waited: waits.append(waited), None)
    pty.say(b"x")
    await until_async(lambda: waits)
    assert waits[0] < inf
    reader.end("closed")
    link.close()


async def test_after_a_suspension_what_was_kept_is_read_and_the_link_ends(
    peer: TcpPeer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loop's clock stopped meanwhile."""
    slept = 0.0
    monkeypatch.setattr(devices.loop_watch, "suspended_seconds", lambda: slept)
    received: list[tuple[bytes, float]] = []
    link = await asyncio.to_thread(open_to_read, peer.url, "wheel")
    reader = LinkReader(link, lambda data, waited: received.append((data, waited)), None)
    with peer.accept() as other:
        await looked_again()
        kept = b"x" * 3 * MAX_READ_BYTES
        other.sendall(kept)
        select.select([link], [], [])
        slept = 3600.0
        reason = await reader.ended
    assert reason == "this machine was suspended for 3600 s; the link is opened again"
    assert received[0][0].startswith(b"x")
    assert all(waited >= slept for data, waited in received if data)
    link.close()


async def test_a_suspension_is_noticed_on_a_link_that_is_silent(
    pty: Pty, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept = 0.0
    monkeypatch.setattr(devices.loop_watch, "suspended_seconds", lambda: slept)
    link = open_to_read(pty.url, "shoe")
    reader = LinkReader(link, lambda _, __: None, None)
    await looked_again()
    slept = 0.4
    await looked_again()
    assert not reader.ended.done()  # the links of a machine that blinked stay open
    slept = 60.0
    assert (await reader.ended).startswith("this machine was suspended for 60 s")
    link.close()


async def test_each_full_read_of_a_flood_may_have_waited_as_long_as_the_first(
    peer: TcpPeer,
) -> None:
    waits: list[float] = []
    link = await asyncio.to_thread(open_to_read, peer.url, "wheel")
    with peer.accept() as other:
        reader = LinkReader(link, lambda _, waited: waits.append(waited), None)
        await looked_again()
        other.sendall(b"x" * 3 * MAX_READ_BYTES)
        time.sleep(0.2)  # noqa: ASYNC251 - the loop is kept from running
        await until_async(lambda: len(waits) >= 3)
        assert [wait >= 0.2 for wait in waits[:3]] == [True] * 3
        reader.end("closed")
        link.close()


async def test_a_flood_on_one_line_leaves_turns_to_the_others(peer: TcpPeer, pty: Pty) -> None:
    """A line is read while megabytes wait on another."""
    async with running(peer.url) as flooded, running(pty.url) as quiet:
        connection = await asyncio.to_thread(peer.accept)
        await quiet.until_open()
        lines = 200_000
        flood = asyncio.create_task(asyncio.to_thread(connection.sendall, b"ok 1\n" * lines))
        await until_async(lambda: flooded.device.health().counters.frames > 0)
        pty.say(b"ok\n")
        await quiet.until_frames(1)
        assert flooded.device.health().counters.frames < lines
        await flood
        await flooded.until_frames(lines)
        connection.close()


@pytest.mark.parametrize("hangs", ["open", "close"])
async def test_a_port_that_hangs_blocks_no_other(
    pty: Pty, peer: TcpPeer, monkeypatch: pytest.MonkeyPatch, hangs: str
) -> None:
    go, entered = threading.Event(), threading.Event()
    real = open_to_read

    def hanging(url: str, name: str) -> OpenLink:
        if url != pty.url:
            return real(url, name)
        if hangs == "open":
            entered.set()
            go.wait()
        link = real(url, name)
        close = link.close

        def closing() -> None:
            entered.set()
            go.wait()
            close()

        monkeypatch.setattr(link, "close", closing)
        return link

    monkeypatch.setattr(devices.device, "open_to_read", hanging)
    async with running(peer.url) as other:
        floor = asyncio.create_task(_run(pty.url))
        connection = await asyncio.to_thread(peer.accept)
        if hangs == "close":
            await until_async(lambda: floor.get_name() == "open")
            floor.cancel()
        assert await asyncio.to_thread(entered.wait)
        connection.sendall(b"ok\n")
        await other.until_frames(1)
        floor.cancel()
        await asyncio.sleep(0.05)
        assert not floor.done()  # it reports its end when the port is free
        go.set()
        with pytest.raises(asyncio.CancelledError):
            await floor
        open_link(pty.url).close()
        connection.close()


async def _run(url: str) -> None:
    """A device; the task is called ``open`` once it is."""
    task = asyncio.current_task()
    assert task is not None

    def note(_: AnyCall) -> None:
        task.set_name("open")

    await DeviceSupervisor(
        id="wheel", url=url, codec=Lines(), on_readings=lambda _: None, on_call=note
    ).run()


async def test_a_write_in_portions_is_whole_and_in_order(
    peer: TcpPeer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # both ends are of this process
    monkeypatch.setattr("devices.reader.WRITE_TIMEOUT_SECONDS", TIMEOUT_SECONDS)
    link = await asyncio.to_thread(open_to_read, peer.url, "wheel")
    reader = LinkReader(link, lambda _, __: None, None)
    data = random.Random(1).randbytes(20_000_000)
    with peer.accept() as other:

        def take() -> bytes:
            taken = bytearray()
            while len(taken) < len(data):
                taken += other.recv(1_000_000)
            return bytes(taken)

        taking = asyncio.create_task(asyncio.to_thread(take))
        await reader.write(data)
        assert await taking == data
        reader.end("closed")
        link.close()


async def test_a_write_that_nothing_accepts_ends_in_time_and_is_not_completed_later(
    pty: Pty,
) -> None:
    link = open_to_read(pty.url, "wheel")
    reader = LinkReader(link, lambda _, __: None, None)
    with pytest.raises(LinkFailedError, match="flow control"):
        await reader.write(b"x" * 1_000_000)
    while await asyncio.to_thread(pty.hears):  # the bytes that the line had accepted
        await asyncio.to_thread(pty.hear, 1)
    await reader.write(b"whole\n")
    assert (await asyncio.to_thread(pty.hear, 6)).endswith(b"whole\n")
    reader.end("closed")
    link.close()


Split = Callable[[bytes, random.Random], list[bytes]]


def bytewise(stream: bytes, _: random.Random) -> list[bytes]:
    return [bytes((byte,)) for byte in stream]


def whole(stream: bytes, _: random.Random) -> list[bytes]:
    return [stream[at : at + 2000] for at in range(0, len(stream), 2000)]


def anyhow(stream: bytes, chance: random.Random) -> list[bytes]:
    pieces = []
    while stream:
        size = chance.choice((1, 3, 20, 30, 400))
        pieces.append(stream[:size])
        stream = stream[size:]
    return pieces


@pytest.mark.parametrize("split", [bytewise, whole, anyhow])
async def test_any_split_on_the_wire_gives_the_same_readings(pty: Pty, split: Split) -> None:
    found = driver("cammegh-ss2")
    spin = b"".join(
        b"*X;%d;%03d;%02d;%d;%03d;%d\r\n" % (state, spin, 17, 0, 158, spin % 2)
        for spin in range(1, 20)
        for state in (1, 2, 3, 4, 5)
    )
    readings: list[AnyReading] = []
    now = [0.0]
    expected = found.make("wheel", found.options()).feed(spin, 0.0)
    async with running(
        pty.url,
        codec=found.make("wheel", found.options()),
        on_readings=readings.extend,
        clock=lambda: now[0],
    ) as floor:
        await floor.until_open()
        for piece in split(spin, random.Random(3)):
            pty.say(piece)
        await floor.until_frames(95)
        assert [reading for reading in readings if not isinstance(reading, LinkGarbage)][
            1:
        ] == expected
