"""The supervisor on real ports: it outlives whatever happens to them, says it once, and ends
clean.
"""

from __future__ import annotations

import asyncio
import select
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import LogCapture

from common import clock
from common.readings import (
    AnyReading,
    DeviceReport,
    LinkLost,
    LinkStale,
    LinkUnintelligible,
    LinkUp,
)
from devices.device import (
    MAX_RECONNECT_PAUSE_SECONDS,
    MIN_RECONNECT_PAUSE_SECONDS,
    CommandRefusedError,
    DeviceSupervisor,
    reconnect_pause,
)
from devices.links import LinkFailedError, open_link
from devices.links.threaded import MAX_QUEUED_CHUNKS, ThreadedLink
from devices.recording import RecordingReader, read_recording
from devices.recording_lines import LINK_OPENED
from devices.recording_writer import RecordingWriter
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


class Floor:
    """A running device, with its readings and log."""

    def __init__(self, url: str, **settings: Any) -> None:
        self.readings: list[AnyReading] = []
        self.unsent: list[str] = []
        self.logs = LogCapture()
        log = structlog.wrap_logger(
            None,
            processors=[self.logs],
            wrapper_class=structlog.make_filtering_bound_logger("debug"),
        )
        settings = {
            "codec": Lines(),
            "stale_after": 1000.0,
            "on_readings": self.readings.extend,
            **settings,
        }
        self.device = DeviceSupervisor(id="wheel", url=url, log=log, **settings)

    def links(self) -> list[str]:
        names = {
            LinkUp: "up",
            LinkStale: "stale",
            LinkLost: "lost",
            LinkUnintelligible: "unintelligible",
        }
        return [names[type(reading)] for reading in self.readings if type(reading) in names]

    def lines(self) -> list[str]:
        return [reading.value for reading in self.readings if isinstance(reading, DeviceReport)]

    def command(self, command: str, argument: str = "") -> None:
        """Prepared and sent at once; ``unsent`` has why it did not go out after all."""
        self.device.send(self.device.prepare(command, argument), self.unsent.append)

    async def until_open(self) -> None:
        await until_async(
            lambda: self.device.health().link and self.device.health().state == "connecting"
        )

    async def until_frames(self, wanted: int) -> None:
        await until_async(lambda: self.device.health().counters.frames == wanted)

    def logged(self, *events: str) -> list[str]:
        return [
            entry["event"] for entry in self.logs.entries if not events or entry["event"] in events
        ]


def threads() -> list[str]:
    return [
        thread.name
        for thread in threading.enumerate()
        if thread.name.startswith(("reader", "recorder", "link"))
    ]


@asynccontextmanager
async def running(url: str, **settings: Any) -> AsyncIterator[Floor]:
    """A device that runs; in the end it is cancelled and nothing of it may be left."""
    floor = Floor(url, **settings)
    task = asyncio.create_task(floor.device.run())
    try:
        yield floor
        assert not task.done()
    finally:
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    await until_async(lambda: not threads())


async def test_bytes_become_readings(pty: Pty) -> None:
    async with running(pty.url) as floor:
        await floor.until_open()
        pty.say(b"ok 1\nnonsense\nok 2\n")
        await until_async(lambda: len(floor.lines()) == 2)
        health = floor.device.health()
        assert health.state == "up"
        assert health.counters.damaged == 1
        assert health.age is not None
        assert health.link["port"] == str(pty.path.resolve())
        assert floor.logged() == ["device up"]
        assert floor.logs.entries[0]["device"] == "wheel"
    open_link(pty.url).close()  # the port was given back


async def test_a_device_that_is_pulled_out_and_plugged_in_again(pty: Pty) -> None:
    async with running(pty.url) as floor:
        for round_number in range(3):
            await floor.until_open()
            pty.say(b"ok %d\n" % round_number)
            await until_async(lambda: floor.device.health().state == "up")
            pty.unplug()
            await until_async(lambda: floor.device.health().state == "lost")
            pty.plug()
        await floor.until_open()
        assert floor.lines() == ["ok 0", "ok 1", "ok 2"]
        assert floor.links() == ["up", "lost"] * 3
        assert floor.logged() == ["device up", "device down"] * 3
        assert floor.device.health().reconnects == 3
        assert "the port is gone" in str(floor.device.health().error)


async def test_a_device_that_is_not_there_is_reported_once_and_found_when_it_comes(
    pty: Pty,
) -> None:
    pty.unplug()
    async with running(pty.url) as floor:
        await until_async(lambda: floor.device.health().state == "lost")
        first = floor.device.health().error
        assert first is not None
        assert "no such port" in first
        await until_async(lambda: floor.device._failures >= 3)  # some tries more
        pty.plug()
        await floor.until_open()
        pty.say(b"ok\n")
        await until_async(lambda: floor.device.health().state == "up")
        assert floor.links() == ["lost", "up"]
        assert floor.logged() == ["device down", "device up"]


async def test_a_port_held_by_another_is_opened_when_it_is_free(pty: Pty) -> None:
    other = open_link(pty.url)
    async with running(pty.url) as floor:
        await until_async(lambda: floor.device.health().state == "lost")
        assert "another program has the port open" in str(floor.device.health().error)
        other.close()
        await floor.until_open()


async def test_a_server_that_hangs_up_at_once_is_lost_once(peer: TcpPeer) -> None:
    async with running(peer.url) as floor:
        for _ in range(3):
            (await asyncio.to_thread(peer.accept)).close()
        connection = await asyncio.to_thread(peer.accept)
        connection.sendall(b"ok\n")
        await until_async(lambda: floor.device.health().state == "up")
        assert floor.links() == ["lost", "up"]
        assert floor.logged() == ["device down", "device up"]
        connection.close()
        await until_async(lambda: floor.links() == ["lost", "up", "lost"])


async def test_a_silent_device_is_stale_and_comes_back(pty: Pty) -> None:
    async with running(pty.url, stale_after=0.2) as floor:
        await until_async(lambda: floor.links() == ["stale"])
        pty.say(b"ok\n")
        await until_async(lambda: floor.links() == ["stale", "up", "stale"])
        assert floor.device.health().reconnects == 0
        assert floor.logged() == ["device down", "device up", "device down"]


async def test_a_wrong_baud_rate_is_unintelligible(pty: Pty) -> None:
    now = [0.0]
    async with running(pty.url, stale_after=60.0, clock=lambda: now[0]) as floor:
        await floor.until_open()
        pty.say(bytes(range(128, 256)))
        await until_async(lambda: floor.device.health().counters.bytes == 128)
        now[0] += 60.0
        await until_async(lambda: floor.readings)
        assert floor.readings == [LinkUnintelligible(at=60.0, device="wheel", bytes=128)]
        assert floor.logged() == ["device down"]
        assert "baud rate" in floor.logs.entries[0]["reason"]


async def test_the_log_names_the_state_that_the_device_was_in(pty: Pty) -> None:
    """Also if it is in another by then, because readings came together."""
    async with running(pty.url) as floor:
        await floor.until_open()
        floor.device._deliver([LinkStale(at=5.0, device="wheel", age=5.0)])
        [line] = [entry for entry in floor.logs.entries if entry["event"] == "device down"]
        assert (line["state"], line["remedy"]) == ("stale", "novamas explain link.stale")


async def test_staleness_runs_on_the_given_clock(pty: Pty) -> None:
    now = [1000.0]
    async with running(pty.url, stale_after=60.0, clock=lambda: now[0]) as floor:
        await floor.until_open()
        now[0] += 59.0
        pty.say(b"nothing\n")
        await until_async(lambda: floor.device.health().counters.bytes)
        assert not floor.readings
        now[0] += 3600.0
        await until_async(lambda: floor.readings)
        assert floor.readings == [LinkStale(at=1060.0, device="wheel", age=60.0)]


async def test_a_flood_reaches_the_other_end_whole_and_leaves_room_for_others(
    peer: TcpPeer,
) -> None:
    lines = 100_000
    async with running(peer.url) as floor:
        connection = await asyncio.to_thread(peer.accept)
        flood = asyncio.create_task(
            asyncio.to_thread(connection.sendall, b"ok 4;14;146; 9;0\n" * lines)
        )
        turns = 0
        async with asyncio.timeout(4 * TIMEOUT_SECONDS):
            while floor.device.health().counters.frames < lines:
                await asyncio.sleep(0)
                turns += 1
        await flood
        assert turns > 10
        assert floor.device.health().counters.frames == lines
        connection.close()


async def test_a_thread_waits_for_a_loop_that_is_slower_than_its_link(tmp_path: Path) -> None:
    chunks = 20 * MAX_QUEUED_CHUNKS
    path = tmp_path / "flood.rec"
    path.write_text("# framing: raw\n" + "".join(f"0 < {number};\n" for number in range(chunks)))
    link = ThreadedLink(open_link(f"replay://{path}?speed=0"), "test")
    await until_async(lambda: link._chunks.qsize() >= MAX_QUEUED_CHUNKS)
    await asyncio.sleep(0.1)
    assert link._chunks.qsize() == MAX_QUEUED_CHUNKS
    data = b""
    while data.count(b";") < chunks:
        await until_async(lambda: select.select([link], [], [], 0)[0])
        data += link.read()
        assert link._chunks.qsize() <= MAX_QUEUED_CHUNKS
    await until_async(lambda: select.select([link], [], [], 0)[0])
    with pytest.raises(LinkFailedError, match="the recording has ended"):
        link.read()
    link.close()
    assert data == b"".join(b"%d;" % number for number in range(chunks))


async def test_a_defect_of_the_codec_is_reported_once_and_survived(pty: Pty) -> None:
    async with running(pty.url) as floor:
        await floor.until_open()
        pty.say(b"boom 0\n")
        await until_async(lambda: floor.device.health().defects == 1)
        pty.say(b"boom 1\n")
        await until_async(lambda: floor.device.health().defects == 2)
        pty.say(b"ok\n")
        await until_async(lambda: floor.lines() == ["ok"])
        assert floor.logged("defect in the codec; later ones are only counted") == [
            "defect in the codec; later ones are only counted"
        ]
        assert floor.logs.entries[0]["bytes"] == "boom 0\\n"


async def test_a_table_that_raises_does_not_stop_its_device(pty: Pty) -> None:
    taken: list[AnyReading] = []

    def take(readings: list[AnyReading]) -> None:
        taken.extend(readings)
        raise RuntimeError("a defect of the table")

    async with running(pty.url, on_readings=take) as floor:
        await floor.until_open()
        for number in range(1, 3):
            pty.say(b"ok\n")
            await floor.until_frames(number)
        assert len(taken) == 3
        assert len(floor.logged("readings not accepted by the table")) == 2


async def test_commands_are_refused_unless_enabled(pty: Pty) -> None:
    async with running(pty.url) as floor:
        with pytest.raises(CommandRefusedError, match="wheel accepts no commands"):
            floor.command("say", "hello")


@pytest.mark.parametrize("tap", [False, True])
async def test_nothing_is_written_to_the_line_of_another_system(pty: Pty, tap: bool) -> None:
    codec = Lines(polls=((0.0, b"who\n"), (0.05, b"what\n")))
    async with running(pty.url, codec=codec, tap=tap) as floor:
        await floor.until_open()
        for number in range(1, 6):
            pty.say(b"ok\n")
            await floor.until_frames(number)
            await asyncio.sleep(0.05)
        assert await asyncio.to_thread(pty.hears) is not tap


async def test_commands_are_sent_and_logged(pty: Pty) -> None:
    async with running(pty.url, commands_enabled=True) as floor:
        with pytest.raises(CommandRefusedError, match="not connected"):
            floor.command("say", "too early")
        await floor.until_open()
        with pytest.raises(CommandRefusedError, match="no command 'dance'"):
            floor.command("dance")
        floor.command("say", "hello")
        assert await asyncio.to_thread(pty.hear, 6) == b"hello\n"
        await until_async(lambda: floor.logged("command sent"))
        entry = floor.logs.entries[0]
        assert (entry["command"], entry["bytes"]) == ("say hello", "hello\\n")
        pty.unplug()
        await until_async(lambda: floor.device.health().state == "lost")
        with pytest.raises(CommandRefusedError, match=r"not connected: .*the port is gone"):
            floor.command("say", "too late")


async def test_a_port_that_accepts_nothing_refuses_what_it_cannot_send_and_is_still_read(
    pty: Pty,
) -> None:
    async with running(pty.url, commands_enabled=True) as floor:
        await floor.until_open()

        def fill() -> bool:
            try:
                floor.command("say", "x" * 100_000)
            except CommandRefusedError as refused:
                return "wheel is busy" in str(refused)
            return False

        await until_async(fill)
        pty.say(b"ok\n")
        await until_async(lambda: floor.lines() == ["ok"])
        await until_async(lambda: floor.logged("command not sent"))
        assert floor.unsent
        assert floor.device.health().reconnects == 0


async def test_a_command_that_waits_for_a_port_that_goes_away_is_reported_as_not_sent(
    pty: Pty,
) -> None:
    async with running(pty.url, commands_enabled=True) as floor:
        await floor.until_open()
        prepared = floor.device.prepare("say", "hello")
        pty.unplug()
        await until_async(lambda: floor.device.health().state == "lost")
        with pytest.raises(CommandRefusedError, match="not connected"):
            floor.device.send(prepared, floor.unsent.append)
        assert [reason.split(":")[0] for reason in floor.unsent] == ["wheel is not connected"]


async def test_polls_are_sent_once_or_again_and_again_on_each_connection(peer: TcpPeer) -> None:
    async with running(peer.url, codec=Lines(polls=((0, b"hello\n"), (0.01, b"?")))):
        for _ in range(2):
            connection = await asyncio.to_thread(peer.accept)
            received = b""
            while received.count(b"?") < 3:
                received += await asyncio.to_thread(connection.recv, 100)
            assert received.count(b"hello\n") == 1
            connection.close()


async def test_what_arrives_is_recorded_across_reconnections(pty: Pty, tmp_path: Path) -> None:
    path = tmp_path / "recordings" / "wheel.rec"
    writer = RecordingWriter(path, {"device": "wheel"}, max_bytes=1_000_000)
    async with running(pty.url, recorder=writer, commands_enabled=True) as floor:
        for number in range(2):
            await floor.until_open()
            pty.say(b"ok %d\n" % number)
            await floor.until_frames(number + 1)
            floor.command("say", "hello")
            await asyncio.to_thread(pty.hear, 6)
            pty.unplug()
            await until_async(lambda: floor.device.health().state == "lost")
            pty.plug()
        assert floor.device.health().recording
    recording = read_recording(path)
    assert not recording.problems
    assert b"".join(chunk.data for chunk in recording if not chunk.sent) == b"ok 0\nok 1\n"
    assert [chunk.data for chunk in recording if chunk.sent] == [b"hello\n"] * 2


async def test_a_recording_follows_a_clock_that_is_set_and_marks_where_the_link_was_lost(
    pty: Pty, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, fast, time_of_day = tmp_path / "wheel.rec", 0.0, clock.wall
    monkeypatch.setattr(clock, "wall", lambda: time_of_day() + fast)
    async with running(pty.url, recorder=RecordingWriter(path, {"device": "wheel"})) as floor:
        for number in range(4):
            if number in (0, 3):
                await floor.until_open()
            pty.say(b"ok %d\n" % number)
            await floor.until_frames(number + 1)
            fast = 86_400.0 if number else 0.0
            if number == 2:
                pty.unplug()
                await until_async(lambda: floor.device.health().state == "lost")
                pty.plug()
    reader = RecordingReader(path)
    chunks = list(reader)
    assert [chunk.data for chunk in chunks] == [b"ok 0\n", b"ok 1\n", b"ok 2\n", b"ok 3\n"]
    assert [chunk.gap for chunk in chunks] == ["", "", "", LINK_OPENED]
    assert reader.stepped == pytest.approx(86_400, abs=60)
    assert chunks[-1].at < 3600
    assert reader.start + chunks[-1].at + reader.stepped == pytest.approx(
        time_of_day() + fast, abs=3600
    )


async def test_a_full_disk_stops_the_recording_and_nothing_else(pty: Pty) -> None:
    async with running(pty.url, recorder=RecordingWriter("/dev/full", {})) as floor:
        await floor.until_open()
        for number in range(1, 4):
            pty.say(b"ok\n")
            await floor.until_frames(number)
        await until_async(
            lambda: floor.logged("recording failed")
        )  # in the recorder's thread: the last thing that it does
        assert not floor.device.health().recording
        assert "No space left" in str(floor.device.health().error)
        for number in range(4, 6):
            pty.say(b"ok\n")
            await floor.until_frames(number)
    assert floor.logged("recording failed") == ["recording failed"]


Moment = Callable[[Pty], None]


def nothing(pty: Pty) -> None:
    pass


def gone(pty: Pty) -> None:
    pty.unplug()


def chatter(pty: Pty) -> None:
    pty.say(b"ok\n" * 100)


@pytest.mark.parametrize("turns", [0, 1, 2, 3, 5, 8, 13, 50])
@pytest.mark.parametrize("moment", [nothing, gone, chatter])
async def test_a_device_ends_clean_at_any_moment(
    pty: Pty, tmp_path: Path, moment: Moment, turns: int
) -> None:
    recorder = RecordingWriter(tmp_path / "wheel.rec", {})
    floor = Floor(pty.url, recorder=recorder, codec=Lines(polls=((0.001, b"?"),)))
    task = asyncio.create_task(floor.device.run())
    for turn in range(turns):
        await asyncio.sleep(0.001)
        if turn == turns // 2:
            moment(pty)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    await until_async(lambda: not threads())
    if moment is not gone or turns == 0:
        open_link(pty.url).close()


@given(st.integers(1, 10_000), st.floats(0, 1))
def test_pauses_grow_to_a_cap_and_are_never_nothing(failures: int, chance: float) -> None:
    assert (
        MIN_RECONNECT_PAUSE_SECONDS / 2
        <= reconnect_pause(failures, chance)
        <= MAX_RECONNECT_PAUSE_SECONDS
    )
    assert reconnect_pause(failures, chance) <= reconnect_pause(failures + 1, 1.0)
    assert reconnect_pause(1, chance) <= MIN_RECONNECT_PAUSE_SECONDS
    assert reconnect_pause(10_000, 1.0) == MAX_RECONNECT_PAUSE_SECONDS
