"""Exports and retention, from the configuration on."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path

import msgspec
import pytest

from common.contract.times import format_utc
from controller.cli import main
from subscribers.feed.tables import BrokerLogin
from subscribers.surveillance.archive import Query
from subscribers.surveillance.archive_sqlite import SQLiteArchive
from subscribers.surveillance.open_archive import open_archive
from subscribers.surveillance.retention import (
    DAY_SECONDS,
    STATE_NAME,
    AgeMark,
    RecordingAge,
    decode_age,
)
from subscribers.surveillance.service import NewRecordSignal
from subscribers.surveillance.settings import SiteSettings, SurveillanceSettings
from subscribers.surveillance.upkeep import run_upkeep
from tests.subscribers.surveillance.said import event
from tests.support.waiting import until

pytestmark = pytest.mark.usefixtures("programs")

CONFIGURATION = """
[site]
id = "madrid-1"

[archive]
path = "kept.sqlite3"
keep_days = { event = 40, sealed = 400 }

[[table]]
id = "ruleta-1"
game = "roulette-french"
decree = "ARA02"
simulated = true
[[table.device]]
id = "wheel-1"
driver = "cammegh-ss2"
link = "tcp://127.0.0.1:4001"
"""


def ran(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {name: v for name, v in os.environ.items() if name != "STATE_DIRECTORY"}
    return subprocess.run(
        [sys.executable, "-m", "controller.cli", "surveillance", *words],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**environment, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def test_the_commands_use_the_archive_of_the_configuration(tmp_path: Path) -> None:
    file = tmp_path / "novamas.toml"
    file.write_text(CONFIGURATION)
    missing = ran(tmp_path, "export", "--form", "csv", "out.csv")
    assert missing.returncode == 1
    assert "kept.sqlite3: No such file or directory; create it with" in missing.stderr
    with closing(SQLiteArchive(tmp_path / "kept.sqlite3")) as archive:
        archive.store([event(1), event(2)])
        marks = (AgeMark(1, 0, format_utc(1_790_000_000)),)
        archive.save_value(STATE_NAME, msgspec.json.encode(RecordingAge(41 * DAY_SECONDS, marks)))
    written = ran(tmp_path, "export", str(file), "--form", "parquet", "out.parquet")
    assert (written.returncode, written.stdout) == (0, "")
    assert "2 records in out.parquet, SHA-256 " in written.stderr
    looked = ran(tmp_path, "prune", str(file), "--dry-run")
    assert looked.returncode == 0, looked.stderr
    assert "event: 1 would be removed" in looked.stdout
    assert "sealed: nothing is 400 days old" in looked.stdout


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("{ event = 29 }", "keep_days.event: expected whole days, 30 to 36500, got 29"),
        ("{ removal = 40 }", "keep_days.removal: unknown key"),
        ('{ event = "10 years" }', "keep_days.event: expected whole days, 30 to 36500"),
    ],
)
def test_an_invalid_policy(
    tmp_path: Path, policy: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "novamas.toml"
    file.write_text(CONFIGURATION.replace("{ event = 40, sealed = 400 }", policy))
    assert main(["surveillance", "prune", str(file)]) == 1
    assert f"line 7: archive.{said}" in capsys.readouterr().err


def test_without_a_policy_each_kind_is_kept_for_ten_years_and_with_an_empty_one_for_good(
    tmp_path: Path,
) -> None:
    file = tmp_path / "novamas.toml"
    with closing(SQLiteArchive(tmp_path / "kept.sqlite3")) as archive:
        archive.store([event(1), event(2)])
        marks = (
            AgeMark(1, DAY_SECONDS, format_utc(1_490_000_000)),
            AgeMark(2, 2 * DAY_SECONDS, format_utc(1_490_086_400)),
        )
        archive.save_value(STATE_NAME, msgspec.json.encode(RecordingAge(3661 * DAY_SECONDS, marks)))
    given = "keep_days = { event = 40, sealed = 400 }\n"
    file.write_text(CONFIGURATION.replace(given, "keep_days = {}\n"))
    kept = ran(tmp_path, "prune", str(file))
    assert (kept.returncode, "everything is kept" in kept.stdout) == (0, True), kept.stderr
    file.write_text(CONFIGURATION.replace(given, ""))
    pruned = ran(tmp_path, "prune", str(file))
    assert pruned.returncode == 0, pruned.stderr
    assert "event: 1 removed" in pruned.stdout
    for kind in ("sealed", "alert", "reply", "checkpoint", "finding", "access"):
        assert f"{kind}: " in pruned.stdout
    with closing(SQLiteArchive(tmp_path / "kept.sqlite3")) as archive:
        left = [row.record.kind for row in archive.find(Query())]
    assert left == ["event", "removal"]


async def test_the_recorder_counts_and_removes(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subscribers.surveillance.upkeep.CHECK_INTERVAL_SECONDS", 0.01)
    site = SiteSettings(id="madrid-1", broker=BrokerLogin(url="mqtt://127.0.0.1"))
    settings = SurveillanceSettings(
        archive=place, node="recorder", sites=(site,), keep_days={"event": 40}
    )
    recorded = NewRecordSignal()
    with closing(open_archive(place)) as archive:
        marks = (AgeMark(1, 0, format_utc(1_790_000_000)),)
        archive.save_value(STATE_NAME, msgspec.json.encode(RecordingAge(41 * DAY_SECONDS, marks)))
        task = asyncio.create_task(run_upkeep(settings, recorded))
        archive.store([event(1), event(2)])
        recorded.publish(2)
        removed, left = Query(kinds=("removal",)), Query(kinds=("event",))
        await asyncio.to_thread(
            until,
            "the old event is removed",
            lambda: list(archive.find(removed)) and len(list(archive.find(left))) == 1,
        )
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        count = decode_age(archive.load_value(STATE_NAME))
        assert (count.counted >= 41 * DAY_SECONDS, len(count.marks)) == (True, 2)
        assert [row.record.seq for row in archive.find(Query(kinds=("event",)))] == [2]
