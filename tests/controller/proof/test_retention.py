"""Retention of sealed days: no clock change makes anything old, and removals are recorded in the
journal first.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from common.chain.checkpoint import key_path, load_key, public
from common.chain.schema import Entry, JournalUnusableError
from controller.journal import writer
from controller.journal.reader import JournalReader
from controller.journal.setup import Boot, RemovedDay, boot
from controller.proof import journal_upkeep, sealing, timekeeper
from controller.proof.outcome import ProofOutcome
from controller.proof.segment import Segment, header, segments
from controller.proof.verify import verify
from tests.controller.proof.world import DAY_SECONDS, World
from tests.support.disk import spoil
from tests.support.journal.premises import Premises, entries
from tests.support.waiting import until_async

HOUR_SECONDS = 3600.0


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "IDLE_SECONDS", 0.005)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite3"


@asynccontextmanager
async def running(path: Path, keep_days: int = 30) -> AsyncIterator[Premises]:
    run = Premises(path, keep_days=keep_days)
    try:
        yield run
    finally:
        await run.end()


async def written(run: Premises) -> None:
    """Wait until the journal's writer has finished all requested work."""
    await until_async(lambda: not run.journal._writer.cut and run.journal._writer.queue.empty())


async def minute(run: Premises) -> None:
    """Do the archivist's work of one minute, and wait for the journal's writer."""
    run.upkeep.check([run.runner])
    await run.runner.drain()
    await run.upkeep._seal(run.journal.head())
    await run.runner.drain()
    wanted = run.journal._writer.cut
    await written(run)
    assert wanted == 0 or run.journal.failed is None


async def live(run: Premises, world: World, days: float) -> None:
    """Some play each day."""
    while days > 0:
        step = min(days, 1.0)
        world.keeps_playing(step * DAY_SECONDS)
        run.receive(b"*X;6;001;  ;0;000;0")
        await minute(run)
        await minute(run)
        days -= step


def clock_alert(run: Premises) -> str | None:
    alert = run.alerts.get("journal-clock")
    return None if alert is None else alert.detail


def stored_positions(path: Path) -> list[int]:
    """The stored positions, in segments or in the file."""
    held = {entry.position for entry in entries(path)}
    for each in segments(path):
        with closing(Segment(each)) as segment:
            held |= {entry.position for entry in segment.entries()}
    return sorted(held)


def boots(found: list[Entry]) -> Iterator[Boot]:
    return (msgspec.json.decode(entry.body, type=Boot) for entry in found if entry.kind == "boot")


def removals(path: Path) -> list[RemovedDay]:
    """The removals recorded in the live file."""
    return [each for boot in boots(entries(path)) for each in boot.removed]


async def test_a_start_in_1970_and_then_the_right_time_removes_nothing(
    path: Path, world: World
) -> None:
    world.stops_in_1970()
    async with running(path) as run:
        await run.open()
        run.spin(2, 17)
        await minute(run)
        assert "it says 1970-01-01" in str(clock_alert(run))
        raised = run.alerts["journal-clock"]
        world.keeps_playing(DAY_SECONDS)
        await minute(run)
        await minute(run)
        assert run.alerts["journal-clock"] == raised  # reported once
        assert segments(path) == []  # a day is over, by a clock that is not trusted
        world.off = 0.0
        for _ in range(10):
            world.keeps_playing(60)
            await minute(run)
        assert clock_alert(run) is None
        assert removals(path) == []
        end = run.journal.head()
    assert stored_positions(path) == list(range(1, end + 1))
    assert [entry.position for entry in entries(path)] == stored_positions(
        path
    )  # it has not even left the journal
    assert [segment.name[:10] for segment in segments(path)] == ["1970-01-01", "1970-01-02"]


@pytest.mark.parametrize("days", [45, -45])
@pytest.mark.parametrize("synchronised", [True, False, None])
@pytest.mark.parametrize("at_start", [True, False])
async def test_45_days_forward_or_back_remove_nothing(
    path: Path, world: World, days: int, synchronised: bool | None, at_start: bool
) -> None:
    world.synchronised = synchronised
    async with running(path) as run:
        await run.open()
        run.spin(2, 17)
        await live(run, world, 3)
        if not at_start:
            world.off = days * DAY_SECONDS
            await live(run, world, 0.01)
            assert "was set by" in str(clock_alert(run))
    if at_start:
        world.off = days * DAY_SECONDS
    async with running(path) as run:
        for _ in range(3):
            world.keeps_playing(60)
            await minute(run)
        doubted = clock_alert(run)
        assert (doubted is None) == (
            synchronised is True and days > 0
        )  # else it is a machine that was off, as far as can be known
        world.off = 0.0
        await live(run, world, 2.5)
        assert clock_alert(run) is None or synchronised
        assert removals(path) == []
        end = run.journal.head()
    assert stored_positions(path) == list(range(1, end + 1))
    assert min(entry.position for entry in entries(path)) == 1


async def test_a_removal_is_recorded_before_it_happens(
    path: Path, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    before: dict[str, tuple[int, int, str, str]] = {}
    told: list[set[str]] = []

    def remove(journal: Path, due: tuple[RemovedDay, ...]) -> None:
        told.append({each.segment for each in removals(journal)})
        assert {each.segment for each in due} <= told[-1]
        really(journal, due)

    really = sealing.remove
    monkeypatch.setattr(journal_upkeep, "remove", remove)
    async with running(path, keep_days=10) as run:
        for _ in range(15):
            await live(run, world, 1)
            for each in segments(path):
                with closing(Segment(each)) as segment:
                    last = [entry.hash.hex() for entry in segment.entries()][-1]
                first = header(each)
                before[each.name] = (
                    first.after + 1,
                    first.last,
                    last,
                    sha256(each.read_bytes()).hexdigest(),
                )
        found = [*removals(path)]
        assert len(told) == len(found) > 3
        for gone in found:
            assert (gone.first, gone.last, gone.hash, gone.sha256) == before[gone.segment]
            assert gone.journal == run.journal.id
            assert not path.with_name(f"{path.name}.segments").joinpath(gone.segment).exists()
        assert [gone.first for gone in found] == [1, *(gone.last + 1 for gone in found[:-1])]
        end = run.journal.head()
    assert stored_positions(path) == list(range(found[-1].last + 1, end + 1))
    assert len(segments(path)) in (10, 11)


async def test_verify_distinguishes_removed_days_from_missing_ones(
    path: Path, world: World
) -> None:
    async with running(path, keep_days=5) as run:
        await live(run, world, 9)
        run.upkeep.checkpoint()
    key = public(load_key(key_path(path)))
    gone = removals(path)[-1].last
    for verdict in (verify(path), verify(path, key)):
        assert (verdict.outcome, [(span.first, span.last) for span in verdict.removed]) == (
            ProofOutcome.HOLDS,
            [(1, gone)],
        )
    oldest = segments(path)[0]
    first = header(oldest)
    kept = oldest.read_bytes()
    oldest.unlink()
    for verdict in (verify(path), verify(path, key)):
        assert verdict.outcome is ProofOutcome.DOES_NOT_HOLD
        assert f"entries {first.after + 1} to {first.last} are gone" in verdict.problems[0].what
    oldest.write_bytes(kept)
    assert verify(path, key).holds
    segments(path)[1].unlink()
    assert "are missing" in verify(path, key).problems[0].what


async def test_a_journal_of_a_release_without_counting_continues_and_is_verified(
    path: Path, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its days had no age and its removals were not recorded: neither is held against it."""

    def before(*given: Any, **named: Any) -> bytes:
        body = msgspec.json.decode(boot(*given, **named))
        return msgspec.json.encode(
            {key: value for key, value in body.items() if key not in ("clock", "removed")}
        )

    with monkeypatch.context() as patched:
        patched.setattr(journal_upkeep, "boot", before)
        patched.setattr(timekeeper.Timekeeper, "counted", 0)
        async with running(path, keep_days=5) as run:
            await live(run, world, 10)
    segments(path)[0].unlink()  # as that release did it
    async with running(path, keep_days=5) as run:
        assert run.upkeep._timekeeper.counted == 0
        await live(run, world, 4)
        assert removals(path) == []
        run.upkeep.checkpoint()
    verdict = verify(path, public(load_key(key_path(path))))
    assert (verdict.outcome, len(verdict.missing), verdict.problems) == (
        ProofOutcome.NOT_JUDGED,
        1,
        [],
    )


async def test_nothing_is_removed_without_a_record(
    path: Path, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(path, keep_days=3) as run:
        await live(run, world, 3)

        def refuse(*_: object, **__: object) -> None:
            raise JournalUnusableError("closed")

        with monkeypatch.context() as patched:
            patched.setattr(journal_upkeep, "boot", refuse)
            world.keeps_playing(2 * DAY_SECONDS)
            run.upkeep._timekeeper.update()
            for _ in range(3):
                await run.upkeep._seal(run.journal.head())
                await written(run)
        assert "closed" in str(run.alerts["journal-seal"].detail)
        assert min(stored_positions(path)) == 1
        await live(run, world, 1)
        assert min(stored_positions(path)) > 1


async def test_a_machine_that_was_off_for_a_month_continues_its_count(
    path: Path, world: World
) -> None:
    world.synchronised = True
    async with running(path, keep_days=10) as run:
        await live(run, world, 9)
        counted = run.upkeep._timekeeper.counted
    world.is_off(30 * DAY_SECONDS)
    async with running(path, keep_days=10) as run:
        assert counted <= run.upkeep._timekeeper.counted < counted + HOUR_SECONDS
        await minute(run)
        assert clock_alert(run) is None
        assert removals(path) == []
        assert min(stored_positions(path)) == 1
        await live(run, world, 3)
        assert removals(path) != []


async def test_a_new_journal_continues_the_count_of_the_sealed_days(
    path: Path, world: World
) -> None:
    """The journal was damaged at rest: its sealed days are still there, and their time
    continues.
    """
    async with running(path) as run:
        await live(run, world, 5)
    spoil(path, first=0)
    async with running(path) as run:
        assert run.upkeep._timekeeper.counted >= 4 * DAY_SECONDS


async def test_a_clock_that_is_ahead_for_an_hour_does_not_keep_days_from_being_sealed(
    path: Path, world: World
) -> None:
    async with running(path) as run:
        await live(run, world, 1)
        world.off = 45 * DAY_SECONDS
        await live(run, world, 0.05)
        world.off = 0.0
        await live(run, world, 3)
        end = run.journal.head()
        assert len({segment.name[:10] for segment in segments(path)}) == 5
        sealed = max(header(segment).last for segment in segments(path))
        with closing(JournalReader(path)) as reader:
            assert reader.day_after(sealed) == "2026-11-05"
    assert stored_positions(path) == list(range(1, end + 1))


class Ledger:
    """The time until which each position was known to be the newest: by the true time, which no
    daemon knows.
    """

    def __init__(self) -> None:
        self.ran = 0.0
        self.written: dict[int, float] = {}

    def note(self, head: int) -> None:
        for position in range(max(self.written, default=0) + 1, head + 1):
            self.written[position] = self.ran


STEPS = st.one_of(
    st.tuples(st.just("live"), st.floats(0.01, 2.0)),
    st.tuples(st.just("clock"), st.sampled_from([-45.0, 45.0, 400.0, -0.04, 0.04, 0.0, 0.0])),
    st.tuples(st.just("1970"), st.just(0.0)),
    st.tuples(st.just("off"), st.floats(0.0, 60.0)),
    st.tuples(st.just("synchronised"), st.sampled_from([0.0, 1.0, 2.0])),
)


@settings(
    max_examples=12,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(steps=st.lists(STEPS, min_size=8, max_size=16))
def test_no_clock_change_removes_anything_too_early(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, float]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        asyncio.run(
            _whatever(tmp_path_factory.mktemp("journal") / "journal.sqlite3", World(patch), steps)
        )


async def _whatever(path: Path, world: World, steps: list[tuple[str, float]]) -> None:
    keep, ledger = 3, Ledger()
    run = Premises(path, keep_days=keep)
    for what, how in [*steps, ("clock", 0.0), ("live", 4.0), ("live", 2.0)]:
        match what:
            case "live":
                days = how
                while days > 0:
                    await live(run, world, min(days, 1.0))
                    ledger.ran += min(days, 1.0)
                    days -= 1.0
                    ledger.note(run.journal.head())
            case "clock":
                world.off = how * DAY_SECONDS
            case "1970":
                world.stops_in_1970()
            case "synchronised":
                world.synchronised = (False, True, None)[int(how)]
            case "off":
                await run.end()
                world.is_off(how * DAY_SECONDS)
                run = Premises(path, keep_days=keep)
        await run.runner.drain()
        ledger.note(run.journal.head())
        there = stored_positions(path)
        assert there == list(range(there[0], there[-1] + 1))
        assert there[-1] >= run.journal.head(), "the file may be ahead of what is reported"
        removed = [ledger.written[position] for position in range(1, there[0])]
        assert all(ledger.ran - written >= keep for written in removed)
    await run.end()
