"""Old records leave the archive, and no others."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from common.contract.times import format_utc
from subscribers.surveillance import prune as program
from subscribers.surveillance.archive import ArchiveRecord, Query, RecordArchive
from subscribers.surveillance.open_archive import open_archive
from subscribers.surveillance.retention import (
    DAY_SECONDS,
    MIN_KEEP_DAYS,
    STATE_NAME,
    AgeMark,
    RecordingAge,
    advance_age,
    decode_age,
    last_mark,
)
from subscribers.surveillance.upkeep import Upkeep
from tests.subscribers.surveillance.said import event, finding

NOON = 1_790_000_000.0


class Run:
    """A recorder that runs and keeps an event every day."""

    def __init__(self, archive: RecordArchive, **policy: int) -> None:
        self.archive, self.policy = archive, policy
        self.awake, self.wall, self.seq = 1000.0, NOON, 0
        self.start()

    def start(self) -> None:
        policy: Any = self.policy
        self.upkeep = Upkeep(self.archive, policy, "madrid-1", "recorder", self.awake)

    def days(self, count: int, *records: ArchiveRecord) -> list[Any]:
        done = []
        for _ in range(count):
            self.seq += 1
            self.archive.store([event(self.seq), *records])
            for _ in range(4):
                done += self.upkeep.run_once(self.awake, format_utc(self.wall))
                self.awake += DAY_SECONDS / 4
                self.wall += DAY_SECONDS / 4
        return done


def seqs(archive: RecordArchive, **query: Any) -> list[int]:
    return [
        row.record.seq for row in archive.find(Query(kinds=("event",), order="number", **query))
    ]


def removals(archive: RecordArchive) -> list[Any]:
    found = archive.find(Query(kinds=("removal",), order="number"))
    return [json.loads(row.record.body) for row in found]


def test_what_is_old_is_removed_and_that_is_recorded(archive: RecordArchive) -> None:
    archive.store([finding(1)])
    run = Run(archive, event=40)
    assert run.days(40) == []
    assert seqs(archive) == list(range(1, 41))
    [done] = run.days(1)
    assert (done.removal.kind, done.count) == ("event", 1)
    assert seqs(archive) == list(range(2, 42))
    assert removals(archive) == [
        {
            "removed": "event",
            "records": 1,
            "through": 2,
            "until": format_utc(NOON),
            "keep_days": 40,
            "spared": [],
        }
    ]
    run.days(20)
    assert seqs(archive) == list(range(22, 62))
    assert sum(removal["records"] for removal in removals(archive)) == 21
    assert [row.record for row in archive.find(Query(kinds=("finding",)))] == [finding(1)]
    assert archive.gaps("madrid-1") == []


def test_nothing_is_removed_without_a_policy(archive: RecordArchive) -> None:
    run = Run(archive)
    run.days(60)
    assert seqs(archive) == list(range(1, 61))
    assert removals(archive) == []


def test_a_month_stays_under_any_policy(archive: RecordArchive) -> None:
    run = Run(archive, event=1)
    run.days(MIN_KEEP_DAYS)
    assert seqs(archive) == list(range(1, MIN_KEEP_DAYS + 1))
    run.days(1)
    assert seqs(archive) == list(range(2, MIN_KEEP_DAYS + 2))


@pytest.mark.parametrize("step", [40 * 366 * DAY_SECONDS, -20 * 366 * DAY_SECONDS])
def test_no_clock_makes_a_record_old(archive: RecordArchive, step: float) -> None:
    """The wall clock jumps by years, and back; before and after a restart."""
    run = Run(archive, event=40)
    run.days(5)
    run.wall += step
    run.days(5)
    run.start()
    run.days(5)
    run.wall -= step
    run.days(25)
    assert seqs(archive) == list(range(1, 41))
    run.days(2)
    assert seqs(archive)[0] > 1


def test_while_no_recorder_runs_nothing_is_counted(archive: RecordArchive) -> None:
    run = Run(archive, event=40)
    run.days(20)
    run.awake, run.wall = (
        5.0,
        run.wall + 400 * DAY_SECONDS,
    )  # the machine was off for more than a year
    run.start()
    run.days(20)
    assert seqs(archive) == list(range(1, 41))
    run.days(2)
    assert seqs(archive)[0] > 1


def test_what_comes_late_is_as_old_as_its_coming(archive: RecordArchive) -> None:
    run = Run(archive, event=40)
    run.days(30)
    late = event(1, table="R2", received=format_utc(NOON), time=format_utc(NOON))
    archive.store([late])
    run.days(40)
    assert seqs(archive, tables=("R2",)) == [1]
    run.days(2)
    assert seqs(archive, tables=("R2",)) == []


def alert(seq: int, kind: str, rounds: list[int], session: int) -> ArchiveRecord:
    body = {"type": kind, "alert": "round-unresolved", "rounds": rounds}
    return event(seq, table="R2", type=kind, session=session, body=json.dumps(body).encode())


def test_a_round_that_waits_for_a_person_stays(archive: RecordArchive) -> None:
    of: dict[str, Any] = {"table": "R2", "session": 3}
    archive.store([event(1, table="R2", session=2)])
    archive.store([event(2, **of), event(3, round=1, **of)])
    box = event(0, table="R2", kind="sealed", key="R2:box", body=b'{"sealed":"b64"}')
    archive.store([box, alert(4, "alert.raised", [1], 3), event(5, **of)])
    archive.store([event(6, table="R2", session=4)])
    run = Run(archive, event=40, sealed=40)
    done = run.days(42)
    assert len(done[0].removal.retained) == 1
    assert seqs(archive, tables=("R2",)) == [2, 3, 4, 5]
    assert [row.record for row in archive.find(Query(kinds=("sealed",)))] == [box]
    assert removals(archive)[0]["spared"][0]["table"] == "R2"
    archive.store([alert(7, "alert.cleared", [], 3)])
    run.days(2)
    assert seqs(archive, tables=("R2",)) == [7]
    assert list(archive.find(Query(kinds=("sealed",)))) == []
    assert archive.gaps("madrid-1") == []


def test_an_interrupted_removal_resumes(
    archive: RecordArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(archive, event=40)
    run.days(40)

    class KilledError(Exception):
        pass

    def killed(what: object) -> int:
        raise KilledError

    monkeypatch.setattr(archive, "remove", killed)
    with pytest.raises(KilledError):
        run.days(1)
    monkeypatch.undo()
    run.wall += 1
    assert [removal["records"] for removal in removals(archive)] == [1]
    run.start()
    run.days(1)
    assert seqs(archive)[0] == 2
    assert [removal["through"] for removal in removals(archive)] == [1, 1]


def test_an_unreadable_count_restarts() -> None:
    assert decode_age(b"{") == decode_age(None) == RecordingAge()


def test_a_clock_that_goes_back_counts_nothing() -> None:
    count = advance_age(RecordingAge(100, (AgeMark(1, 100, "t"),)), -5, 9, "u")
    assert count == RecordingAge(100, (AgeMark(1, 100, "t"),))
    assert last_mark(count, 40) is None


def test_prune_prints_what_it_would_do(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    archive = open_archive(place)
    archive.store([event(n) for n in range(1, 4)])
    marks = (AgeMark(2, 0, format_utc(NOON)),)
    archive.save_value(STATE_NAME, msgspec.json.encode(RecordingAge(50 * DAY_SECONDS, marks)))
    settings = {"archive": place, "site": "madrid-1", "node": "recorder"}
    policy = {"keep_days": {"event": 40, "sealed": 60}}
    words = ["--settings", json.dumps({**settings, **policy}), "prune"]
    assert program.main([*words, "--dry-run"]) == 0
    output = capsys.readouterr().out
    assert "Recorded for 50 days" in output
    assert f"event: 2 would be removed, kept until {format_utc(NOON)}" in output
    assert "sealed: nothing is 60 days old" in output
    assert seqs(archive) == [1, 2, 3]
    assert program.main(words) == 0
    assert "event: 2 removed" in capsys.readouterr().out
    assert seqs(archive) == [3]
    assert program.main(words) == 0
    assert "event: nothing left that is 40 days old" in capsys.readouterr().out
    assert len(removals(archive)) == 1
    assert program.main(["--settings", json.dumps(settings), "prune"]) == 0
    assert "everything is kept" in capsys.readouterr().out
    archive.close()
