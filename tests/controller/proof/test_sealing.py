"""Past days: sealed, still provable, removed from the journal in time and never too early."""

from __future__ import annotations

import asyncio
import gzip
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from common.chain.checkpoint import key_path, load_key, make_key, public
from common.chain.schema import Record
from controller.cli import main
from controller.journal.journal import Journal
from controller.journal.reader import JournalReader
from controller.proof import journal_upkeep, pace
from controller.proof.audit import audit
from controller.proof.pace import EndedError, Throttle
from controller.proof.sealing import DAY_SECONDS, SealedDay, remove, seal
from controller.proof.segment import BrokenSegmentError, Segment, folder, segments, span
from controller.proof.verdict import Verdict
from controller.proof.verify import verify
from controller.tables.runner import TableRunner
from tests.support.journal.premises import Premises, entries
from tests.support.waiting import TIMEOUT_SECONDS, until_async

DAYS = [f"2026-11-{day:02d}" for day in range(1, 11)]


def record(number: int, day: str) -> Record:
    return Record(
        table="t1",
        boot="b1",
        seq=2 * number,
        time=f"{day}T07:25:28.{number:06d}Z",
        mono_ns=number,
        input=b'{"input":%d}' % number,
        events=(b'{"event":%d}' % (2 * number - 1), b'{"event":%d}' % (2 * number)),
        saved=b"{}",
    )


async def ten_days(path: Path) -> None:
    """Ten records, thirty entries, on each of ten days."""
    with closing(Journal(path)) as journal:
        for index, day in enumerate(DAYS):
            for number in range(index * 10 + 1, index * 10 + 11):
                await journal.append(record(number, day))


def sealed(
    path: Path,
    now: str = "2026-11-10T12:00:00.000000Z",
    acknowledged: int = 300,
    keep_days: int = 30,
) -> SealedDay:
    """By a daemon that has run since the first of November, and has sealed each day as soon as it
    was over.
    """
    key = load_key(key_path(path)) if key_path(path).exists() else make_key(key_path(path))
    first, last = date.fromisoformat(DAYS[0]), date.fromisoformat(now[:10])
    for day in range(1, (last - first).days + 1):
        midnight = f"{first + timedelta(day)}T00:00:00.000000Z"
        seal(path, key, "b1", midnight, day * DAY_SECONDS, acknowledged, keep_days)
    return seal(
        path,
        key,
        "b1",
        now,
        (last - first).days * DAY_SECONDS + DAY_SECONDS // 2,
        acknowledged,
        keep_days,
    )


def verified(path: Path) -> Verdict:
    return verify(path, public(load_key(key_path(path))))


async def until_cut(journal: Journal, path: Path, through: int) -> None:
    journal.remove_through(through)
    while True:
        with closing(JournalReader(path)) as reader:
            if reader.beginning().position >= min(through, 299):
                return
        await asyncio.sleep(0.01)


async def test_every_day_that_is_over_is_sealed_once(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    await ten_days(path)
    assert sealed(path).through == 270
    assert [span(each)[0] for each in segments(path)] == DAYS[:9]
    before = [each.read_bytes() for each in segments(path)]
    assert sealed(path).through == 270
    assert [each.read_bytes() for each in segments(path)] == before
    with closing(Segment(segments(path)[4])) as segment:
        assert [entry.position for entry in segment.entries()] == list(range(121, 151))
        assert segment.checkpoint is not None
        assert segment.checkpoint.position == 150


async def test_sealed_days_leave_the_journal_after_a_week_and_everything_still_verifies(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal.sqlite3"
    await ten_days(path)
    whole = entries(path)
    done = sealed(path)
    assert done.cut == 60  # the first and second of November; the third is a week ago
    with closing(Journal(path)) as journal:
        await until_cut(journal, path, done.cut)
        assert [entry.position for entry in journal.events_after(0, 1)] == [62]
        assert await journal.append(record(101, DAYS[9])) == 303
    with closing(Journal(path)) as journal:
        assert journal.set_aside is None
    assert entries(path)[0] == whole[60]
    verdict = verified(path)
    assert verdict.problems == []
    assert (verdict.entries, verdict.segments) == (303, 9)


async def test_the_last_entry_stays_and_the_chain_continues(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    await ten_days(path)
    done = sealed(path, now="2026-12-24T12:00:00.000000Z", keep_days=60)
    assert done == SealedDay(300, 300)
    with closing(Journal(path)) as journal:
        await until_cut(journal, path, 300)
    assert [entry.position for entry in entries(path)] == [300]
    with closing(Journal(path)) as journal:
        assert await journal.append(record(101, "2026-12-24")) == 303
    assert verified(path).problems == []


async def test_the_file_does_not_grow_once_days_leave_it(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    sizes = []
    with closing(Journal(path)) as journal:
        for index in range(8):
            day = f"2026-11-{index + 1:02d}"
            for number in range(index * 50 + 1, index * 50 + 51):
                await journal.append(record(number, day))
            end = journal.head()
            await until_cut_to(journal, path, end - 1)
            with closing(sqlite3.connect(path)) as other:  # it sees the log too
                sizes.append(other.execute("PRAGMA page_count").fetchone()[0])
    assert max(sizes[4:]) <= max(sizes[:4])


async def until_cut_to(journal: Journal, path: Path, through: int) -> None:
    journal.remove_through(through)
    while True:
        with closing(JournalReader(path)) as reader:
            if reader.beginning().position >= through:
                return
        await asyncio.sleep(0.01)


async def test_unpublished_events_are_never_removed(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    await ten_days(path)
    assert sealed(path, acknowledged=31).cut == 31
    assert sealed(path, acknowledged=0).cut == 0
    assert sealed(path, now="2027-11-10T12:00:00.000000Z", acknowledged=0) == SealedDay(300, 0)
    assert len(segments(path)) == 10


async def test_segments_are_dropped_after_their_time(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    await ten_days(path)
    sealed(path)
    with closing(Journal(path)) as journal:
        await until_cut(journal, path, 60)
    done = sealed(path, now="2026-11-10T12:00:00.000000Z", keep_days=8)
    assert [each.segment for each in done.due] == [segments(path)[0].name]
    remove(path, done.due)
    assert [span(each)[0] for each in segments(path)] == DAYS[1:9]
    verdict = verified(path)
    assert verdict.problems == []
    assert [(span.first, span.last) for span in verdict.missing] == [(1, 30)]
    (segments(path)[0]).unlink()  # one that is still due
    sealed(path)
    assert [(span.first, span.last) for span in verified(path).missing] == [(1, 60)]


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (lambda path: path.unlink(), "entries 61 to 90 are missing"),
        (lambda path: path.write_bytes(path.read_bytes()[:-20]), "cannot be read"),
        (lambda path: path.write_bytes(b""), "empty"),
        (lambda path: rewrite(path, '\\"event\\":50', '\\"event\\":51'), "its hash does not hold"),
        (lambda path: rewrite(path, '"signature":"', '"signature":"00'), "signature does not hold"),
        (lambda path: without(path, -2), "missing"),
    ],
)
async def test_a_damaged_segment_is_named(
    tmp_path: Path, damage: Callable[[Path], None], what: str
) -> None:
    path = tmp_path / "journal.sqlite3"
    await ten_days(path)
    done = sealed(path, now="2026-11-12T12:00:00.000000Z")
    with closing(Journal(path)) as journal:
        await until_cut(journal, path, done.cut)
    damage(segments(path)[2])
    problems = verified(path).problems
    assert any(what in problem.what for problem in problems), problems


def rewrite(path: Path, old: str, new: str) -> None:
    text = gzip.decompress(path.read_bytes()).decode()
    assert old in text
    path.write_bytes(gzip.compress(text.replace(old, new).encode()))


def without(path: Path, line: int) -> None:
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    del lines[line]
    path.write_bytes(gzip.compress(b"".join(lines)))


async def test_a_broken_chain_is_not_sealed(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    await ten_days(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("UPDATE entry SET body = 'other' WHERE position = 40")
    with pytest.raises(BrokenSegmentError, match="entry 40 does not hold"):
        sealed(path)
    assert [span(segment)[0] for segment in segments(path)] == DAYS[:1]
    assert list(folder(path).glob("*.part")) == []


async def test_a_disk_without_room_for_a_segment_is_an_alert_and_nothing_is_removed(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal.sqlite3"
    await ten_days(path)
    folder(path).write_text("in the way")
    run = Premises(path)
    await run.upkeep._seal(10_000)
    assert "cannot be sealed" in str(run.alerts["journal-seal"].detail)
    folder(path).unlink()
    await run.upkeep._seal(10_000)
    assert run.alerts == {}
    assert len(segments(path)) == 10
    await run.end()


async def test_a_sealed_journal_is_audited_and_exported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "journal.sqlite3"
    run = Premises(path)
    run.receive(*[b"*X;6;001;  ;0;000;0"] * 4)
    await run.open()
    run.spin(2, 17)
    run.spin(3, 32, 17)
    last = await run.end()
    first = entries(path)[0].time[:10]
    seal(
        path,
        load_key(key_path(path)),
        "b1",
        "2099-01-01T00:00:00.000000Z",
        0,
        last.position,
        99_999,
    )
    with closing(Journal(path)) as journal:
        await until_cut_to(journal, path, last.position - 1)
    made = audit(path)
    assert made.differences == []
    assert made.proved_events == made.events > 0
    assert made.proved_readings == made.readings

    def exported(*options: str) -> list[dict[str, Any]]:
        assert main(["export", str(path), *options]) == 0
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    assert len(exported()) == last.position
    assert len(exported("--day", first, "--table", "r1")) == last.position
    found = exported("--round", "2")
    assert {line["kind"] for line in found} == {"bytes", "input", "event"}
    events = [line["body"] for line in found if line["kind"] == "event"]
    told = ("round.opened", "round.result")
    rounds = [(body["type"], body["round"]) for body in events if body["type"] in told]
    assert rounds == [("round.opened", 2), ("round.result", 2)]
    assert main(["export", str(path), "--format", "csv"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[0].startswith("position,time,table")
    assert sum(",round.result,1," in row for row in rows) == 2
    assert main(["export", str(path), "--table", "none"]) == 1
    assert main(["export", str(path), "--day", "today"]) == 1
    assert main(["export", str(tmp_path / "none")]) == 1


async def test_a_day_half_sealed_at_a_stop_is_sealed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "BATCH_ENTRIES", 10)
    path = tmp_path / "journal.sqlite3"
    await ten_days(path)
    ended = Throttle()
    ended.end()
    with pytest.raises(EndedError):
        seal(
            path,
            make_key(key_path(path)),
            "b1",
            f"{DAYS[1]}T12:00:00Z",
            DAY_SECONDS,
            300,
            30,
            pace=ended,
        )
    assert list(folder(path).iterdir()) == []
    sealed(path, f"{DAYS[1]}T12:00:00.000000Z")
    assert [span(segment)[2:] for segment in segments(path)] == [(1, 30)]


async def test_work_of_each_minute_is_done_while_a_long_day_is_sealed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the daemon can stop meanwhile."""
    monkeypatch.setattr(journal_upkeep, "FLUSH_INTERVAL_SECONDS", 0.01)
    begun: list[int] = []

    def long_day(*given: Any) -> SealedDay:
        begun.append(1)
        while True:
            given[-1].pause()

    monkeypatch.setattr(journal_upkeep, "seal", long_day)
    made = Premises(tmp_path / "journal.sqlite3")
    checks: list[int] = []
    check = made.upkeep.check

    def checking(runners: list[TableRunner]) -> None:
        check(runners)
        checks.append(len(begun))

    monkeypatch.setattr(made.upkeep, "check", checking)
    upkeep = asyncio.create_task(made.upkeep.run([made.runner], lambda: 0))
    await until_async(lambda: len(checks) >= 5 and begun)
    async with asyncio.timeout(TIMEOUT_SECONDS):
        upkeep.cancel()
        await asyncio.wait([upkeep])
        await asyncio.get_running_loop().shutdown_default_executor()
    assert len(begun) == 1
    made.journal.close()


@pytest.mark.parametrize("tables", [0, 1, 10, 25, 1001])
async def test_bytes_of_many_tables_are_stored_a_few_tables_at_a_time(
    tables: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each table once a minute, and what other tables do comes in between."""
    monkeypatch.setattr(journal_upkeep, "FLUSH_INTERVAL_SECONDS", 0.01)
    made = Premises(tmp_path / "journal.sqlite3")
    turns: list[list[int]] = [[]]
    minutes: list[list[list[int]]] = []

    def flush(batch: list[int]) -> None:
        turns[-1] += batch
        asyncio.get_running_loop().call_soon(turns.append, [])

    def check(_: list[int]) -> None:
        minutes.append([turn for turn in turns if turn])
        turns[:] = [[]]

    monkeypatch.setattr(made.upkeep, "flush", flush)
    monkeypatch.setattr(made.upkeep, "check", check)
    numbers: Any = list(range(tables))
    upkeep = asyncio.create_task(made.upkeep.run(numbers, lambda: 0))
    await until_async(lambda: len(minutes) >= 2)
    upkeep.cancel()
    await asyncio.wait([upkeep])
    for flushed in minutes:
        assert sorted(number for turn in flushed for number in turn) == numbers
        assert all(len(turn) <= journal_upkeep.FLUSH_BATCH_TABLES for turn in flushed)
    await made.end()


async def test_a_day_begins_at_every_table_of_many(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    made = Premises(path)
    made.upkeep._today = DAYS[0]
    made.upkeep.check([made.runner] * 120)
    for _ in range(3):
        await asyncio.sleep(0)
    await made.end()
    days = [entry for entry in entries(path) if b'"why":"day"' in entry.body]
    assert len(days) == 120
