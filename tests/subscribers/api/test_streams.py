"""Streams of events: each once and in order, whatever ends, and what is missing is stated."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.contract.http_bodies import EndReason
from common.contract.topics import Topics
from subscribers.api import event_log, stream
from subscribers.api.event_log import NewEvent, StreamLog
from subscribers.api.frames import StreamFormat
from subscribers.api.stream import EventStream, StreamFilter
from subscribers.feed.following import FollowedRuns, RunPosition
from tests.conftest import cases
from tests.support.waiting import until_async

TABLES = ("r1", "r2")
TOPICS = {table: Topics("palma") for table in TABLES}
DAYS = 7
NOW = 1_774_000_000.0


def event(table: str, seq: int, kind: str = "data.late", boot: str = "b1") -> NewEvent:
    body = {"type": kind, "table": table, "boot": boot, "seq": seq, "time": "2026-03-20T00:00:00Z"}
    return NewEvent(table, boot, seq, kind, json.dumps(body).encode())


class Writer:
    """A log, and the events that come."""

    def __init__(self, path: Path, max_events: int = 1_000_000) -> None:
        self.log = StreamLog(path, max_events=max_events, days=DAYS)
        self.seqs = dict.fromkeys(TABLES, 0)
        self.arrived: float | None = None

    def add(self, table: str = "r1", kind: str = "data.late", count: int = 1) -> None:
        for _ in range(count):
            self.seqs[table] += 1
            at = RunPosition("b1", self.seqs[table])
            now = asyncio.get_running_loop().time() if self.arrived is None else self.arrived
            self.log.append(
                [event(table, at.seq, kind)], [(f"x/{table}", FollowedRuns(at))], NOW, now
            )


class StreamReader:
    """A reader of one stream. ``messages``: name, id and data of each."""

    def __init__(
        self,
        log: StreamLog,
        last: str | None = None,
        *,
        table: str | None = None,
        tables: tuple[str, ...] = TABLES,
        types: tuple[str, ...] = (),
        form: StreamFormat = "json",
    ) -> None:
        self.why: EndReason | None = None
        self.slow: bool | None = None
        self.data = b""
        self.gate = asyncio.Event()
        self.gate.set()
        names = (table,) if table is not None else tables
        made = EventStream(
            log,
            StreamFilter({name: TOPICS[name] for name in names}, table, types),
            form,
            last,
            ended=lambda: self.why,
            on_end=lambda _, slow: setattr(self, "slow", slow),
        )
        self.stream = made
        self.leaving = asyncio.Event()
        self.task = asyncio.create_task(made({}, self._receive, self._send))

    async def _receive(self) -> dict[str, Any]:
        await self.leaving.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        await self.gate.wait()
        self.data += message.get("body", b"")

    @property
    def messages(self) -> list[dict[str, str]]:
        found = []
        for part in self.data.decode().split("\n\n")[:-1]:
            lines = [line.partition(": ") for line in part.split("\n")]
            found.append({name: value for name, _, value in lines if name})
        return [message for message in found if "data" in message]

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(each["data"]) for each in self.messages if "event" not in each]

    @property
    def gaps(self) -> list[dict[str, Any]]:
        return [json.loads(each["data"]) for each in self.messages if each.get("event") == "gap"]

    @property
    def end(self) -> str | None:
        found = [json.loads(each["data"]) for each in self.messages if each.get("event") == "end"]
        return found[-1]["why"] if found else None

    @property
    def last_id(self) -> str:
        ids = [line[4:] for line in self.data.decode().split("\n") if line.startswith("id: ")]
        return ids[-1] if ids else "0"

    def seqs(self, table: str = "r1") -> list[int]:
        return [each["seq"] for each in self.events if each["table"] == table]

    async def until(self, condition: Callable[[], bool]) -> None:
        await until_async(condition)

    async def leave(self) -> None:
        self.leaving.set()
        await self.task


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    made = Writer(tmp_path / "events.sqlite3")
    with closing(made.log):
        yield made


async def test_a_stream_begins_now_and_has_each_event_live(writer: Writer) -> None:
    writer.add(count=3)
    reader = StreamReader(writer.log)
    await reader.until(lambda: b"retry" in reader.data)
    writer.add("r1")
    writer.add("r2")
    await reader.until(lambda: len(reader.events) == 2)
    assert [(each["table"], each["seq"]) for each in reader.events] == [("r1", 4), ("r2", 1)]
    assert not any("historical" in each for each in reader.events)
    assert reader.messages[0]["id"] == "4.b1.4"
    await reader.leave()
    assert reader.slow is False


@pytest.mark.parametrize("table", [None, "r1"])
async def test_a_stream_resumes_after_its_last_id_and_what_waited_is_historical(
    writer: Writer, table: str | None
) -> None:
    first = StreamReader(writer.log, table=table)
    await first.until(lambda: b"retry" in first.data)
    writer.add(count=2)
    await first.until(lambda: first.seqs() == [1, 2])
    await first.leave()
    writer.add("r2")
    writer.add(count=2)
    second = StreamReader(writer.log, first.last_id, table=table)
    await second.until(lambda: second.seqs() == [3, 4])
    writer.add()
    await second.until(lambda: second.seqs() == [3, 4, 5])
    assert [each.get("historical", False) for each in second.events if each["table"] == "r1"] == [
        True,
        True,
        False,
    ]
    assert bool(second.seqs("r2")) == (table is None)
    assert second.gaps == []
    await second.leave()


async def test_a_stream_resumes_from_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "events.sqlite3"
    writer = Writer(path)
    count = 2 * event_log.PAGE_EVENTS + 7
    writer.add("r1", count=count)
    writer.add("r2")
    assert writer.log.followed().keys() == {"x/r1", "x/r2"}
    writer.log.close()
    with closing(StreamLog(path, max_events=1000, days=DAYS)) as log:
        for table in (None, "r1"):
            for last in ("0", "3.b1.3" if table is None else "b1.3"):
                reader = StreamReader(log, last, table=table)
                expected = [*range(1 if last == "0" else 4, count + 1)]
                await reader.until(lambda r=reader, e=expected: r.seqs() == e)  # type: ignore[misc]
                assert all(each["historical"] for each in reader.events)
                await reader.leave()


@pytest.mark.parametrize(
    ("last", "table", "why"),
    [
        ("99.b1.99", None, "unknown_id"),
        ("2.b0.9", None, "unknown_id"),
        ("b0.9", "r1", "unknown_id"),
        ("b1.99", "r1", "unknown_id"),
    ],
)
async def test_an_id_that_is_not_known_is_a_gap_before_all_that_is_stored(
    writer: Writer, last: str, table: str | None, why: str
) -> None:
    writer.add(count=3)
    reader = StreamReader(writer.log, last, table=table)
    await reader.until(lambda: reader.seqs() == [1, 2, 3])
    [gap] = reader.gaps
    boot, seq = last.split(".")[-2:]
    assert gap["why"] == why
    assert gap["after"] == {"boot": boot, "seq": int(seq)}
    assert gap["before"] == {"boot": "b1", "seq": 1}
    await reader.leave()


@pytest.mark.parametrize("table", [None, "r1"])
async def test_what_has_expired_is_a_gap(
    tmp_path: Path, table: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_log, "PRUNE_EVENTS", 10)
    writer = Writer(tmp_path / "events.sqlite3", max_events=30)
    with closing(writer.log):
        writer.add(count=55)
        while writer.log.prune(NOW):
            pass
        assert writer.log.first == 21
        for seq, gap in ((5, True), (19, True), (20, False), (21, False)):
            last = f"{seq}.b1.{seq}" if table is None else f"b1.{seq}"
            reader = StreamReader(writer.log, last, table=table)
            expected = [*range(max(21, seq + 1), 56)]
            await reader.until(lambda r=reader, e=expected: r.seqs() == e)  # type: ignore[misc]
            assert [each["why"] for each in reader.gaps] == ["expired"] * gap
            await reader.leave()
        while writer.log.prune(NOW + DAYS * 86_400 + 1):
            pass
        assert writer.log.first > 50


async def test_filters_leave_out_events_and_never_gaps(writer: Writer) -> None:
    reader = StreamReader(writer.log, tables=("r1",), types=("round.result",))
    await reader.until(lambda: b"retry" in reader.data)
    writer.add("r1", "round.result")
    writer.add("r1")
    writer.add("r2", "round.result")
    writer.log.append([event("r1", 9, "gap")], [], NOW, asyncio.get_running_loop().time())
    await reader.until(lambda: len(reader.messages) == 2)
    assert [each["type"] for each in (*reader.events, *reader.gaps)] == ["round.result", "gap"]
    await reader.leave()


async def test_a_beat_carries_the_id_of_what_was_left_out(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "BEAT_INTERVAL_SECONDS", 0.0)
    readers = [
        StreamReader(writer.log, table=table, types=("round.result",)) for table in (None, "r1")
    ]
    for reader in readers:
        await reader.until(lambda r=reader: b"retry" in r.data)  # type: ignore[misc]
    writer.add("r1")
    for reader, expected in zip(readers, ("1.b1.1", "b1.1"), strict=True):

        def has_id(reader: StreamReader = reader, expected: str = expected) -> bool:
            writer.log.wake_all()
            return reader.last_id == expected

        await reader.until(has_id)
        assert reader.messages == []
        await reader.leave()


async def test_an_event_may_have_the_form_of_cloud_events(writer: Writer) -> None:
    reader = StreamReader(writer.log, form="cloudevents")
    await reader.until(lambda: b"retry" in reader.data)
    writer.add("r1", "round.result")
    await reader.until(lambda: len(reader.messages) == 1)
    [found] = reader.events
    assert found.pop("data")["seq"] == 1
    assert found == {
        "specversion": "1.0",
        "id": "palma/r1/b1/1",
        "source": "novamas/v1/palma/r1",
        "type": "round.result",
        "time": "2026-03-20T00:00:00Z",
        "datacontenttype": "application/json",
    }
    await reader.leave()


async def test_a_slow_reader_ends_with_the_reason_and_resumes(writer: Writer) -> None:
    reader = StreamReader(writer.log)
    await reader.until(lambda: b"retry" in reader.data)
    writer.add()
    await reader.until(lambda: reader.seqs() == [1])
    reader.gate.clear()
    writer.add(count=3)
    await asyncio.sleep(0)
    writer.add(count=2 * event_log.TAIL_EVENTS + 10)
    reader.gate.set()
    await reader.task
    assert reader.end == "slow"
    assert reader.slow is True
    again = StreamReader(writer.log, reader.last_id)
    await again.until(lambda: again.seqs()[-1:] == [writer.seqs["r1"]])
    assert reader.seqs() + again.seqs() == [*range(1, writer.seqs["r1"] + 1)]
    assert again.gaps == []
    await again.leave()


async def test_a_reader_that_reads_nothing_is_disconnected(writer: Writer) -> None:
    reader = StreamReader(writer.log)
    await reader.until(lambda: b"retry" in reader.data)
    began = asyncio.get_running_loop().time()
    reader.gate.clear()
    writer.add()
    await asyncio.sleep(0.01)
    reader.stream.expire(began)
    await asyncio.sleep(0.01)
    assert not reader.task.done()
    reader.stream.expire(asyncio.get_running_loop().time())
    await reader.task
    assert reader.slow is True
    assert reader.seqs() == []


async def test_an_event_that_waited_in_the_server_is_not_live(writer: Writer) -> None:
    reader = StreamReader(writer.log)
    await reader.until(lambda: b"retry" in reader.data)
    writer.arrived = asyncio.get_running_loop().time() - stream.LATE_SECONDS - 1
    writer.add()
    await reader.until(lambda: bool(reader.events) or reader.end is not None)
    assert all(each["historical"] for each in reader.events)
    await reader.leave()


async def test_a_quiet_table_is_not_slow_beside_a_busy_one(writer: Writer) -> None:
    reader = StreamReader(writer.log, table="r2")
    await reader.until(lambda: b"retry" in reader.data)
    writer.add("r1", count=2 * event_log.TAIL_EVENTS + 10)
    writer.log.wake_all()
    await asyncio.sleep(0.05)
    writer.add("r2")
    await reader.until(lambda: reader.seqs("r2") == [1])
    assert reader.end is None
    assert "historical" not in reader.events[0]
    await reader.leave()


@pytest.mark.parametrize("why", ["shutdown", "token", "log"])
async def test_the_server_states_why_it_ends_a_stream(writer: Writer, why: EndReason) -> None:
    reader = StreamReader(writer.log)
    await reader.until(lambda: b"retry" in reader.data)
    reader.why = why
    writer.log.wake_all()
    await reader.task
    assert reader.end == why
    assert reader.slow is False


@settings(max_examples=cases(40, 400), deadline=None)
@given(st.data())
def test_readers_that_come_and_go_have_each_event_once(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("log") / "events.sqlite3"
    steps = data.draw(
        st.lists(st.sampled_from(("r1", "r2", "leave", "restart", "wait")), max_size=30)
    )
    table = data.draw(st.sampled_from((None, "r1")))

    async def play() -> None:
        writer = Writer(path)
        events: list[Any] = []
        reader = StreamReader(writer.log, "0", table=table)
        for step in steps:
            match step:
                case "r1" | "r2":
                    writer.add(step)
                case "wait":
                    await asyncio.sleep(0.002)
                case "leave" | "restart":
                    await reader.leave()
                    events += reader.events
                    last = reader.last_id if reader.messages else last_id(events, table)
                    if step == "restart":
                        seqs = writer.seqs
                        writer.log.close()
                        writer = Writer(path)
                        writer.seqs = seqs
                    reader = StreamReader(writer.log, last, table=table)
        wanted = sum(writer.seqs.values()) if table is None else writer.seqs[table]
        await reader.until(lambda: len(events) + len(reader.events) >= wanted)
        await reader.leave()
        events += reader.events
        assert not reader.gaps
        for name in TABLES if table is None else (table,):
            got = [each["seq"] for each in events if each["table"] == name]
            assert got == [*range(1, writer.seqs[name] + 1)]
        writer.log.close()

    def last_id(events: list[Any], table: str | None) -> str:
        if not events:
            return "0"
        return (
            f"{len(events)}.b1.{events[-1]['seq']}" if table is None else f"b1.{events[-1]['seq']}"
        )

    asyncio.run(play())
