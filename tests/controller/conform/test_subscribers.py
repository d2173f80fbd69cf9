"""`novamas conform subscriber`: every mistake is found by its id, and a correct program passes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from controller.conform.report import TrialFinding
from controller.conform.requirements import to_try
from controller.conform.scenarios import ANYWHERE, DECIDED_BY, SCENARIOS
from controller.conform.simulated_table import SimulatedTable
from controller.conform.stage import Stage
from controller.conform.subscriber_trial import try_program
from tests.controller.conform.broken_subscribers import BROKEN, BrokenSubscriber
from tests.support.brokers.mosquitto import Mosquitto

PATIENCES_SECONDS = (3.0, 20.0)
"""The time that a missing line costs. With the second, a program is tried that is judged wrongly
with the first: a starved machine may need longer for a line.
"""
LONG_PATIENCE_SECONDS = 60.0
"""Where no line is missing, so that it costs nothing."""
SLOW_EVENT_SECONDS = 0.1
AT_ONCE = 4
"""Trials that run beside each other; they mostly wait."""
CORRECT = BrokenSubscriber("correct", "", ())
DISPLAY = Path(__file__).parent / "display.py"


def tried(
    command: Sequence[str | Path],
    *,
    display: bool = False,
    patience: float = LONG_PATIENCE_SECONDS,
    broker: str | None = None,
    only: Collection[str] = (),
) -> list[TrialFinding]:
    return asyncio.run(
        try_program(
            [str(word) for word in command],
            broker=broker,
            display=display,
            seed=1,
            patience=patience,
            only=only,
        )
    )


def failed(findings: Sequence[TrialFinding]) -> dict[str, tuple[str, ...]]:
    return {each.id: each.problems for each in findings if each.outcome == "failed"}


def test_every_requirement_is_decided_by_a_scenario() -> None:
    decided = {*SCENARIOS, *DECIDED_BY, *ANYWHERE}
    assert decided == {*to_try("subscriber")}
    assert {*to_try("subscriber", display=True)} < decided


def test_every_requirement_has_a_program_that_violates_it() -> None:
    assert {broken.id for broken in BROKEN} == {*to_try("subscriber")}


@pytest.mark.usefixtures("programs")
def test_each_broken_program_is_caught_by_its_id(tmp_path: Path) -> None:
    def judge(number: int) -> str | None:
        broken = BROKEN[number]
        folder = tmp_path / str(number)
        folder.mkdir()
        program = broken.write(folder)
        for patience in PATIENCES_SECONDS:
            found = failed(tried([sys.executable, program], patience=patience))
            more = {key: found[key] for key in found.keys() - {broken.id} - broken.follows}
            if broken.id in found and not more:
                return None
        return (
            f"{broken.name}: {broken.id} {'is' if broken.id in found else 'is not'} found; {more}"
        )

    with ThreadPoolExecutor(AT_ONCE) as pool:
        wrong = [each for each in pool.map(judge, range(len(BROKEN))) if each is not None]
    assert not wrong, "\n".join(wrong)


@pytest.mark.usefixtures("programs")
def test_an_answered_recall_does_not_hide_a_wrong_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program has recalled the missing events before the last of them is published."""
    publish = Stage.event

    async def publish_slowly(stage: Stage, table: SimulatedTable, event: dict[str, Any]) -> None:
        await publish(stage, table, event)
        await asyncio.sleep(SLOW_EVENT_SECONDS)

    monkeypatch.setattr(Stage, "event", publish_slowly)
    (broken,) = (each for each in BROKEN if each.id == "SUB-ORDER")
    found = failed(tried([sys.executable, broken.write(tmp_path)], only=["SUB-ORDER"]))
    assert "order" in found["SUB-ORDER"][0]


@pytest.mark.usefixtures("programs")
def test_a_finding_describes_what_is_wrong(tmp_path: Path) -> None:
    (broken,) = (each for each in BROKEN if each.id == "SUB-STALE")
    program = broken.write(tmp_path)
    found = failed(
        tried([sys.executable, program], patience=PATIENCES_SECONDS[1], only=["SUB-STALE"])
    )
    assert "the table is in fault, and the table is still current" in found["SUB-STALE"]


@pytest.mark.essential
@pytest.mark.usefixtures("programs")
def test_our_own_program_meets_every_requirement(tmp_path: Path) -> None:
    program = CORRECT.write(tmp_path)
    findings = tried([sys.executable, program])
    assert {each.id: each.problems for each in findings} == dict.fromkeys(to_try("subscriber"), ())


@pytest.mark.usefixtures("programs")
def test_a_display_meets_what_a_display_must() -> None:
    findings = tried([sys.executable, DISPLAY], display=True)
    assert {each.id: each.problems for each in findings} == dict.fromkeys(
        to_try("subscriber", display=True), ()
    )


V5 = BrokenSubscriber(
    "speaks MQTT 5",
    "SUB-START",
    (("CallbackAPIVersion.VERSION2)", "CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv5)"),),
)


@pytest.mark.usefixtures("programs")
def test_a_program_that_speaks_mqtt_5_needs_another_broker(
    tmp_path: Path, ending: ExitStack
) -> None:
    """Which may be used again."""
    command = [sys.executable, str(V5.write(tmp_path))]
    (problem,) = failed(tried(command))["SUB-START"]
    assert "--broker" in problem
    broker = Mosquitto(tmp_path / "mosquitto")
    ending.callback(broker.kill)
    broker.start()
    url = f"mqtt://127.0.0.1:{broker.port}"
    for _ in range(2):
        findings = tried(command, broker=url)
        assert {each.id: each.problems for each in findings if each.outcome != "passed"} == {}


SILENT_PATIENCE_SECONDS = 0.5
SILENT = {
    "import time; time.sleep(60)": ("SUB-START", "it has not connected"),
    "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)": (
        "SUB-START",
        "it has not connected",
    ),
}
"""Programs that do nothing, however long they are waited for."""
HOSTILE = {
    "import sys; sys.exit('no configuration')": ("SUB-START", "status 1: no configuration"),
    "while True: print('x' * 100_000)": ("SUB-LINES", "more than"),
    "while True: print('{}', flush=True)": ("SUB-LINES", "table"),
    "import os, socket; b = os.environ['NOVAMAS_BROKER'].rsplit(':', 1)[1]; "
    "s = socket.create_connection(('127.0.0.1', int(b))); s.send(b'GET / HTTP/1.1\\r\\n\\r\\n'); "
    "s.recv(9); import time; time.sleep(60)": ("SUB-START", "not MQTT"),
}


@pytest.mark.usefixtures("programs")
def test_a_hostile_program_gets_a_clear_answer() -> None:
    def judge(code: str) -> dict[str, tuple[str, ...]]:
        patience = SILENT_PATIENCE_SECONDS if code in SILENT else LONG_PATIENCE_SECONDS
        return failed(tried([sys.executable, "-c", code], patience=patience))

    programs = SILENT | HOSTILE
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = dict(zip(programs, pool.map(judge, programs), strict=True))
    for code, (requirement, message) in programs.items():
        assert message in "\n".join(found[code].get(requirement, ())), (code, found[code])


@pytest.mark.usefixtures("programs")
def test_a_program_that_does_not_exist_is_named() -> None:
    assert "no-such-program" in failed(tried(["no-such-program"]))["SUB-START"][0]
