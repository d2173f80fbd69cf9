"""Findings on wheels stored by the task beside the recorder."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random

import msgspec
import pytest

from subscribers.statistics import watch as room
from subscribers.statistics.reading import StatisticsReader
from subscribers.statistics.watch import keep_findings, watch
from subscribers.surveillance.archive import ArchiveRecord, Query
from subscribers.surveillance.open_archive import open_archive
from subscribers.surveillance.service import NewRecordSignal
from tests.support.subscribers.evenings import evenings
from tests.support.waiting import until


def found(path: Path) -> list[ArchiveRecord]:
    archive = open_archive(str(path), read_only=True)
    records = [row.record for row in archive.find(Query(kinds=("finding",)))]
    archive.close()
    return records


async def test_a_biased_wheel_is_a_finding_once_also_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "READ_INTERVAL_SECONDS", 0.01)
    path, random = tmp_path / "archive.sqlite3", Random(6)
    records = evenings(
        [random.randrange(4) if random.random() < 0.3 else random.randrange(37) for _ in range(600)]
    )
    archive = open_archive(str(path))
    archive.store(records[:300])
    grown = NewRecordSignal()
    grown.publish(300)
    task = asyncio.create_task(watch(str(path))(grown))
    await asyncio.sleep(0)
    kept = archive.store(records[300:])
    grown.publish(kept.new[-1].number)
    await asyncio.to_thread(until, "a finding", lambda: found(path) != [])
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    keep_findings(archive, StatisticsReader(archive))
    (finding,) = found(path)
    assert (finding.type, finding.table, finding.site) == ("wheel_bias", "R1", "madrid-1")
    assert "times" in msgspec.json.decode(finding.body)["detail"]
    archive.close()
