"""Each service ends when a task ends that it cannot work correctly without."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.brokers.mosquitto import free_port
from tests.support.carrousel.floor import Controller, terms
from tests.support.programs import running
from tests.support.waiting import TIMEOUT_SECONDS
from tests.support.web.pit import console

SITE = "casino-mayor"
NO_BROKER = {"url": "mqtt://127.0.0.1:1"}
BREAK = """
import asyncio, importlib, sys

_, program, where, name, how, *sys.argv[1:] = sys.argv

async def broken(*_, **__):
    await asyncio.sleep(0.2)
    if how == "raises":
        raise RuntimeError("injected")
    if how == "is cancelled":
        raise asyncio.CancelledError

module, _, kind = where.partition(":")
place = importlib.import_module(module)
place = getattr(place, kind) if kind else place
assert callable(getattr(place, name))
setattr(place, name, broken)
sys.exit(importlib.import_module(program).main())
"""
HANGS = """
import asyncio, threading
from subscribers import essential

essential.END_TIMEOUT_SECONDS = 0.5

async def main():
    asyncio.get_running_loop().run_in_executor(None, threading.Event().wait)
    with essential.ending_process():
        await essential.essential("reader", asyncio.sleep(0.1))

asyncio.run(main())
"""


class Essential(NamedTuple):
    """A task of a service, named by its function."""

    program: str
    where: str
    name: str


def web(*tasks: tuple[str, str]) -> list[Essential]:
    return [Essential("subscribers.web.__main__", *task) for task in tasks]


def carrousel(*tasks: tuple[str, str]) -> list[Essential]:
    return [Essential("subscribers.carrousel.__main__", *task) for task in tasks]


def surveillance(*tasks: tuple[str, str]) -> list[Essential]:
    return [Essential("subscribers.surveillance.__main__", *task) for task in tasks]


def sign(*tasks: tuple[str, str]) -> list[Essential]:
    return [Essential("subscribers.carrousel.sign_line", *task) for task in tasks]


def output(*tasks: tuple[str, str]) -> list[Essential]:
    return [Essential("subscribers.output.__main__", *task) for task in tasks]


def lights(*tasks: tuple[str, str]) -> list[Essential]:
    return [Essential("subscribers.lights.__main__", *task) for task in tasks]


TASKS = [
    *web(
        ("subscribers.feed.worlds", "_listen"),
        ("subscribers.web.receive", "_check_jackpots"),
        ("subscribers.feed.worlds", "_check_silence"),
        ("subscribers.web.pit:Pit", "run"),
        ("subscribers.web.keypads:Keypads", "run"),
        ("subscribers.web.keypads:Keypads", "_listen"),
    ),
    *carrousel(
        ("subscribers.feed.connection:ServiceConnection", "run"),
        ("subscribers.carrousel.ledger_writer:LedgerWriter", "run"),
        ("subscribers.carrousel.periodic:PeriodicWork", "run"),
        ("subscribers.carrousel.order_desk:OrderDesk", "run"),
        ("subscribers.carrousel.service", "serve"),
    ),
    *surveillance(
        ("subscribers.feed.connection:ServiceConnection", "run"),
        ("subscribers.surveillance.service:SurveillanceRecorder", "_store_messages"),
        ("subscribers.surveillance.service:SurveillanceRecorder", "_run_clock"),
        ("subscribers.surveillance.service:SurveillanceRecorder", "_run_side_task"),
        ("subscribers.surveillance.service", "serve"),
    ),
    *sign(
        ("subscribers.carrousel.sign_line:LedSign", "listen"),
        ("subscribers.carrousel.sign_line:LedSign", "show"),
    ),
    *lights(
        ("subscribers.feed.worlds", "_check_silence"),
        ("subscribers.lights.__main__:Light", "show"),
    ),
    *output(
        ("subscribers.feed.worlds", "_listen"),
        ("subscribers.output.__main__:WheelOutput", "show"),
    ),
]


def test_each_task_that_is_broken_here_exists() -> None:
    """A task that was renamed is noticed by the quick tests."""
    for task in TASKS:
        module, _, kind = task.where.partition(":")
        place = importlib.import_module(module)
        assert callable(getattr(getattr(place, kind) if kind else place, task.name)), task


def settings(program: str, folder: Path) -> Mapping[str, Any]:
    match program:
        case "subscribers.web.__main__":
            return {
                "site": SITE,
                "broker": NO_BROKER,
                "tables": [{"id": "ruleta-1"}],
                "port": 0,
                "state": str(folder / "web"),
                "pit": console(folder / "pit", SITE),
                "keypads": {"ruleta-1": str(folder / "no-such-keypad")},
            }
        case "subscribers.carrousel.__main__":
            listen = ["127.0.0.1", free_port()]
            return Controller(folder, 1, terms("poker-1"), listen=listen).given
        case "subscribers.surveillance.__main__":
            return {
                "archive": str(folder / "archive.sqlite3"),
                "node": "recorder",
                "sites": [{"id": SITE, "broker": NO_BROKER}],
                "listen": ["127.0.0.1", free_port()],
            }
        case "subscribers.lights.__main__":
            scene = {"seconds": 1, "table": "ruleta-1", "numbers": [0]}
            relay = {"address": str(folder / "no-such-port"), "scene": [scene]}
            return {
                "site": SITE,
                "broker": NO_BROKER,
                "lights": [{"id": "siren", "protocol": "relay", **relay}],
            }
        case "subscribers.output.__main__":
            one = {"port": str(folder / "no-such-port"), "table": "ruleta-1"}
            return {"site": SITE, "broker": NO_BROKER, "outputs": [one]}
    signs = [{"port": str(folder / f"no-such-port-{each}"), "jackpot": "gran"} for each in (1, 2)]
    return {"site": SITE, "broker": NO_BROKER, "signs": signs}


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("how", ["raises", "returns", "is cancelled"])
@pytest.mark.parametrize("task", TASKS, ids=lambda task: f"{task.program}-{task.name}")
def test_a_service_ends_with_each_of_its_essential_tasks(
    task: Essential, how: str, tmp_path: Path
) -> None:
    given = json.dumps(settings(task.program, tmp_path))
    words = [sys.executable, "-c", BREAK, *task, how, "--settings", given]
    log = tmp_path / "log"
    with log.open("wb") as errors, running(words, stderr=errors) as program:
        assert program.wait(timeout=TIMEOUT_SECONDS) == 1, log.read_text()
    assert "essential task ended" in log.read_text()


@pytest.mark.usefixtures("programs")
def test_a_thread_that_hangs_keeps_no_service_from_ending() -> None:
    with running([sys.executable, "-c", HANGS]) as program:
        assert program.wait(timeout=TIMEOUT_SECONDS) == 1
