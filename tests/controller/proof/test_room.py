"""The journal space that a babbling device uses: reported by name before the disk is full, and
derived again like any other entry.
"""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from controller.journal.journal import Journal
from controller.proof import journal_upkeep
from controller.proof.audit import audit
from controller.tables.byte_trace import MAX_BUFFERED_BYTES
from devices.calls import BytesReceived
from tests.support.journal.premises import Premises

NOISE = b"abcdefg\xff\n"


@asynccontextmanager
async def run(path: Path) -> AsyncIterator[Premises]:
    made = Premises(path)
    try:
        yield made
    finally:
        await made.end()


def babble(made: Premises, seconds: int, times: int = 1) -> None:
    """Ten times a second."""
    for _ in range(seconds * 10):
        made.now += 0.1
        made.handle(BytesReceived(made.now, NOISE * times))


async def test_babble_is_proved_and_takes_little_space(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    async with run(path) as made:
        babble(made, 200)
        made.silence(70.0)
    found = audit(path)
    assert found.proves
    assert found.unheard == 0
    assert 12 < found.proved_readings == found.readings < 30


async def test_a_flood_names_the_device_until_it_ends(tmp_path: Path) -> None:
    async with run(tmp_path / "journal.sqlite3") as made:
        babble(made, 60)
        made.upkeep.check_room([made.runner])
        assert "device-flood" not in made.alerts
        babble(made, 60, times=MAX_BUFFERED_BYTES // 300 // len(NOISE))
        made.upkeep.check_room([made.runner])
        detail = made.alerts["device-flood"].detail
        assert detail is not None
        assert "device wheel of table r1: " in detail
        made.upkeep.flush([made.runner])
        babble(made, 60)
        made.upkeep.check_room([made.runner])
        assert "device-flood" not in made.alerts


async def test_another_device_that_floods_is_named_too(tmp_path: Path) -> None:
    async with run(tmp_path / "journal.sqlite3") as made:

        def flood(*devices: str) -> str | None:
            for device in devices:
                made.runner.on_bytes(
                    device, BytesReceived(made.now, b"x" * (MAX_BUFFERED_BYTES + 1))
                )
            made.upkeep.check_room([made.runner])
            made.upkeep.flush([made.runner])
            return made.alerts["device-flood"].detail

        first = flood("wheel")
        assert flood("wheel") == first  # reported once
        both = flood("wheel", "other")
        assert "device wheel of" in str(both)
        assert "device other of" in str(both)
        assert "device wheel of" not in str(flood("other"))


async def test_no_device_is_blamed_for_a_failing_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing: list[str | None] = [None]
    async with run(tmp_path / "journal.sqlite3") as made:
        # its own thread reports after each commit that it has not failed
        said = property(lambda _: failing[-1], lambda _, __: None)
        monkeypatch.setattr(Journal, "failed", said, raising=False)

        def minute(failed: str | None) -> bool:
            failing.append(failed)
            made.runner.on_bytes("wheel", BytesReceived(made.now, b"x" * (MAX_BUFFERED_BYTES + 1)))
            made.upkeep.check_room([made.runner])
            made.upkeep.flush([made.runner])
            return "device-flood" in made.alerts

        assert [minute("disk full"), minute("disk full"), minute(None)] == [
            False
        ] * 3  # the data of the last minute came before too
        assert minute(None)
        assert minute("disk full")  # earlier alerts are not known to be over


async def test_a_nearly_full_disk_is_reported_with_the_device_that_sends_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with run(tmp_path / "journal.sqlite3") as made:
        babble(made, 60)  # and the opening of the link, which counts as 64
        free = journal_upkeep.MIN_FREE_BYTES - 1
        monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
        made.upkeep.check_room([made.runner])
        alert = made.alerts["journal-room"]
        assert alert.detail is not None
        assert (
            f"device wheel of table r1: {64 + 600 * len(NOISE)} bytes in the last minute"
            in alert.detail
        )
        babble(made, 6)
        made.upkeep.check_room([made.runner])
        assert made.alerts["journal-room"] is alert  # reported once
        free = journal_upkeep.MIN_FREE_BYTES
        made.upkeep.check_room([made.runner])
        assert "journal-room" not in made.alerts
