"""The archive takes nothing for a while: a server of PostgreSQL that is stopped, hangs or is not
there yet. Nothing is lost, nothing is kept twice, and the recorder says it.
"""

from __future__ import annotations

import asyncio
import gc
import threading
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from common.tasks import end_tasks
from subscribers.feed.tables import BrokerLogin
from subscribers.surveillance import service
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.service import SurveillanceRecorder
from subscribers.surveillance.settings import SiteSettings, SurveillanceSettings
from tests.daemon.conftest import daemon as daemon
from tests.daemon.conftest import mosquitto as mosquitto
from tests.daemon.conftest import subscribe as subscribe
from tests.daemon.conftest import tell as tell
from tests.daemon.conftest import wheel as wheel
from tests.support.daemon.play import command, spin
from tests.support.surveillance.postgres import Postgres
from tests.support.surveillance.recorder import Recorder as Recording
from tests.support.surveillance.room import Room, told
from tests.support.surveillance.room import rooms as rooms
from tests.support.waiting import until, until_async

STALLED = "archive-stalled"


def until_stalled(room: Room, why: str) -> None:
    """Wait until the recorder says it: at ``/health``, in an alert and in the log."""
    until("its health says it", lambda: room.health()["trouble"], room.recorder.log)
    assert room.health()["status"] == 503
    alert = until("its alert", lambda: room.alert(STALLED), room.recorder.log)
    assert alert["what"] == "surveillance.archive_stalled"
    assert alert["severity"] == "fault"
    assert why in alert["detail"]
    with urllib.request.urlopen(f"http://127.0.0.1:{room.port}/metrics") as answer:
        assert "novamas_surveillance_archive_up 0" in answer.read().decode()
    stalled = partial(room.recorder.logged, "the archive takes nothing")
    until("so does its log", lambda: any(why in each["reason"] for each in stalled()))


def until_well(room: Room) -> None:
    """Wait until it logs that it has resumed, and has everything."""
    room.until_kept()
    until("its alert is gone", lambda: room.alert(STALLED) is None, room.recorder.log)
    until("its health is well", lambda: room.health()["trouble"] is None, room.recorder.log)
    room.recorder.until_logged("the archive takes records again")
    assert room.recorder.findings() == []


@pytest.mark.essential
def test_postgres_is_stopped_while_events_flow(
    postgres: Postgres, rooms: Callable[..., Room], long: bool
) -> None:
    """Also while no messages arrive: the recorder detects it by itself, and resumes by itself."""
    where = postgres.database()
    room = rooms(f'database = "{where}"', where)
    subscriber, recorder = room.subscriber, room.recorder
    recorder.start()
    command(subscriber, "session.open")
    room.until_kept()
    postgres.kill()
    until_stalled(room, "it is tried again")
    before = len(told(room.journal))
    spin(room.wheel, subscriber, "17", 2)
    spin(room.wheel, subscriber, "32", 3, before="17")
    assert len(told(room.journal)) > before
    postgres.start()
    until_well(room)
    for number in range(10 if long else 0):
        postgres.kill()
        postgres.start()
        spin(room.wheel, subscriber, " 0", 4 + number, before="32")
    room.until_kept()
    keys = [each.key for each in recorder.found(kinds=("event",))]
    assert len(keys) == len(set(keys)) == len(told(room.journal))
    assert recorder.findings() == []


def test_postgres_hangs_while_events_flow(
    postgres: Postgres, rooms: Callable[..., Room], ending: ExitStack
) -> None:
    """Its processes are stopped and keep their connections; then they resume."""
    where = postgres.database()
    room = rooms(f'database = "{where}"', where)
    subscriber, recorder = room.subscriber, room.recorder
    recorder.start()
    command(subscriber, "session.open")
    room.until_kept()
    ending.callback(postgres.go_on)
    postgres.hang()
    until_stalled(room, "has not answered for 10 s")
    before = len(told(room.journal))
    spin(room.wheel, subscriber, "17", 2)
    assert len(told(room.journal)) > before
    postgres.go_on()
    until_well(room)
    assert len(recorder.found(kinds=("event",))) == len(told(room.journal))


def test_a_recorder_that_starts_before_its_database(
    postgres: Postgres, rooms: Callable[..., Room], ending: ExitStack
) -> None:
    where = postgres.database()
    room = rooms(f'database = "{where}"', where)
    subscriber, recorder = room.subscriber, room.recorder
    command(subscriber, "session.open")
    postgres.kill()
    ending.callback(postgres.start)
    recorder.start()
    recorder.until_logged("the archive takes nothing")
    until_stalled(room, "it is tried again")
    assert recorder.logged("connected") == []
    spin(room.wheel, subscriber, "17", 2)
    postgres.start()
    until_well(room)
    assert len(recorder.found(kinds=("event",))) == len(told(room.journal))


async def test_an_archive_that_does_not_answer_is_reported_and_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In any wait; also while no messages arrive."""
    monkeypatch.setattr(service, "REPLY_TIMEOUT_SECONDS", 0.05)
    own = SiteSettings(id="palma", broker=BrokerLogin(url="mqtt://127.0.0.1:1"))
    recorder = SurveillanceRecorder(
        SurveillanceSettings(archive="none", node="surveillance", sites=(own,))
    )
    answered = threading.Event()
    asked = asyncio.create_task(recorder._call(answered.wait))
    await asyncio.to_thread(until, "it is told", lambda: recorder.health.trouble)
    assert "has not answered for 0.05 s; check its disk" in (recorder.health.trouble or "")
    assert recorder._unresponsive
    answered.set()
    assert await asked


async def test_an_archive_that_fails_after_the_stop_is_no_error_of_the_event_loop() -> None:
    errors: list[dict[str, Any]] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _loop, error: errors.append(error))
    own = SiteSettings(id="palma", broker=BrokerLogin(url="mqtt://127.0.0.1:1"))
    recorder = SurveillanceRecorder(
        SurveillanceSettings(archive="none", node="surveillance", sites=(own,))
    )
    stopped = threading.Event()

    def fail() -> None:
        stopped.wait()
        raise ArchiveError("disk I/O error")

    storing = asyncio.create_task(recorder._call(fail))
    await until_async(lambda: len(asyncio.all_tasks()) == 3)
    (call,) = asyncio.all_tasks() - {storing, asyncio.current_task()}
    await end_tasks(storing)
    stopped.set()
    await asyncio.wait([call])
    del call, storing
    gc.collect()
    assert errors == []


async def test_a_side_task_that_fails_is_reported_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """For each reason, not at each of its attempts, and not before there is an archive."""
    monkeypatch.setattr(service, "RETRY_DELAY_SECONDS", 0.001)
    site = SiteSettings(id="palma", broker=BrokerLogin(url="mqtt://127.0.0.1:9"))
    settings = SurveillanceSettings(archive=str(tmp_path / "archive"), node="s", sites=(site,))
    attempts = 0

    async def fail(_grown: object) -> None:
        nonlocal attempts
        attempts += 1
        raise ArchiveError("the disk is full" if attempts < 10 else "no such file")

    recorder = SurveillanceRecorder(settings, {"statistics": fail})
    with capture_logs() as lines:
        running = asyncio.create_task(recorder._run_side_task("statistics", fail))
        await asyncio.sleep(0)
        assert attempts == 0
        recorder._opened.set()
        await until_async(lambda: attempts >= 20)
        running.cancel()
    assert [line["reason"] for line in lines] == ["the disk is full", "no such file"]


def test_an_archive_that_another_recorder_has_is_no_trouble_of_the_tables(
    tmp_path: Path, rooms: Callable[..., Room], ending: ExitStack
) -> None:
    """The other one continues undisturbed: the recorder that waits for the archive reports it only
    in the log.
    """
    room = rooms()
    room.recorder.start()
    room.recorder.until_logged("connected")
    other = tmp_path / "other"
    other.mkdir()
    text = room.recorder.file.read_text().replace("listen", "# listen")
    text = text.replace('"archive.sqlite3"', f'"{room.recorder.where}"')
    (other / "novamas.toml").write_text(text)
    second = Recording(other / "novamas.toml", room.recorder.where)
    ending.callback(second.kill)
    second.start()
    second.until_logged("the archive takes nothing")
    command(room.subscriber, "session.open")
    room.until_kept()
    assert room.recorder.stop() == 0
    second.until_logged("connected")
    until("it goes on", lambda: room.subscriber.on(f"alert/{STALLED}"), second.log)
    assert [
        message.payload for message in room.subscriber.messages if STALLED in message.topic
    ] == [b""]
